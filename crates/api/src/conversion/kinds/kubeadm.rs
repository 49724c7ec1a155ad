//! Conversions of `KubeadmConfig` and its template.

use serde_json::{Value, json};

use crate::conversion::{
    paths::{get, put, take},
    rules::{Around, CONDITIONS, Conversion, FAILURE, Object, Rule, nothing},
};

// Parity: upstream bootstrap/kubeadm/webhooks/conversion/kubeadmconfig.go
pub(super) const KUBEADM_CONFIG: Conversion = Conversion {
    kind: "KubeadmConfig",
    spoke: "v1beta1",
    keeps_hub: true,
    rules: &[
        Rule::Inside {
            at: "spec",
            rules: KUBEADM_CONFIG_SPEC,
        },
        Rule::All(CONDITIONS),
        Rule::All(FAILURE),
        Rule::IfMeant {
            old: "status.ready",
            new: "status.initialization.dataSecretCreated",
        },
    ],
};

// Parity: upstream bootstrap/kubeadm/webhooks/conversion/kubeadmconfigtemplate.go
pub(super) const KUBEADM_CONFIG_TEMPLATE: Conversion = Conversion {
    kind: "KubeadmConfigTemplate",
    spoke: "v1beta1",
    keeps_hub: true,
    rules: &[Rule::Inside {
        at: "spec.template.spec",
        rules: KUBEADM_CONFIG_SPEC,
    }],
};

/// How kubeadm sets up a machine, in the object that has the settings.
pub(super) const KUBEADM_CONFIG_SPEC: &[Rule] = &[
    Rule::Inside {
        at: "clusterConfiguration.apiServer",
        rules: COMPONENT,
    },
    Rule::Inside {
        at: "clusterConfiguration.controllerManager",
        rules: COMPONENT,
    },
    Rule::Inside {
        at: "clusterConfiguration.scheduler",
        rules: COMPONENT,
    },
    Rule::Arguments {
        at: "clusterConfiguration.etcd.local.extraArgs",
    },
    Rule::Arguments {
        at: "initConfiguration.nodeRegistration.kubeletExtraArgs",
    },
    Rule::Arguments {
        at: "joinConfiguration.nodeRegistration.kubeletExtraArgs",
    },
    Rule::Each {
        at: "initConfiguration.bootstrapTokens",
        key: None,
        rules: BOOTSTRAP_TOKEN,
    },
    Rule::Inside {
        at: "joinConfiguration.discovery",
        rules: DISCOVERY,
    },
    Rule::Each {
        at: "diskSetup.partitions",
        key: None,
        rules: PARTITION,
    },
    Rule::Each {
        at: "files",
        key: Some("path"),
        rules: FILE,
    },
    Rule::Inside {
        at: "ignition.containerLinuxConfig",
        rules: CONTAINER_LINUX,
    },
    Rule::Seconds {
        old: CONTROL_PLANE_TIMEOUT,
        new: CONTROL_PLANE_TIMEOUT,
    },
    Rule::Seconds {
        old: DISCOVERY_TIMEOUT,
        new: DISCOVERY_TIMEOUT,
    },
    Rule::Custom {
        up: gather_timeouts,
        down: scatter_timeouts,
    },
];

const COMPONENT: &[Rule] = &[
    Rule::Arguments { at: "extraArgs" },
    Rule::Each {
        at: "extraVolumes",
        key: Some("hostPath"),
        rules: VOLUME,
    },
];

const VOLUME: &[Rule] = &[Rule::IfMeant {
    old: "readOnly",
    new: "readOnly",
}];

const BOOTSTRAP_TOKEN: &[Rule] = &[Rule::Seconds {
    old: "ttl",
    new: "ttlSeconds",
}];

const DISCOVERY: &[Rule] = &[
    Rule::Inside {
        at: "bootstrapToken",
        rules: TOKEN_DISCOVERY,
    },
    Rule::Inside {
        at: "file.kubeConfig.cluster",
        rules: KUBECONFIG_CLUSTER,
    },
    Rule::Inside {
        at: "file.kubeConfig.user.exec",
        rules: KUBECONFIG_EXEC,
    },
];

