//! Machines that fall ill: found by a health check, replaced by their MachineSet, unless too many are ill at once.

use std::{sync::Arc, time::Duration};

use capstan_engine::ObjectKey;
use capstan_sim::{World, run};
use serde_json::{Value, json};

const CLUSTER: &str = include_str!("../../../examples/cluster.yaml");
const CORE: &str = "cluster.x-k8s.io";
const LIMIT: Duration = Duration::from_secs(30 * 60);
const HEALTH_CHECK: &str = r#"
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineHealthCheck
metadata: {name: workers}
spec:
  clusterName: demo
  selector: {matchLabels: {cluster.x-k8s.io/deployment-name: demo-workers}}
  checks:
    unhealthyNodeConditions:
    - {type: Ready, status: "False", timeoutSeconds: 300}
    - {type: Ready, status: Unknown, timeoutSeconds: 300}
  remediation: {triggerIf: {unhealthyLessThanOrEqualTo: 40%}}
"#;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// The names of the workers.
async fn workers(world: &World) -> Vec<String> {
    let machines = world.list(CORE, "Machine").await;
    let is_worker = |it: &&kube::core::DynamicObject| {
        let labels = it.metadata.labels.clone().unwrap_or_default();
        labels.contains_key("cluster.x-k8s.io/deployment-name")
    };
    machines
        .iter()
        .filter(is_worker)
        .filter_map(|it| it.metadata.name.clone())
        .collect()
}

/// How many Machines the health check expects, finds healthy and lets be repaired.
async fn counts(world: &World) -> String {
    let check = world.api(CORE, "MachineHealthCheck").get("workers").await;
    let status = check.map(|it| it.data["status"].clone()).unwrap_or_default();
    let count = |name: &str| status[name].as_i64().unwrap_or(0);
    format!(
        "{} {} {}",
        count("expectedMachines"),
        count("currentHealthy"),
        count("remediationsAllowed")
    )
}

/// The reason of a Machine's condition; empty if there is none.
async fn reason(world: &World, machine: &str, kind: &str) -> String {
    let machine = world.api(CORE, "Machine").get_opt(machine).await.ok().flatten();
    let conditions = machine.and_then(|it| it.data.pointer("/status/conditions").cloned());
    let list = conditions
        .as_ref()
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let found = list.into_iter().find(|it| it["type"] == kind);
    found
        .and_then(|it| it["reason"].as_str())
        .unwrap_or_default()
        .to_owned()
}

async fn running(world: &World) -> Outcome {
    world.create(CLUSTER).await?;
    let available = || world.condition(CORE, "Cluster", "demo", "Available");
    world.until("True", LIMIT, available).await?;
    world.create(HEALTH_CHECK).await?;
    world.until("3 3 1", LIMIT, || counts(world)).await?;
    Ok(())
}

fn lived<F>(seed: u64, life: impl FnOnce(Arc<World>) -> F)
where
    F: Future<Output = Outcome>,
{
    let (outcome, trace) = run(seed, life);
    if let Err(error) = outcome {
        let last: Vec<&String> = trace.lines.iter().rev().take(40).collect();
        panic!("seed {seed}: {error}\n{last:#?}");
    }
}

#[test]
fn a_machine_whose_node_falls_silent_is_replaced_and_the_others_stay() {
    lived(1, async |world| {
        running(&world).await?;
        let before = workers(&world).await;
        let demo = ObjectKey::new("default", "demo");
        world.backend().power_off(&demo, &before[0]).await?;
        world.until("3 2 0", LIMIT, || counts(&world)).await?;
        world.until("3 3 1", LIMIT, || counts(&world)).await?;
        let after = workers(&world).await;
        let stayed: Vec<bool> = before.iter().map(|it| after.contains(it)).collect();
        assert_eq!((stayed, after.len()), (vec![false, true, true], 3));
        Ok(())
    });
}

#[test]
fn nothing_is_replaced_while_too_much_is_unhealthy_at_once() {
    lived(2, async |world| {
        running(&world).await?;
        let before = workers(&world).await;
        let demo = ObjectKey::new("default", "demo");
        for name in &before[..2] {
            world.backend().power_off(&demo, name).await?;
        }
        let judged = || reason(&world, &before[0], "HealthCheckSucceeded");
        world.until("UnhealthyNode", LIMIT, judged).await?;
        tokio::time::sleep(Duration::from_secs(3600)).await;
        assert_eq!(workers(&world).await, before);
        assert_eq!(counts(&world).await, "3 1 0");
        let told = world
            .condition(CORE, "MachineHealthCheck", "workers", "RemediationAllowed")
            .await;
        assert_eq!(
            (
                told.as_str(),
                reason(&world, &before[0], "OwnerRemediated").await.as_str()
            ),
            ("False", "")
        );

        // One comes back by itself: the other one alone may be repaired.
        world.backend().power_on(&demo, &before[1]).await?;
        world.until("3 3 1", LIMIT, || counts(&world)).await?;
        let after = workers(&world).await;
        let stayed: Vec<bool> = before.iter().map(|it| after.contains(it)).collect();
        assert_eq!((stayed, after.len()), (vec![false, true, true], 3));
        Ok(())
    });
}

#[test]
fn a_user_may_ask_for_a_repair_and_may_forbid_it() {
    lived(3, async |world| {
        running(&world).await?;
        let before = workers(&world).await;
        let annotate =
            |name: &str| json!({ "metadata": { "annotations": { format!("cluster.x-k8s.io/{name}"): "" } } });
        world
            .patch(CORE, "Machine", &before[0], &annotate("skip-remediation"))
            .await?;
        world
            .patch(CORE, "Machine", &before[0], &annotate("remediate-machine"))
            .await?;
        world.until("2 2 0", LIMIT, || counts(&world)).await?;
        world
            .patch(CORE, "Machine", &before[1], &annotate("remediate-machine"))
            .await?;
        // One of two is more than 40 %.
        world.until("2 1 0", LIMIT, || counts(&world)).await?;
        tokio::time::sleep(Duration::from_secs(600)).await;
        assert_eq!(workers(&world).await, before);
        let all =
            json!({ "spec": { "remediation": { "triggerIf": { "unhealthyLessThanOrEqualTo": "100%" } } } });
        world.patch(CORE, "MachineHealthCheck", "workers", &all).await?;
        world.until("2 2 2", LIMIT, || counts(&world)).await?;
        let after = workers(&world).await;
        let stayed: Vec<bool> = before.iter().map(|it| after.contains(it)).collect();
        assert_eq!((stayed, after.len()), (vec![true, false, true], 3));
        Ok(())
    });
}
