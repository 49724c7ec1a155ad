//! `DevMachine` and `DevMachineTemplate`.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::{api::resource::Quantity, apis::meta::v1::Condition};

use super::{GROUP, docker::DockerMachineBackend};
use crate::{
    core::{DeprecatedConditions, MachineAddress, TemplateMeta},
    record::{object, record},
};

object! {
    /// One dev host that becomes one node.
    pub struct DevMachine in GROUP, plural "devmachines", scope NamespaceResourceScope,
    spec DevMachineSpec, status MachineStatus
}
crate::core::conditioned!(DevMachine);

object! {
    /// What `DevMachines` are made from.
    pub struct DevMachineTemplate in GROUP, plural "devmachinetemplates", scope NamespaceResourceScope,
    spec DevMachineTemplateSpec, status MachineTemplateStatus
}

record! {
    /// What is wanted of a dev machine.
    pub struct DevMachineSpec {
        /// The identity of the host, equal to its node's; set by the provider.
        #[serde(rename = "providerID")]
        pub provider_id: Option<String>,
        /// Where the machine lives.
        pub backend: MachineBackend,
    }

    /// Where a dev machine lives: exactly one is set.
    pub struct MachineBackend {
        /// In a container.
        pub docker: Option<DockerMachineBackend>,
        /// In this process.
        pub in_memory: Option<InMemoryMachineBackend>,
    }

    /// A machine in this process: how long each of its components takes to come up. A component that is not mentioned
    /// comes up at once.
    pub struct InMemoryMachineBackend {
        /// The VM: from its creation until it runs.
        pub vm: Option<Component>,
        /// The node: from the running VM until the node is registered and ready.
        pub node: Option<Component>,
        /// The API server: from the node until its pod is ready.
        pub api_server: Option<Component>,
        /// The etcd member: from the node until its pod is ready.
        pub etcd: Option<Component>,
    }

    /// How one component behaves.
    pub struct Component {
        /// How long it takes to come up.
        pub provisioning: Provisioning,
    }

    /// How long a component takes to come up.
    pub struct Provisioning {
        /// The least time, as Go writes durations (`10s`, `1m30s`).
        pub startup_duration: String,
        /// A fraction as text: up to that much of the duration is added, the same for the same machine.
        pub startup_jitter: String,
    }

    /// What was observed of a machine.
    pub struct MachineStatus {
        /// The conditions: Ready, Paused and one for each step of the machine's way to a node.
        pub conditions: Vec<Condition>,
        /// What happened once and stays true.
        pub initialization: MachineInitialization,
        /// Whether the load balancer knows the machine. Only a `DockerMachine` has it.
        pub load_balancer_configured: Option<bool>,
        /// The machine's addresses.
        pub addresses: Vec<MachineAddress>,
        /// Where the machine was placed.
        pub failure_domain: Option<String>,
        /// What only readers of v1beta1 see.
        pub deprecated: DeprecatedConditions,
    }

    /// What happened once in a machine's life and stays true.
    pub struct MachineInitialization {
        /// The infrastructure is there.
        pub provisioned: Option<bool>,
    }

    /// What is wanted of a dev machine template.
    pub struct DevMachineTemplateSpec {
        /// The template.
        pub template: DevMachineTemplateResource,
    }

    /// What was observed of a machine template.
    pub struct MachineTemplateStatus {
        /// What a machine made from it offers, for autoscaling from zero.
        pub capacity: BTreeMap<String, Quantity>,
    }

    /// What a `DevMachine` is made from.
    pub struct DevMachineTemplateResource {
        /// Labels and annotations of the `DevMachine`.
        pub metadata: TemplateMeta,
        /// The `DevMachine`'s spec.
        pub spec: DevMachineSpec,
    }
}
