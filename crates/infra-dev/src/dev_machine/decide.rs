//! What to do about a DevMachine.
//!
//! ```text
//!   being deleted                 stop the VM with all it left in the cluster, let go
//!   without Machine or Cluster    wait for the Machine controller
//!   cluster not provisioned       wait for the DevCluster
//!   without bootstrap data        wait for the bootstrap provider
//!   without a VM                  start one
//!   VM is up by its timings       record the provider ID
//!   node, etcd, API server        start what is up by its timings and does not run here, in this order
//! ```

use capstan_engine::{Lookup, ObjectKey, Plan, Wake, Why};

use super::view::View;
use crate::{
    backend::{Authorities, NodeIntent, VmIntent},
    bootstrap::Bootstrap,
};
use capstan_api::infrastructure::words::reason;

/// How long to wait for Secrets that nobody tells us of.
const SECRETS_PAUSE: std::time::Duration = std::time::Duration::from_secs(5);

/// One effect.
#[derive(Debug, Clone)]
pub enum Action {
    /// Start the VM.
    StartVm(VmIntent),
    /// Record the machine's identity in its spec.
    RecordProviderId(String),
    /// Register the node; with the bootstrap data if it is the first time.
    RegisterNode(NodeIntent, Option<Bootstrap>, Authorities),
    /// Start the etcd member.
    StartEtcd(NodeIntent, Authorities),
    /// Start API server, controller manager and scheduler.
    StartControlPlane(NodeIntent, Bootstrap, Authorities),
    /// Stop the VM.
    StopVm,
}

impl Action {
    /// What the effect is called in a cloud's audit log.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::StartVm(_) => "start-vm",
            Self::RecordProviderId(_) => "record-provider-id",
            Self::RegisterNode(..) => "register-node",
            Self::StartEtcd(..) => "start-etcd",
            Self::StartControlPlane(..) => "start-control-plane",
            Self::StopVm => "stop-vm",
        }
    }
}

/// Why a machine does not boot yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    Owner,
    ClusterInfrastructure,
    ControlPlane,
    BootstrapData,
}

impl Wait {
    fn why(self) -> Why {
        match self {
            Self::Owner => Why::new(
                "WaitingForOwner",
                "Waiting for the Machine controller to set the owner reference",
            ),
            Self::ClusterInfrastructure => Why::new(
                reason::WAITING_FOR_CLUSTER_INFRASTRUCTURE,
                "the cluster's infrastructure is not provisioned",
            ),
            Self::ControlPlane => Why::new(
                reason::WAITING_FOR_CONTROL_PLANE,
                "the cluster's control plane is not initialized",
            ),
            Self::BootstrapData => Why::new(
                reason::WAITING_FOR_BOOTSTRAP_DATA,
                "there are no bootstrap data yet",
            ),
        }
    }
}

/// What the machine waits for before it may boot; nothing if it may.
pub(super) fn wait(view: &View) -> Option<Wait> {
    let (Some(machine), Some(cluster)) = (&view.machine, &view.cluster) else {
        return Some(Wait::Owner);
    };
    if !cluster.infrastructure_provisioned() || !view.is_cluster_open {
        return Some(Wait::ClusterInfrastructure);
    }
    if machine.spec.bootstrap.data_secret_name.is_none() {
        let needs_control_plane = !view.is_control_plane() && !cluster.control_plane_initialized();
        return Some(if needs_control_plane {
            Wait::ControlPlane
        } else {
            Wait::BootstrapData
        });
    }
    None
}

pub(super) fn decide(view: &View) -> Plan<Action> {
    if view.is_deleting() {
        return delete(view.cluster_key.as_ref());
    }
    match wait(view) {
        Some(wait) => Plan::wait(wait.why()),
        None => boot(view),
    }
}

fn delete(cluster: Option<&ObjectKey>) -> Plan<Action> {
    let mut plan = Plan::finalized();
    if cluster.is_some() {
        plan.step(
            Action::StopVm,
            Why::new(reason::DELETING, "the DevMachine is being deleted"),
        );
    }
    plan
}

fn boot(view: &View) -> Plan<Action> {
    let mut plan = Plan::converged();
    let (due, running) = (view.due(), view.facts.running);
    if let Some(next) = view.timeline().next(view.now, view.is_control_plane()) {
        plan.waits(Why::new(reason::WAITING_FOR_STARTUP, "the machine is booting"));
        plan.wakes(Wake::At(next), view.now);
    }
    if view.facts.started.is_none() {
        let intent = VmIntent {
            name: view.name(),
            uid: view.uid(),
            is_control_plane: view.is_control_plane(),
            start: view.start(),
        };
        plan.step(
            Action::StartVm(intent),
            Why::new("StartVM", "the machine has no VM"),
        );
    }
    if due.vm && view.object.spec.provider_id.is_none() {
        plan.step(
            Action::RecordProviderId(view.provider_id()),
            Why::new("RecordProviderID", "the VM runs"),
        );
    }
    let behind =
        (due.node && !running.node) || (due.etcd && !running.etcd) || (due.api_server && !running.api_server);
    if behind {
        start_parts(view, &mut plan);
    }
    plan
}

/// Starts the parts that are due and do not run, in their order.
fn start_parts(view: &View, plan: &mut Plan<Action>) {
    let (Some(data), Some(authorities)) = (view.bootstrap.found(), view.authorities.found()) else {
        plan.waits(missing_secrets(view));
        plan.wakes(Wake::After(SECRETS_PAUSE), view.now);
        return;
    };
    let (due, running, recorded) = (view.due(), view.facts.running, view.recorded());
    let node = view.node();
    if due.node && !running.node {
        let joins = matches!(data.bootstrap, Bootstrap::Join { .. });
        if joins && !recorded.node && !view.facts.cluster_serves {
            plan.waits(Why::new(
                reason::BOOTSTRAP_FAILED,
                "the cluster's API server does not answer",
            ));
            return;
        }
        let bootstrap = (!recorded.node).then(|| data.bootstrap.clone());
        let action = Action::RegisterNode(node.clone(), bootstrap, authorities.clone());
        plan.step(action, Why::new("RegisterNode", "the kubelet is up"));
    }
    if due.etcd && !running.etcd {
        let action = Action::StartEtcd(node.clone(), authorities.clone());
        plan.step(action, Why::new("StartEtcd", "the etcd member is up"));
    }
    // An API server without its etcd member crashes until that is up.
    if due.api_server && due.etcd && !running.api_server {
        let action = Action::StartControlPlane(node, data.bootstrap.clone(), authorities.clone());
        plan.step(action, Why::new("StartControlPlane", "the API server is up"));
    }
}

fn missing_secrets(view: &View) -> Why {
    let message = match (&view.bootstrap, &view.authorities) {
        (Lookup::Found(_), Lookup::Unreadable(why)) | (Lookup::Unreadable(why), _) => why.to_string(),
        (Lookup::Found(_), _) => "the cluster's CA or etcd CA Secret does not exist".to_owned(),
        (Lookup::Absent, _) => "the bootstrap data Secret does not exist".to_owned(),
    };
    Why::new(reason::BOOTSTRAP_FAILED, message)
}
