//! `MachineHealthCheck`: which machines are unhealthy and when they are repaired.

use k8s_openapi::apimachinery::pkg::{
    apis::meta::v1::{Condition, LabelSelector},
    util::intstr::IntOrString,
};

use super::common::{DeprecatedConditions, conditioned};
use crate::record::{object, record};

object! {
    /// Which machines are unhealthy and when they are repaired.
    /// Source: cluster-api `api/core/v1beta2/machinehealthcheck_types.go`.
    pub struct MachineHealthCheck in super::GROUP, plural "machinehealthchecks", scope NamespaceResourceScope,
    spec MachineHealthCheckSpec, status MachineHealthCheckStatus
}
conditioned!(MachineHealthCheck);

record! {
    /// Which machines are checked, how, and what is done.
    pub struct MachineHealthCheckSpec {
        /// The cluster the machines belong to.
        pub cluster_name: String,
        /// Which machines are checked.
        pub selector: LabelSelector,
        /// What makes a machine unhealthy.
        pub checks: HealthChecks,
        /// What is done then.
        pub remediation: Remediation,
    }

    /// What makes a machine unhealthy; any one is enough.
    pub struct HealthChecks {
        /// How long a node may take to appear; zero means for ever.
        pub node_startup_timeout_seconds: Option<i32>,
        /// Conditions of the Node.
        pub unhealthy_node_conditions: Vec<UnhealthyNodeCondition>,
        /// Conditions of the Machine.
        pub unhealthy_machine_conditions: Vec<UnhealthyMachineCondition>,
    }

    /// A state of a Node that makes its machine unhealthy.
    pub struct UnhealthyNodeCondition {
        /// The condition's type.
        #[serde(rename = "type")]
        pub type_: String,
        /// The condition's status.
        pub status: String,
        /// For how long the state must last.
        pub timeout_seconds: Option<i32>,
    }

    /// A state of a Machine that makes it unhealthy.
    pub struct UnhealthyMachineCondition {
        /// The condition's type.
        #[serde(rename = "type")]
        pub type_: String,
        /// The condition's status.
        pub status: String,
        /// For how long the state must last.
        pub timeout_seconds: Option<i32>,
    }

    /// What is done about unhealthy machines.
    pub struct Remediation {
        /// When repairs are allowed at all.
        pub trigger_if: RemediationTrigger,
        /// The template of an external repair request; absent means that the machine's owner repairs it.
        pub template_ref: Option<RemediationTemplateReference>,
    }

    /// When repairs are allowed at all.
    pub struct RemediationTrigger {
        /// If no more machines than this are unhealthy: a number, or a percentage.
        pub unhealthy_less_than_or_equal_to: Option<IntOrString>,
        /// If the number of unhealthy machines is in this range, written `[3-5]`.
        pub unhealthy_in_range: Option<String>,
    }

    /// A reference to the template of an external repair request.
    pub struct RemediationTemplateReference {
        /// The kind.
        pub kind: String,
        /// The name.
        pub name: String,
        /// The API group and version.
        pub api_version: String,
    }

    /// What was observed by a health check.
    pub struct MachineHealthCheckStatus {
        /// The conditions.
        pub conditions: Vec<Condition>,
        /// How many machines are checked.
        pub expected_machines: Option<i32>,
        /// How many are healthy.
        pub current_healthy: Option<i32>,
        /// How many more may be repaired now.
        pub remediations_allowed: Option<i32>,
        /// The generation of the spec that this status is about.
        pub observed_generation: Option<i64>,
        /// The names of the machines, sorted.
        pub targets: Vec<String>,
        /// What only readers of v1beta1 see.
        pub deprecated: DeprecatedConditions,
    }
}
