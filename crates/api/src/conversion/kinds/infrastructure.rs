//! The conversions of the infrastructure kinds.
// Parity: upstream test/infrastructure/docker/api/v1beta1/conversion.go
// Differs: cluster templates keep their hub object too, so that the order of failure domains survives.

use crate::conversion::rules::{CONDITIONS, Conversion, Rule, STATUS_FAILURE_DOMAINS};

/// The first provisioning.
const PROVISIONED: Rule = Rule::IfMeant {
    old: "status.ready",
    new: "status.initialization.provisioned",
};

/// Where a machine was placed; older versions do not say it.
const PLACEMENT: Rule = Rule::Restored {
    at: "status.failureDomain",
};

pub(super) const DEV_CLUSTER: Conversion = Conversion {
    kind: "DevCluster",
    spoke: "v1beta1",
    keeps_hub: true,
    rules: &[
        Rule::NamedItems {
            at: "spec.backend.docker.failureDomains",
        },
        Rule::All(CONDITIONS),
        PROVISIONED,
        STATUS_FAILURE_DOMAINS,
    ],
};

pub(super) const DEV_CLUSTER_TEMPLATE: Conversion = Conversion {
    kind: "DevClusterTemplate",
    spoke: "v1beta1",
    keeps_hub: true,
    rules: &[Rule::NamedItems {
        at: "spec.template.spec.backend.docker.failureDomains",
    }],
};

pub(super) const DEV_MACHINE: Conversion = Conversion {
    kind: "DevMachine",
    spoke: "v1beta1",
    keeps_hub: true,
    rules: &[Rule::All(CONDITIONS), PROVISIONED, PLACEMENT],
};

pub(super) const DEV_MACHINE_TEMPLATE: Conversion = Conversion {
    kind: "DevMachineTemplate",
    spoke: "v1beta1",
    keeps_hub: true,
    rules: &[Rule::Restored { at: "status" }],
};

pub(super) const DOCKER_CLUSTER: Conversion = Conversion {
    kind: "DockerCluster",
    spoke: "v1beta1",
    keeps_hub: true,
    rules: &[
        Rule::NamedItems {
            at: "spec.failureDomains",
        },
        Rule::All(CONDITIONS),
        PROVISIONED,
        STATUS_FAILURE_DOMAINS,
    ],
};

pub(super) const DOCKER_CLUSTER_TEMPLATE: Conversion = Conversion {
    kind: "DockerClusterTemplate",
    spoke: "v1beta1",
    keeps_hub: true,
    rules: &[Rule::NamedItems {
        at: "spec.template.spec.failureDomains",
    }],
};

pub(super) const DOCKER_MACHINE: Conversion = Conversion {
    kind: "DockerMachine",
    spoke: "v1beta1",
    keeps_hub: true,
    rules: &[Rule::All(CONDITIONS), PROVISIONED, PLACEMENT],
};

pub(super) const DOCKER_MACHINE_TEMPLATE: Conversion = Conversion {
    kind: "DockerMachineTemplate",
    spoke: "v1beta1",
    keeps_hub: true,
    rules: &[Rule::Restored { at: "status" }],
};
