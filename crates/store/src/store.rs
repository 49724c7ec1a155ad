//! The handle that everyone uses.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use parking_lot::Mutex;

use crate::{
    durable::Durable,
    error::{CommitError, Compacted, OpenError, SnapshotError},
    options::Options,
    snapshot::Snapshot,
    state::{Committed, State, Write},
    watch::{Cursor, Scope, Shared},
};

/// A revisioned object store. Clones are cheap and share everything.
///
/// # Guarantees
///
/// - Every committed write has a revision of its own, one above the last.
/// - A write is visible to everyone when its `commit` returns, and to nobody before it is durable.
/// - Reads take no lock that a writer holds, and never wait for the disk.
/// - The memory store uses no thread, no time and no chance of its own: the same calls give the same results.
#[derive(Debug, Clone)]
pub struct Store {
    shared: Arc<Shared>,
    backend: Arc<Backend>,
}

#[derive(Debug)]
enum Backend {
    Memory { turn: Mutex<()>, options: Options },
    Durable(Durable),
}

/// Counters and sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metrics {
    /// The revision of the last write.
    pub revision: u64,
    /// The oldest revision that can still be read or watched from.
    pub floor: u64,
    /// Objects created or changed since the store was opened.
    pub puts_total: u64,
    /// Objects removed since the store was opened.
    pub removals_total: u64,
    /// Transactions since the store was opened; less than the writes where several were committed together.
    pub commits_total: u64,
    /// Bytes of keys, values and row headers handed to the log since the store was opened. The memory store counts
    /// what the durable one would have written.
    pub log_bytes_total: u64,
    /// Stored objects by resource.
    pub objects: BTreeMap<String, usize>,
}

impl Store {
    /// An empty store in memory. It is gone with its last clone.
    pub fn memory(options: Options) -> Self {
        let backend = Backend::Memory {
            turn: Mutex::new(()),
            options,
        };
        Self {
            shared: Arc::new(Shared::new(State::empty())),
            backend: Arc::new(backend),
        }
    }

    /// Opens the store in `folder`, creating both where they are missing (the folder with mode 0700). One store at a
    /// time holds a folder, until its last clone is dropped, [`Store::close`] returns, or the process ends.
    ///
    /// Starts a thread, and blocks while the file is read.
    pub fn open(folder: impl AsRef<Path>, options: Options) -> Result<Self, OpenError> {
        let (durable, shared) = Durable::open(folder.as_ref(), options)?;
        Ok(Self {
            shared,
            backend: Arc::new(Backend::Durable(durable)),
        })
    }

    /// The revision of the last write.
    pub fn revision(&self) -> u64 {
        self.shared.state().revision()
    }

    /// All objects as they are now.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(Arc::clone(&self.shared.state().objects))
    }

    /// All objects as they were at `revision`, exactly.
    pub fn snapshot_at(&self, revision: u64) -> Result<Snapshot, SnapshotError> {
        let state = self.shared.state();
        state.history.objects_at(&state.objects, revision).map(Snapshot)
    }

    /// Commits one write; returns when it is durable and visible.
    ///
    /// # Errors
    ///
    /// With [`CommitError::Durable`] nothing became visible and nothing further is written until the store knows what
    /// the disk holds; reads go on.
    ///
    /// # Cancellation
    ///
    /// A write whose future is dropped may or may not be committed.
    pub async fn commit(&self, write: Write) -> Result<Committed, CommitError> {
        match &*self.backend {
            Backend::Durable(durable) => durable.commit(write).await,
            Backend::Memory { turn, options } => {
                let _turn = turn.lock();
                let mut batch = self.shared.state().prepare([write], options);
                let outcome = batch.outcomes.pop().expect("invariant: one outcome per write");
                if outcome.is_ok() {
                    self.shared.publish(batch);
                }
                outcome
            }
        }
    }

    /// Follows the writes to `resource`, in one namespace or in all, from the first one after the revision `after`
    /// (which may lie in the future).
    pub fn watch(&self, resource: &str, namespace: Option<&str>, after: u64) -> Result<Cursor, Compacted> {
        let scope = match namespace {
            Some(namespace) => Scope::Namespace(resource.into(), namespace.into()),
            None => Scope::Resource(resource.into()),
        };
        self.shared.watch(scope, after)
    }

    /// Follows the writes to every resource.
    pub fn watch_all(&self, after: u64) -> Result<Cursor, Compacted> {
        self.shared.watch(Scope::All, after)
    }

    /// Drops the history that the limits do not allow (which every write does too). Returns the new floor.
    pub async fn compact(&self) -> Result<u64, CommitError> {
        self.compact_through(0).await
    }

    /// Drops the history up to and including `revision` (at most the current one), whatever the limits allow, so that
    /// the floor becomes that revision if it was lower. Returns the new floor.
    pub async fn compact_through(&self, revision: u64) -> Result<u64, CommitError> {
        match &*self.backend {
            Backend::Durable(durable) => durable.compact(revision).await,
            Backend::Memory { turn, options } => {
                let _turn = turn.lock();
                let batch = self.shared.state().prepare_compaction(revision, options);
                let floor = batch.next.history.floor();
                self.shared.publish(batch);
                Ok(floor)
            }
        }
    }

    /// Finishes the writes handed in, closes the file and frees the folder, even while clones live on. They can still
    /// read; later writes fail with [`CommitError::Closed`]. Does nothing to a memory store.
    pub async fn close(&self) {
        if let Backend::Durable(durable) = &*self.backend {
            durable.close().await;
        }
    }

    /// Counters and sizes, all of one moment.
    pub fn metrics(&self) -> Metrics {
        let state = self.shared.state();
        let snapshot = Snapshot(Arc::clone(&state.objects));
        Metrics {
            revision: state.revision(),
            floor: state.history.floor(),
            puts_total: state.counters.puts,
            removals_total: state.counters.removals,
            commits_total: state.counters.commits,
            log_bytes_total: state.counters.log_bytes,
            objects: snapshot
                .counts()
                .map(|(resource, count)| (resource.to_owned(), count))
                .collect(),
        }
    }
}
