//! Everything that decisions about one ClusterResourceSet may need.

use std::sync::Arc;

use capstan_api::{
    ObjectMeta,
    addons::{ClusterResourceSet, ClusterResourceSetBinding, ResourceReference},
};
use capstan_base::Timestamp;
use capstan_engine::{Lookup, ObjectKey};

use super::manifests::Manifests;

/// The snapshot of one pass.
#[derive(Debug, Clone)]
pub struct View {
    /// The time of the pass.
    pub now: Timestamp,
    /// The set.
    pub set: Arc<ClusterResourceSet>,
    /// The clusters that it selects and that are not being deleted, by name.
    pub targets: Vec<Target>,
    /// Its resources, in its order.
    pub resources: Vec<(ResourceReference, Lookup<Resource>)>,
    /// All bindings of its namespace, by name.
    pub bindings: Vec<Arc<ClusterResourceSetBinding>>,
}

/// A cluster that is selected.
#[derive(Debug, Clone)]
pub struct Target {
    /// The cluster.
    pub cluster: ObjectKey,
    /// Why it cannot be reached; none if it can.
    pub unreachable: Option<String>,
}

/// A Secret or ConfigMap with manifests.
#[derive(Debug, Clone)]
pub struct Resource {
    /// Its metadata.
    pub metadata: ObjectMeta,
    /// What it holds; none for a Secret of another type than resource sets have.
    pub manifests: Option<Manifests>,
}

impl View {
    /// Is the set being deleted?
    pub fn is_deleting(&self) -> bool {
        self.set.metadata.deletion_timestamp.is_some()
    }

    /// The binding of a cluster: named like it.
    pub fn binding(&self, cluster: &ObjectKey) -> Option<&Arc<ClusterResourceSetBinding>> {
        self.bindings
            .iter()
            .find(|it| it.metadata.name.as_ref() == Some(&cluster.name))
    }
}
