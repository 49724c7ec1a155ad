//! What is filled in.

use serde_json::{Value, json};

use super::{CONTROL_PLANE, CORE, Context, default, defaulted, machine_spec, merged};

#[test]
fn a_machine_gets_its_label_version_prefix_and_timeout() {
    let spec = machine_spec(json!({ "version": "1.31.0" }));
    assert_eq!(
        defaulted(CORE, "Machine", spec),
        json!({
            "metadata": { "name": "name", "labels": { "cluster.x-k8s.io/cluster-name": "c" } },
            "spec": machine_spec(json!({ "version": "v1.31.0", "deletion": { "nodeDeletionTimeoutSeconds": 10 } }))
        })
    );
}

#[test]
fn a_deployment_is_completed_from_its_cluster_name_alone() {
    let template = json!({ "spec": { "bootstrap": { "dataSecretName": "d" } } });
    let complete = json!({
        "clusterName": "c", "replicas": 1,
        "rollout": { "strategy": { "type": "RollingUpdate",
            "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 0 } } },
        "selector": { "matchLabels": {
            "cluster.x-k8s.io/cluster-name": "c", "cluster.x-k8s.io/deployment-name": "name" } },
        "template": {
            "metadata": { "labels": {
                "cluster.x-k8s.io/cluster-name": "c", "cluster.x-k8s.io/deployment-name": "name" } },
            "spec": { "clusterName": "c", "bootstrap": { "dataSecretName": "d" } } }
    });
    for selector in [
        Value::Null,
        json!({}),
        json!({ "matchLabels": null }),
        json!({ "matchLabels": { "cluster.x-k8s.io/cluster-name": "c" } }),
    ] {
        let spec = json!({ "clusterName": "c", "selector": selector, "template": template });
        assert_eq!(
            defaulted(CORE, "MachineDeployment", spec)["spec"],
            complete,
            "{selector}"
        );
    }
}

#[test]
fn a_selector_of_ones_own_is_kept() {
    let spec = json!({
        "clusterName": "c", "replicas": 3, "selector": { "matchLabels": { "pool": "a" } },
        "rollout": { "strategy": { "type": "OnDelete" } },
        "template": { "metadata": { "labels": { "pool": "a" } }, "spec": { "clusterName": "c" } }
    });
    let labels = json!({ "pool": "a", "cluster.x-k8s.io/cluster-name": "c" });
    assert_eq!(
        defaulted(CORE, "MachineDeployment", spec.clone())["spec"],
        merged(
            spec,
            json!({
            "selector": { "matchLabels": labels }, "template": { "metadata": { "labels": labels } } })
        )
    );
}

#[test]
fn a_machine_set_selects_by_its_name() {
    let spec = defaulted(CORE, "MachineSet", json!({ "clusterName": "c" }))["spec"].clone();
    assert_eq!(
        spec,
        json!({
            "clusterName": "c", "replicas": 1,
            "selector": { "matchLabels": { "cluster.x-k8s.io/set-name": "name" } },
            "template": { "metadata": { "labels": { "cluster.x-k8s.io/set-name": "name" } },
                "spec": { "clusterName": "c" } }
        })
    );
}

#[test]
fn other_kinds_are_completed_too() {
    for (group, kind, spec, expected) in [
        (
            CORE,
            "MachineHealthCheck",
            json!({ "clusterName": "c" }),
            json!({ "clusterName": "c", "checks": { "nodeStartupTimeoutSeconds": 600 } }),
        ),
        (
            CORE,
            "MachinePool",
            json!({ "clusterName": "c", "template": { "spec": { "version": "1.31.0" } } }),
            json!({ "clusterName": "c", "replicas": 1, "template": { "spec": {
                "clusterName": "c", "version": "v1.31.0", "deletion": { "nodeDeletionTimeoutSeconds": 10 } } } }),
        ),
        (
            "addons.cluster.x-k8s.io",
            "ClusterResourceSet",
            json!({ "resources": [] }),
            json!({ "resources": [], "strategy": "ApplyOnce" }),
        ),
        (
            "runtime.cluster.x-k8s.io",
            "ExtensionConfig",
            json!({ "clientConfig": { "service": { "name": "n", "namespace": "ns" } } }),
            json!({ "clientConfig": { "service": { "name": "n", "namespace": "ns", "port": 443 } },
                "namespaceSelector": {} }),
        ),
        (
            CONTROL_PLANE,
            "KubeadmControlPlane",
            json!({ "version": "1.31.0" }),
            json!({ "version": "v1.31.0", "replicas": 1,
                "rollout": { "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1 } } } }),
        ),
        (CORE, "Other", json!({ "own": 1 }), json!({ "own": 1 })),
        (
            CORE,
            "Machine",
            json!({ "clusterName": 7 }),
            json!({ "clusterName": 7 }),
        ),
    ] {
        assert_eq!(defaulted(group, kind, spec)["spec"], expected, "{kind}");
    }
}

#[test]
fn an_autoscaler_takes_over_between_its_bounds() {
    let old = json!({ "metadata": { "name": "name" }, "spec": { "clusterName": "c", "replicas": 9 } });
    let mut new = json!({ "metadata": { "name": "name", "annotations": {
        "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size": "2",
        "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size": "4" } }, "spec": { "clusterName": "c" } });
    default(
        CORE,
        "MachineDeployment",
        &mut new,
        Some(&old),
        &Context::default(),
    )
    .expect("defaults");
    assert_eq!(new["spec"]["replicas"], json!(4));
}
