//! `DevCluster` and `DevClusterTemplate`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use super::{GROUP, docker::DockerClusterBackend};
use crate::{
    core::{ApiEndpoint, DeprecatedConditions, FailureDomain, TemplateMeta},
    record::{object, record},
};

object! {
    /// What the machines of one dev cluster share: the control plane's endpoint.
    pub struct DevCluster in GROUP, plural "devclusters", scope NamespaceResourceScope,
    spec DevClusterSpec, status ClusterStatus
}
crate::core::conditioned!(DevCluster);

object! {
    /// What `DevClusters` are made from.
    pub struct DevClusterTemplate in GROUP, plural "devclustertemplates", scope NamespaceResourceScope,
    spec DevClusterTemplateSpec
}

record! {
    /// What is wanted of a dev cluster.
    pub struct DevClusterSpec {
        /// Where the API server is reached; chosen by the provider if empty.
        pub control_plane_endpoint: ApiEndpoint,
        /// Where the cluster lives.
        pub backend: ClusterBackend,
    }

    /// Where a dev cluster lives: exactly one is set.
    pub struct ClusterBackend {
        /// In containers.
        pub docker: Option<DockerClusterBackend>,
        /// In this process.
        pub in_memory: Option<InMemoryClusterBackend>,
    }

    /// A cluster in this process. There is nothing to choose.
    pub struct InMemoryClusterBackend {}

    /// What was observed of a cluster.
    pub struct ClusterStatus {
        /// The conditions: Ready and Paused, and in containers `LoadBalancerAvailable`.
        pub conditions: Vec<Condition>,
        /// What happened once and stays true.
        pub initialization: ClusterInitialization,
        /// Where machines may be placed.
        pub failure_domains: Vec<FailureDomain>,
        /// What only readers of v1beta1 see.
        pub deprecated: DeprecatedConditions,
    }

    /// What happened once in a cluster's life and stays true.
    pub struct ClusterInitialization {
        /// The infrastructure is there.
        pub provisioned: Option<bool>,
    }

    /// What is wanted of a dev cluster template.
    pub struct DevClusterTemplateSpec {
        /// The template.
        pub template: DevClusterTemplateResource,
    }

    /// What a `DevCluster` is made from.
    pub struct DevClusterTemplateResource {
        /// Labels and annotations of the `DevCluster`.
        pub metadata: TemplateMeta,
        /// The `DevCluster`'s spec.
        pub spec: DevClusterSpec,
    }
}

impl DevCluster {
    /// Whether the cluster was provisioned; once true, true for ever.
    pub fn is_provisioned(&self) -> bool {
        let status = self.status.as_ref();
        status.is_some_and(|it| it.initialization.provisioned == Some(true))
    }
}
