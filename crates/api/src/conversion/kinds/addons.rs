//! Conversions of the kinds that add to clusters.

use crate::conversion::rules::{CONDITIONS, Conversion};

// Parity: upstream core/webhooks/conversion/clusterresourceset.go
pub(super) const CLUSTER_RESOURCE_SET: Conversion = Conversion {
    kind: "ClusterResourceSet",
    spoke: "v1beta1",
    keeps_hub: false,
    rules: CONDITIONS,
};

// Parity: upstream core/webhooks/conversion/clusterresourcesetbinding.go
pub(super) const CLUSTER_RESOURCE_SET_BINDING: Conversion = Conversion {
    kind: "ClusterResourceSetBinding",
    spoke: "v1beta1",
    keeps_hub: false,
    rules: &[],
};

// Parity: upstream core/webhooks/conversion/extensionconfig.go
pub(super) const EXTENSION_CONFIG: Conversion = Conversion {
    kind: "ExtensionConfig",
    spoke: "v1alpha1",
    keeps_hub: false,
    rules: CONDITIONS,
};
