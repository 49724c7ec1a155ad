//! KubeadmConfig: the data with which a host becomes a node by way of kubeadm, and the controller that makes it.
//!
//! [`data`] renders and is pure. The controller decides which of three things a host does (make the cluster, join its
//! control plane, join as a worker), sees to certificates and tokens, and keeps the data in a secret.

mod config;
pub mod data;

pub use config::{KubeadmConfigReconciler, Settings, start};
