//! The Node that a kubelet registers and keeps.

use capstan_base::Timestamp;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::Client;
use serde_json::{Value, json};

use super::{create, merge_status, pods, remove};
use crate::backend::{BackendError, NodeIntent};

const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";

/// Registers a node, or takes up the one that is registered, and reports it ready.
pub(in crate::backend) async fn register_node(
    client: &Client,
    intent: &NodeIntent,
    now: Timestamp,
) -> Result<(), BackendError> {
    create::<Node>(client, node(intent)).await?;
    merge_status::<Node>(client, None, &intent.name, &status(intent, now)).await?;
    Ok(())
}

/// What the cluster sees of a node whose power was cut or came back.
pub(in crate::backend) async fn report_node(
    client: &Client,
    name: &str,
    is_powered: bool,
    now: Timestamp,
) -> Result<(), BackendError> {
    let status = json!({ "conditions": conditions(is_powered, now) });
    merge_status::<Node>(client, None, name, &status).await?;
    pods::report_static_pods(client, name, is_powered, now).await
}

/// Removes what a machine left in the cluster.
pub(in crate::backend) async fn remove_machine(
    client: &Client,
    name: &str,
    is_control_plane: bool,
) -> Result<(), BackendError> {
    remove::<Node>(client, None, name).await?;
    if is_control_plane {
        for component in pods::ALL {
            remove::<Pod>(client, Some("kube-system"), &format!("{component}-{name}")).await?;
        }
    }
    Ok(())
}

fn node(intent: &NodeIntent) -> Value {
    let mut labels = json!({
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": intent.name,
        "kubernetes.io/os": "linux",
    });
    for (key, value) in &intent.registration.labels {
        labels[key] = json!(value);
    }
    let mut taints = json!([]);
    if intent.is_control_plane {
        labels[CONTROL_PLANE] = json!("");
        labels["node.kubernetes.io/exclude-from-external-load-balancers"] = json!("");
        taints = json!([{ "key": CONTROL_PLANE, "effect": "NoSchedule" }]);
    }
    if let Some(own) = &intent.registration.taints {
        taints = json!(own);
    }
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": { "name": intent.name, "labels": labels },
        "spec": { "providerID": intent.provider_id, "taints": taints },
    })
}

fn status(intent: &NodeIntent, now: Timestamp) -> Value {
    let resources = json!({ "cpu": "4", "memory": "8Gi", "pods": "110", "ephemeral-storage": "40Gi" });
    json!({
        "addresses": [
            { "type": "InternalIP", "address": intent.address },
            { "type": "Hostname", "address": intent.name },
        ],
        "allocatable": resources,
        "capacity": resources,
        "conditions": conditions(true, now),
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": "",
            "containerRuntimeVersion": "containerd://2.1.0",
            "kernelVersion": "6.12.0",
            "kubeProxyVersion": "",
            "kubeletVersion": intent.version,
            "machineID": "",
            "operatingSystem": "linux",
            "osImage": "in-memory",
            "systemUUID": "",
        },
    })
}

/// The conditions of a node that reports, or of one that the cluster has given up waiting for.
fn conditions(is_alive: bool, now: Timestamp) -> Value {
    let time = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        let (status, reason, message) = if is_alive {
            (status, reason, message)
        } else {
            (
                "Unknown",
                "NodeStatusUnknown",
                "Kubelet stopped posting node status.",
            )
        };
        json!({
            "type": kind,
            "status": status,
            "reason": reason,
            "message": message,
            "lastHeartbeatTime": time,
            "lastTransitionTime": time,
        })
    };
    json!([
        condition(
            "MemoryPressure",
            "False",
            "KubeletHasSufficientMemory",
            "kubelet has sufficient memory available"
        ),
        condition(
            "DiskPressure",
            "False",
            "KubeletHasNoDiskPressure",
            "kubelet has no disk pressure"
        ),
        condition(
            "PIDPressure",
            "False",
            "KubeletHasSufficientPID",
            "kubelet has sufficient PID available"
        ),
        condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ])
}
