//! Conversion of `ClusterClass`.

use super::{
    shared::{DELETION, HEALTH_CHECK, ROLLOUT_STRATEGY},
    variable_schema,
};
use crate::conversion::rules::{CONDITIONS, Conversion, Rule, nothing};

// Parity: upstream core/webhooks/conversion/clusterclass.go
pub(super) const CLUSTER_CLASS: Conversion = Conversion {
    kind: "ClusterClass",
    spoke: "v1beta1",
    keeps_hub: true,
    rules: &[
        Rule::Move {
            old: "spec.infrastructure.ref",
            new: "spec.infrastructure.templateRef",
        },
        Rule::Move {
            old: "spec.infrastructureNamingStrategy.template",
            new: "spec.infrastructure.naming.template",
        },
        Rule::LocalReference {
            at: "spec.infrastructure.templateRef",
        },
        Rule::Inside {
            at: "spec.controlPlane",
            rules: CONTROL_PLANE,
        },
        Rule::Each {
            at: "spec.workers.machineDeployments",
            key: Some("class"),
            rules: MACHINE_DEPLOYMENT,
        },
        Rule::Each {
            at: "spec.workers.machinePools",
            key: Some("class"),
            rules: WORKERS,
        },
        Rule::Each {
            at: "spec.patches",
            key: Some("name"),
            rules: PATCH,
        },
        Rule::Each {
            at: "spec.variables",
            key: Some("name"),
            rules: VARIABLE,
        },
        Rule::Each {
            at: "status.variables",
            key: Some("name"),
            rules: STATUS_VARIABLE,
        },
        Rule::All(CONDITIONS),
    ],
};

const NAMING: Rule = Rule::Move {
    old: "namingStrategy.template",
    new: "naming.template",
};

const CONTROL_PLANE: &[Rule] = &[
    Rule::Move {
        old: "ref",
        new: "templateRef",
    },
    Rule::LocalReference { at: "templateRef" },
    Rule::Move {
        old: "machineInfrastructure.ref",
        new: "machineInfrastructure.templateRef",
    },
    Rule::LocalReference {
        at: "machineInfrastructure.templateRef",
    },
    NAMING,
    Rule::All(DELETION),
    Rule::All(HEALTH_CHECK),
];

/// What classes of machine deployments and of machine pools have in common.
const WORKERS: &[Rule] = &[
    Rule::Move {
        old: "template.metadata",
        new: "metadata",
    },
    Rule::Move {
        old: "template.bootstrap.ref",
        new: "bootstrap.templateRef",
    },
    Rule::LocalReference {
        at: "bootstrap.templateRef",
    },
    Rule::Move {
        old: "template.infrastructure.ref",
        new: "infrastructure.templateRef",
    },
    Rule::LocalReference {
        at: "infrastructure.templateRef",
    },
    NAMING,
    Rule::All(DELETION),
];

const MACHINE_DEPLOYMENT: &[Rule] = &[
    Rule::All(WORKERS),
    Rule::All(ROLLOUT_STRATEGY),
    Rule::Move {
        old: "strategy.remediation.maxInFlight",
        new: "healthCheck.remediation.maxInFlight",
    },
    Rule::All(HEALTH_CHECK),
];

const PATCH: &[Rule] = &[
    Rule::Move {
        old: "external.generateExtension",
        new: "external.generatePatchesExtension",
    },
    Rule::Move {
        old: "external.validateExtension",
        new: "external.validateTopologyExtension",
    },
    Rule::Each {
        at: "definitions",
        key: None,
        rules: PATCH_DEFINITION,
    },
];

const PATCH_DEFINITION: &[Rule] = &[Rule::Inside {
    at: "selector.matchResources",
    rules: MATCH_RESOURCES,
}];

const MATCH_RESOURCES: &[Rule] = &[
    Rule::IfMeant {
        old: "controlPlane",
        new: "controlPlane",
    },
    Rule::IfMeant {
        old: "infrastructureCluster",
        new: "infrastructureCluster",
    },
];

const VARIABLE: &[Rule] = &[
    Rule::Move {
        old: "metadata",
        new: "deprecatedV1Beta1Metadata",
    },
    Rule::Inside {
        at: "schema.openAPIV3Schema",
        rules: VARIABLE_SCHEMA,
    },
];

const VARIABLE_SCHEMA: &[Rule] = &[Rule::Custom {
    up: variable_schema::restore_flags,
    down: nothing,
}];

const STATUS_VARIABLE: &[Rule] = &[
    Rule::IfMeant {
        old: "definitionsConflict",
        new: "definitionsConflict",
    },
    Rule::Each {
        at: "definitions",
        key: Some("from"),
        rules: VARIABLE,
    },
];
