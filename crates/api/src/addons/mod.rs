//! The kinds of group `addons.cluster.x-k8s.io`: manifests that are applied to new clusters.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, Time};

use crate::{
    core::DeprecatedConditions,
    record::{keyword, object, record},
};

/// The API group of these kinds.
pub const GROUP: &str = "addons.cluster.x-k8s.io";

object! {
    /// Manifests that are applied to all clusters with certain labels.
    /// Source: cluster-api `api/addons/v1beta2/clusterresourceset_types.go`.
    pub struct ClusterResourceSet in GROUP, plural "clusterresourcesets", scope NamespaceResourceScope,
    spec ClusterResourceSetSpec, status ClusterResourceSetStatus
}
crate::core::conditioned!(ClusterResourceSet);

object! {
    /// What was applied to one cluster. Named like the cluster.
    /// Source: cluster-api `api/addons/v1beta2/clusterresourcesetbinding_types.go`.
    pub struct ClusterResourceSetBinding in GROUP, plural "clusterresourcesetbindings",
    scope NamespaceResourceScope, spec ClusterResourceSetBindingSpec
}

record! {
    /// Which manifests are applied to which clusters.
    pub struct ClusterResourceSetSpec {
        /// The clusters' labels; an empty selector matches none.
        pub cluster_selector: LabelSelector,
        /// The Secrets and `ConfigMaps` that hold the manifests.
        pub resources: Vec<ResourceReference>,
        /// Whether later changes are applied as well; absent is defaulted to [`ResourceStrategy::ApplyOnce`].
        pub strategy: Option<ResourceStrategy>,
    }

    /// A Secret or `ConfigMap` that holds manifests, in the set's namespace.
    pub struct ResourceReference {
        /// The name.
        pub name: String,
        /// The kind.
        pub kind: Option<ResourceKind>,
    }

    /// What was observed of a set.
    pub struct ClusterResourceSetStatus {
        /// The conditions.
        pub conditions: Vec<Condition>,
        /// The generation of the spec that this status is about.
        pub observed_generation: Option<i64>,
        /// What only readers of v1beta1 see.
        pub deprecated: DeprecatedConditions,
    }

    /// What was applied to one cluster.
    pub struct ClusterResourceSetBindingSpec {
        /// What was applied, by set.
        pub bindings: Vec<ResourceSetBinding>,
        /// The cluster.
        pub cluster_name: String,
    }

    /// What was applied of one set.
    pub struct ResourceSetBinding {
        /// The set.
        pub cluster_resource_set_name: String,
        /// What was applied.
        pub resources: Vec<ResourceBinding>,
    }

    /// One Secret or `ConfigMap` that was applied, or was tried to be.
    pub struct ResourceBinding {
        /// The name.
        pub name: String,
        /// The kind.
        pub kind: Option<ResourceKind>,
        /// The hash of what was applied.
        pub hash: Option<String>,
        /// When.
        pub last_applied_time: Option<Time>,
        /// Whether all of it was applied.
        pub applied: Option<bool>,
    }
}

keyword! {
    /// What holds manifests.
    pub enum ResourceKind {
        /// A Secret of type `addons.cluster.x-k8s.io/resource-set`.
        Secret = "Secret",
        /// A `ConfigMap`.
        ConfigMap = "ConfigMap",
    }

    /// Whether later changes are applied as well.
    pub enum ResourceStrategy {
        /// Manifests are applied once.
        ApplyOnce = "ApplyOnce",
        /// Manifests are applied whenever they change.
        Reconcile = "Reconcile",
    }
}
