//! Everything that decisions about one MachineSet may need.

use std::sync::Arc;

use capstan_api::{
    core::{Cluster, Machine, MachineDeployment, MachineSet},
    well_known,
};
use capstan_base::Timestamp;
use capstan_contract::External;
use capstan_engine::Lookup;
use kube::ResourceExt;

/// The snapshot of one pass.
#[derive(Debug, Clone)]
pub struct View {
    /// The time of the pass.
    pub now: Timestamp,
    /// How many passes failed in a row before this one.
    pub failures: u32,
    /// The MachineSet.
    pub machine_set: Arc<MachineSet>,
    /// Its Cluster.
    pub cluster: Lookup<Arc<Cluster>>,
    /// The MachineDeployment that controls it.
    pub machine_deployment: Option<Arc<MachineDeployment>>,
    /// The Machines that it controls, by name, deleting ones included.
    pub machines: Vec<Arc<Machine>>,
    /// Machines that match the selector and have no controller.
    pub orphans: Vec<Arc<Machine>>,
    /// The names of hosts and bootstrap objects of the set for which no Machine was made yet, sorted.
    pub unclaimed: Vec<String>,
    /// The template of the bootstrap objects; none if the template gives a data secret instead.
    pub bootstrap_template: Option<Lookup<External>>,
    /// The template of the hosts.
    pub infrastructure_template: Lookup<External>,
    /// The cluster's control plane object; none if the Cluster names none.
    pub control_plane: Option<Lookup<External>>,
}

impl View {
    /// Is the MachineSet being deleted?
    pub fn is_deleting(&self) -> bool {
        self.machine_set.metadata.deletion_timestamp.is_some()
    }

    /// The wanted number of machines.
    pub fn replicas(&self) -> usize {
        usize::try_from(self.machine_set.spec.replicas.unwrap_or(1)).unwrap_or(0)
    }

    /// Whether it is the revision that its MachineDeployment wants, or stands alone.
    pub fn is_current(&self) -> bool {
        let Some(deployment) = &self.machine_deployment else {
            return true;
        };
        let key = well_known::annotation::REVISION;
        self.machine_set.annotations().get(key) == deployment.annotations().get(key)
    }

    /// The templates that are missing, by kind: nothing can be made from them.
    pub fn missing_templates(&self) -> Vec<String> {
        let template = &self.machine_set.spec.template.spec;
        let mut missing = Vec::new();
        if let (Some(lookup), Some(reference)) = (&self.bootstrap_template, &template.bootstrap.config_ref)
            && lookup.found().is_none()
        {
            missing.push(reference.kind.clone());
        }
        if self.infrastructure_template.found().is_none() {
            missing.push(template.infrastructure_ref.kind.clone());
        }
        missing
    }
}
