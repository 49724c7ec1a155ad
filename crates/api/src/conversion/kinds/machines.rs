//! Conversions of Machine and of the kinds that own and watch machines.

use serde_json::json;

use super::shared::{CHECKS, COUNTERS, DELETION, MACHINE_INITIALIZATION, MACHINE_SPEC, ROLLOUT_STRATEGY};
use crate::conversion::{
    paths::{get, get_mut},
    rules::{Around, CONDITIONS, Conversion, FAILURE, Object, Rule, nothing},
};

const MACHINE_NAMING: Rule = Rule::Move {
    old: "spec.machineNamingStrategy.template",
    new: "spec.machineNaming.template",
};

const MIN_READY_SECONDS: Rule = Rule::Move {
    old: "spec.minReadySeconds",
    new: "spec.template.spec.minReadySeconds",
};

const MACHINE_TEMPLATE: Rule = Rule::Inside {
    at: "spec.template.spec",
    rules: MACHINE_SPEC,
};

// Parity: upstream core/webhooks/conversion/machine.go
pub(super) const MACHINE: Conversion = Conversion {
    kind: "Machine",
    spoke: "v1beta1",
    keeps_hub: true,
    rules: &[
        Rule::Inside {
            at: "spec",
            rules: MACHINE_SPEC,
        },
        Rule::Restored {
            at: "spec.minReadySeconds",
        },
        Rule::Custom {
            up: nothing,
            down: describe_node_and_phase,
        },
        Rule::All(CONDITIONS),
        Rule::All(FAILURE),
        Rule::All(MACHINE_INITIALIZATION),
        Rule::NotWritable { at: "status.phase" },
        Rule::Restored {
            at: "status.failureDomain",
        },
    ],
};

/// The older versions refer to nodes in full, and have no phase for updates in place.
fn describe_node_and_phase(machine: &mut Object, _: Around<'_>) {
    if let Some(node) = get_mut(machine, "status.nodeRef").and_then(serde_json::Value::as_object_mut) {
        node.insert("apiVersion".to_owned(), json!("v1"));
        node.insert("kind".to_owned(), json!("Node"));
    }
    if get(machine, "status.phase") == Some(&json!("Updating"))
        && let Some(phase) = get_mut(machine, "status.phase")
    {
        *phase = json!("Running");
    }
}

// Parity: upstream core/webhooks/conversion/machineset.go
pub(super) const MACHINE_SET: Conversion = Conversion {
    kind: "MachineSet",
    spoke: "v1beta1",
    keeps_hub: false,
    rules: &[
        Rule::Move {
            old: "spec.deletePolicy",
            new: "spec.deletion.order",
        },
        MACHINE_NAMING,
        MIN_READY_SECONDS,
        MACHINE_TEMPLATE,
        Rule::All(CONDITIONS),
        Rule::All(FAILURE),
        Rule::All(COUNTERS),
    ],
};

// Parity: upstream core/webhooks/conversion/machinedeployment.go
pub(super) const MACHINE_DEPLOYMENT: Conversion = Conversion {
    kind: "MachineDeployment",
    spoke: "v1beta1",
    keeps_hub: true,
    rules: &[
        Rule::IfMeant {
            old: "spec.paused",
            new: "spec.paused",
        },
        Rule::Inside {
            at: "spec",
            rules: MACHINE_DEPLOYMENT_SPEC,
        },
        MACHINE_NAMING,
        MIN_READY_SECONDS,
        MACHINE_TEMPLATE,
        Rule::All(CONDITIONS),
        Rule::All(COUNTERS),
    ],
};

const MACHINE_DEPLOYMENT_SPEC: &[Rule] = &[
    Rule::All(ROLLOUT_STRATEGY),
    Rule::Move {
        old: "strategy.remediation.maxInFlight",
        new: "remediation.maxInFlight",
    },
    Rule::Move {
        old: "rolloutAfter",
        new: "rollout.after",
    },
];

// Parity: upstream core/webhooks/conversion/machinepool.go
pub(super) const MACHINE_POOL: Conversion = Conversion {
    kind: "MachinePool",
    spoke: "v1beta1",
    keeps_hub: true,
    rules: &[
        MIN_READY_SECONDS,
        MACHINE_TEMPLATE,
        Rule::All(CONDITIONS),
        Rule::All(FAILURE),
        Rule::All(COUNTERS),
        Rule::All(MACHINE_INITIALIZATION),
    ],
};

// Parity: upstream core/webhooks/conversion/machinehealthcheck.go
pub(super) const MACHINE_HEALTH_CHECK: Conversion = Conversion {
    kind: "MachineHealthCheck",
    spoke: "v1beta1",
    keeps_hub: true,
    rules: &[
        Rule::Inside {
            at: "spec",
            rules: MACHINE_HEALTH_CHECK_SPEC,
        },
        Rule::All(CONDITIONS),
        Rule::IfMeant {
            old: "status.expectedMachines",
            new: "status.expectedMachines",
        },
        Rule::IfMeant {
            old: "status.currentHealthy",
            new: "status.currentHealthy",
        },
        Rule::IfMeant {
            old: "status.remediationsAllowed",
            new: "status.remediationsAllowed",
        },
    ],
};

const MACHINE_HEALTH_CHECK_SPEC: &[Rule] = &[
    Rule::Move {
        old: "unhealthyConditions",
        new: "checks.unhealthyNodeConditions",
    },
    Rule::Move {
        old: "unhealthyMachineConditions",
        new: "checks.unhealthyMachineConditions",
    },
    Rule::Seconds {
        old: "nodeStartupTimeout",
        new: "checks.nodeStartupTimeoutSeconds",
    },
    Rule::Move {
        old: "maxUnhealthy",
        new: "remediation.triggerIf.unhealthyLessThanOrEqualTo",
    },
    Rule::Move {
        old: "unhealthyRange",
        new: "remediation.triggerIf.unhealthyInRange",
    },
    Rule::Move {
        old: "remediationTemplate",
        new: "remediation.templateRef",
    },
    Rule::All(CHECKS),
];

// Parity: upstream core/webhooks/conversion/machinedrainrule.go
pub(super) const MACHINE_DRAIN_RULE: Conversion = Conversion {
    kind: "MachineDrainRule",
    spoke: "v1beta1",
    keeps_hub: false,
    rules: &[],
};

/// The template of the machines of a control plane that is made by kubeadm, in the object that has it.
pub(super) const CONTROL_PLANE_MACHINES: &[Rule] = &[
    Rule::Move {
        old: "readinessGates",
        new: "spec.readinessGates",
    },
    Rule::Move {
        old: "taints",
        new: "spec.taints",
    },
    Rule::Move {
        old: "infrastructureRef",
        new: "spec.infrastructureRef",
    },
    Rule::Move {
        old: "nodeDrainTimeout",
        new: "spec.nodeDrainTimeout",
    },
    Rule::Move {
        old: "nodeVolumeDetachTimeout",
        new: "spec.nodeVolumeDetachTimeout",
    },
    Rule::Move {
        old: "nodeDeletionTimeout",
        new: "spec.nodeDeletionTimeout",
    },
    Rule::Inside {
        at: "spec",
        rules: CONTROL_PLANE_MACHINE_SPEC,
    },
];

const CONTROL_PLANE_MACHINE_SPEC: &[Rule] = &[
    Rule::All(DELETION),
    Rule::ContractReference {
        at: "infrastructureRef",
    },
];
