//! The rules of the core: Cluster, Machine, MachineSet and MachineDeployment. Providers are met only through the
//! contract.

pub mod cluster;
mod index;
pub mod machine;
pub mod machine_deployment;
pub mod machine_set;
mod mirror;
mod selector;
mod v1beta1;
