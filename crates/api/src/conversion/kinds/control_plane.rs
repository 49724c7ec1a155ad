//! Conversions of `KubeadmControlPlane` and its template.

use serde_json::{Value, json};

use super::{kubeadm::KUBEADM_CONFIG_SPEC, machines::CONTROL_PLANE_MACHINES, shared::COUNTERS};
use crate::conversion::{
    paths::{get, put, take},
    rules::{Around, CONDITIONS, Conversion, FAILURE, Object, Rule, nothing},
};

// Parity: upstream controlplane/kubeadm/webhooks/conversion/kubeadmcontrolplane.go
pub(super) const KUBEADM_CONTROL_PLANE: Conversion = Conversion {
    kind: "KubeadmControlPlane",
    spoke: "v1beta1",
    keeps_hub: true,
    rules: &[
        Rule::Custom {
            up: drop_ready,
            down: compute_ready,
        },
        Rule::Inside {
            at: "spec",
            rules: SPEC,
        },
        Rule::All(CONDITIONS),
        Rule::All(FAILURE),
        Rule::All(COUNTERS),
        Rule::IfMeant {
            old: "status.initialized",
            new: "status.initialization.controlPlaneInitialized",
        },
        Rule::Move {
            old: "status.lastRemediation.timestamp",
            new: "status.lastRemediation.time",
        },
    ],
};

// Parity: upstream controlplane/kubeadm/webhooks/conversion/kubeadmcontrolplanetemplate.go
pub(super) const KUBEADM_CONTROL_PLANE_TEMPLATE: Conversion = Conversion {
    kind: "KubeadmControlPlaneTemplate",
    spoke: "v1beta1",
    keeps_hub: true,
    rules: &[Rule::Inside {
        at: "spec.template.spec",
        rules: TEMPLATE_SPEC,
    }],
};

const SPEC: &[Rule] = &[
    Rule::Inside {
        at: "kubeadmConfigSpec",
        rules: KUBEADM_CONFIG_SPEC,
    },
    Rule::Inside {
        at: "machineTemplate",
        rules: CONTROL_PLANE_MACHINES,
    },
    Rule::Move {
        old: "machineNamingStrategy.template",
        new: "machineNaming.template",
    },
    Rule::Move {
        old: "remediationStrategy",
        new: "remediation",
    },
    Rule::Inside {
        at: "remediation",
        rules: REMEDIATION,
    },
    Rule::Move {
        old: "rolloutBefore.certificatesExpiryDays",
        new: "rollout.before.certificatesExpiryDays",
    },
    Rule::Move {
        old: "rolloutAfter",
        new: "rollout.after",
    },
    Rule::Move {
        old: "rolloutStrategy.type",
        new: "rollout.strategy.type",
    },
    Rule::Move {
        old: "rolloutStrategy.rollingUpdate.maxSurge",
        new: "rollout.strategy.rollingUpdate.maxSurge",
    },
];

const REMEDIATION: &[Rule] = &[
    Rule::Seconds {
        old: "minHealthyPeriod",
        new: "minHealthyPeriodSeconds",
    },
    Rule::SecondsIfMeant {
        old: "retryPeriod",
        new: "retryPeriodSeconds",
    },
];

const TEMPLATE_SPEC: &[Rule] = &[
    Rule::Custom {
        up: fill_strategy,
        down: nothing,
    },
    Rule::All(SPEC),
];

/// A strategy in a template need not have a type in the older versions; there is only one.
fn fill_strategy(spec: &mut Object, _: Around<'_>) {
    if let Some(strategy) = spec.get_mut("rolloutStrategy").and_then(Value::as_object_mut) {
        let named = strategy
            .get("type")
            .and_then(Value::as_str)
            .is_some_and(|name| !name.is_empty());
        if !named {
            strategy.insert("type".to_owned(), json!("RollingUpdate"));
        }
    }
}

/// In the older versions a control plane is ready when one of its nodes is; the hub says so in conditions.
fn compute_ready(control_plane: &mut Object, _: Around<'_>) {
    if get(control_plane, "status.readyReplicas")
        .and_then(Value::as_i64)
        .is_some_and(|count| count > 0)
    {
        put(control_plane, "status.ready", json!(true));
    }
}

fn drop_ready(control_plane: &mut Object, _: Around<'_>) {
    take(control_plane, "status.ready");
}
