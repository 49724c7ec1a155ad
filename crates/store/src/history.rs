//! The recent events, for watches and for reads at an older revision.

use std::sync::Arc;

use capstan_base::Timestamp;
use imbl::{OrdMap, Vector};

use crate::{
    error::{Compacted, SnapshotError},
    objects::Objects,
    options::HistoryLimits,
    record::Event,
    watch::Scope,
};

/// So many revisions lie between two kept object sets. A read at an older revision undoes at most these, plus one
/// batch.
const CHECKPOINT_INTERVAL: u64 = 256;

/// All events with a revision above the floor, without gap. A clone costs a few pointers.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    /// The oldest revision that can still be read, and after which a watch can still begin.
    floor: u64,
    log: Vector<Logged>,
    /// The same events by resource, so that a watch never reads through the events of others.
    by_resource: OrdMap<Arc<str>, Vector<Event>>,
    /// The objects at some revisions not below the floor, in order.
    checkpoints: Vector<Arc<Objects>>,
}

#[derive(Debug, Clone)]
struct Logged {
    at: Timestamp,
    event: Event,
}

impl History {
    pub(crate) fn starting_at(floor: u64) -> Self {
        Self {
            floor,
            ..Self::default()
        }
    }

    pub(crate) fn floor(&self) -> u64 {
        self.floor
    }

    pub(crate) fn push(&mut self, at: Timestamp, event: Event) {
        let resource = Arc::clone(&event.key().resource);
        self.by_resource
            .entry(resource)
            .or_default()
            .push_back(event.clone());
        self.log.push_back(Logged { at, event });
    }

    /// Keeps `objects` for reads at revisions up to theirs, if the last kept ones are old enough.
    pub(crate) fn checkpoint(&mut self, objects: &Arc<Objects>) {
        let last = self
            .checkpoints
            .last()
            .map_or(self.floor, |objects| objects.revision);
        if objects.revision >= last + CHECKPOINT_INTERVAL {
            self.checkpoints.push_back(Arc::clone(objects));
        }
    }

    /// Drops the events that pass a limit; gives them, oldest first.
    pub(crate) fn trim(&mut self, limits: &HistoryLimits, now: Timestamp) -> Vec<Event> {
        let oldest = now.checked_sub(limits.age).unwrap_or(Timestamp::MIN);
        let mut trimmed = Vec::new();
        while let Some(front) = self.log.front()
            && (self.log.len() > limits.events || front.at < oldest)
        {
            trimmed.extend(self.drop_oldest());
        }
        self.drop_checkpoints();
        trimmed
    }

    /// Drops the events up to and including `revision`; gives them, oldest first.
    pub(crate) fn trim_through(&mut self, revision: u64) -> Vec<Event> {
        let mut trimmed = Vec::new();
        while self
            .log
            .front()
            .is_some_and(|front| front.event.revision <= revision)
        {
            trimmed.extend(self.drop_oldest());
        }
        self.drop_checkpoints();
        trimmed
    }

    fn drop_oldest(&mut self) -> Option<Event> {
        let Logged { event, .. } = self.log.pop_front()?;
        self.floor = event.revision;
        let resource = &*event.key().resource;
        if let Some(ring) = self.by_resource.get_mut(resource) {
            ring.pop_front();
            if ring.is_empty() {
                self.by_resource.remove(resource);
            }
        }
        Some(event)
    }

    fn drop_checkpoints(&mut self) {
        while self
            .checkpoints
            .front()
            .is_some_and(|objects| objects.revision < self.floor)
        {
            self.checkpoints.pop_front();
        }
    }

    /// The first `limit` events of `scope` after the revision `after`. Whether older ones were dropped is for the
    /// caller to know.
    pub(crate) fn events_after(&self, scope: &Scope, after: u64, limit: usize) -> Vec<Event> {
        match scope {
            Scope::All => {
                let start = self
                    .log
                    .binary_search_by_key(&(after + 1), |logged| logged.event.revision);
                let start = start.unwrap_or_else(|start| start);
                self.log
                    .focus()
                    .narrow(start..)
                    .into_iter()
                    .map(|l| &l.event)
                    .take(limit)
                    .cloned()
                    .collect()
            }
            Scope::Resource(resource) | Scope::Namespace(resource, _) => {
                let Some(ring) = self.by_resource.get(&**resource) else {
                    return Vec::new();
                };
                let start = ring.binary_search_by_key(&(after + 1), |event| event.revision);
                let start = start.unwrap_or_else(|start| start);
                let events = ring.focus().narrow(start..).into_iter();
                events
                    .filter(|event| scope.contains(event.key()))
                    .take(limit)
                    .cloned()
                    .collect()
            }
        }
    }

    /// The objects as they were at `revision`, where `current` are the newest ones.
    pub(crate) fn objects_at(
        &self,
        current: &Arc<Objects>,
        revision: u64,
    ) -> Result<Arc<Objects>, SnapshotError> {
        if revision > current.revision {
            return Err(SnapshotError::Future {
                requested: revision,
                current: current.revision,
            });
        }
        if revision < self.floor {
            return Err(Compacted {
                requested: revision,
                floor: self.floor,
            }
            .into());
        }
        let kept = self
            .checkpoints
            .binary_search_by_key(&revision, |objects| objects.revision);
        let kept = self
            .checkpoints
            .get(kept.unwrap_or_else(|next| next))
            .unwrap_or(current);
        if kept.revision == revision {
            return Ok(Arc::clone(kept));
        }
        let mut objects = Objects::clone(kept);
        let first = self.position_after(revision);
        let end = self.position_after(kept.revision);
        for logged in self.log.focus().narrow(first..end).into_iter().rev() {
            objects.undo(&logged.event);
        }
        objects.revision = revision;
        Ok(Arc::new(objects))
    }

    /// The position in the log of the first event after `revision`.
    fn position_after(&self, revision: u64) -> usize {
        let found = self
            .log
            .binary_search_by_key(&(revision + 1), |logged| logged.event.revision);
        found.unwrap_or_else(|position| position)
    }
}
