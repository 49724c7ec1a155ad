//! A consistent view of all objects at one revision.

use std::sync::Arc;

use crate::{key::Key, objects::Objects, record::Record};

/// All objects at one revision. It never changes, costs nothing to take or to clone, and holds no lock; what it shows
/// stays in memory as long as it lives.
#[derive(Debug, Clone)]
pub struct Snapshot(pub(crate) Arc<Objects>);

impl Snapshot {
    /// The revision that the snapshot shows.
    pub fn revision(&self) -> u64 {
        self.0.revision
    }

    /// The object under `key`.
    pub fn get(&self, key: &Key) -> Option<&Arc<Record>> {
        self.0.get(key)
    }

    /// The objects of `resource`, in one namespace or in all, in (namespace, name) order.
    pub fn range<'a>(
        &'a self,
        resource: &'a str,
        namespace: Option<&'a str>,
    ) -> impl Iterator<Item = &'a Arc<Record>> + 'a {
        self.0.range(resource, namespace, None)
    }

    /// As [`Snapshot::range`], but only what follows the object `after` (namespace, name), whether or not that object
    /// exists: the rest of a list that is read in pages.
    pub fn range_after<'a>(
        &'a self,
        resource: &'a str,
        namespace: Option<&'a str>,
        after: (&'a str, &'a str),
    ) -> impl Iterator<Item = &'a Arc<Record>> + 'a {
        self.0.range(resource, namespace, Some(after))
    }

    /// The objects found under `value` in the secondary index named `index`, in (resource, namespace, name) order; of
    /// one resource and one namespace if these are given.
    pub fn indexed<'a>(
        &'a self,
        index: &'a str,
        value: &'a str,
        resource: Option<&'a str>,
        namespace: Option<&'a str>,
    ) -> impl Iterator<Item = &'a Arc<Record>> + 'a {
        self.0.indexed(index, value, resource, namespace)
    }

    /// How many objects `resource` has.
    pub fn count(&self, resource: &str) -> usize {
        self.0.tables.get(resource).map_or(0, imbl::OrdMap::len)
    }

    /// The resources that have objects, in order, each with how many.
    pub fn counts(&self) -> impl Iterator<Item = (&str, usize)> {
        self.0
            .tables
            .iter()
            .map(|(resource, table)| (&**resource, table.len()))
    }
}
