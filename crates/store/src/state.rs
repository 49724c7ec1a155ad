//! The sequencer: from one immutable state and a batch of writes to the next state.

use std::sync::Arc;

use bytes::Bytes;
use capstan_base::Timestamp;

use crate::{
    durable::row,
    error::CommitError,
    history::History,
    key::Key,
    objects::Objects,
    options::Options,
    record::{Event, Record},
};

/// The revision of a new, empty store. It is not 0, since Kubernetes clients give "0" a meaning of its own.
pub const INITIAL_REVISION: u64 = 1;

/// A write to be committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// The object to write.
    pub key: Key,
    /// What must be stored there for the write to happen.
    pub expect: Expect,
    /// The new value; `None` removes the object.
    pub value: Option<Bytes>,
}

/// The condition of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// No object is stored.
    Absent,
    /// The object is stored and its last write has this revision.
    Revision(u64),
    /// No condition. (Removing an object that is not there fails all the same.)
    Any,
}

/// A write that is durable and visible.
#[derive(Debug, Clone)]
pub struct Committed {
    /// The revision of the write.
    pub revision: u64,
    /// The record written, or for a removal the one removed.
    pub record: Arc<Record>,
}

/// Everything a reader can see, at one revision.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) objects: Arc<Objects>,
    pub(crate) history: History,
    pub(crate) counters: Counters,
}

/// What has been committed since the store was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    pub(crate) puts: u64,
    pub(crate) removals: u64,
    pub(crate) commits: u64,
    pub(crate) log_bytes: u64,
}

/// The outcome of a batch of writes before anyone sees it.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) next: State,
    pub(crate) at: Timestamp,
    /// What happened, in revision order.
    pub(crate) events: Vec<Event>,
    /// The events that left the history.
    pub(crate) trimmed: Vec<Event>,
    /// For each write, in the order given.
    pub(crate) outcomes: Vec<Result<Committed, CommitError>>,
}

impl State {
    pub(crate) fn empty() -> Self {
        let objects = Objects::none_at(INITIAL_REVISION);
        Self {
            objects: Arc::new(objects),
            history: History::starting_at(0),
            counters: Counters::default(),
        }
    }

    pub(crate) fn revision(&self) -> u64 {
        self.objects.revision
    }

    /// Applies the writes in order to a copy of this state: each sees the ones before it.
    pub(crate) fn prepare(&self, writes: impl IntoIterator<Item = Write>, options: &Options) -> Batch {
        let at = options.clock.now();
        let mut next = self.clone();
        let mut objects = Objects::clone(&self.objects);
        let mut events = Vec::new();
        let mut outcomes = Vec::new();
        for write in writes {
            let outcome = apply(&mut objects, write, options).map(|event| {
                next.counters.count(&event);
                next.history.push(at, event.clone());
                let record = Arc::clone(event.record());
                let revision = event.revision;
                events.push(event);
                Committed { revision, record }
            });
            outcomes.push(outcome);
        }
        next.objects = Arc::new(objects);
        if !events.is_empty() {
            next.counters.commits += 1;
            next.history.checkpoint(&next.objects);
        }
        let trimmed = next.history.trim(&options.history, at);
        Batch {
            next,
            at,
            events,
            trimmed,
            outcomes,
        }
    }

    /// Drops the history up to and including `through`, and what the limits do not allow.
    pub(crate) fn prepare_compaction(&self, through: u64, options: &Options) -> Batch {
        let mut batch = self.prepare([], options);
        batch.trimmed.extend(batch.next.history.trim_through(through));
        batch
    }
}

impl Counters {
    fn count(&mut self, event: &Event) {
        if event.current.is_some() {
            self.puts += 1;
        } else {
            self.removals += 1;
        }
        self.log_bytes += row::length(event);
    }
}

/// Checks and applies one write.
fn apply(objects: &mut Objects, write: Write, options: &Options) -> Result<Event, CommitError> {
    let Write { key, expect, value } = write;
    let previous = objects.get(&key).cloned();
    match (expect, &previous) {
        (Expect::Absent, Some(found)) => {
            return Err(CommitError::Exists {
                key,
                found: found.revision,
            });
        }
        (Expect::Revision(expected), Some(found)) if found.revision != expected => {
            return Err(CommitError::Conflict {
                key,
                expected,
                found: found.revision,
            });
        }
        (Expect::Revision(_), None) => return Err(CommitError::Absent { key }),
        (Expect::Absent | Expect::Any, None) if value.is_none() => return Err(CommitError::Absent { key }),
        _ => {}
    }
    objects.revision += 1;
    let revision = objects.revision;
    let current = if let Some(value) = value {
        let (key, create_revision) = match &previous {
            Some(previous) => (previous.key.clone(), previous.create_revision),
            None => (objects.interned(key), revision),
        };
        let indexer = options.indexer.as_ref();
        let record = Arc::new(Record::new(key, revision, create_revision, value, indexer));
        objects.put(&record);
        Some(record)
    } else {
        objects.remove(&key);
        None
    };
    Ok(Event {
        revision,
        previous,
        current,
    })
}
