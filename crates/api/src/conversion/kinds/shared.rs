//! Rules that several kinds share.

use crate::conversion::rules::Rule;

/// Timeouts of the deletion of a machine, in the object that has them.
pub(super) const DELETION: &[Rule] = &[
    Rule::Seconds {
        old: "nodeDrainTimeout",
        new: "deletion.nodeDrainTimeoutSeconds",
    },
    Rule::Seconds {
        old: "nodeVolumeDetachTimeout",
        new: "deletion.nodeVolumeDetachTimeoutSeconds",
    },
    Rule::Seconds {
        old: "nodeDeletionTimeout",
        new: "deletion.nodeDeletionTimeoutSeconds",
    },
];

/// How long a condition has to last.
const TIMEOUT: &[Rule] = &[Rule::Seconds {
    old: "timeout",
    new: "timeoutSeconds",
}];

/// What makes a machine unhealthy and what happens then, once it is below `checks` and `remediation`.
pub(super) const CHECKS: &[Rule] = &[
    Rule::Each {
        at: "checks.unhealthyNodeConditions",
        key: None,
        rules: TIMEOUT,
    },
    Rule::Each {
        at: "checks.unhealthyMachineConditions",
        key: None,
        rules: TIMEOUT,
    },
    Rule::LocalReference {
        at: "remediation.templateRef",
    },
];

/// The health check of a class or topology, in the object that has it.
pub(super) const HEALTH_CHECK: &[Rule] = &[
    Rule::Move {
        old: "machineHealthCheck.enable",
        new: "healthCheck.enabled",
    },
    Rule::Move {
        old: "machineHealthCheck.unhealthyConditions",
        new: "healthCheck.checks.unhealthyNodeConditions",
    },
    Rule::Move {
        old: "machineHealthCheck.unhealthyMachineConditions",
        new: "healthCheck.checks.unhealthyMachineConditions",
    },
    Rule::Seconds {
        old: "machineHealthCheck.nodeStartupTimeout",
        new: "healthCheck.checks.nodeStartupTimeoutSeconds",
    },
    Rule::Move {
        old: "machineHealthCheck.maxUnhealthy",
        new: "healthCheck.remediation.triggerIf.unhealthyLessThanOrEqualTo",
    },
    Rule::Move {
        old: "machineHealthCheck.unhealthyRange",
        new: "healthCheck.remediation.triggerIf.unhealthyInRange",
    },
    Rule::Move {
        old: "machineHealthCheck.remediationTemplate",
        new: "healthCheck.remediation.templateRef",
    },
    Rule::Inside {
        at: "healthCheck",
        rules: CHECKS,
    },
];

/// The strategy of a group of workers, in the object that has it; what limits repairs is moved by the kind.
pub(super) const ROLLOUT_STRATEGY: &[Rule] = &[
    Rule::Move {
        old: "strategy.type",
        new: "rollout.strategy.type",
    },
    Rule::Move {
        old: "strategy.rollingUpdate.maxSurge",
        new: "rollout.strategy.rollingUpdate.maxSurge",
    },
    Rule::Move {
        old: "strategy.rollingUpdate.maxUnavailable",
        new: "rollout.strategy.rollingUpdate.maxUnavailable",
    },
    Rule::Move {
        old: "strategy.rollingUpdate.deletePolicy",
        new: "deletion.order",
    },
];

/// The spec of a machine or of a template for machines.
pub(super) const MACHINE_SPEC: &[Rule] = &[
    Rule::All(DELETION),
    Rule::ContractReference {
        at: "bootstrap.configRef",
    },
    Rule::ContractReference {
        at: "infrastructureRef",
    },
];

/// Counters of machines: the old ones, which count nodes, go below `status.deprecated.v1beta1`, and the new ones,
/// which count conditions of machines, come up from `status.v1beta2`.
pub(super) const COUNTERS: &[Rule] = &[
    Rule::Move {
        old: "status.readyReplicas",
        new: "status.deprecated.v1beta1.readyReplicas",
    },
    Rule::Move {
        old: "status.v1beta2.readyReplicas",
        new: "status.readyReplicas",
    },
    Rule::Move {
        old: "status.availableReplicas",
        new: "status.deprecated.v1beta1.availableReplicas",
    },
    Rule::Move {
        old: "status.v1beta2.availableReplicas",
        new: "status.availableReplicas",
    },
    Rule::Move {
        old: "status.unavailableReplicas",
        new: "status.deprecated.v1beta1.unavailableReplicas",
    },
    Rule::Move {
        old: "status.updatedReplicas",
        new: "status.deprecated.v1beta1.updatedReplicas",
    },
    Rule::Move {
        old: "status.fullyLabeledReplicas",
        new: "status.deprecated.v1beta1.fullyLabeledReplicas",
    },
    Rule::Move {
        old: "status.v1beta2.upToDateReplicas",
        new: "status.upToDateReplicas",
    },
];

/// The first provisioning of machines.
pub(super) const MACHINE_INITIALIZATION: &[Rule] = &[
    Rule::IfMeant {
        old: "status.bootstrapReady",
        new: "status.initialization.bootstrapDataSecretCreated",
    },
    Rule::IfMeant {
        old: "status.infrastructureReady",
        new: "status.initialization.infrastructureProvisioned",
    },
];
