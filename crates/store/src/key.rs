//! The name of a stored object: resource, namespace, name, ordered in that order.

use std::{cmp::Ordering, fmt, sync::Arc};

use equivalent::{Comparable, Equivalent};

/// The key of an object. Keys order by resource, then namespace, then name, which is the order of Kubernetes lists.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    pub(crate) resource: Arc<str>,
    pub(crate) namespace: Arc<str>,
    pub(crate) name: Arc<str>,
}

impl Key {
    /// The key of object `name` of `resource` ("group/plural", or "plural" in the core group) in `namespace` (empty
    /// for cluster-scoped objects).
    pub fn new(
        resource: impl Into<Arc<str>>,
        namespace: impl Into<Arc<str>>,
        name: impl Into<Arc<str>>,
    ) -> Self {
        Self {
            resource: resource.into(),
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    /// The resource.
    pub fn resource(&self) -> &str {
        &self.resource
    }

    /// The namespace; empty for cluster-scoped objects.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes of text in the key.
    pub(crate) fn len(&self) -> usize {
        self.resource.len() + self.namespace.len() + self.name.len()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            write!(f, "{} {}", self.resource, self.name)
        } else {
            write!(f, "{} {}/{}", self.resource, self.namespace, self.name)
        }
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        // Keys inside the store share their resource, mostly also their namespace, so that one comparison of
        // pointers spares comparing the text.
        compare_shared(&self.resource, &other.resource)
            .then_with(|| compare_shared(&self.namespace, &other.namespace))
            .then_with(|| self.name.cmp(&other.name))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn compare_shared(a: &Arc<str>, b: &Arc<str>) -> Ordering {
    if Arc::ptr_eq(a, b) {
        Ordering::Equal
    } else {
        a.cmp(b)
    }
}

/// A borrowed key, to look up and to bound ranges without allocating.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyRef<'a> {
    pub(crate) resource: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.compare(key).is_eq()
    }
}

impl Comparable<Key> for KeyRef<'_> {
    fn compare(&self, key: &Key) -> Ordering {
        self.resource
            .cmp(&key.resource)
            .then_with(|| self.namespace.cmp(&key.namespace))
            .then_with(|| self.name.cmp(&key.name))
    }
}
