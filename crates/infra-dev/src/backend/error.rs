//! What can fail in the dev provider's world.

use std::time::Duration;

use capstan_engine::{Classified, ObjectKey, Retry};

use crate::etcd::ChangeError;

/// A failed effect.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// All ports are in use.
    #[error("failed to find a free port between {first} and {last}")]
    NoFreePort {
        /// The first port that was tried.
        first: u16,
        /// The last one.
        last: u16,
    },
    /// A cluster of that name is still being taken down.
    #[error("failed to open workload cluster {cluster}: one of that name is still closing")]
    StillClosing {
        /// The Cluster.
        cluster: ObjectKey,
    },
    /// The workload cluster does not exist.
    #[error("failed to reach workload cluster {cluster}: it does not exist")]
    NotOpen {
        /// The Cluster.
        cluster: ObjectKey,
    },
    /// The VM does not exist.
    #[error("failed to find the VM of machine {machine}")]
    NoVm {
        /// The machine.
        machine: String,
    },
    /// The workload cluster's store cannot be opened.
    #[error("failed to open the store of workload cluster {cluster}")]
    OpenStore {
        /// The Cluster.
        cluster: ObjectKey,
        /// Why.
        #[source]
        source: Box<capstan_store::OpenError>,
    },
    /// The workload cluster's store cannot be removed.
    #[error("failed to remove the store of workload cluster {cluster}")]
    RemoveStore {
        /// The Cluster.
        cluster: ObjectKey,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The workload cluster's API server cannot be started.
    #[error("failed to start the API server of workload cluster {cluster}: {message}")]
    StartServer {
        /// The Cluster.
        cluster: ObjectKey,
        /// The server's words.
        message: String,
    },
    /// The endpoint cannot be listened on.
    #[error("failed to listen on {endpoint}")]
    Listen {
        /// The endpoint.
        endpoint: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A certificate cannot be read or made.
    #[error("failed to make the certificates of machine {machine}")]
    Certificates {
        /// The machine.
        machine: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An object cannot be written into the workload cluster.
    #[error("failed to {verb} {kind} {name} in the workload cluster")]
    Object {
        /// What was tried.
        verb: &'static str,
        /// The kind.
        kind: String,
        /// Namespace and name.
        name: String,
        /// Why.
        #[source]
        source: Box<kube::Error>,
    },
    /// etcd refuses.
    #[error("failed to change the etcd membership of workload cluster {cluster}")]
    Etcd {
        /// The Cluster.
        cluster: ObjectKey,
        /// Why.
        #[source]
        source: ChangeError,
    },
    /// The world does not answer, or does not do what it was asked.
    #[error("failed to {effect}: {why}")]
    Refused {
        /// The effect and its target.
        effect: String,
        /// The world's words.
        why: String,
    },
    /// kubeadm cannot join, yet: the sentence is for people.
    #[error("kubeadm join failed: {0}")]
    Join(String),
}

impl Classified for BackendError {
    fn retry(&self) -> Retry {
        match self {
            // kubeadm's own pause between attempts to find the cluster.
            Self::Join(_) => Retry::After(Duration::from_secs(5)),
            Self::Etcd {
                source: ChangeError::Refused(_),
                ..
            } => Retry::After(Duration::from_secs(1)),
            _ => Retry::Backoff,
        }
    }
}
