//! The etcd double: what kubeadm's stacked etcd is to Cluster API, speaking etcd's own gRPC API.
//!
//! It keeps membership, leadership and alarms, and nothing of the key-value store: the API server's objects are in
//! the cluster's [`capstan_store::Store`]. A member runs while its machine's VM does; what needs a quorum is refused
//! without one.

use sha2::{Digest, Sha256};

mod double;
mod membership;
mod server;

pub use double::{ChangeError, Etcd};
pub use membership::{Membership, Peer, Refusal};
pub(crate) use server::serve;

/// An ID that follows from `parts` alone; never 0, which etcd gives a meaning of its own.
pub(crate) fn stable_id(parts: &[&str]) -> u64 {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    let digest = hash.finalize();
    digest
        .iter()
        .take(8)
        .fold(0, |id, byte| (id << 8) | u64::from(*byte))
        .max(1)
}
