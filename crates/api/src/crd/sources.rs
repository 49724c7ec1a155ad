//! The schema files of this crate, compiled in.

use super::parse::Source;

/// Sources from paths below the `schemas` folder of the crate that calls it.
#[macro_export]
macro_rules! schema_sources {
    ($($path:literal),* $(,)?) => {
        &[$($crate::crd::Source {
            path: $path,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/", $path)),
        }),*]
    };
}

/// Types that the kinds of other crates may use.
pub fn shared_types() -> &'static [Source<'static>] {
    SHARED
}

static SHARED: &[Source<'static>] =
    schema_sources!["common.types", "common.v1beta1.types", "common.v1beta2.types"];

/// Every file of the crate.
pub(super) static ALL: &[Source<'static>] = schema_sources![
    "addons.cluster.x-k8s.io/clusterresourcesetbindings.kind",
    "addons.cluster.x-k8s.io/clusterresourcesetbindings.v1beta1.schema",
    "addons.cluster.x-k8s.io/clusterresourcesetbindings.v1beta2.schema",
    "addons.cluster.x-k8s.io/clusterresourcesets.kind",
    "addons.cluster.x-k8s.io/clusterresourcesets.v1beta1.schema",
    "addons.cluster.x-k8s.io/clusterresourcesets.v1beta2.schema",
    "bootstrap.cluster.x-k8s.io/kubeadmconfigs.kind",
    "bootstrap.cluster.x-k8s.io/kubeadmconfigs.v1beta1.schema",
    "bootstrap.cluster.x-k8s.io/kubeadmconfigs.v1beta2.schema",
    "bootstrap.cluster.x-k8s.io/kubeadmconfigtemplates.kind",
    "bootstrap.cluster.x-k8s.io/kubeadmconfigtemplates.v1beta1.schema",
    "bootstrap.cluster.x-k8s.io/kubeadmconfigtemplates.v1beta2.schema",
    "cluster.x-k8s.io/clusterclasses.kind",
    "cluster.x-k8s.io/clusterclasses.v1beta1.schema",
    "cluster.x-k8s.io/clusterclasses.v1beta2.schema",
    "cluster.x-k8s.io/clusters.kind",
    "cluster.x-k8s.io/clusters.v1beta1.schema",
    "cluster.x-k8s.io/clusters.v1beta2.schema",
    "cluster.x-k8s.io/machinedeployments.kind",
    "cluster.x-k8s.io/machinedeployments.v1beta1.schema",
    "cluster.x-k8s.io/machinedeployments.v1beta2.schema",
    "cluster.x-k8s.io/machinedrainrules.kind",
    "cluster.x-k8s.io/machinedrainrules.v1beta1.schema",
    "cluster.x-k8s.io/machinedrainrules.v1beta2.schema",
    "cluster.x-k8s.io/machinehealthchecks.kind",
    "cluster.x-k8s.io/machinehealthchecks.v1beta1.schema",
    "cluster.x-k8s.io/machinehealthchecks.v1beta2.schema",
    "cluster.x-k8s.io/machinepools.kind",
    "cluster.x-k8s.io/machinepools.v1beta1.schema",
    "cluster.x-k8s.io/machinepools.v1beta2.schema",
    "cluster.x-k8s.io/machines.kind",
    "cluster.x-k8s.io/machines.v1beta1.schema",
    "cluster.x-k8s.io/machines.v1beta2.schema",
    "cluster.x-k8s.io/machinesets.kind",
    "cluster.x-k8s.io/machinesets.v1beta1.schema",
    "cluster.x-k8s.io/machinesets.v1beta2.schema",
    "clusterctl.cluster.x-k8s.io/providers.kind",
    "clusterctl.cluster.x-k8s.io/providers.v1alpha3.schema",
    "common.types",
    "common.v1beta1.types",
    "common.v1beta2.types",
    "controlplane.cluster.x-k8s.io/kubeadmcontrolplanes.kind",
    "controlplane.cluster.x-k8s.io/kubeadmcontrolplanes.v1beta1.schema",
    "controlplane.cluster.x-k8s.io/kubeadmcontrolplanes.v1beta2.schema",
    "controlplane.cluster.x-k8s.io/kubeadmcontrolplanetemplates.kind",
    "controlplane.cluster.x-k8s.io/kubeadmcontrolplanetemplates.v1beta1.schema",
    "controlplane.cluster.x-k8s.io/kubeadmcontrolplanetemplates.v1beta2.schema",
    "ipam.cluster.x-k8s.io/ipaddressclaims.kind",
    "ipam.cluster.x-k8s.io/ipaddressclaims.v1alpha1.schema",
    "ipam.cluster.x-k8s.io/ipaddressclaims.v1beta1.schema",
    "ipam.cluster.x-k8s.io/ipaddressclaims.v1beta2.schema",
    "ipam.cluster.x-k8s.io/ipaddresses.kind",
    "ipam.cluster.x-k8s.io/ipaddresses.v1alpha1.schema",
    "ipam.cluster.x-k8s.io/ipaddresses.v1beta1.schema",
    "ipam.cluster.x-k8s.io/ipaddresses.v1beta2.schema",
    "kubeadm.types",
    "kubeadm.v1beta1.types",
    "kubeadm.v1beta2.types",
    "runtime.cluster.x-k8s.io/extensionconfigs.kind",
    "runtime.cluster.x-k8s.io/extensionconfigs.v1alpha1.schema",
    "runtime.cluster.x-k8s.io/extensionconfigs.v1beta2.schema",
];
