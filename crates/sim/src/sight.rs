//! What users look at while they wait: for lives and tests.

use kube::core::DynamicObject;
use serde_json::{Value, json};

use crate::World;

/// The group of Cluster and Machine.
pub const CORE: &str = "cluster.x-k8s.io";
/// The group of KubeadmControlPlane.
pub const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io";
/// The group of the dev provider.
pub const INFRASTRUCTURE: &str = "infrastructure.cluster.x-k8s.io";
/// The group of KubeadmConfig.
pub const BOOTSTRAP: &str = "bootstrap.cluster.x-k8s.io";

/// Everything that a cluster is made of, in an order in which users may think of it.
pub const KINDS: [(&str, &str); 10] = [
    (CORE, "Cluster"),
    (CORE, "MachineDeployment"),
    (CORE, "MachineSet"),
    (CORE, "Machine"),
    (CONTROL_PLANE, "KubeadmControlPlane"),
    (BOOTSTRAP, "KubeadmConfig"),
    (BOOTSTRAP, "KubeadmConfigTemplate"),
    (INFRASTRUCTURE, "DevMachine"),
    (INFRASTRUCTURE, "DevMachineTemplate"),
    (INFRASTRUCTURE, "DevCluster"),
];

fn is_control_plane(machine: &DynamicObject) -> bool {
    let labels = machine.metadata.labels.as_ref();
    labels.is_some_and(|it| it.contains_key("cluster.x-k8s.io/control-plane"))
}

/// `control plane machines + workers`, of which all run their version and are available; else what is missing.
pub async fn machines(world: &World) -> String {
    let machines = world.list(CORE, "Machine").await;
    let is_whole = |it: &&DynamicObject| {
        let conditions = it.data.pointer("/status/conditions").and_then(Value::as_array);
        let is_true = |kind: &str| {
            conditions
                .into_iter()
                .flatten()
                .any(|it| it["type"] == kind && it["status"] == "True")
        };
        it.metadata.deletion_timestamp.is_none() && is_true("Available") && is_true("UpToDate")
    };
    let (control_plane, workers): (Vec<_>, Vec<_>) = machines.iter().partition(|it| is_control_plane(it));
    let broken = machines.len() - machines.iter().filter(is_whole).count();
    if broken > 0 {
        return format!(
            "{} + {} of which {broken} are not whole",
            control_plane.len(),
            workers.len()
        );
    }
    format!("{} + {}", control_plane.len(), workers.len())
}

/// The cluster's `Available`.
pub async fn available(world: &World) -> String {
    world.condition(CORE, "Cluster", "demo", "Available").await
}

/// The names of workers or of control plane machines, sorted.
pub async fn names(world: &World, of_control_plane: bool) -> Vec<String> {
    let machines = world.list(CORE, "Machine").await;
    machines
        .iter()
        .filter(|it| is_control_plane(it) == of_control_plane)
        .filter_map(|it| it.metadata.name.clone())
        .collect()
}

/// The versions of workers or of control plane machines, each once.
pub async fn versions(world: &World, of_control_plane: bool) -> String {
    let machines = world.list(CORE, "Machine").await;
    let mut versions: Vec<String> = machines
        .iter()
        .filter(|it| is_control_plane(it) == of_control_plane)
        .filter_map(|it| it.data.pointer("/spec/version")?.as_str().map(str::to_owned))
        .collect();
    versions.sort();
    versions.dedup();
    versions.join(" ")
}

/// What is left of everything that a cluster is made of, VMs included; templates stay where nobody deleted them.
pub async fn leftovers(world: &World) -> String {
    let mut left = Vec::new();
    for (group, kind) in KINDS.iter().filter(|(_, kind)| !kind.ends_with("Template")) {
        let count = world.list(group, kind).await.len();
        if count > 0 {
            left.push(format!("{kind} {count}"));
        }
    }
    let machines = world.backend().ledger().all().len();
    if machines > 0 {
        left.push(format!("VM {machines}"));
    }
    left.join(", ")
}

/// A patch of `spec.replicas`.
pub fn replicas(count: u32) -> Value {
    json!({ "spec": { "replicas": count } })
}
