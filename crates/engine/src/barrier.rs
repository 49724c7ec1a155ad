//! The read-own-writes barrier: a pass does not begin until the caches show what the object's earlier passes wrote.

use std::{collections::BTreeMap, future::Future, pin::Pin, sync::Arc};

use kube::ResourceExt;
use parking_lot::Mutex;

use crate::object::ObjectKey;

/// A cache as the barrier sees it: how far it has read.
pub(crate) trait Revisioned: Send + Sync {
    /// The newest revision seen.
    fn seen(&self) -> u64;
    /// Is the object of this key and UID readable?
    fn holds(&self, key: &ObjectKey, uid: &str) -> bool;
    /// Resolves when `revision` has been seen.
    fn reached(&self, revision: u64) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
    /// Ends the cache's feed.
    fn stop(&self);
}

impl<K: crate::cache::Cached> Revisioned for crate::cache::Cache<K>
where
    K::DynamicType: Clone,
{
    fn seen(&self) -> u64 {
        Self::seen(self)
    }

    fn holds(&self, key: &ObjectKey, uid: &str) -> bool {
        self.get(key).is_some_and(|it| it.uid().as_deref() == Some(uid))
    }

    fn reached(&self, revision: u64) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(Self::reached(self, revision))
    }

    fn stop(&self) {
        Self::stop(self);
    }
}

/// The caches by `group/plural`, as writes name their resource.
#[derive(Default)]
pub(crate) struct Watched(Mutex<BTreeMap<String, Vec<Arc<dyn Revisioned>>>>);

impl Watched {
    pub(crate) fn add(&self, resource: String, cache: Arc<dyn Revisioned>) {
        self.0.lock().entry(resource).or_default().push(cache);
    }

    /// Ends the feeds of all caches.
    pub(crate) fn stop(&self) {
        self.0.lock().values().flatten().for_each(|it| it.stop());
    }

    fn of(&self, resource: &str) -> Vec<Arc<dyn Revisioned>> {
        self.0.lock().get(resource).cloned().unwrap_or_default()
    }
}

#[derive(Default)]
struct Entries {
    /// Resource → the newest revision that was written.
    written: BTreeMap<String, u64>,
    /// Objects that the server removed at once: resource, key, UID.
    gone: Vec<(String, ObjectKey, String)>,
}

/// The writes of one object's passes that the caches have yet to show.
#[derive(Default)]
pub(crate) struct Ledger(Mutex<Entries>);

/// A cache that is behind, and the revision to wait for.
pub(crate) type Behind = (Arc<dyn Revisioned>, u64);

impl Ledger {
    /// Enters a write to `resource` that the server stored at `revision`.
    pub(crate) fn enter(&self, resource: String, revision: u64) {
        let mut entries = self.0.lock();
        let newest = entries.written.entry(resource).or_default();
        *newest = (*newest).max(revision);
    }

    /// Enters a deletion that took effect at once, so that no revision is known.
    pub(crate) fn enter_gone(&self, resource: String, key: ObjectKey, uid: String) {
        self.0.lock().gone.push((resource, key, uid));
    }

    /// The caches that are behind this ledger; entries that have been seen are forgotten.
    pub(crate) fn behind(&self, watched: &Watched) -> Vec<Behind> {
        let mut behind = Vec::new();
        let mut entries = self.0.lock();
        entries.written.retain(|resource, revision| {
            let late: Vec<_> = watched
                .of(resource)
                .into_iter()
                .filter(|cache| cache.seen() < *revision)
                .collect();
            let keep = !late.is_empty();
            behind.extend(late.into_iter().map(|cache| (cache, *revision)));
            keep
        });
        entries.gone.retain(|(resource, key, uid)| {
            let late: Vec<_> = watched
                .of(resource)
                .into_iter()
                .filter(|cache| cache.holds(key, uid))
                .collect();
            let keep = !late.is_empty();
            behind.extend(late.into_iter().map(|cache| {
                let next = cache.seen() + 1;
                (cache, next)
            }));
            keep
        });
        behind
    }
}
