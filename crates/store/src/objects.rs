//! The immutable set of objects at one revision, with its secondary index.

use std::{cmp::Ordering, ops::Bound, sync::Arc};

use equivalent::{Comparable, Equivalent};
use imbl::{OrdMap, OrdSet};

use crate::{
    key::{Key, KeyRef},
    record::{Event, IndexEntry, Record},
};

pub(crate) type Table = OrdMap<Key, Arc<Record>>;

/// All objects at one revision. A clone costs a few pointers and shares everything.
#[derive(Debug, Clone, Default)]
pub(crate) struct Objects {
    pub(crate) revision: u64,
    pub(crate) tables: OrdMap<Arc<str>, Table>,
    postings: OrdSet<Posting>,
}

/// One secondary index entry, in the order of lookups: index, value, then key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Posting {
    index: &'static str,
    value: Arc<str>,
    key: Key,
}

/// Where a lookup in the secondary index starts.
struct PostingRef<'a> {
    index: &'a str,
    value: &'a str,
    key: KeyRef<'a>,
}

impl Equivalent<Posting> for PostingRef<'_> {
    fn equivalent(&self, posting: &Posting) -> bool {
        self.compare(posting).is_eq()
    }
}

impl Comparable<Posting> for PostingRef<'_> {
    fn compare(&self, posting: &Posting) -> Ordering {
        self.index
            .cmp(posting.index)
            .then_with(|| self.value.cmp(&posting.value))
            .then_with(|| self.key.compare(&posting.key))
    }
}

impl Objects {
    /// No object, at `revision`.
    pub(crate) fn none_at(revision: u64) -> Self {
        Self {
            revision,
            ..Self::default()
        }
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&Arc<Record>> {
        self.tables.get(&*key.resource)?.get(key)
    }

    /// Replaces what is stored under the record's key; gives what was there.
    pub(crate) fn put(&mut self, record: &Arc<Record>) -> Option<Arc<Record>> {
        for entry in record.index() {
            self.postings.insert(Posting {
                index: entry.index,
                value: Arc::clone(&entry.value),
                key: record.key.clone(),
            });
        }
        let resource = Arc::clone(&record.key.resource);
        let table = self.tables.entry(resource).or_default();
        let previous = table.insert(record.key.clone(), Arc::clone(record));
        if let Some(previous) = &previous {
            self.forget_postings(previous, record.index());
        }
        previous
    }

    /// Removes what is stored under the key; gives what was there.
    pub(crate) fn remove(&mut self, key: &Key) -> Option<Arc<Record>> {
        let table = self.tables.get_mut(&*key.resource)?;
        let previous = table.remove(key)?;
        if table.is_empty() {
            self.tables.remove(&*key.resource);
        }
        self.forget_postings(&previous, &[]);
        Some(previous)
    }

    fn forget_postings(&mut self, record: &Record, kept: &[IndexEntry]) {
        for entry in record.index() {
            if !kept.contains(entry) {
                self.postings.remove(&Posting {
                    index: entry.index,
                    value: Arc::clone(&entry.value),
                    key: record.key.clone(),
                });
            }
        }
    }

    /// Takes one event back. Events must be undone newest first.
    pub(crate) fn undo(&mut self, event: &Event) {
        match &event.previous {
            Some(previous) => self.put(previous),
            None => self.remove(event.key()),
        };
    }

    /// The same key, sharing its text with keys that are stored already.
    pub(crate) fn interned(&self, key: Key) -> Key {
        let Some((resource, table)) = self.tables.get_key_value(&*key.resource) else {
            return key;
        };
        let namespace = match table.get_prev(&key) {
            Some((near, _)) if near.namespace == key.namespace => Arc::clone(&near.namespace),
            _ => key.namespace,
        };
        Key {
            resource: Arc::clone(resource),
            namespace,
            name: key.name,
        }
    }

    /// The objects of a resource (in one namespace, or in all), in the order of their keys; with `after`, those that
    /// follow that namespace and name.
    pub(crate) fn range<'a>(
        &'a self,
        resource: &'a str,
        namespace: Option<&'a str>,
        after: Option<(&'a str, &'a str)>,
    ) -> impl Iterator<Item = &'a Arc<Record>> + 'a {
        let from = namespace.unwrap_or_default();
        let start = match after {
            Some((after_namespace, name)) if after_namespace >= from => Bound::Excluded(KeyRef {
                resource,
                namespace: after_namespace,
                name,
            }),
            _ => Bound::Included(KeyRef {
                resource,
                namespace: from,
                name: "",
            }),
        };
        self.tables
            .get(resource)
            .into_iter()
            .flat_map(move |table| table.range((start, Bound::<KeyRef<'_>>::Unbounded)))
            .map(|(_, record)| record)
            .take_while(move |record| namespace.is_none_or(|namespace| record.key.namespace() == namespace))
    }

    /// The objects found under `value` in `index`, in the order of their keys; of one resource and one namespace if
    /// these are given.
    pub(crate) fn indexed<'a>(
        &'a self,
        index: &'a str,
        value: &'a str,
        resource: Option<&'a str>,
        namespace: Option<&'a str>,
    ) -> impl Iterator<Item = &'a Arc<Record>> + 'a {
        // Without a resource the namespaces are not contiguous, so there the namespace only filters.
        let from = if resource.is_some() {
            namespace.unwrap_or_default()
        } else {
            ""
        };
        let key = KeyRef {
            resource: resource.unwrap_or_default(),
            namespace: from,
            name: "",
        };
        let start = Bound::Included(PostingRef { index, value, key });
        self.postings
            .range((start, Bound::<PostingRef<'_>>::Unbounded))
            .take_while(move |posting| {
                posting.index == index
                    && &*posting.value == value
                    && resource.is_none_or(|resource| {
                        posting.key.resource() == resource
                            && namespace.is_none_or(|namespace| posting.key.namespace() == namespace)
                    })
            })
            .filter(move |posting| namespace.is_none_or(|namespace| posting.key.namespace() == namespace))
            .map(|posting| {
                self.get(&posting.key)
                    .expect("invariant: an indexed object is stored")
            })
    }
}
