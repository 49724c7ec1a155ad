//! Following the events of a resource: cursors over the shared history instead of a queue per watcher.

use std::{
    collections::{BTreeMap, BTreeSet},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::{
    error::Compacted,
    key::Key,
    record::Event,
    state::{Batch, State},
};

/// Most events that a cursor gives at once, so that a watcher far behind does not hold them all.
const EVENTS_AT_ONCE: usize = 1000;

/// What a cursor follows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    All,
    Resource(Arc<str>),
    Namespace(Arc<str>, Arc<str>),
}

impl Scope {
    pub(crate) fn contains(&self, key: &Key) -> bool {
        match self {
            Self::All => true,
            Self::Resource(resource) => *resource == key.resource,
            Self::Namespace(resource, namespace) => *resource == key.resource && *namespace == key.namespace,
        }
    }

    /// The scopes that contain `key`.
    fn around(key: &Key) -> [Self; 3] {
        let Key {
            resource, namespace, ..
        } = key;
        [
            Self::All,
            Self::Resource(Arc::clone(resource)),
            Self::Namespace(Arc::clone(resource), Arc::clone(namespace)),
        ]
    }
}

/// What the cursors of one scope share.
///
/// A `Notify` wakes its waiters in the order in which they came. (A `tokio::sync::watch` channel spreads them over
/// several lists by chance, which would make a simulation irreproducible.)
#[derive(Debug, Default)]
struct Bell {
    notify: Notify,
    /// The revision of the last event of this scope that left the history while the bell existed. A cursor at or
    /// above it has missed nothing, even if the history's floor is far above: a watcher of a quiet resource stays
    /// valid however much is written elsewhere.
    trimmed: AtomicU64,
    /// How many cursors there are. Changes only under the lock of the map that holds the bell.
    cursors: AtomicUsize,
}

/// The published state and those who wait for the next one.
#[derive(Debug)]
pub(crate) struct Shared {
    state: ArcSwap<State>,
    bells: Mutex<BTreeMap<Scope, Arc<Bell>>>,
}

impl Shared {
    pub(crate) fn new(state: State) -> Self {
        Self {
            state: ArcSwap::from_pointee(state),
            bells: Mutex::default(),
        }
    }

    pub(crate) fn state(&self) -> Arc<State> {
        self.state.load_full()
    }

    /// Makes a batch visible to everyone. Only the sequencer calls this, one batch at a time.
    pub(crate) fn publish(&self, batch: Batch) {
        let bells = self.bells.lock();
        if bells.is_empty() {
            self.state.store(Arc::new(batch.next));
            return;
        }
        // Marked before the state is swapped: who sees the shorter history also sees the mark. The lock is held over
        // both, so that no cursor begins in between.
        for event in &batch.trimmed {
            for bell in Scope::around(event.key())
                .iter()
                .filter_map(|scope| bells.get(scope))
            {
                bell.trimmed.fetch_max(event.revision, Ordering::Release);
            }
        }
        self.state.store(Arc::new(batch.next));
        let touched: BTreeSet<_> = batch
            .events
            .iter()
            .flat_map(|event| Scope::around(event.key()))
            .collect();
        let ringing: Vec<_> = touched
            .iter()
            .filter_map(|scope| bells.get(scope).cloned())
            .collect();
        drop(bells);
        for bell in ringing {
            bell.notify.notify_waiters();
        }
    }

    pub(crate) fn watch(self: &Arc<Self>, scope: Scope, after: u64) -> Result<Cursor, Compacted> {
        let mut bells = self.bells.lock();
        let floor = self.state.load().history.floor();
        if after < floor {
            return Err(Compacted {
                requested: after,
                floor,
            });
        }
        let bell = Arc::clone(bells.entry(scope.clone()).or_default());
        bell.cursors.fetch_add(1, Ordering::Relaxed);
        drop(bells);
        Ok(Cursor {
            shared: Arc::clone(self),
            bell,
            scope,
            position: after,
        })
    }
}

/// A place in the history of one scope. It gives every event after that place, in revision order, none twice, none
/// left out; a cursor that falls behind the history that is kept gets [`Compacted`] instead.
#[derive(Debug)]
pub struct Cursor {
    shared: Arc<Shared>,
    bell: Arc<Bell>,
    scope: Scope,
    position: u64,
}

impl Cursor {
    /// The revision up to which this cursor has given everything: the one to put into a bookmark, and to watch from
    /// when the watch is resumed.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The next events that have happened already; none if there are none, and then the position is the current
    /// revision.
    pub fn ready(&mut self) -> Result<Vec<Event>, Compacted> {
        let state = self.shared.state.load();
        if self.bell.trimmed.load(Ordering::Acquire) > self.position {
            return Err(Compacted {
                requested: self.position,
                floor: state.history.floor(),
            });
        }
        let events = state
            .history
            .events_after(&self.scope, self.position, EVENTS_AT_ONCE);
        let complete = if events.len() < EVENTS_AT_ONCE {
            state.revision()
        } else {
            0
        };
        let last = events
            .last()
            .map_or(complete, |event| event.revision.max(complete));
        self.position = self.position.max(last);
        Ok(events)
    }

    /// The next events, at least one; waits until there are some.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost when the future is dropped.
    pub async fn next(&mut self) -> Result<Vec<Event>, Compacted> {
        let bell = Arc::clone(&self.bell);
        loop {
            // Listening begins before looking, so that what happens in between wakes us.
            let mut rung = pin!(bell.notify.notified());
            rung.as_mut().enable();
            let events = self.ready()?;
            if !events.is_empty() {
                return Ok(events);
            }
            rung.await;
        }
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        let mut bells = self.shared.bells.lock();
        if self.bell.cursors.fetch_sub(1, Ordering::Relaxed) == 1 {
            bells.remove(&self.scope);
        }
    }
}
