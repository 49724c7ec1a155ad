//! What can fail between us and an etcd member.

use std::{io, time::Duration};

/// A failed dial or call.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A certificate or key of the caller cannot be used.
    #[error("failed to read the etcd {what}")]
    Credentials {
        /// Which one.
        what: &'static str,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The API server did not forward to the pod.
    #[error("failed to forward to pod kube-system/{pod}")]
    Forward {
        /// The pod.
        pod: String,
        /// Why.
        #[source]
        source: Box<kube::Error>,
    },
    /// TLS or HTTP/2 could not be set up.
    #[error("failed to open an etcd connection to {target}")]
    Handshake {
        /// The member.
        target: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// gRPC could not be set up.
    #[error("failed to open an etcd connection to {target}")]
    Transport {
        /// The member.
        target: String,
        /// Why.
        #[source]
        source: tonic::transport::Error,
    },
    /// It took too long to connect.
    #[error("failed to open an etcd connection to {target}: no answer within {} s", limit.as_secs())]
    Slow {
        /// The member.
        target: String,
        /// The limit.
        limit: Duration,
    },
    /// A call was answered with an error.
    #[error("failed to {operation}")]
    Call {
        /// What was tried, as a verb phrase.
        operation: &'static str,
        /// The answer.
        #[source]
        source: Box<tonic::Status>,
    },
}

impl Error {
    /// Did the member answer that no such member exists?
    pub fn is_member_not_found(&self) -> bool {
        matches!(self, Self::Call { source, .. } if source.code() == tonic::Code::NotFound)
    }
}
