//! `DevMachine` and `DevMachineTemplate`.

use std::collections::BTreeMap;

use capstan_api::core::{DeprecatedConditions, MachineAddress, TemplateMeta};
use k8s_openapi::apimachinery::pkg::{api::resource::Quantity, apis::meta::v1::Condition};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    cluster::Initialization,
    kind::{is_default, kind},
};

kind! {
    /// One dev host that becomes one node.
    pub struct DevMachine, plural "devmachines", spec DevMachineSpec, status DevMachineStatus
}

kind! {
    /// What DevMachines are made from.
    pub struct DevMachineTemplate, plural "devmachinetemplates", spec DevMachineTemplateSpec,
    status DevMachineTemplateStatus
}

/// What is wanted of a dev machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct DevMachineSpec {
    /// The identity of the host, equal to its node's; set by the provider.
    #[serde(rename = "providerID", skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// Where the machine lives.
    pub backend: MachineBackend,
}

/// Where a dev machine lives: exactly one is set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MachineBackend {
    /// In a container; another provider's business, kept as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub docker: Option<Value>,
    /// In this process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_memory: Option<InMemoryMachineBackend>,
}

/// A machine in this process: how long each of its components takes to come up. A component that is not mentioned
/// comes up at once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct InMemoryMachineBackend {
    /// The VM: from its creation until it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vm: Option<Component>,
    /// The node: from the running VM until the node is registered and ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Component>,
    /// The API server: from the node until its pod is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_server: Option<Component>,
    /// The etcd member: from the node until its pod is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etcd: Option<Component>,
}

/// How one component behaves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Component {
    /// How long it takes to come up.
    #[serde(skip_serializing_if = "is_default")]
    pub provisioning: Provisioning,
}

/// How long a component takes to come up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Provisioning {
    /// The least time, as Go writes durations (`10s`, `1m30s`).
    pub startup_duration: String,
    /// A fraction as text: up to that much of the duration is added, the same for the same machine.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub startup_jitter: String,
}

/// What was observed of a dev machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct DevMachineStatus {
    /// The conditions: Ready, VMProvisioned, NodeProvisioned, EtcdProvisioned, APIServerProvisioned and Paused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// What happened once and stays true.
    #[serde(skip_serializing_if = "is_default")]
    pub initialization: Initialization,
    /// The machine's addresses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<MachineAddress>,
    /// Where the machine was placed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_domain: Option<String>,
    /// What only readers of v1beta1 see.
    #[serde(skip_serializing_if = "is_default")]
    pub deprecated: DeprecatedConditions,
}

/// What is wanted of a dev machine template.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DevMachineTemplateSpec {
    /// The template.
    pub template: DevMachineTemplateResource,
}

/// What was observed of a dev machine template.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DevMachineTemplateStatus {
    /// What a machine made from it offers, for autoscaling from zero.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub capacity: BTreeMap<String, Quantity>,
}

/// What a DevMachine is made from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DevMachineTemplateResource {
    /// Labels and annotations of the DevMachine.
    #[serde(skip_serializing_if = "is_default")]
    pub metadata: TemplateMeta,
    /// The DevMachine's spec.
    pub spec: DevMachineSpec,
}

impl DevMachine {
    /// The condition of that type.
    pub fn condition(&self, type_: &str) -> Option<&Condition> {
        self.status
            .as_ref()?
            .conditions
            .iter()
            .find(|it| it.type_ == type_)
    }
}
