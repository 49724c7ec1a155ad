//! The first simulated life of a cluster: created, scaled, deleted; nothing left; the same seed, the same trace.

use std::{sync::Arc, time::Duration};

use capstan_sim::{
    World, cluster, lived, run,
    sight::{CORE, leftovers},
};
use serde_json::json;

const LIMIT: Duration = Duration::from_secs(15 * 60);

/// `ready/total` Machines.
async fn machines(world: &World) -> String {
    let machines = world.list(CORE, "Machine").await;
    let is_running =
        |it: &&kube::core::DynamicObject| it.data.pointer("/status/phase") == Some(&json!("Running"));
    format!(
        "{}/{}",
        machines.iter().filter(is_running).count(),
        machines.len()
    )
}

async fn life(world: Arc<World>) -> Result<(), Box<dyn std::error::Error>> {
    world.create(&cluster(3, 3)).await?;
    world
        .until("True", LIMIT, || {
            world.condition(CORE, "Cluster", "demo", "Available")
        })
        .await?;
    world.until("6/6", LIMIT, || machines(&world)).await?;
    world
        .patch(
            CORE,
            "MachineDeployment",
            "demo-workers",
            &json!({ "spec": { "replicas": 1 } }),
        )
        .await?;
    world.until("4/4", LIMIT, || machines(&world)).await?;
    world.delete(CORE, "Cluster", "demo").await?;
    world.until("", LIMIT, || leftovers(&world)).await?;
    Ok(())
}

#[test]
fn a_cluster_comes_up_shrinks_and_goes_without_a_trace() {
    lived(1, life);
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let (one, two) = (lived(2, life), lived(2, life));
    let differing = one.lines.iter().zip(&two.lines).position(|(a, b)| a != b);
    assert_eq!(
        differing,
        None,
        "{:?}",
        differing.map(|at| (&one.lines[at], &two.lines[at]))
    );
    assert_eq!(one.digest, two.digest);
}

#[test]
fn a_settled_cluster_is_silent() {
    let ((before, after), _) = run(3, |world| async move {
        world.create(&cluster(3, 3)).await.expect("created");
        world
            .until("6/6", LIMIT, || machines(&world))
            .await
            .expect("running");
        world
            .until("True", LIMIT, || {
                world.condition(CORE, "Cluster", "demo", "Available")
            })
            .await
            .expect("available");
        tokio::time::sleep(Duration::from_secs(60)).await;
        let before = world.store().revision();
        tokio::time::sleep(Duration::from_secs(600)).await;
        (before, world.store().revision())
    });
    assert_eq!(after - before, 0, "writes in ten minutes of nothing to do");
}
