//! Machines that fall ill: found by a health check, replaced by their MachineSet, unless too many are ill at once.

use std::time::Duration;

use capstan_engine::ObjectKey;
use capstan_sim::{
    World, cluster, lived,
    sight::{CORE, names},
};
use serde_json::json;

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
    let found = world.condition_of(CORE, "Machine", machine, kind).await;
    found["reason"].as_str().unwrap_or_default().to_owned()
}

/// Which of the workers that were there before are there now, and how many there are.
async fn stayed(world: &World, before: &[String]) -> (Vec<bool>, usize) {
    let after = names(world, false).await;
    (before.iter().map(|it| after.contains(it)).collect(), after.len())
}

async fn running(world: &World) -> Outcome {
    world.create(&cluster(3, 3)).await?;
    let available = || world.condition(CORE, "Cluster", "demo", "Available");
    world.until("True", LIMIT, available).await?;
    world.create(HEALTH_CHECK).await?;
    world.until("3 3 1", LIMIT, || counts(world)).await?;
    Ok(())
}

#[test]
fn a_machine_whose_node_falls_silent_is_replaced_and_the_others_stay() {
    lived(1, async |world| {
        running(&world).await?;
        let before = names(&world, false).await;
        let demo = ObjectKey::new("default", "demo");
        world.backend().power_off(&demo, &before[0]).await?;
        world.until("3 2 0", LIMIT, || counts(&world)).await?;
        world.until("3 3 1", LIMIT, || counts(&world)).await?;
        assert_eq!(stayed(&world, &before).await, (vec![false, true, true], 3));
        Ok(())
    });
}

#[test]
fn nothing_is_replaced_while_too_much_is_unhealthy_at_once() {
    lived(2, async |world| {
        running(&world).await?;
        let before = names(&world, false).await;
        let demo = ObjectKey::new("default", "demo");
        for name in &before[..2] {
            world.backend().power_off(&demo, name).await?;
        }
        let judged = || reason(&world, &before[0], "HealthCheckSucceeded");
        world.until("UnhealthyNode", LIMIT, judged).await?;
        tokio::time::sleep(Duration::from_secs(3600)).await;
        assert_eq!(names(&world, false).await, before);
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
        assert_eq!(stayed(&world, &before).await, (vec![false, true, true], 3));
        Ok(())
    });
}

#[test]
fn a_user_may_ask_for_a_repair_and_may_forbid_it() {
    lived(3, async |world| {
        running(&world).await?;
        let before = names(&world, false).await;
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
        assert_eq!(names(&world, false).await, before);
        let all =
            json!({ "spec": { "remediation": { "triggerIf": { "unhealthyLessThanOrEqualTo": "100%" } } } });
        world.patch(CORE, "MachineHealthCheck", "workers", &all).await?;
        world.until("2 2 2", LIMIT, || counts(&world)).await?;
        assert_eq!(stayed(&world, &before).await, (vec![true, false, true], 3));
        Ok(())
    });
}
