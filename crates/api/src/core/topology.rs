//! The managed topology of a `Cluster`: which class it is made from and how it differs from the class.

use k8s_openapi::apimachinery::pkg::{apis::meta::v1::Time, util::intstr::IntOrString};
use serde_json::Value;

use super::{
    HealthChecks, MachineDeploymentRollout, MachineSetDeletionOrder, Remediation,
    RemediationTemplateReference, RemediationTrigger,
    common::{ConditionGate, MachineTaint, NodeTimeouts, TemplateMeta},
};
use crate::record::record;

record! {
    /// A cluster made from a class.
    pub struct Topology {
        /// The class.
        pub class_ref: ClassReference,
        /// The Kubernetes version of the cluster.
        pub version: String,
        /// How the control plane differs from the class.
        pub control_plane: ControlPlaneTopology,
        /// The pools of workers.
        pub workers: WorkersTopology,
        /// The values of the class's variables.
        pub variables: Vec<Variable>,
    }

    /// A reference to a `ClusterClass`.
    pub struct ClassReference {
        /// The name.
        pub name: String,
        /// The namespace; absent means the cluster's.
        pub namespace: Option<String>,
    }

    /// How a control plane differs from its class.
    pub struct ControlPlaneTopology {
        /// Labels and annotations for the control plane and its machines.
        pub metadata: TemplateMeta,
        /// How many machines.
        pub replicas: Option<i32>,
        /// When machines are replaced.
        pub rollout: ControlPlaneTopologyRollout,
        /// How unhealthy machines are found and repaired.
        pub health_check: ControlPlaneTopologyHealthCheck,
        /// How long taking a node away may last.
        pub deletion: NodeTimeouts,
        /// Taints of the nodes.
        pub taints: Vec<MachineTaint>,
        /// Further conditions that count for `Ready`.
        pub readiness_gates: Vec<ConditionGate>,
        /// Values of variables that hold for the control plane only.
        pub variables: VariableOverrides,
    }

    /// When a control plane's machines are replaced.
    pub struct ControlPlaneTopologyRollout {
        /// Machines made before this time are replaced after it.
        pub after: Option<Time>,
    }

    /// How a control plane's unhealthy machines are found and repaired.
    pub struct ControlPlaneTopologyHealthCheck {
        /// Whether there is a health check; absent means if the class or the topology defines one.
        pub enabled: Option<bool>,
        /// What makes a machine unhealthy.
        pub checks: HealthChecks,
        /// What is done then.
        pub remediation: Remediation,
    }

    /// The pools of workers.
    pub struct WorkersTopology {
        /// Pools of single machines.
        pub machine_deployments: Vec<MachineDeploymentTopology>,
        /// Pools that the provider scales itself.
        pub machine_pools: Vec<MachinePoolTopology>,
    }

    /// A pool of single machines.
    pub struct MachineDeploymentTopology {
        /// Labels and annotations for the `MachineDeployment` and its machines.
        pub metadata: TemplateMeta,
        /// The worker class.
        pub class: String,
        /// The pool's name in this topology.
        pub name: String,
        /// Where the machines are placed.
        pub failure_domain: Option<String>,
        /// How many machines.
        pub replicas: Option<i32>,
        /// How unhealthy machines are found and repaired.
        pub health_check: MachineDeploymentTopologyHealthCheck,
        /// Which machines go first, and how long taking a node away may last.
        pub deletion: MachineDeploymentTopologyDeletion,
        /// Taints of the nodes.
        pub taints: Vec<MachineTaint>,
        /// How long a machine must be ready to be available.
        pub min_ready_seconds: Option<i32>,
        /// Further conditions that count for `Ready`.
        pub readiness_gates: Vec<ConditionGate>,
        /// When and how machines are replaced.
        pub rollout: MachineDeploymentRollout,
        /// Values of variables that hold for this pool only.
        pub variables: VariableOverrides,
    }

    /// How a pool's unhealthy machines are found and repaired.
    pub struct MachineDeploymentTopologyHealthCheck {
        /// Whether there is a health check; absent means if the class or the topology defines one.
        pub enabled: Option<bool>,
        /// What makes a machine unhealthy.
        pub checks: HealthChecks,
        /// What is done then.
        pub remediation: MachineDeploymentTopologyRemediation,
    }

    /// What is done about a pool's unhealthy machines.
    pub struct MachineDeploymentTopologyRemediation {
        /// How many machines may be repaired at one time.
        pub max_in_flight: Option<IntOrString>,
        /// When repairs are allowed at all.
        pub trigger_if: RemediationTrigger,
        /// The template of an external repair request.
        pub template_ref: Option<RemediationTemplateReference>,
    }

    /// Which of a pool's machines go first, and how long taking a node away may last, in seconds.
    pub struct MachineDeploymentTopologyDeletion {
        /// Which machines go first on scaling down.
        pub order: Option<MachineSetDeletionOrder>,
        /// The longest a drain may last.
        pub node_drain_timeout_seconds: Option<i32>,
        /// The longest to wait for volumes to be detached.
        pub node_volume_detach_timeout_seconds: Option<i32>,
        /// The longest to try to delete the Node object.
        pub node_deletion_timeout_seconds: Option<i32>,
    }

    /// A pool that the provider scales itself.
    pub struct MachinePoolTopology {
        /// Labels and annotations for the `MachinePool` and its machines.
        pub metadata: TemplateMeta,
        /// The worker class.
        pub class: String,
        /// The pool's name in this topology.
        pub name: String,
        /// Where the machines are placed.
        pub failure_domains: Vec<String>,
        /// How long taking a node away may last.
        pub deletion: NodeTimeouts,
        /// Taints of the nodes.
        pub taints: Vec<MachineTaint>,
        /// How long a machine must be ready to be available.
        pub min_ready_seconds: Option<i32>,
        /// How many machines.
        pub replicas: Option<i32>,
        /// Values of variables that hold for this pool only.
        pub variables: VariableOverrides,
    }

    /// The value of one variable.
    pub struct Variable {
        /// The variable's name.
        pub name: String,
        /// The value: any JSON. Absent and `null` are the same here.
        pub value: Value,
    }

    /// Values of variables that hold for one part of a topology only.
    pub struct VariableOverrides {
        /// The values.
        pub overrides: Vec<Variable>,
    }
}
