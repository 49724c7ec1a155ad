//! Machines that are deleted while pods run on their nodes: drained in order, held by budgets, not for ever.

use std::{fmt::Debug, time::Duration};

use capstan_engine::ObjectKey;
use capstan_sim::{
    World, cluster, lived,
    sight::{CORE, names},
};
use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        apps::v1::DaemonSet,
        core::v1::{Namespace, Node, Pod},
        policy::v1::PodDisruptionBudget,
    },
    serde::{Serialize, de::DeserializeOwned},
};
use kube::{
    Api, Client, Resource,
    api::{Patch, PatchParams, PostParams},
};

use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(30 * 60);

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// The name of a worker whose node is here, and a client of the workload cluster.
async fn running(world: &World) -> Outcome<(String, Client)> {
    world.create(&cluster(3, 3)).await?;
    let available = || world.condition(CORE, "Cluster", "demo", "Available");
    world.until("True", LIMIT, available).await?;
    let name = names(world, false).await.remove(0);
    let connection = world.connection(&ObjectKey::new("default", "demo"));
    let connection = connection.found().cloned().ok_or("not connected")?;
    Ok((name, connection.client().clone()))
}

async fn create<K>(client: &Client, object: Value) -> Outcome
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
        + Clone
        + Debug
        + Serialize
        + DeserializeOwned,
{
    let object: K = serde_json::from_value(object)?;
    let api = Api::<K>::namespaced(client.clone(), "apps");
    api.create(&PostParams::default(), &object).await?;
    Ok(())
}

/// A pod that runs on a node.
async fn pod(client: &Client, node: &str, name: &str, metadata: Value) -> Outcome {
    let mut object = json!({ "metadata": metadata, "spec": { "nodeName": node, "containers": [{ "name": "c", "image": "i" }] } });
    object["metadata"]["name"] = json!(name);
    create::<Pod>(client, object).await?;
    let running = json!({ "status": { "phase": "Running" } });
    let pods = Api::<Pod>::namespaced(client.clone(), "apps");
    pods.patch_status(name, &PatchParams::default(), &Patch::Merge(&running))
        .await?;
    Ok(())
}

async fn pods(client: &Client) -> Outcome<String> {
    let found = Api::<Pod>::namespaced(client.clone(), "apps")
        .list(&kube::api::ListParams::default())
        .await?;
    let names: Vec<String> = found
        .items
        .into_iter()
        .filter_map(|it| it.metadata.name)
        .collect();
    Ok(names.join(" "))
}

/// What holds up the deletion of a Machine; `gone` if it is gone.
async fn deleting(world: &World, machine: &str) -> String {
    if let Ok(None) | Err(_) = world.api(CORE, "Machine").get_opt(machine).await {
        return "gone".to_owned();
    }
    let found = world.condition_of(CORE, "Machine", machine, "Deleting").await;
    let (reason, message) = (
        found["reason"].as_str().unwrap_or_default(),
        found["message"].as_str().unwrap_or_default(),
    );
    // The time of the beginning is not what this is about.
    let lines: Vec<&str> = message.lines().filter(|it| !it.contains("started at")).collect();
    format!("{reason} {}", lines.join("\n"))
}

/// How long the drain of a Machine's node may take, in seconds.
async fn drain_timeout(world: &World, machine: &str) -> String {
    let machine = world.api(CORE, "Machine").get_opt(machine).await.ok().flatten();
    let limit = machine.and_then(|it| it.data.pointer("/spec/deletion/nodeDrainTimeoutSeconds").cloned());
    limit.unwrap_or_default().to_string()
}

/// A budget that allows so many disruptions.
async fn budget(client: &Client, allowed: i32) -> Outcome {
    let status = json!({ "status": { "observedGeneration": 1, "disruptionsAllowed": allowed, "desiredHealthy": 1,
        "currentHealthy": 1, "expectedPods": 1 } });
    let budgets = Api::<PodDisruptionBudget>::namespaced(client.clone(), "apps");
    budgets
        .patch_status("web", &PatchParams::default(), &Patch::Merge(&status))
        .await?;
    Ok(())
}

