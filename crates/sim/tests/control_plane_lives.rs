//! Lives of a control plane: upgraded, healed, adopted.

use std::time::Duration;

use capstan_engine::ObjectKey;
use capstan_sim::{
    World, cluster, lived,
    sight::{CONTROL_PLANE, CORE, names},
};
use k8s_openapi::api::{apps::v1::DaemonSet, core::v1::ConfigMap};
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(30 * 60);
const OLD: &str = "v1.34.1";
const NEW: &str = "v1.35.0";

async fn running(world: &World) -> Result<(), Box<dyn std::error::Error>> {
    world.create(&cluster(3, 3)).await?;
    world
        .until("True", LIMIT, || {
            world.condition(CORE, "Cluster", "demo", "Available")
        })
        .await?;
    world.until(&format!("3 {OLD}"), LIMIT, || members(world)).await?;
    let whole = || {
        world.condition(
            CONTROL_PLANE,
            "KubeadmControlPlane",
            "demo-control-plane",
            "EtcdClusterHealthy",
        )
    };
    world.until("True", LIMIT, whole).await?;
    Ok(())
}

/// How many control plane Machines are running, and their versions.
async fn members(world: &World) -> String {
    let machines = world.list(CORE, "Machine").await;
    let mut versions: Vec<&str> = Vec::new();
    let mut count = 0;
    let names = names(world, true).await;
    for machine in machines
        .iter()
        .filter(|it| it.metadata.name.as_ref().is_some_and(|it| names.contains(it)))
    {
        let is_running = machine.data.pointer("/status/phase") == Some(&json!("Running"));
        if !is_running {
            return format!(
                "{} is not running",
                machine.metadata.name.clone().unwrap_or_default()
            );
        }
        count += 1;
        let version = machine
            .data
            .pointer("/spec/version")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if !versions.contains(&version) {
            versions.push(version);
        }
    }
    format!("{count} {}", versions.join(" "))
}

/// What the workload cluster says of its version: kubeadm's configuration and kube-proxy's image.
async fn told_inside(world: &World) -> String {
    let connection = world.connection(&ObjectKey::new("default", "demo"));
    let Some(connection) = connection.found().cloned() else {
        return "not connected".to_owned();
    };
    let maps: Api<ConfigMap> = Api::namespaced(connection.client().clone(), "kube-system");
    let proxies: Api<DaemonSet> = Api::namespaced(connection.client().clone(), "kube-system");
    let (Ok(map), Ok(proxy)) = (maps.get("kubeadm-config").await, proxies.get("kube-proxy").await) else {
        return "unreadable".to_owned();
    };
    let text = map
        .data
        .and_then(|it| it.get("ClusterConfiguration").cloned())
        .unwrap_or_default();
    let version = text
        .lines()
        .find_map(|it| it.strip_prefix("kubernetesVersion: "))
        .unwrap_or_default();
    let image = proxy
        .spec
        .and_then(|it| it.template.spec)
        .and_then(|it| it.containers[0].image.clone());
    format!("{version} {}", image.unwrap_or_default())
}

#[test]
fn an_upgrade_replaces_every_machine_and_brings_the_cluster_along() {
    lived(11, |world| async move {
        running(&world).await?;
        let before = names(&world, true).await;
        world
            .patch(
                CONTROL_PLANE,
                "KubeadmControlPlane",
                "demo-control-plane",
                &json!({ "spec": { "version": NEW } }),
            )
            .await?;
        world
            .until(&format!("3 {NEW}"), LIMIT, || members(&world))
            .await?;
        let proxy = format!("{NEW} registry.k8s.io/kube-proxy:{NEW}");
        world.until(&proxy, LIMIT, || told_inside(&world)).await?;
        world
            .until("True", LIMIT, || {
                world.condition(CORE, "Cluster", "demo", "Available")
            })
            .await?;
        let after = names(&world, true).await;
        assert!(
            before.iter().all(|it| !after.contains(it)),
            "{before:?} {after:?}"
        );
        Ok(())
    });
}

/// Says of a Machine what its health check would say.
async fn mark_unhealthy(world: &World, name: &str) -> Result<(), Box<dyn std::error::Error>> {
    let api = world.api(CORE, "Machine");
    let machine = api.get(name).await?;
    let mut conditions = machine.data["status"]["conditions"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    for (kind, reason) in [
        ("HealthCheckSucceeded", "UnhealthyNode"),
        ("OwnerRemediated", "WaitingForRemediation"),
    ] {
        conditions.push(
            json!({ "type": kind, "status": "False", "reason": reason, "message": "",
            "lastTransitionTime": "2026-01-01T01:00:00Z" }),
        );
    }
    let patch = json!({ "metadata": { "resourceVersion": machine.metadata.resource_version },
        "status": { "conditions": conditions } });
    api.patch_status(name, &PatchParams::default(), &Patch::Merge(&patch))
        .await?;
    Ok(())
}

#[test]
fn an_unhealthy_machine_is_replaced_and_the_record_stays() {
    lived(12, |world| async move {
        running(&world).await?;
        let before = names(&world, true).await;
        let lost = before[1].clone();
        let cluster = ObjectKey::new("default", "demo");
        world.backend().power_off(&cluster, &lost).await?;
        mark_unhealthy(&world, &lost).await?;
        // What is seen in vain says why nothing happens.
        let replaced = || async {
            let now = names(&world, true).await;
            let seen = world.api(CORE, "Machine").get_opt(&lost).await.ok().flatten();
            let told = seen
                .and_then(|it| it.data["status"]["conditions"].as_array().cloned())
                .unwrap_or_default();
            let why = told
                .iter()
                .find(|it| it["type"] == "OwnerRemediated")
                .map(|it| it["message"].to_string());
            format!(
                "{} {}{}",
                now.contains(&lost),
                members(&world).await,
                why.unwrap_or_default()
            )
        };
        world.until(&format!("false 3 {OLD}"), LIMIT, replaced).await?;
        let last = || async {
            let api = world.api(CONTROL_PLANE, "KubeadmControlPlane");
            let found = api.get("demo-control-plane").await.ok();
            let record = found.and_then(|it| it.data.pointer("/status/lastRemediation/machine").cloned());
            record
                .and_then(|it| it.as_str().map(str::to_owned))
                .unwrap_or_default()
        };
        world.until(&lost, LIMIT, last).await?;
        world
            .until("False", LIMIT, || {
                world.condition(
                    CONTROL_PLANE,
                    "KubeadmControlPlane",
                    "demo-control-plane",
                    "Remediating",
                )
            })
            .await?;
        let after = names(&world, true).await;
        assert_eq!(
            after.iter().filter(|it| before.contains(it)).count(),
            2,
            "{before:?} {after:?}"
        );
        Ok(())
    });
}

#[test]
fn machines_without_a_controller_are_adopted_and_not_replaced() {
    lived(13, |world| async move {
        running(&world).await?;
        let before = names(&world, true).await;
        let orphan = json!({ "metadata": { "ownerReferences": null } });
        world.patch(CORE, "Machine", &before[0], &orphan).await?;
        let owner = || async {
            let machine = world.api(CORE, "Machine").get(&before[0]).await.ok();
            let owners = machine
                .and_then(|it| it.metadata.owner_references)
                .unwrap_or_default();
            owners
                .iter()
                .find(|it| it.controller == Some(true))
                .map(|it| it.kind.clone())
                .unwrap_or_default()
        };
        world.until("KubeadmControlPlane", LIMIT, owner).await?;
        tokio::time::sleep(Duration::from_secs(600)).await;
        assert_eq!(names(&world, true).await, before);
        Ok(())
    });
}
