//! Where a config stands: computed from facts in every pass, never stored.
//!
//! | facts, in this order | stage |
//! |---|---|
//! | no owner that is there, no Cluster, or being deleted | `Idle` |
//! | the Cluster's infrastructure is not provisioned | `WaitingForInfrastructure` |
//! | the Machine names a data secret, the status does not (after a move or a restore) | `Recovered` |
//! | the status says that the data is there | `Created` |
//! | the control plane is not initialised, and the Machine is a worker | `WaitingForControlPlane` |
//! | … and another Machine that exists holds the lock | `WaitingForInit` |
//! | … and the lock is free or ours | `Init` |
//! | else | `JoinControlPlane` or `JoinWorker` |

use capstan_api::{
    bootstrap::BootstrapTokenDiscovery,
    condition::{self, Type},
    core::Conditioned,
};
use kube::ResourceExt;

use super::view::Basics;

/// Where a config stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// Nothing to do until an owner and a Cluster are there, or since the config goes.
    Idle,
    /// The Cluster's infrastructure is not provisioned.
    WaitingForInfrastructure,
    /// The data was made in another life; its secret has this name.
    Recovered(String),
    /// The data is there.
    Created {
        /// Whether its token has to be kept alive, since the node has not joined yet.
        keeps_token: bool,
    },
    /// A worker waits for the control plane.
    WaitingForControlPlane,
    /// A control plane Machine waits for the one that makes the cluster.
    WaitingForInit {
        /// The Machine that makes it.
        holder: String,
    },
    /// The Machine makes the cluster.
    Init,
    /// The Machine joins the control plane.
    JoinControlPlane,
    /// The Machine joins as a worker.
    JoinWorker,
}

/// The stage of a config.
pub(super) fn stage(basics: &Basics) -> Stage {
    let (Some(machine), Some(cluster)) = (&basics.machine, &basics.cluster) else {
        return Stage::Idle;
    };
    if basics.config.metadata.deletion_timestamp.is_some() {
        return Stage::Idle;
    }
    if !cluster.infrastructure_provisioned() {
        return Stage::WaitingForInfrastructure;
    }
    let status = basics.config.status.clone().unwrap_or_default();
    let is_created = status.initialization.data_secret_created == Some(true);
    if let Some(name) = &machine.spec.bootstrap.data_secret_name
        && (!is_created || status.data_secret_name.is_none())
    {
        return Stage::Recovered(name.clone());
    }
    if is_created {
        let discovers_by_token = basics.config.spec.join_configuration.discovery.bootstrap_token
            != BootstrapTokenDiscovery::default();
        let has_node = machine.status.as_ref().is_some_and(|it| it.node_ref.is_some());
        return Stage::Created {
            keeps_token: discovers_by_token && !has_node,
        };
    }
    let is_initialized = condition::is_true(cluster.conditions(), Type::ControlPlaneInitialized);
    match (is_initialized, basics.is_control_plane()) {
        (true, true) => Stage::JoinControlPlane,
        (true, false) => Stage::JoinWorker,
        (false, false) => Stage::WaitingForControlPlane,
        (false, true) => match other_holder(basics, &machine.name_any()) {
            Some(holder) => Stage::WaitingForInit { holder },
            None => Stage::Init,
        },
    }
}

/// The Machine that holds the lock, if it is there and another one.
fn other_holder(basics: &Basics, machine: &str) -> Option<String> {
    let lock = basics.lock.as_ref()?;
    lock.holder
        .clone()
        .filter(|it| lock.holder_exists && it != machine)
}
