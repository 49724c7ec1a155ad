//! What to do about a DevCluster.
//!
//! ```text
//!   being deleted           close the workload cluster, let go
//!   managed by others       nothing
//!   without an owner        wait for the Cluster controller
//!   without an endpoint     hand one out
//!   not open                open the workload cluster
//! ```

use capstan_api::{core::ApiEndpoint, infrastructure::words::reason};
use capstan_engine::{ObjectKey, Plan, Why};

use super::view::View;

/// One effect.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Hand out an endpoint and record it.
    ClaimEndpoint {
        /// The DevCluster's UID.
        uid: String,
        /// The port that the user wants; 0 for any.
        port: i32,
        /// The ports that others have.
        taken: Vec<u16>,
    },
    /// Open the workload cluster.
    Open {
        /// The Cluster.
        cluster: ObjectKey,
        /// The DevCluster's UID.
        uid: String,
        /// Where it is reached.
        endpoint: ApiEndpoint,
    },
    /// Close the workload cluster.
    Close {
        /// The Cluster.
        cluster: ObjectKey,
        /// The DevCluster's UID.
        uid: String,
    },
}

pub(super) fn decide(view: &View) -> Plan<Action> {
    if view.is_deleting() {
        return delete(view);
    }
    if view.is_externally_managed {
        return Plan::converged();
    }
    let Some(owner) = &view.owner else {
        return Plan::wait(Why::new(
            "WaitingForOwner",
            "Waiting for the Cluster controller to set the owner reference",
        ));
    };
    if !view.object.spec.control_plane_endpoint.is_valid() {
        return claim(view);
    }
    if !view.is_open {
        return open(view, owner);
    }
    Plan::converged()
}

fn claim(view: &View) -> Plan<Action> {
    let mut plan = Plan::converged();
    let action = Action::ClaimEndpoint {
        uid: view.uid(),
        port: view.object.spec.control_plane_endpoint.port,
        taken: view.taken_ports.clone(),
    };
    plan.step(
        action,
        Why::new("ClaimEndpoint", "the control plane has no endpoint"),
    );
    plan
}

fn open(view: &View, owner: &ObjectKey) -> Plan<Action> {
    let mut plan = Plan::converged();
    let action = Action::Open {
        cluster: owner.clone(),
        uid: view.uid(),
        endpoint: view.object.spec.control_plane_endpoint.clone(),
    };
    plan.step(
        action,
        Why::new("OpenCluster", "the workload cluster is not open"),
    );
    plan
}

fn delete(view: &View) -> Plan<Action> {
    let mut plan = Plan::finalized();
    if let Some(cluster) = &view.owner {
        let action = Action::Close {
            cluster: cluster.clone(),
            uid: view.uid(),
        };
        plan.step(
            action,
            Why::new(reason::DELETING, "the DevCluster is being deleted"),
        );
    }
    plan
}
