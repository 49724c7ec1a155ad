//! Everything that decisions about one Cluster may need.

use std::sync::Arc;

use capstan_api::core::{
    ApiEndpoint, Cluster, ClusterInitialization, Machine, MachineDeployment, MachineSet,
};
use capstan_base::Timestamp;
use capstan_contract::External;
use capstan_engine::Lookup;
use capstan_workload::Health;
use kube::ResourceExt;

/// The snapshot of one pass.
#[derive(Debug, Clone)]
pub struct View {
    /// The time of the pass.
    pub now: Timestamp,
    /// The Cluster.
    pub cluster: Arc<Cluster>,
    /// The infrastructure object; none if the Cluster names none.
    pub infrastructure: Option<Lookup<External>>,
    /// The control plane object; none if the Cluster names none.
    pub control_plane: Option<Lookup<External>>,
    /// All Machines of the cluster, by name.
    pub machines: Vec<Arc<Machine>>,
    /// All MachineSets of the cluster, by name.
    pub machine_sets: Vec<Arc<MachineSet>>,
    /// All MachineDeployments of the cluster, by name.
    pub machine_deployments: Vec<Arc<MachineDeployment>>,
    /// What the probes of the workload cluster say.
    pub health: Health,
}

impl View {
    /// Is the Cluster being deleted?
    pub fn is_deleting(&self) -> bool {
        self.cluster.metadata.deletion_timestamp.is_some()
    }

    /// What happened once and stays true, as the last pass recorded it.
    pub fn initialization(&self) -> ClusterInitialization {
        self.cluster.status.clone().unwrap_or_default().initialization
    }

    /// The infrastructure object, if it is there.
    pub fn infrastructure_object(&self) -> Option<&External> {
        self.infrastructure.as_ref().and_then(Lookup::found)
    }

    /// The control plane object, if it is there.
    pub fn control_plane_object(&self) -> Option<&External> {
        self.control_plane.as_ref().and_then(Lookup::found)
    }

    /// Is the infrastructure there? Once true it stays true. Without an infrastructure object it is.
    pub fn is_infrastructure_provisioned(&self) -> bool {
        self.initialization().infrastructure_provisioned == Some(true)
            || match &self.infrastructure {
                None => !self.is_deleting() && self.cluster.spec.topology.is_none(),
                Some(lookup) => lookup.found().is_some_and(|it| {
                    !it.is_deleting() && it.infrastructure_cluster().provisioned().unwrap_or(false)
                }),
            }
    }

    /// Can the API server be used? Once true it stays true.
    pub fn is_control_plane_initialized(&self) -> bool {
        self.initialization().control_plane_initialized == Some(true)
            || self
                .control_plane_object()
                .is_some_and(|it| !it.is_deleting() && it.control_plane().initialized().unwrap_or(false))
            || (self.control_plane.is_none()
                && self
                    .machines
                    .iter()
                    .any(|it| is_control_plane(it) && has_node(it)))
    }

    /// The endpoint of the API server: the Cluster's own, or what the infrastructure or else the control plane says.
    pub fn endpoint(&self) -> Option<ApiEndpoint> {
        let own = &self.cluster.spec.control_plane_endpoint;
        if own.is_valid() {
            return Some(own.clone());
        }
        let infrastructure = self
            .infrastructure_object()
            .filter(|_| self.is_infrastructure_provisioned());
        let told = infrastructure.and_then(|it| {
            it.infrastructure_cluster()
                .control_plane_endpoint()
                .ok()
                .flatten()
        });
        let by_control_plane = || {
            self.control_plane_object()?
                .control_plane()
                .control_plane_endpoint()
                .ok()
                .flatten()
        };
        told.filter(ApiEndpoint::is_valid)
            .or_else(|| by_control_plane().filter(ApiEndpoint::is_valid))
    }

    /// The Machines of the control plane.
    pub fn control_plane_machines(&self) -> impl Iterator<Item = &Arc<Machine>> {
        self.machines.iter().filter(|it| is_control_plane(it))
    }

    /// The Machines that are workers.
    pub fn worker_machines(&self) -> impl Iterator<Item = &Arc<Machine>> {
        self.machines.iter().filter(|it| !is_control_plane(it))
    }

    /// The MachineSets that no MachineDeployment controls.
    pub fn standalone_machine_sets(&self) -> impl Iterator<Item = &Arc<MachineSet>> {
        self.machine_sets
            .iter()
            .filter(|it| it.owner_references().iter().all(|it| it.controller != Some(true)))
    }
}

/// Is it a control plane machine?
pub(super) fn is_control_plane(machine: &Machine) -> bool {
    machine
        .labels()
        .contains_key(capstan_api::well_known::label::CONTROL_PLANE)
}

/// Does it have a Node?
pub(super) fn has_node(machine: &Machine) -> bool {
    machine.status.as_ref().is_some_and(|it| it.node_ref.is_some())
}
