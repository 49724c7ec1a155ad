//! Names of objects: the key inside one kind, and the reference that events and logs show.

use std::fmt;

use kube::{Resource, ResourceExt};
use serde::{Deserialize, Serialize};

/// An object of a known kind: namespace (empty for cluster-scoped kinds) and name. Printed as `namespace/name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
pub struct ObjectKey {
    /// The namespace, empty for cluster-scoped kinds.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl ObjectKey {
    /// The key of a namespaced object.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    /// The key of `object`.
    pub fn of<K: Resource>(object: &K) -> Self {
        Self {
            namespace: object.namespace().unwrap_or_default(),
            name: object.name_any(),
        }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            f.write_str(&self.name)
        } else {
            write!(f, "{}/{}", self.namespace, self.name)
        }
    }
}

/// Everything that names one object for an event: its type, key, UID and revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectRef {
    /// `group/version`, or `v1` for the core group.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// Namespace and name.
    pub key: ObjectKey,
    /// The UID, empty where unknown.
    pub uid: String,
}

impl ObjectRef {
    /// The reference of an object whose kind is known at compile time.
    pub fn of<K: Resource<DynamicType = ()>>(object: &K) -> Self {
        Self::with(object, &())
    }

    /// The reference of an object whose kind is known at run time.
    pub fn with<K: Resource>(object: &K, kind: &K::DynamicType) -> Self {
        Self {
            api_version: K::api_version(kind).into_owned(),
            kind: K::kind(kind).into_owned(),
            key: ObjectKey::of(object),
            uid: object.uid().unwrap_or_default(),
        }
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.key)
    }
}