const TOKEN_DISCOVERY: &[Rule] = &[Rule::IfMeant {
    old: "unsafeSkipCAVerification",
    new: "unsafeSkipCAVerification",
}];

const KUBECONFIG_CLUSTER: &[Rule] = &[Rule::IfMeant {
    old: "insecureSkipTLSVerify",
    new: "insecureSkipTLSVerify",
}];

const KUBECONFIG_EXEC: &[Rule] = &[Rule::IfMeant {
    old: "provideClusterInfo",
    new: "provideClusterInfo",
}];

const PARTITION: &[Rule] = &[Rule::Custom {
    up: choose_layout,
    down: nothing,
}];

const FILE: &[Rule] = &[Rule::IfMeant {
    old: "append",
    new: "append",
}];

const CONTAINER_LINUX: &[Rule] = &[Rule::IfMeant {
    old: "strict",
    new: "strict",
}];

/// The hub takes either a layout or a disk layout, the older versions always have a layout.
///
/// Differs: upstream keeps a layout of false beside a disk layout, which the hub's own validation rejects.
fn choose_layout(partition: &mut Object, _: Around<'_>) {
    if partition.contains_key("diskLayout") && partition.get("layout") == Some(&json!(false)) {
        partition.remove("layout");
    }
}

/// Where the older versions have their two timeouts; as seconds while the steps below move them.
const CONTROL_PLANE_TIMEOUT: &str = "clusterConfiguration.apiServer.timeoutForControlPlane";
const DISCOVERY_TIMEOUT: &str = "joinConfiguration.discovery.timeout";

/// Where the hub has them.
const INIT_HEALTH_CHECK: &str = "initConfiguration.timeouts.controlPlaneComponentHealthCheckSeconds";
const JOIN_HEALTH_CHECK: &str = "joinConfiguration.timeouts.controlPlaneComponentHealthCheckSeconds";
const JOIN_TLS_BOOTSTRAP: &str = "joinConfiguration.timeouts.tlsBootstrapSeconds";

/// Restores the timeouts, then lets those that the older versions have elsewhere win.
///
/// Both the first node and those that join take the timeout for the control plane from the one that the older
/// versions have.
///
/// Differs: upstream overwrites the timeout of joining nodes even if the one it is taken from was not changed.
fn gather_timeouts(spec: &mut Object, around: Around<'_>) {
    let control_plane = take(spec, CONTROL_PLANE_TIMEOUT);
    let discovery = take(spec, DISCOVERY_TIMEOUT);
    for at in ["initConfiguration.timeouts", "joinConfiguration.timeouts"] {
        let kept = around
            .restored
            .and_then(Value::as_object)
            .and_then(|restored| get(restored, at));
        if let Some(kept) = kept {
            put(spec, at, kept.clone());
        }
    }
    if let Some(control_plane) = control_plane
        && get(spec, INIT_HEALTH_CHECK) != Some(&control_plane)
    {
        put(spec, JOIN_HEALTH_CHECK, control_plane.clone());
        put(spec, INIT_HEALTH_CHECK, control_plane);
    }
    if let Some(discovery) = discovery {
        put(spec, JOIN_TLS_BOOTSTRAP, discovery);
    }
}

fn scatter_timeouts(spec: &mut Object, _: Around<'_>) {
    let control_plane = take(spec, INIT_HEALTH_CHECK);
    let discovery = take(spec, JOIN_TLS_BOOTSTRAP);
    take(spec, "initConfiguration.timeouts");
    take(spec, "joinConfiguration.timeouts");
    if let Some(timeout) = control_plane {
        put(spec, CONTROL_PLANE_TIMEOUT, timeout);
    }
    if let Some(timeout) = discovery {
        put(spec, DISCOVERY_TIMEOUT, timeout);
    }
}
