//! Conversion of Cluster.

use super::shared::{DELETION, HEALTH_CHECK, ROLLOUT_STRATEGY};
use crate::conversion::rules::{CONDITIONS, Conversion, FAILURE, Rule, STATUS_FAILURE_DOMAINS};

// Parity: upstream core/webhooks/conversion/cluster.go
pub(super) const CLUSTER: Conversion = Conversion {
    kind: "Cluster",
    spoke: "v1beta1",
    keeps_hub: true,
    rules: &[
        Rule::IfMeant {
            old: "spec.paused",
            new: "spec.paused",
        },
        Rule::ContractReference {
            at: "spec.controlPlaneRef",
        },
        Rule::ContractReference {
            at: "spec.infrastructureRef",
        },
        Rule::Inside {
            at: "spec.topology",
            rules: TOPOLOGY,
        },
        Rule::All(CONDITIONS),
        Rule::All(FAILURE),
        Rule::IfMeant {
            old: "status.controlPlaneReady",
            new: "status.initialization.controlPlaneInitialized",
        },
        Rule::IfMeant {
            old: "status.infrastructureReady",
            new: "status.initialization.infrastructureProvisioned",
        },
        Rule::Move {
            old: "status.v1beta2.controlPlane",
            new: "status.controlPlane",
        },
        Rule::Move {
            old: "status.v1beta2.workers",
            new: "status.workers",
        },
        STATUS_FAILURE_DOMAINS,
    ],
};

const TOPOLOGY: &[Rule] = &[
    Rule::Move {
        old: "class",
        new: "classRef.name",
    },
    Rule::Move {
        old: "classNamespace",
        new: "classRef.namespace",
    },
    Rule::Inside {
        at: "controlPlane",
        rules: CONTROL_PLANE,
    },
    Rule::Each {
        at: "workers.machineDeployments",
        key: Some("name"),
        rules: MACHINE_DEPLOYMENT,
    },
    Rule::Each {
        at: "workers.machinePools",
        key: Some("name"),
        rules: DELETION,
    },
];

const CONTROL_PLANE: &[Rule] = &[Rule::All(DELETION), Rule::All(HEALTH_CHECK)];

const MACHINE_DEPLOYMENT: &[Rule] = &[
    Rule::All(DELETION),
    Rule::All(ROLLOUT_STRATEGY),
    Rule::Move {
        old: "strategy.remediation.maxInFlight",
        new: "healthCheck.remediation.maxInFlight",
    },
    Rule::All(HEALTH_CHECK),
];
