//! `MachinePool`: a pool of machines that the provider scales itself.

use k8s_openapi::{api::core::v1::ObjectReference, apimachinery::pkg::apis::meta::v1::Condition};

use super::{
    MachineInitialization, MachineTemplate,
    common::{StatusVersion, V1Beta1Condition, conditioned},
};
use crate::record::{keyword, object, record};

object! {
    /// A pool of machines that the provider scales itself.
    /// Source: cluster-api `api/core/v1beta2/machinepool_types.go`.
    pub struct MachinePool in super::GROUP, plural "machinepools", scope NamespaceResourceScope,
    spec MachinePoolSpec, status MachinePoolStatus
}
conditioned!(MachinePool);

record! {
    /// What is wanted of a pool.
    pub struct MachinePoolSpec {
        /// The cluster the machines belong to.
        pub cluster_name: String,
        /// How many machines.
        pub replicas: Option<i32>,
        /// What each machine is made from.
        pub template: MachineTemplate,
        /// The provider's identities of the hosts.
        #[serde(rename = "providerIDList")]
        pub provider_id_list: Vec<String>,
        /// Where the machines are placed.
        pub failure_domains: Vec<String>,
    }

    /// What was observed of a pool.
    pub struct MachinePoolStatus {
        /// The conditions.
        pub conditions: Vec<Condition>,
        /// What happened once and stays true.
        pub initialization: MachineInitialization,
        /// The pool's nodes.
        pub node_refs: Vec<ObjectReference>,
        /// How many machines there are.
        pub replicas: Option<i32>,
        /// How many are ready.
        pub ready_replicas: Option<i32>,
        /// How many are ready for long enough.
        pub available_replicas: Option<i32>,
        /// How many match the template.
        pub up_to_date_replicas: Option<i32>,
        /// The Kubernetes versions in use, sorted.
        pub versions: Vec<StatusVersion>,
        /// The pool's life in one word.
        pub phase: Option<MachinePoolPhase>,
        /// The generation of the spec that this status is about.
        pub observed_generation: Option<i64>,
        /// What only readers of v1beta1 see.
        pub deprecated: MachinePoolDeprecated,
    }

    /// The status kept only for readers of v1beta1.
    pub struct MachinePoolDeprecated {
        /// The v1beta1 part.
        pub v1beta1: MachinePoolV1Beta1,
    }

    /// A `MachinePool`'s status as v1beta1 knew it.
    pub struct MachinePoolV1Beta1 {
        /// The conditions.
        pub conditions: Vec<V1Beta1Condition>,
        /// The terminal failure in one word.
        pub failure_reason: Option<String>,
        /// The terminal failure in a sentence.
        pub failure_message: Option<String>,
        /// How many nodes are ready.
        pub ready_replicas: i32,
        /// How many nodes are ready for long enough.
        pub available_replicas: i32,
        /// How many are missing.
        pub unavailable_replicas: i32,
    }
}

keyword! {
    /// A pool's life in one word.
    pub enum MachinePoolPhase {
        /// It waits for its bootstrap data.
        Pending = "Pending",
        /// Its hosts are being made.
        Provisioning = "Provisioning",
        /// Its hosts are there, its nodes are not.
        Provisioned = "Provisioned",
        /// Its nodes are there.
        Running = "Running",
        /// Machines are being added.
        ScalingUp = "ScalingUp",
        /// Machines are being removed.
        ScalingDown = "ScalingDown",
        /// Somebody else is changing the number of machines.
        Scaling = "Scaling",
        /// It is being deleted.
        Deleting = "Deleting",
        /// Something failed.
        Failed = "Failed",
        /// None of the others can be said.
        Unknown = "Unknown",
    }
}
