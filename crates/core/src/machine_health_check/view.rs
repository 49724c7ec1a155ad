//! Everything that decisions about one MachineHealthCheck may need.

use std::sync::Arc;

use capstan_api::{
    condition::{self, Type},
    core::{Cluster, Conditioned, Machine, MachineHealthCheck},
};
use capstan_base::Timestamp;
use capstan_engine::Lookup;
use capstan_workload::Remote;
use k8s_openapi::api::core::v1::Node;
use kube::core::{ApiResource, DynamicObject};

/// The snapshot of one pass.
#[derive(Debug, Clone)]
pub struct View {
    /// The time of the pass.
    pub now: Timestamp,
    /// The MachineHealthCheck.
    pub health_check: Arc<MachineHealthCheck>,
    /// Its Cluster.
    pub cluster: Lookup<Arc<Cluster>>,
    /// The Machines that it looks after, by name: those that it selects, without the paused ones and those that a user
    /// took out.
    pub targets: Vec<Target>,
    /// The template of repair requests; none if the Machines' owners repair.
    pub template: Option<Lookup<Arc<DynamicObject>>>,
}

/// A Machine that is looked after.
#[derive(Debug, Clone)]
pub struct Target {
    /// The Machine.
    pub machine: Arc<Machine>,
    /// Its Node. Not asked for while the Machine names none or the control plane was never initialised.
    pub node: Option<Remote<Arc<Node>>>,
    /// The kind of its repair request and the request itself; none if the Machine's owner repairs.
    pub request: Option<(ApiResource, Lookup<Arc<DynamicObject>>)>,
}

impl View {
    /// Is the health check being deleted?
    pub fn is_deleting(&self) -> bool {
        self.health_check.metadata.deletion_timestamp.is_some()
    }

    /// Is this condition of the Cluster `True`?
    pub fn is_cluster(&self, kind: Type) -> bool {
        self.cluster
            .found()
            .is_some_and(|it| condition::is_true(it.conditions(), kind.as_str()))
    }

    /// Why Nodes cannot be looked at, if they have to be: nothing can be said of any Machine then.
    pub fn disconnected(&self) -> Option<String> {
        self.targets.iter().find_map(|it| match it.node.as_ref()? {
            Remote::Disconnected { why, .. } => Some(why.clone()),
            Remote::NotTried(_) => Some("the workload cluster is not connected yet".to_owned()),
            Remote::Found(_) | Remote::Absent => None,
        })
    }
}
