//! Manifests that come to clusters by themselves: once or whenever they change, and go with nobody's help.

use std::time::Duration;

use capstan_engine::ObjectKey;
use capstan_sim::{World, cluster, lived, sight::CORE};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use serde_json::{Value, json};

const ADDONS: &str = "addons.cluster.x-k8s.io";
const LIMIT: Duration = Duration::from_secs(30 * 60);
const SETS: &str = r#"
apiVersion: v1
kind: ConfigMap
metadata: {name: manifests}
data:
  all.yaml: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: settings, namespace: addons}
    data: {colour: red}
    ---
    apiVersion: v1
    kind: Namespace
    metadata: {name: addons}
---
apiVersion: addons.cluster.x-k8s.io/v1beta2
kind: ClusterResourceSet
metadata: {name: set}
spec:
  strategy: STRATEGY
  clusterSelector: {matchLabels: {addons: "yes"}}
  resources: [{kind: ConfigMap, name: manifests}]
"#;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// The colour that the workload cluster was told; empty if it was told none.
async fn colour(world: &World) -> String {
    let connection = world.connection(&ObjectKey::new("default", "demo"));
    let Some(connection) = connection.found().cloned() else {
        return String::new();
    };
    let maps = Api::<ConfigMap>::namespaced(connection.client().clone(), "addons");
    let map = maps.get_opt("settings").await.ok().flatten();
    map.and_then(|it| it.data?.get("colour").cloned())
        .unwrap_or_default()
}

/// What the binding of the cluster records: whether each resource is applied; `none` if there is no binding.
async fn bound(world: &World) -> String {
    let Ok(Some(binding)) = world
        .api(ADDONS, "ClusterResourceSetBinding")
        .get_opt("demo")
        .await
    else {
        return "none".to_owned();
    };
    let resources = binding
        .data
        .pointer("/spec/bindings/0/resources")
        .and_then(Value::as_array)
        .cloned();
    let told = resources
        .into_iter()
        .flatten()
        .map(|it| format!("{} {}", it["name"], it["applied"]));
    told.collect::<Vec<_>>().join(", ")
}

async fn running(world: &World, strategy: &str) -> Outcome {
    world.create(&SETS.replace("STRATEGY", strategy)).await?;
    world.create(&cluster(3, 3)).await?;
    let labels = json!({ "metadata": { "labels": { "addons": "yes" } } });
    world.patch(CORE, "Cluster", "demo", &labels).await?;
    world.until("red", LIMIT, || colour(world)).await?;
    world.until(r#""manifests" true"#, LIMIT, || bound(world)).await?;
    let applied = || world.condition(ADDONS, "ClusterResourceSet", "set", "ResourcesApplied");
    world.until("True", LIMIT, applied).await?;
    let blue = SETS
        .split("---\napiVersion: addons")
        .next()
        .unwrap_or_default()
        .replace("red", "blue");
    let data: Value = json!({ "data": { "all.yaml": blue.split("all.yaml: |\n").nth(1).unwrap_or_default()
        .lines().map(|it| it.trim_start_matches("    ")).collect::<Vec<_>>().join("\n") } });
    let maps = Api::<ConfigMap>::namespaced(world.client(), "default");
    let patch = kube::api::Patch::Merge(&data);
    maps.patch("manifests", &kube::api::PatchParams::default(), &patch)
        .await?;
    Ok(())
}

#[test]
fn manifests_that_change_are_applied_again_where_that_is_asked_for() {
    lived(1, async |world| {
        running(&world, "Reconcile").await?;
        world.until("blue", LIMIT, || colour(&world)).await?;
        world.delete(ADDONS, "ClusterResourceSet", "set").await?;
        world.until("none", LIMIT, || bound(&world)).await?;
        // What was applied stays.
        assert_eq!(colour(&world).await, "blue");
        Ok(())
    });
}

#[test]
fn manifests_are_applied_once_where_that_is_asked_for_and_bindings_go_with_their_cluster() {
    lived(2, async |world| {
        running(&world, "ApplyOnce").await?;
        tokio::time::sleep(Duration::from_secs(600)).await;
        assert_eq!(colour(&world).await, "red");
        world.delete(CORE, "Cluster", "demo").await?;
        world.until("none", LIMIT, || bound(&world)).await?;
        Ok(())
    });
}
