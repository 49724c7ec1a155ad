//! One etcd cluster: its membership, kept in the workload cluster's own store beside the objects.

use std::sync::Arc;

use bytes::Bytes;
use capstan_store::{CommitError, Expect, Key, Store, Write};
use parking_lot::Mutex;

use super::membership::{Membership, Refusal};

/// Where the membership is kept: a resource that no API serves.
const RESOURCE: &str = "infrastructure.cluster.x-k8s.io/etcd-memberships";
const NAME: &str = "etcd";

struct Inner {
    membership: Mutex<Membership>,
    /// Held while a change is written, so that changes reach the store in the order in which they happened.
    turn: tokio::sync::Mutex<()>,
    store: Store,
}

/// One etcd cluster. Clones share everything.
#[derive(Clone)]
pub struct Etcd(Arc<Inner>);

impl std::fmt::Debug for Etcd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Etcd")
            .field("membership", &*self.0.membership.lock())
            .finish_non_exhaustive()
    }
}

/// Why a change of an etcd cluster did not happen.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// etcd refuses.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The change could not be kept.
    #[error("failed to keep the etcd membership")]
    Keep(#[source] CommitError),
}

impl Etcd {
    /// The etcd cluster that `store` remembers, with no member running; a new one if it remembers none.
    pub fn open(store: Store) -> Self {
        let kept = store
            .snapshot()
            .get(&key())
            .and_then(|it| serde_json::from_slice(&it.value).ok());
        Self(Arc::new(Inner {
            membership: Mutex::new(kept.unwrap_or_default()),
            turn: tokio::sync::Mutex::new(()),
            store,
        }))
    }

    /// Reads the membership.
    pub fn read<R>(&self, read: impl FnOnce(&Membership) -> R) -> R {
        read(&self.0.membership.lock())
    }

    /// Changes the membership and keeps it. A refused change changes nothing.
    pub async fn change<R>(
        &self,
        change: impl FnOnce(&mut Membership) -> Result<R, Refusal>,
    ) -> Result<R, ChangeError> {
        let _turn = self.0.turn.lock().await;
        let mut changed = self.0.membership.lock().clone();
        let before = changed.clone();
        let answer = change(&mut changed)?;
        if changed != before {
            let value = serde_json::to_vec(&changed).unwrap_or_default();
            let write = Write {
                key: key(),
                expect: Expect::Any,
                value: Some(Bytes::from(value)),
            };
            self.0.store.commit(write).await.map_err(ChangeError::Keep)?;
        }
        *self.0.membership.lock() = changed;
        Ok(answer)
    }
}

fn key() -> Key {
    Key::new(RESOURCE, "", NAME)
}
