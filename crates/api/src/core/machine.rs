//! `Machine`: one host that is, or becomes, one node.

use k8s_openapi::{
    api::core::v1::NodeSystemInfo,
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
};

use super::common::{
    ConditionGate, ContractReference, DeprecatedFailure, MachineTaint, NodeTimeouts, conditioned,
};
use crate::record::{keyword, object, record};

object! {
    /// One host that is, or becomes, one node of a cluster.
    /// Source: cluster-api `api/core/v1beta2/machine_types.go`.
    pub struct Machine in super::GROUP, plural "machines", scope NamespaceResourceScope,
    spec MachineSpec, status MachineStatus
}
conditioned!(Machine);

record! {
    /// What is wanted of a machine.
    pub struct MachineSpec {
        /// The cluster it belongs to.
        pub cluster_name: String,
        /// Where the data for its first boot comes from.
        pub bootstrap: Bootstrap,
        /// The provider's object that is the host.
        pub infrastructure_ref: ContractReference,
        /// The Kubernetes version.
        pub version: Option<String>,
        /// The provider's identity of the host, equal to the Node's.
        #[serde(rename = "providerID")]
        pub provider_id: Option<String>,
        /// Where it is placed.
        pub failure_domain: Option<String>,
        /// How long it must be ready to be available.
        pub min_ready_seconds: Option<i32>,
        /// Further conditions that count for `Ready`.
        pub readiness_gates: Vec<ConditionGate>,
        /// How long taking its node away may last.
        pub deletion: NodeTimeouts,
        /// Taints of its node.
        pub taints: Vec<MachineTaint>,
    }

    /// Where the data for a machine's first boot comes from.
    pub struct Bootstrap {
        /// The object that produces the data.
        pub config_ref: Option<ContractReference>,
        /// The secret that holds the data.
        pub data_secret_name: Option<String>,
    }

    /// What was observed of a machine.
    pub struct MachineStatus {
        /// The conditions.
        pub conditions: Vec<Condition>,
        /// What happened once and stays true.
        pub initialization: MachineInitialization,
        /// The machine's node.
        pub node_ref: Option<NodeReference>,
        /// What the node says about itself.
        pub node_info: Option<NodeSystemInfo>,
        /// When the phase last changed.
        pub last_updated: Option<Time>,
        /// The machine's addresses.
        pub addresses: Vec<MachineAddress>,
        /// Where the provider placed it.
        pub failure_domain: Option<String>,
        /// The machine's life in one word.
        pub phase: Option<MachinePhase>,
        /// When the first of its control plane certificates ends.
        pub certificates_expiry_date: Option<Time>,
        /// The generation of the spec that this status is about.
        pub observed_generation: Option<i64>,
        /// When each step of the deletion began.
        pub deletion: Option<MachineDeletionStatus>,
        /// What only readers of v1beta1 see.
        pub deprecated: DeprecatedFailure,
    }

    /// A reference to a Node of the workload cluster.
    pub struct NodeReference {
        /// The name.
        pub name: String,
    }

    /// What happened once in a machine's life and stays true.
    pub struct MachineInitialization {
        /// The host is there.
        pub infrastructure_provisioned: Option<bool>,
        /// The data for the first boot is there.
        pub bootstrap_data_secret_created: Option<bool>,
    }

    /// When each step of a machine's deletion began.
    pub struct MachineDeletionStatus {
        /// When the drain began.
        pub node_drain_start_time: Option<Time>,
        /// When the wait for volumes to be detached began.
        pub wait_for_node_volume_detach_start_time: Option<Time>,
        /// When the wait for hooks before the drain began.
        pub wait_for_pre_drain_hook_start_time: Option<Time>,
        /// When the wait for hooks before the host's deletion began.
        pub wait_for_pre_terminate_hook_start_time: Option<Time>,
    }

    /// One address of a machine.
    pub struct MachineAddress {
        /// What kind of address.
        #[serde(rename = "type")]
        pub type_: Option<MachineAddressType>,
        /// The address.
        pub address: String,
    }
}

keyword! {
    /// What kind of address of a machine.
    pub enum MachineAddressType {
        /// A host name.
        Hostname = "Hostname",
        /// An address reachable from outside.
        ExternalIp = "ExternalIP",
        /// An address reachable inside.
        InternalIp = "InternalIP",
        /// A DNS name reachable from outside.
        ExternalDns = "ExternalDNS",
        /// A DNS name reachable inside.
        InternalDns = "InternalDNS",
    }

    /// A machine's life in one word.
    pub enum MachinePhase {
        /// It waits for its bootstrap data.
        Pending = "Pending",
        /// Its host is being made.
        Provisioning = "Provisioning",
        /// Its host is there, its node is not.
        Provisioned = "Provisioned",
        /// Its node is there.
        Running = "Running",
        /// It is being changed in place.
        Updating = "Updating",
        /// It is being deleted.
        Deleting = "Deleting",
        /// Its host is gone.
        Deleted = "Deleted",
        /// It failed for good; not set any more.
        Failed = "Failed",
        /// None of the others can be said.
        Unknown = "Unknown",
    }
}
