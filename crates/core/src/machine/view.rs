//! Everything that decisions about one Machine may need.

use std::sync::Arc;

use capstan_api::{
    core::{Cluster, Machine, MachineDeployment, MachineSet},
    well_known,
};
use capstan_base::Timestamp;
use capstan_contract::External;
use capstan_engine::Lookup;
use capstan_workload::{Health, Remote};
use k8s_openapi::api::core::v1::Node;
use kube::ResourceExt;

use super::drain::Drain;

/// The snapshot of one pass.
#[derive(Debug, Clone)]
pub struct View {
    /// The time of the pass.
    pub now: Timestamp,
    /// The Machine.
    pub machine: Arc<Machine>,
    /// Its Cluster.
    pub cluster: Lookup<Arc<Cluster>>,
    /// The object that makes its bootstrap data; none if the Machine names none.
    pub bootstrap: Option<Lookup<External>>,
    /// The object that is its host.
    pub infrastructure: Lookup<External>,
    /// Its Node in the workload cluster, found by provider ID.
    pub node: Remote<Arc<Node>>,
    /// More than one Node claims the provider ID: their names.
    pub node_rivals: Vec<String>,
    /// What the probes of the workload cluster say.
    pub health: Health,
    /// The MachineSet that controls it.
    pub machine_set: Option<Arc<MachineSet>>,
    /// The MachineDeployment that controls that MachineSet.
    pub machine_deployment: Option<Arc<MachineDeployment>>,
    /// Whether the Node may be deleted with the Machine.
    pub node_deletion: NodeDeletion,
    /// What is on the Node, where it is to be drained.
    pub drain: Drain,
}

/// Whether a Machine's Node is drained and deleted with it, and if not, why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeDeletion {
    /// It is.
    Allowed,
    /// The whole cluster goes.
    ClusterDeleting,
    /// The Machine never had a node.
    NoNode,
    /// The control plane goes.
    ControlPlaneDeleting,
    /// It is the last control plane machine: there is nobody left to ask.
    NoControlPlaneMembers,
}

impl View {
    /// Is the Machine being deleted?
    pub fn is_deleting(&self) -> bool {
        self.machine.metadata.deletion_timestamp.is_some()
    }

    /// Is it a control plane machine?
    pub fn is_control_plane(&self) -> bool {
        self.machine
            .labels()
            .contains_key(well_known::label::CONTROL_PLANE)
    }

    /// The object that makes the bootstrap data, if it is there.
    pub fn bootstrap_object(&self) -> Option<&External> {
        self.bootstrap.as_ref().and_then(Lookup::found)
    }

    /// Has the host ever been provisioned?
    pub fn was_provisioned(&self) -> bool {
        self.machine
            .status
            .as_ref()
            .and_then(|it| it.initialization.infrastructure_provisioned)
            == Some(true)
    }

    /// Is the host provisioned, with a provider ID to find the node by?
    pub fn is_provisioned(&self) -> bool {
        self.was_provisioned() || self.provisioned_host_id().is_some()
    }

    /// The provider ID of the host, once it is provisioned.
    fn provisioned_host_id(&self) -> Option<String> {
        let host = self.infrastructure.found()?.infrastructure_machine();
        host.provisioned()
            .unwrap_or(false)
            .then(|| host.provider_id().ok().flatten())
            .flatten()
    }

    /// The name of the secret with the bootstrap data, from the Machine or else from the object that makes it.
    pub fn data_secret_name(&self) -> Option<String> {
        let given = self.machine.spec.bootstrap.data_secret_name.clone();
        given.or_else(|| {
            let config = self.bootstrap_object()?.bootstrap_config();
            config
                .data_secret_created()
                .unwrap_or(false)
                .then(|| config.data_secret_name().ok().flatten())
                .flatten()
        })
    }

    /// The provider ID, from the Machine or else from the provisioned host.
    pub fn provider_id(&self) -> Option<String> {
        let given = self.machine.spec.provider_id.clone().filter(|it| !it.is_empty());
        given.or_else(|| self.provisioned_host_id())
    }
}
