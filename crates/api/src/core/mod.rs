//! The kinds of group `cluster.x-k8s.io`.

mod cluster;
mod cluster_class;
mod cluster_status;
mod common;
mod machine;
mod machine_deployment;
mod machine_drain_rule;
mod machine_health_check;
mod machine_pool;
mod machine_set;
mod topology;

pub(crate) use common::conditioned;

pub use cluster::{ApiEndpoint, Cluster, ClusterNetwork, ClusterSpec, NetworkRanges};
pub use cluster_class::{
    BootstrapClass, ClusterClass, ClusterClassPatch, ClusterClassSpec, ClusterClassStatus,
    ClusterClassStatusVariable, ClusterClassStatusVariableDefinition, ClusterClassTemplate,
    ClusterClassUpgrade, ClusterClassUpgradeExternal, ClusterClassVariable, ControlPlaneClass,
    ControlPlaneClassHealthCheck, ExternalPatch, InfrastructureClass, JsonPatch, JsonPatchValue,
    MachineDeploymentClass, MachineDeploymentClassHealthCheck, MachineDeploymentClassRemediation,
    MachineDeploymentClassRollout, MachinePoolClass, Naming, PatchDefinition, PatchSelector,
    PatchSelectorClassNames, PatchSelectorMatch, TemplateReference, VariableSchema, WorkersClass,
};
pub use cluster_status::{
    ClusterInitialization, ClusterPhase, ClusterReplicasStatus, ClusterStatus, FailureDomain,
};
pub use common::{
    ConditionGate, ConditionPolarity, Conditioned, ContractReference, DeprecatedConditions,
    DeprecatedFailure, MachineTaint, NodeTimeouts, StatusVersion, TaintEffect, TaintPropagation,
    TemplateMeta, UpgradePlanVersion, V1Beta1Condition, V1Beta1Conditions, V1Beta1Failure, int_or_percent,
};
pub use machine::{
    Bootstrap, Machine, MachineAddress, MachineAddressType, MachineDeletionStatus, MachineInitialization,
    MachinePhase, MachineSpec, MachineStatus, NodeReference,
};
pub use machine_deployment::{
    MachineDeployment, MachineDeploymentDeprecated, MachineDeploymentPhase, MachineDeploymentRemediation,
    MachineDeploymentRollout, MachineDeploymentSpec, MachineDeploymentStatus, MachineDeploymentV1Beta1,
    RollingUpdate, RolloutStrategy, RolloutStrategyType,
};
pub use machine_drain_rule::{
    DrainBehavior, DrainConfig, MachineDrainRule, MachineDrainRuleMachines, MachineDrainRulePods,
    MachineDrainRuleSpec,
};
pub use machine_health_check::{
    HealthChecks, MachineHealthCheck, MachineHealthCheckSpec, MachineHealthCheckStatus, Remediation,
    RemediationTemplateReference, RemediationTrigger, UnhealthyMachineCondition, UnhealthyNodeCondition,
};
pub use machine_pool::{
    MachinePool, MachinePoolDeprecated, MachinePoolPhase, MachinePoolSpec, MachinePoolStatus,
    MachinePoolV1Beta1,
};
pub use machine_set::{
    MachineNaming, MachineSet, MachineSetDeletion, MachineSetDeletionOrder, MachineSetDeprecated,
    MachineSetSpec, MachineSetStatus, MachineSetV1Beta1, MachineTemplate,
};
pub use topology::{
    ClassReference, ControlPlaneTopology, ControlPlaneTopologyHealthCheck, ControlPlaneTopologyRollout,
    MachineDeploymentTopology, MachineDeploymentTopologyDeletion, MachineDeploymentTopologyHealthCheck,
    MachineDeploymentTopologyRemediation, MachinePoolTopology, Topology, Variable, VariableOverrides,
    WorkersTopology,
};

/// The API group of these kinds.
pub const GROUP: &str = "cluster.x-k8s.io";
