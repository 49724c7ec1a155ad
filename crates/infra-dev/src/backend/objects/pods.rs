//! The static pods of a control-plane machine, as kubelets mirror them.

use capstan_base::{Timestamp, naming};
use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use serde_json::{Value, json};

use super::{create, merge_status};
use crate::backend::{BackendError, NodeIntent};

/// etcd.
pub(in crate::backend) const ETCD: &str = "etcd";
/// What starts with the API server.
pub(in crate::backend) const CONTROL_PLANE: [&str; 3] =
    ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];
/// All components.
pub(super) const ALL: [&str; 4] = [
    ETCD,
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
];

const NAMESPACE: &str = "kube-system";
/// The etcd image of kubeadm's newest supported release.
const ETCD_TAG: &str = "3.6.6-0";

/// Mirrors a static pod and reports it ready.
pub(in crate::backend) async fn run_static_pod(
    client: &Client,
    node: &NodeIntent,
    component: &str,
    now: Timestamp,
) -> Result<(), BackendError> {
    create::<Pod>(client, pod(node, component)).await?;
    let name = format!("{component}-{}", node.name);
    merge_status::<Pod>(
        client,
        Some(NAMESPACE),
        &name,
        &status(component, &node.address, true, now),
    )
    .await?;
    Ok(())
}

/// What the cluster sees of the static pods of a node whose power was cut or came back.
pub(super) async fn report_static_pods(
    client: &Client,
    node: &str,
    is_powered: bool,
    now: Timestamp,
) -> Result<(), BackendError> {
    for component in ALL {
        let status = json!({ "conditions": conditions(is_powered, now) });
        merge_status::<Pod>(client, Some(NAMESPACE), &format!("{component}-{node}"), &status).await?;
    }
    Ok(())
}

fn image(component: &str, version: &str) -> String {
    if component == ETCD {
        format!("registry.k8s.io/etcd:{ETCD_TAG}")
    } else {
        // A build's metadata are no part of an image's tag.
        format!("registry.k8s.io/{component}:{}", version.replace('+', "_"))
    }
}

fn pod(node: &NodeIntent, component: &str) -> Value {
    // A kubelet puts the hash of the file there; that the annotation is there tells a mirror from other pods.
    let hash = naming::stable_suffix(&[node.name.as_str(), component], 32);
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": format!("{component}-{}", node.name),
            "namespace": NAMESPACE,
            "labels": { "component": component, "tier": "control-plane" },
            "annotations": {
                "kubernetes.io/config.hash": hash,
                "kubernetes.io/config.mirror": hash,
                "kubernetes.io/config.source": "file",
            },
        },
        "spec": {
            "containers": [{ "name": component, "image": image(component, &node.version), "command": [component] }],
            "hostNetwork": true,
            "nodeName": node.name,
            "priorityClassName": "system-node-critical",
            "tolerations": [{ "effect": "NoExecute", "operator": "Exists" }],
        },
    })
}

fn status(component: &str, address: &str, is_ready: bool, now: Timestamp) -> Value {
    let time = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    json!({
        "phase": "Running",
        "hostIP": address,
        "podIP": address,
        "startTime": time,
        "conditions": conditions(is_ready, now),
        "containerStatuses": [{
            "name": component,
            "image": "",
            "imageID": "",
            "ready": is_ready,
            "restartCount": 0,
            "started": true,
            "state": { "running": { "startedAt": time } },
        }],
    })
}

fn conditions(is_ready: bool, now: Timestamp) -> Value {
    let time = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let ready = if is_ready { "True" } else { "False" };
    let condition =
        |kind: &str, status: &str| json!({ "type": kind, "status": status, "lastTransitionTime": time });
    json!([
        condition("PodScheduled", "True"),
        condition("Initialized", "True"),
        condition("ContainersReady", ready),
        condition("Ready", ready),
    ])
}