/// A node with a pod of each sort.
async fn furnish(client: &Client, node: &str) -> Outcome {
    let namespace: Namespace = serde_json::from_value(json!({ "metadata": { "name": "apps" } }))?;
    Api::<Namespace>::all(client.clone())
        .create(&PostParams::default(), &namespace)
        .await?;
    let daemon = json!({ "metadata": { "name": "agent" }, "spec": { "selector": { "matchLabels": { "app": "agent" } },
        "template": { "metadata": { "labels": { "app": "agent" } }, "spec": { "containers": [{ "name": "c", "image": "i" }] } } } });
    create::<DaemonSet>(client, daemon).await?;
    let daemon = Api::<DaemonSet>::namespaced(client.clone(), "apps")
        .get("agent")
        .await?;
    let owner = json!([{ "apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": daemon.metadata.uid,
        "controller": true }]);
    pod(client, node, "agent-1", json!({ "ownerReferences": owner })).await?;
    pod(
        client,
        node,
        "file",
        json!({ "annotations": { "kubernetes.io/config.mirror": "x" } }),
    )
    .await?;
    pod(
        client,
        node,
        "kept",
        json!({ "labels": { "cluster.x-k8s.io/drain": "skip" } }),
    )
    .await?;
    pod(client, node, "plain", json!({})).await?;
    pod(client, node, "web", json!({ "labels": { "app": "web" } })).await?;
    let web = json!({ "metadata": { "name": "web" }, "spec": { "minAvailable": 1, "selector": { "matchLabels": { "app": "web" } } } });
    create::<PodDisruptionBudget>(client, web).await?;
    budget(client, 0).await
}

#[test]
fn a_node_is_closed_and_emptied_and_a_budget_holds_its_machine() {
    lived(1, async |world| {
        let (machine, client) = running(&world).await?;
        furnish(&client, &machine).await?;
        world.delete(CORE, "Machine", &machine).await?;
        let held = "DrainingNode * Pod apps/web: cannot evict pod as it would violate the pod's disruption budget. The \
                    disruption budget web needs 1 healthy pods and has 1 currently";
        world.until(held, LIMIT, || deleting(&world, &machine)).await?;
        assert_eq!(pods(&client).await?, "agent-1 file kept web");
        let node = Api::<Node>::all(client.clone()).get(&machine).await?;
        assert_eq!(node.spec.and_then(|it| it.unschedulable), Some(true));
        tokio::time::sleep(Duration::from_secs(3600)).await;
        assert_eq!(deleting(&world, &machine).await, held);

        budget(&client, 1).await?;
        world.until("gone", LIMIT, || deleting(&world, &machine)).await?;
        assert_eq!(pods(&client).await?, "agent-1 file kept");
        Ok(())
    });
}

#[test]
fn a_drain_ends_with_its_time() {
    lived(2, async |world| {
        let (machine, client) = running(&world).await?;
        furnish(&client, &machine).await?;
        let limit =
            json!({ "spec": { "template": { "spec": { "deletion": { "nodeDrainTimeoutSeconds": 600 } } } } });
        world
            .patch(CORE, "MachineDeployment", "demo-workers", &limit)
            .await?;
        world
            .until("600", LIMIT, || drain_timeout(&world, &machine))
            .await?;
        world.delete(CORE, "Machine", &machine).await?;
        tokio::time::sleep(Duration::from_secs(500)).await;
        assert!(deleting(&world, &machine).await.starts_with("DrainingNode"));
        world
            .until("gone", Duration::from_secs(200), || deleting(&world, &machine))
            .await?;
        assert_eq!(pods(&client).await?, "agent-1 file kept web");
        Ok(())
    });
}

#[test]
fn rules_say_what_goes_first_and_what_is_waited_for() {
    lived(3, async |world| {
        let (machine, client) = running(&world).await?;
        furnish(&client, &machine).await?;
        let rule = |name: &str, app: &str, drain: &str| {
            format!(
                "apiVersion: cluster.x-k8s.io/v1beta2\nkind: MachineDrainRule\nmetadata: {{name: {name}}}\nspec:\n  drain: \
                 {drain}\n  pods: [{{selector: {{matchLabels: {{app: {app}}}}}}}]\n"
            )
        };
        pod(&client, &machine, "late", json!({ "labels": { "app": "late" } })).await?;
        pod(&client, &machine, "job", json!({ "labels": { "app": "job" } })).await?;
        world
            .create(&rule("a", "late", "{behavior: Drain, order: 9}"))
            .await?;
        world
            .create(&rule("b", "job", "{behavior: WaitCompleted}"))
            .await?;
        world.create(&rule("c", "web", "{behavior: Skip}")).await?;
        world.delete(CORE, "Machine", &machine).await?;
        let held = "DrainingNode * Pod apps/job: waiting for completion\nAfter above Pods have been removed from the Node, \
                    the following Pods will be evicted: apps/late";
        world.until(held, LIMIT, || deleting(&world, &machine)).await?;
        assert_eq!(pods(&client).await?, "agent-1 file job kept late web");
        let done = json!({ "status": { "phase": "Succeeded" } });
        let api = Api::<Pod>::namespaced(client.clone(), "apps");
        api.patch_status("job", &PatchParams::default(), &Patch::Merge(&done))
            .await?;
        world.until("gone", LIMIT, || deleting(&world, &machine)).await?;
        assert_eq!(pods(&client).await?, "agent-1 file job kept web");
        Ok(())
    });
}
