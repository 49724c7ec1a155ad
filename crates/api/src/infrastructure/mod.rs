//! The kinds of group `infrastructure.cluster.x-k8s.io` that Capstan serves itself: clusters and machines in memory and
//! in containers.
//!
//! The Dev kinds choose between both by their `backend`. The Docker kinds are older and know containers only; what they
//! say is what a Dev kind says under `backend.docker`.
//! Source: cluster-api `test/infrastructure/docker/api/v1beta2`.

mod cluster;
mod docker;
mod machine;
mod quantity;
pub mod words;

pub use cluster::{
    ClusterBackend, ClusterInitialization, ClusterStatus, DevCluster, DevClusterSpec, DevClusterTemplate,
    DevClusterTemplateResource, DevClusterTemplateSpec, InMemoryClusterBackend,
};
pub use docker::{
    DockerCluster, DockerClusterBackend, DockerClusterSpec, DockerClusterTemplate,
    DockerClusterTemplateResource, DockerClusterTemplateSpec, DockerMachine, DockerMachineBackend,
    DockerMachineSpec, DockerMachineTemplate, DockerMachineTemplateResource, DockerMachineTemplateSpec,
    ExtraMount, LoadBalancer, LocalReference,
};
pub use machine::{
    Component, DevMachine, DevMachineSpec, DevMachineTemplate, DevMachineTemplateResource,
    DevMachineTemplateSpec, InMemoryMachineBackend, MachineBackend, MachineInitialization, MachineStatus,
    MachineTemplateStatus, Provisioning,
};
pub use quantity::{DurationError, parse_duration, parse_jitter};

/// The API group of these kinds.
pub const GROUP: &str = "infrastructure.cluster.x-k8s.io";
