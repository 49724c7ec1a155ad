//! What is stored under a key, and the event that a write makes of it.

use std::{
    any::Any,
    fmt,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;

use crate::{key::Key, options::Indexer};

/// One version of an object. Records never change; a write makes a new one.
pub struct Record {
    /// The object's key.
    pub key: Key,
    /// The revision of the write that made this record.
    pub revision: u64,
    /// The revision of the write that created the object.
    pub create_revision: u64,
    /// The stored bytes.
    pub value: Bytes,
    index: Box<[IndexEntry]>,
    decoded: OnceLock<Arc<dyn Any + Send + Sync>>,
}

impl Record {
    pub(crate) fn new(
        key: Key,
        revision: u64,
        create_revision: u64,
        value: Bytes,
        indexer: Option<&Indexer>,
    ) -> Self {
        let mut record = Self {
            key,
            revision,
            create_revision,
            value,
            index: Box::default(),
            decoded: OnceLock::new(),
        };
        if let Some(indexer) = indexer {
            record.index = indexer(&record).into_boxed_slice();
        }
        record
    }

    /// The value decoded by `decode`, which runs at most once as long as all callers ask for the same `T` (two that
    /// race may both decode; one result wins). There is one slot: a caller that asks for another type than the first
    /// one did gets its own, unmemoised decoding.
    pub fn cached<T: Any + Send + Sync>(&self, decode: impl FnOnce(&Bytes) -> T) -> Arc<T> {
        if let Some(decoded) = self.decoded.get() {
            return match Arc::clone(decoded).downcast() {
                Ok(decoded) => decoded,
                Err(_) => Arc::new(decode(&self.value)),
            };
        }
        let mine = Arc::new(decode(&self.value));
        let first = Arc::clone(self.decoded.get_or_init(|| Arc::clone(&mine) as _));
        first.downcast().unwrap_or(mine)
    }

    /// The secondary index entries of this record, as the indexer gave them.
    pub fn index(&self) -> &[IndexEntry] {
        &self.index
    }
}

impl fmt::Debug for Record {
    /// Leaves the value out: it may hold a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("key", &self.key)
            .field("revision", &self.revision)
            .field("create_revision", &self.create_revision)
            .field("value_bytes", &self.value.len())
            .finish_non_exhaustive()
    }
}

/// One entry of a secondary index: the object is found under `value` in the index named `index`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct IndexEntry {
    /// The index.
    pub index: &'static str,
    /// The value under which the object is found.
    pub value: Arc<str>,
}

/// One committed write. An object was created when only `current` is there, changed when both are, removed when only
/// `previous` is.
#[derive(Debug, Clone)]
pub struct Event {
    /// The revision of the write.
    pub revision: u64,
    /// The record before the write.
    pub previous: Option<Arc<Record>>,
    /// The record after the write.
    pub current: Option<Arc<Record>>,
}

impl Event {
    /// The record that the event is about: the new one, or for a removal the last one.
    pub fn record(&self) -> &Arc<Record> {
        self.current
            .as_ref()
            .or(self.previous.as_ref())
            .expect("invariant: an event has a record")
    }

    /// The object's key.
    pub fn key(&self) -> &Key {
        &self.record().key
    }
}
