//! The rules of the core: Cluster, Machine, MachineSet, MachineDeployment and MachineHealthCheck. Providers are met only
//! through the contract.

pub mod cluster;
mod index;
pub mod machine;
mod machine_conditions;
pub mod machine_deployment;
pub mod machine_health_check;
pub mod machine_set;
mod mirror;
mod selector;
mod v1beta1;
