//! kubeadm's own configuration files: Cluster API's hub types rendered as the API version that the kubeadm of a
//! Kubernetes version reads, byte for byte as upstream renders them.
//!
//! Everything is pure. It stands apart from the bootstrap provider because the control plane provider keeps the same
//! files in the workload cluster, and the two must not import each other.

mod cluster;
mod fields;
mod node;
mod reading;
mod version;
pub mod yaml;

pub use cluster::{ClusterFacts, cluster_configuration};
pub use node::{init_configuration, join_configuration};
pub use reading::{ClusterDocument, ReadError, read_cluster_configuration};
pub use version::{KubeadmApi, UnsupportedVersion};
