//! `MachineSet`: a number of alike machines.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector};

use super::{
    MachineSpec,
    common::{StatusVersion, TemplateMeta, V1Beta1Condition, conditioned},
};
use crate::record::{keyword, object, record};

object! {
    /// A number of alike machines.
    /// Source: cluster-api `api/core/v1beta2/machineset_types.go`.
    pub struct MachineSet in super::GROUP, plural "machinesets", scope NamespaceResourceScope,
    spec MachineSetSpec, status MachineSetStatus
}
conditioned!(MachineSet);

record! {
    /// What is wanted of a set of machines.
    pub struct MachineSetSpec {
        /// The cluster they belong to.
        pub cluster_name: String,
        /// How many machines.
        pub replicas: Option<i32>,
        /// Which machines are the set's; must match the template's labels.
        pub selector: LabelSelector,
        /// What each machine is made from.
        pub template: MachineTemplate,
        /// How machines are named.
        pub machine_naming: MachineNaming,
        /// Which machines go first.
        pub deletion: MachineSetDeletion,
    }

    /// What a machine is made from.
    pub struct MachineTemplate {
        /// The machine's labels and annotations.
        pub metadata: TemplateMeta,
        /// The machine's spec.
        pub spec: MachineSpec,
    }

    /// How machines are named.
    pub struct MachineNaming {
        /// A template over `.cluster.name`, the owner's name and `.random`.
        pub template: Option<String>,
    }

    /// Which machines go first on scaling down.
    pub struct MachineSetDeletion {
        /// The order; absent means [`MachineSetDeletionOrder::Random`].
        pub order: Option<MachineSetDeletionOrder>,
    }

    /// What was observed of a set of machines.
    pub struct MachineSetStatus {
        /// The conditions.
        pub conditions: Vec<Condition>,
        /// The selector in its text form, for the scale subresource.
        pub selector: Option<String>,
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
        /// The generation of the spec that this status is about.
        pub observed_generation: Option<i64>,
        /// What only readers of v1beta1 see.
        pub deprecated: MachineSetDeprecated,
    }

    /// The status kept only for readers of v1beta1.
    pub struct MachineSetDeprecated {
        /// The v1beta1 part.
        pub v1beta1: MachineSetV1Beta1,
    }

    /// A `MachineSet`'s status as v1beta1 knew it.
    pub struct MachineSetV1Beta1 {
        /// The conditions.
        pub conditions: Vec<V1Beta1Condition>,
        /// The terminal failure in one word.
        pub failure_reason: Option<String>,
        /// The terminal failure in a sentence.
        pub failure_message: Option<String>,
        /// How many machines carry all labels of the template.
        pub fully_labeled_replicas: Option<i32>,
        /// How many nodes are ready.
        pub ready_replicas: Option<i32>,
        /// How many nodes are ready for long enough.
        pub available_replicas: Option<i32>,
    }
}

keyword! {
    /// Which machines of a set go first on scaling down.
    pub enum MachineSetDeletionOrder {
        /// Any; unhealthy ones first.
        Random = "Random",
        /// The newest.
        Newest = "Newest",
        /// The oldest.
        Oldest = "Oldest",
    }
}
