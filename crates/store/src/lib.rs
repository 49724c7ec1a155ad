//! The revisioned object store under the API server: opaque values by key, one global revision, every read from
//! memory, every write durable before anyone sees it.
//!
//! ```text
//!  commit ──▶ sequencer: check `expect`, assign revisions ──▶ one durable transaction ──▶ publish ──▶ reply
//!               │ (inline for the memory store,                                            │
//!               │  one writer thread for the durable one)                                  ▼
//!               └──────────── prepares the next immutable State from the last ◀──── ArcSwap<State>
//!                                                                                          │
//!  snapshot, snapshot_at, watch ◀──────────────────────────────────────────────────────────┘
//! ```
//!
//! A published state is never changed: it holds the objects (persistent maps) and the history of events above the
//! floor. Readers take the state as a whole, so revision, objects, index and history always agree. The store knows
//! neither HTTP nor kinds nor what its values mean.

mod durable;
mod error;
mod history;
mod key;
mod objects;
mod options;
mod record;
mod snapshot;
mod state;
mod store;
mod watch;

pub use error::{CommitError, Compacted, OpenError, SnapshotError};
pub use key::Key;
pub use options::{HistoryLimits, Indexer, Options};
pub use record::{Event, IndexEntry, Record};
pub use snapshot::Snapshot;
pub use state::{Committed, Expect, INITIAL_REVISION, Write};
pub use store::{Metrics, Store};
pub use watch::Cursor;
