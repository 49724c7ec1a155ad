//! `KubeadmControlPlane`: a control plane of machines set up by kubeadm.

use k8s_openapi::apimachinery::pkg::{
    apis::meta::v1::{Condition, Time},
    util::intstr::IntOrString,
};

use crate::{
    bootstrap::KubeadmConfigSpec,
    core::{
        ConditionGate, ContractReference, MachineNaming, MachineTaint, NodeTimeouts, StatusVersion,
        TemplateMeta, V1Beta1Condition,
    },
    record::{keyword, object, record},
};

object! {
    /// A control plane of machines set up by kubeadm.
    /// Source: cluster-api `api/controlplane/kubeadm/v1beta2/kubeadm_control_plane_types.go`.
    pub struct KubeadmControlPlane in super::GROUP, plural "kubeadmcontrolplanes", scope NamespaceResourceScope,
    spec KubeadmControlPlaneSpec, status KubeadmControlPlaneStatus
}
crate::core::conditioned!(KubeadmControlPlane);

record! {
    /// What is wanted of a control plane.
    pub struct KubeadmControlPlaneSpec {
        /// How many machines; odd unless etcd is external.
        pub replicas: Option<i32>,
        /// The Kubernetes version.
        pub version: String,
        /// What each machine is made from.
        pub machine_template: KubeadmControlPlaneMachineTemplate,
        /// What each machine's `KubeadmConfig` is made from.
        pub kubeadm_config_spec: KubeadmConfigSpec,
        /// When and how machines are replaced.
        pub rollout: ControlPlaneRollout,
        /// How often repairs are tried.
        pub remediation: KubeadmControlPlaneRemediation,
        /// How machines are named.
        pub machine_naming: MachineNaming,
    }

    /// What a control plane's machine is made from.
    pub struct KubeadmControlPlaneMachineTemplate {
        /// The machine's labels and annotations.
        pub metadata: TemplateMeta,
        /// The machine's spec.
        pub spec: KubeadmControlPlaneMachineSpec,
    }

    /// The part of a control plane machine's spec that a user decides.
    pub struct KubeadmControlPlaneMachineSpec {
        /// The template of the hosts.
        pub infrastructure_ref: ContractReference,
        /// Further conditions that count for `Ready`.
        pub readiness_gates: Vec<ConditionGate>,
        /// How long taking a node away may last.
        pub deletion: NodeTimeouts,
        /// Taints of the nodes.
        pub taints: Vec<MachineTaint>,
    }

    /// When and how machines are replaced.
    pub struct ControlPlaneRollout {
        /// What is not awaited.
        pub before: ControlPlaneRolloutBefore,
        /// Machines made before this time are replaced after it.
        pub after: Option<Time>,
        /// How machines are replaced.
        pub strategy: ControlPlaneRolloutStrategy,
    }

    /// What is not awaited before machines are replaced.
    pub struct ControlPlaneRolloutBefore {
        /// Machines whose certificates end within so many days are replaced.
        pub certificates_expiry_days: Option<i32>,
    }

    /// How machines are replaced.
    pub struct ControlPlaneRolloutStrategy {
        /// The strategy; absent is defaulted.
        #[serde(rename = "type")]
        pub type_: Option<ControlPlaneRolloutStrategyType>,
        /// How a rolling update goes.
        pub rolling_update: ControlPlaneRollingUpdate,
    }

    /// How a rolling update goes.
    pub struct ControlPlaneRollingUpdate {
        /// How many may be too many: 0 or 1.
        pub max_surge: Option<IntOrString>,
    }

    /// How often repairs are tried.
    pub struct KubeadmControlPlaneRemediation {
        /// How often one machine's repair is tried; absent means without limit.
        pub max_retry: Option<i32>,
        /// How long to wait between tries.
        pub retry_period_seconds: Option<i32>,
        /// How long a machine must be healthy for its failure to count as a new one; absent means one hour.
        pub min_healthy_period_seconds: Option<i32>,
    }

    /// What was observed of a control plane.
    pub struct KubeadmControlPlaneStatus {
        /// The conditions.
        pub conditions: Vec<Condition>,
        /// What happened once and stays true.
        pub initialization: KubeadmControlPlaneInitialization,
        /// The selector of the machines in its text form, for the scale subresource.
        pub selector: Option<String>,
        /// How many machines there are.
        pub replicas: Option<i32>,
        /// How many are ready.
        pub ready_replicas: Option<i32>,
        /// How many are available.
        pub available_replicas: Option<i32>,
        /// How many match the spec.
        pub up_to_date_replicas: Option<i32>,
        /// The Kubernetes versions in use, sorted.
        pub versions: Vec<StatusVersion>,
        /// The lowest Kubernetes version in use.
        pub version: Option<String>,
        /// The generation of the spec that this status is about.
        pub observed_generation: Option<i64>,
        /// The last repair.
        pub last_remediation: Option<LastRemediation>,
        /// What only readers of v1beta1 see.
        pub deprecated: KubeadmControlPlaneDeprecated,
    }

    /// What happened once in a control plane's life and stays true.
    pub struct KubeadmControlPlaneInitialization {
        /// kubeadm's configuration is in the workload cluster.
        pub control_plane_initialized: Option<bool>,
    }

    /// The last repair of a control plane.
    pub struct LastRemediation {
        /// The machine that was repaired.
        pub machine: String,
        /// When.
        pub time: Option<Time>,
        /// How many tries before this one were about the same machine or its replacements.
        pub retry_count: Option<i32>,
    }

    /// The status kept only for readers of v1beta1.
    pub struct KubeadmControlPlaneDeprecated {
        /// The v1beta1 part.
        pub v1beta1: KubeadmControlPlaneV1Beta1,
    }

    /// A control plane's status as v1beta1 knew it.
    pub struct KubeadmControlPlaneV1Beta1 {
        /// The conditions.
        pub conditions: Vec<V1Beta1Condition>,
        /// The terminal failure in one word.
        pub failure_reason: Option<String>,
        /// The terminal failure in a sentence.
        pub failure_message: Option<String>,
        /// How many machines match the spec.
        pub updated_replicas: Option<i32>,
        /// How many nodes are ready.
        pub ready_replicas: Option<i32>,
        /// How many are missing.
        pub unavailable_replicas: Option<i32>,
    }
}

keyword! {
    /// How a control plane's machines are replaced.
    pub enum ControlPlaneRolloutStrategyType {
        /// One after the other.
        RollingUpdate = "RollingUpdate",
    }
}
