//! The rules of the core: Cluster, Machine, MachineSet, MachineDeployment, MachineHealthCheck and ClusterResourceSet.
//! Providers are met only through the contract.

pub mod cluster;
pub mod cluster_resource_set;
pub mod cluster_resource_set_binding;
mod index;
pub mod machine;
pub mod machine_deployment;
pub mod machine_health_check;
pub mod machine_set;
mod mirror;
mod selector;
#[cfg(test)]
mod testing;
mod v1beta1;
