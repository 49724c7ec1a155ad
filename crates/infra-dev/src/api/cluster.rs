//! `DevCluster` and `DevClusterTemplate`.

use capstan_api::core::{ApiEndpoint, DeprecatedConditions, FailureDomain, TemplateMeta};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::kind::{is_default, kind};

kind! {
    /// What the machines of one dev cluster share: the control plane's endpoint.
    pub struct DevCluster, plural "devclusters", spec DevClusterSpec, status DevClusterStatus
}

kind! {
    /// What DevClusters are made from.
    pub struct DevClusterTemplate, plural "devclustertemplates", spec DevClusterTemplateSpec
}

/// What is wanted of a dev cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct DevClusterSpec {
    /// Where the API server is reached; chosen by the provider if empty.
    #[serde(skip_serializing_if = "is_default")]
    pub control_plane_endpoint: ApiEndpoint,
    /// Where the cluster lives.
    pub backend: ClusterBackend,
}

/// Where a dev cluster lives: exactly one is set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ClusterBackend {
    /// In containers; another provider's business, kept as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub docker: Option<Value>,
    /// In this process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_memory: Option<InMemoryClusterBackend>,
}

/// A cluster in this process. There is nothing to choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InMemoryClusterBackend {}

/// What was observed of a dev cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct DevClusterStatus {
    /// The conditions: Ready and Paused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// What happened once and stays true.
    #[serde(skip_serializing_if = "is_default")]
    pub initialization: Initialization,
    /// Where machines may be placed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failure_domains: Vec<FailureDomain>,
    /// What only readers of v1beta1 see.
    #[serde(skip_serializing_if = "is_default")]
    pub deprecated: DeprecatedConditions,
}

/// What happened once in an object's life and stays true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Initialization {
    /// The infrastructure is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provisioned: Option<bool>,
}

/// What is wanted of a dev cluster template.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DevClusterTemplateSpec {
    /// The template.
    pub template: DevClusterTemplateResource,
}

/// What a DevCluster is made from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DevClusterTemplateResource {
    /// Labels and annotations of the DevCluster.
    #[serde(skip_serializing_if = "is_default")]
    pub metadata: TemplateMeta,
    /// The DevCluster's spec.
    pub spec: DevClusterSpec,
}

impl DevCluster {
    /// Whether the cluster was provisioned; once true, true for ever.
    pub fn is_provisioned(&self) -> bool {
        self.status
            .as_ref()
            .is_some_and(|it| it.initialization.provisioned == Some(true))
    }
}
