//! From the rows of a store file back to the state.

use std::{error::Error, sync::Arc};

use thiserror::Error;

use super::row::Row;
use crate::{
    history::History,
    objects::Objects,
    options::Options,
    record::{Event, Record},
    state::{Counters, INITIAL_REVISION, State},
};

/// Builds the state again from the rows of a store file.
#[derive(Debug)]
pub(super) struct Restore<'a> {
    floor: u64,
    objects: Objects,
    history: History,
    options: &'a Options,
}

/// Rows that no store wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(super) enum RestoreError {
    #[error("expected the write of revision {expected}, found the one of revision {found}")]
    Gap { expected: u64, found: u64 },
    #[error("the write of revision {0} removes what is not there")]
    Removal(u64),
    #[error("the write of revision {0} does not go with the ones before it")]
    Order(u64),
    #[error("the file is at revision {revision}, but its last write has revision {last}")]
    Revision { revision: u64, last: u64 },
}

impl<'a> Restore<'a> {
    /// `floor` is the revision up to which only the rows of stored objects are there.
    pub(super) fn new(floor: u64, options: &'a Options) -> Self {
        // Nothing was written before the initial revision.
        let start = floor.max(INITIAL_REVISION);
        let objects = Objects::none_at(start);
        Self {
            floor: start,
            objects,
            history: History::starting_at(floor),
            options,
        }
    }

    /// Adds the next row; rows come in revision order.
    pub(super) fn add(&mut self, revision: u64, row: Row) -> Result<(), Box<dyn Error + Send + Sync>> {
        let Row {
            at,
            key,
            create_revision,
            value,
        } = row;
        let previous = self.objects.get(&key).cloned();
        let recent = revision > self.floor;
        if recent && revision != self.objects.revision + 1 {
            let expected = self.objects.revision + 1;
            return Err(RestoreError::Gap {
                expected,
                found: revision,
            }
            .into());
        }
        let key = previous
            .as_ref()
            .map_or_else(|| self.objects.interned(key), |record| record.key.clone());
        let current = match value {
            None => {
                let removed = self.objects.remove(&key);
                removed
                    .filter(|_| recent)
                    .ok_or(RestoreError::Removal(revision))?;
                None
            }
            Some(value) => {
                let created = previous.as_ref().map(|record| record.create_revision);
                if created.is_some_and(|created| created != create_revision || !recent) {
                    return Err(RestoreError::Order(revision).into());
                }
                let indexer = self.options.indexer.as_ref();
                let record = Arc::new(Record::new(key, revision, create_revision, value, indexer));
                self.objects.put(&record);
                Some(record)
            }
        };
        if recent {
            self.objects.revision = revision;
            self.history.push(
                at,
                Event {
                    revision,
                    previous,
                    current,
                },
            );
        }
        Ok(())
    }

    /// The state, after all rows of a file that says it is at `revision`.
    pub(super) fn finish(self, revision: u64) -> Result<State, Box<dyn Error + Send + Sync>> {
        let Self { objects, history, .. } = self;
        if objects.revision != revision {
            return Err(RestoreError::Revision {
                revision,
                last: objects.revision,
            }
            .into());
        }
        Ok(State {
            objects: Arc::new(objects),
            history,
            counters: Counters::default(),
        })
    }
}
