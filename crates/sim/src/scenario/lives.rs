//! The lives themselves.

use std::{sync::Arc, time::Duration};

use capstan_engine::ObjectKey;
use serde_json::json;

use crate::{
    World, cluster,
    sight::{CONTROL_PLANE, CORE, KINDS, available, leftovers, machines, names, replicas, versions},
};

/// How long a user waits for anything: longer than any fault lasts.
const LIMIT: Duration = Duration::from_secs(4 * 3600);
/// The next minor version, for control planes.
const NEXT: &str = "v1.35.0";
/// The next patch version, for workers: they must not be ahead of their control plane by a minor version.
const PATCH: &str = "v1.34.2";

type Lived = anyhow::Result<()>;

async fn come_up(world: &World, control_planes: u32, workers: u32) -> Lived {
    world.create(&cluster(control_planes, workers)).await?;
    whole(world, control_planes, workers).await
}

/// Waits until so many machines are there, all of them whole, and the cluster is available.
async fn whole(world: &World, control_planes: u32, workers: u32) -> Lived {
    let wanted = format!("{control_planes} + {workers}");
    world.until(&wanted, LIMIT, || machines(world)).await?;
    world.until("True", LIMIT, || available(world)).await?;
    Ok(())
}

async fn scale_workers(world: &World, count: u32) -> Lived {
    Ok(world
        .patch(CORE, "MachineDeployment", "demo-workers", &replicas(count))
        .await?)
}

async fn scale_control_plane(world: &World, count: u32) -> Lived {
    let patch = replicas(count);
    Ok(world
        .patch(CONTROL_PLANE, "KubeadmControlPlane", "demo-control-plane", &patch)
        .await?)
}

pub(super) async fn create_1_1(world: Arc<World>) -> Lived {
    come_up(&world, 1, 1).await
}

pub(super) async fn create_3_3(world: Arc<World>) -> Lived {
    come_up(&world, 3, 3).await
}

pub(super) async fn scale(world: Arc<World>) -> Lived {
    come_up(&world, 1, 1).await?;
    scale_workers(&world, 3).await?;
    scale_control_plane(&world, 3).await?;
    whole(&world, 3, 3).await?;
    scale_workers(&world, 1).await?;
    scale_control_plane(&world, 1).await?;
    whole(&world, 1, 1).await
}

pub(super) async fn worker_rollout(world: Arc<World>) -> Lived {
    come_up(&world, 1, 3).await?;
    let patch = json!({ "spec": { "template": { "spec": { "version": PATCH } } } });
    world
        .patch(CORE, "MachineDeployment", "demo-workers", &patch)
        .await?;
    world.until(PATCH, LIMIT, || versions(&world, false)).await?;
    whole(&world, 1, 3).await
}

pub(super) async fn control_plane_upgrade(world: Arc<World>) -> Lived {
    come_up(&world, 3, 1).await?;
    let patch = json!({ "spec": { "version": NEXT } });
    world
        .patch(CONTROL_PLANE, "KubeadmControlPlane", "demo-control-plane", &patch)
        .await?;
    world.until(NEXT, LIMIT, || versions(&world, true)).await?;
    whole(&world, 3, 1).await
}

pub(super) async fn machine_deleted(world: Arc<World>) -> Lived {
    come_up(&world, 1, 2).await?;
    let lost = names(&world, false).await.remove(0);
    world.delete(CORE, "Machine", &lost).await?;
    let is_there = || async { names(&world, false).await.contains(&lost).to_string() };
    world.until("false", LIMIT, is_there).await?;
    whole(&world, 1, 2).await
}

pub(super) async fn node_not_ready(world: Arc<World>) -> Lived {
    come_up(&world, 1, 2).await?;
    let dark = names(&world, false).await.remove(0);
    let cluster = ObjectKey::new("default", "demo");
    world.backend().power_off(&cluster, &dark).await?;
    let is_healthy = || world.condition(CORE, "Machine", &dark, "NodeHealthy");
    world.until("Unknown", LIMIT, is_healthy).await?;
    tokio::time::sleep(Duration::from_secs(600)).await;
    world.backend().power_on(&cluster, &dark).await?;
    world.until("True", LIMIT, is_healthy).await?;
    whole(&world, 1, 2).await
}

pub(super) async fn pause(world: Arc<World>) -> Lived {
    come_up(&world, 1, 1).await?;
    let paused = |it: bool| json!({ "spec": { "paused": it } });
    world.patch(CORE, "Cluster", "demo", &paused(true)).await?;
    world
        .until("True", LIMIT, || {
            world.condition(CORE, "MachineDeployment", "demo-workers", "Paused")
        })
        .await?;
    scale_workers(&world, 3).await?;
    tokio::time::sleep(Duration::from_secs(600)).await;
    let while_paused = names(&world, false).await.len();
    anyhow::ensure!(
        while_paused == 1,
        "{while_paused} workers although the cluster is paused"
    );
    world.patch(CORE, "Cluster", "demo", &paused(false)).await?;
    whole(&world, 1, 3).await
}

async fn gone(world: &World) -> Lived {
    world.until("", LIMIT, || leftovers(world)).await?;
    Ok(())
}

pub(super) async fn delete(world: Arc<World>) -> Lived {
    come_up(&world, 3, 2).await?;
    world.delete(CORE, "Cluster", "demo").await?;
    gone(&world).await
}

pub(super) async fn delete_any_moment(world: Arc<World>) -> Lived {
    world.create(&cluster(3, 2)).await?;
    tokio::time::sleep(Duration::from_millis(world.draw(20_000))).await;
    world.delete(CORE, "Cluster", "demo").await?;
    gone(&world).await
}

pub(super) async fn delete_everything(world: Arc<World>) -> Lived {
    world.create(&cluster(3, 2)).await?;
    tokio::time::sleep(Duration::from_millis(world.draw(20_000))).await;
    let mut all = Vec::new();
    for (group, kind) in KINDS {
        let objects = world.list(group, kind).await;
        all.extend(
            objects
                .into_iter()
                .filter_map(|it| Some((group, kind, it.metadata.name?))),
        );
    }
    while !all.is_empty() {
        let place = usize::try_from(world.draw(all.len() as u64)).unwrap_or(0);
        let (group, kind, name) = all.swap_remove(place);
        world.delete(group, kind, &name).await?;
    }
    gone(&world).await
}

pub(super) async fn manager_upgraded(world: Arc<World>) -> Lived {
    come_up(&world, 3, 2).await?;
    let before = (names(&world, true).await, names(&world, false).await);
    world.upgrade_manager().await;
    tokio::time::sleep(Duration::from_secs(1200)).await;
    whole(&world, 3, 2).await?;
    let after = (names(&world, true).await, names(&world, false).await);
    anyhow::ensure!(before == after, "machines were replaced: {before:?} {after:?}");
    Ok(())
}

pub(super) async fn template_missing(world: Arc<World>) -> Lived {
    let text = cluster(1, 2);
    let (late, early): (Vec<&str>, Vec<&str>) = text
        .split("\n---\n")
        .partition(|it| it.contains("kind: KubeadmConfigTemplate\n"));
    world.create(&early.join("\n---\n")).await?;
    tokio::time::sleep(Duration::from_secs(600)).await;
    world.create(&late.join("\n---\n")).await?;
    whole(&world, 1, 2).await
}
