//! The dev provider's kinds in their hub version v1beta2: shapes, words, defaulting and validation. All pure.
//! Source: upstream `test/infrastructure/docker/api/v1beta2`.

mod cluster;
mod default;
mod kind;
mod machine;
mod quantity;
mod validate;
pub mod words;

pub use cluster::{
    ClusterBackend, DevCluster, DevClusterSpec, DevClusterStatus, DevClusterTemplate,
    DevClusterTemplateResource, DevClusterTemplateSpec, InMemoryClusterBackend, Initialization,
};
pub use default::{default_cluster, default_cluster_template, default_machine, default_machine_template};
pub use machine::{
    Component, DevMachine, DevMachineSpec, DevMachineStatus, DevMachineTemplate, DevMachineTemplateResource,
    DevMachineTemplateSpec, DevMachineTemplateStatus, InMemoryMachineBackend, MachineBackend, Provisioning,
};
pub use quantity::{DurationError, parse_duration, parse_jitter};
pub use validate::{
    validate_cluster, validate_cluster_template, validate_cluster_template_update, validate_machine,
    validate_machine_template, validate_machine_template_update,
};

/// The API group of these kinds.
pub const GROUP: &str = "infrastructure.cluster.x-k8s.io";
/// The hub version.
pub const VERSION: &str = "v1beta2";
