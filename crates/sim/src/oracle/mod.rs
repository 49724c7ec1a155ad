//! What must be true of every run, whatever befalls it.
//!
//! ```text
//!   at every write     an etcd cluster with voters has its quorum
//!   at the end         the state equals the reference run's; as many objects were made and deleted; every VM belongs to
//!                      a machine; no secret is readable outside of secrets; nothing is written any more
//! ```

mod canary;
mod end_state;

use std::{collections::BTreeMap, time::Duration};

pub use canary::leaked;
pub use end_state::end_state;

use crate::{Trace, World, trace::lines_after};

/// How long nothing may be written for the world to count as settled.
const SETTLED: Duration = Duration::from_secs(90);
/// How long a world may take to settle once the last fault is over.
const PATIENCE: Duration = Duration::from_secs(2 * 3600);
/// How long a settled world is watched for writes.
const SILENCE: Duration = Duration::from_secs(1200);

/// Checks what must hold at any moment.
pub(crate) fn at_every_write(world: &World) {
    for quorum in world.backend().quorums() {
        let cluster = &quorum.cluster;
        if quorum.holds || is_going(world, cluster) {
            continue;
        }
        let line = format!("etcd of {cluster} lost its quorum: {} voters", quorum.voters);
        let mut seen = world.faults().seen.lock();
        if !seen.contains(&line) {
            seen.push(line);
        }
    }
}

/// Is the cluster being deleted, or is its control plane? Then nobody needs a quorum.
fn is_going(world: &World, cluster: &capstan_engine::ObjectKey) -> bool {
    let snapshot = world.store().snapshot();
    let going = |resource: &str| {
        snapshot.range(resource, Some(&cluster.namespace)).any(|it| {
            let text = String::from_utf8_lossy(&it.value);
            text.contains("deletionTimestamp") && text.contains(&cluster.name)
        })
    };
    going("cluster.x-k8s.io/clusters") || going("controlplane.cluster.x-k8s.io/kubeadmcontrolplanes")
}

/// What a reference run has shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reference {
    /// The state at the end, a line per object.
    pub end: Vec<String>,
    /// How often objects of each resource were made and deleted.
    pub turnover: BTreeMap<String, (u64, u64)>,
}

/// Waits until nothing is written any more, and then watches that it stays so.
pub(crate) async fn settle(world: &World) -> Result<(), String> {
    tokio::time::sleep_until(world.faults().over()).await;
    let begun = tokio::time::Instant::now();
    loop {
        let last = world.store().revision();
        tokio::time::sleep(SETTLED).await;
        if writes(world, last).is_empty() {
            break;
        }
        if begun.elapsed() > PATIENCE {
            return Err("writes go on after two hours without any fault".to_owned());
        }
    }
    let settled = world.store().revision();
    tokio::time::sleep(SILENCE).await;
    let more = writes(world, settled);
    if let Some(first) = more.first() {
        let count = more.len();
        return Err(format!(
            "{count} writes in 20 minutes in which there was nothing to do: {first}"
        ));
    }
    Ok(())
}

/// The writes after a revision, events left out: they expire.
fn writes(world: &World, after: u64) -> Vec<String> {
    let mut lines = lines_after(world.store(), after);
    lines.retain(|it| !it.contains(" core/events "));
    lines
}

/// Everything about VMs that must not be.
pub(crate) fn cloud(world: &World) -> Vec<String> {
    let mut found = Vec::new();
    let snapshot = world.store().snapshot();
    let machines: Vec<String> = snapshot
        .range("infrastructure.cluster.x-k8s.io/devmachines", None)
        .map(|it| it.key.name().to_owned())
        .collect();
    for (uid, vm) in world.backend().ledger().all() {
        if !machines.contains(&vm.machine) {
            found.push(format!(
                "VM {} of {} is left over (UID {uid})",
                vm.machine, vm.cluster
            ));
        }
    }
    found
}

/// How often objects of each resource were made and deleted, by a run's history. Events and leases do not count.
pub(crate) fn turnover(trace: &Trace) -> BTreeMap<String, (u64, u64)> {
    let mut counts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for line in &trace.lines {
        let mut words = line.split(' ').skip(1);
        let (Some(verb), Some(resource)) = (words.next(), words.next()) else {
            continue;
        };
        if resource.ends_with("/events") || resource.ends_with("/leases") {
            continue;
        }
        let count = counts.entry(resource.to_owned()).or_default();
        match verb {
            "create" => count.0 += 1,
            "delete" => count.1 += 1,
            _ => {}
        }
    }
    counts.retain(|_, it| *it != (0, 0));
    counts
}
