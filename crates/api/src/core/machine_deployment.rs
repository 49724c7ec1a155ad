//! `MachineDeployment`: a pool of machines that is changed by rolling from one `MachineSet` to the next.

use k8s_openapi::apimachinery::pkg::{
    apis::meta::v1::{Condition, LabelSelector, Time},
    util::intstr::IntOrString,
};

use super::{
    MachineNaming, MachineSetDeletion, MachineTemplate,
    common::{StatusVersion, V1Beta1Condition, conditioned},
};
use crate::record::{keyword, object, record};

object! {
    /// A pool of machines that is changed by rolling from one `MachineSet` to the next.
    /// Source: cluster-api `api/core/v1beta2/machinedeployment_types.go`.
    pub struct MachineDeployment in super::GROUP, plural "machinedeployments", scope NamespaceResourceScope,
    spec MachineDeploymentSpec, status MachineDeploymentStatus
}
conditioned!(MachineDeployment);

record! {
    /// What is wanted of a pool.
    pub struct MachineDeploymentSpec {
        /// The cluster the machines belong to.
        pub cluster_name: String,
        /// How many machines.
        pub replicas: Option<i32>,
        /// When and how machines are replaced.
        pub rollout: MachineDeploymentRollout,
        /// Which machines are the pool's; must match the template's labels.
        pub selector: LabelSelector,
        /// What each machine is made from.
        pub template: MachineTemplate,
        /// How machines are named.
        pub machine_naming: MachineNaming,
        /// How many unhealthy machines may be repaired at one time.
        pub remediation: MachineDeploymentRemediation,
        /// Which machines go first.
        pub deletion: MachineSetDeletion,
        /// Whether changes of the template are left for later.
        pub paused: Option<bool>,
    }

    /// When and how machines are replaced.
    pub struct MachineDeploymentRollout {
        /// Machines made before this time are replaced after it.
        pub after: Option<Time>,
        /// How machines are replaced.
        pub strategy: RolloutStrategy,
    }

    /// How machines are replaced.
    pub struct RolloutStrategy {
        /// The strategy; absent is defaulted to [`RolloutStrategyType::RollingUpdate`].
        #[serde(rename = "type")]
        pub type_: Option<RolloutStrategyType>,
        /// How far a rolling update may go above and below the wanted number.
        pub rolling_update: RollingUpdate,
    }

    /// How far a rolling update may go above and below the wanted number.
    pub struct RollingUpdate {
        /// How many may be missing: a number, or a percentage rounded down.
        pub max_unavailable: Option<IntOrString>,
        /// How many may be too many: a number, or a percentage rounded up.
        pub max_surge: Option<IntOrString>,
    }

    /// How many unhealthy machines may be repaired at one time.
    pub struct MachineDeploymentRemediation {
        /// A number, or a percentage of replicas.
        pub max_in_flight: Option<IntOrString>,
    }

    /// What was observed of a pool.
    pub struct MachineDeploymentStatus {
        /// The conditions.
        pub conditions: Vec<Condition>,
        /// The generation of the spec that this status is about.
        pub observed_generation: Option<i64>,
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
        /// The pool's life in one word.
        pub phase: Option<MachineDeploymentPhase>,
        /// What only readers of v1beta1 see.
        pub deprecated: MachineDeploymentDeprecated,
    }

    /// The status kept only for readers of v1beta1.
    pub struct MachineDeploymentDeprecated {
        /// The v1beta1 part.
        pub v1beta1: MachineDeploymentV1Beta1,
    }

    /// A `MachineDeployment`'s status as v1beta1 knew it.
    pub struct MachineDeploymentV1Beta1 {
        /// The conditions.
        pub conditions: Vec<V1Beta1Condition>,
        /// How many machines match the template.
        pub updated_replicas: Option<i32>,
        /// How many nodes are ready.
        pub ready_replicas: Option<i32>,
        /// How many nodes are ready for long enough.
        pub available_replicas: Option<i32>,
        /// How many are missing.
        pub unavailable_replicas: Option<i32>,
    }
}

keyword! {
    /// How machines are replaced.
    pub enum RolloutStrategyType {
        /// New machines are made and old ones deleted, a few at a time.
        RollingUpdate = "RollingUpdate",
        /// New machines are made only for old ones that somebody deleted.
        OnDelete = "OnDelete",
    }

    /// A pool's life in one word.
    pub enum MachineDeploymentPhase {
        /// Machines are being added.
        ScalingUp = "ScalingUp",
        /// Machines are being removed.
        ScalingDown = "ScalingDown",
        /// All machines are there.
        Running = "Running",
        /// Something failed.
        Failed = "Failed",
        /// None of the others can be said.
        Unknown = "Unknown",
    }
}
