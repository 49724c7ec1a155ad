//! Defaulting, as upstream's webhooks do it.
//!
//! Differs: a spec that names no backend gets the in-memory one, since it is the only one that is served here.

use super::{
    DevCluster, DevClusterTemplate, DevMachine, DevMachineTemplate,
    cluster::{DevClusterSpec, InMemoryClusterBackend},
    machine::{DevMachineSpec, InMemoryMachineBackend},
};

/// Completes a DevCluster.
pub fn default_cluster(cluster: &mut DevCluster) {
    cluster_spec(&mut cluster.spec);
}

/// Completes a DevClusterTemplate.
pub fn default_cluster_template(template: &mut DevClusterTemplate) {
    cluster_spec(&mut template.spec.template.spec);
}

/// Completes a DevMachine.
pub fn default_machine(machine: &mut DevMachine) {
    machine_spec(&mut machine.spec);
}

/// Completes a DevMachineTemplate.
pub fn default_machine_template(template: &mut DevMachineTemplate) {
    machine_spec(&mut template.spec.template.spec);
}

fn cluster_spec(spec: &mut DevClusterSpec) {
    if spec.backend.docker.is_none() && spec.backend.in_memory.is_none() {
        spec.backend.in_memory = Some(InMemoryClusterBackend::default());
    }
    if spec.backend.docker.is_some() && spec.control_plane_endpoint.port == 0 {
        spec.control_plane_endpoint.port = 6443;
    }
}

fn machine_spec(spec: &mut DevMachineSpec) {
    if spec.backend.docker.is_none() && spec.backend.in_memory.is_none() {
        spec.backend.in_memory = Some(InMemoryMachineBackend::default());
    }
}
