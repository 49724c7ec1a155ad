//! Which Machines of a set go first when it shrinks.
// Parity: upstream core/reconcilers/machineset/machineset_deletion_order.go

use std::sync::Arc;

use capstan_api::{
    core::{Machine, MachineSet, MachineSetDeletionOrder},
    well_known,
};
use capstan_base::Timestamp;
use kube::ResourceExt;

/// How readily a Machine goes, highest first.
const DELETING: f64 = 100.0;
const REQUESTED: f64 = 80.0;
const UPDATING: f64 = 75.0;
const UNHEALTHY: f64 = 50.0;
const ANY: f64 = 20.0;

/// The age at which the preference for old machines has mostly run its course: ten days.
const AGE_SCALE_SECONDS: f64 = 864_000.0;

/// The Machines in the order in which they go; equal ones by name.
pub(super) fn sorted(set: &MachineSet, machines: &[Arc<Machine>], now: Timestamp) -> Vec<Arc<Machine>> {
    let order = set.spec.deletion.order.unwrap_or(MachineSetDeletionOrder::Random);
    let mut ranked: Vec<(f64, &Arc<Machine>)> =
        machines.iter().map(|it| (priority(it, order, now), it)).collect();
    ranked.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.name_any().cmp(&y.name_any())));
    ranked.into_iter().map(|(_, it)| Arc::clone(it)).collect()
}

fn priority(machine: &Machine, order: MachineSetDeletionOrder, now: Timestamp) -> f64 {
    if machine.metadata.deletion_timestamp.is_some() {
        return DELETING;
    }
    if machine
        .annotations()
        .contains_key(well_known::annotation::DELETE_MACHINE)
    {
        return REQUESTED;
    }
    if machine
        .annotations()
        .contains_key(well_known::annotation::UPDATE_IN_PROGRESS)
    {
        return UPDATING;
    }
    if is_unhealthy(machine) {
        return UNHEALTHY;
    }
    match order {
        MachineSetDeletionOrder::Random => ANY,
        MachineSetDeletionOrder::Oldest => oldest_first(machine, now),
        MachineSetDeletionOrder::Newest => UNHEALTHY - oldest_first(machine, now),
    }
}

/// 0 for a newborn, towards 50 with age.
fn oldest_first(machine: &Machine, now: Timestamp) -> f64 {
    let Some(created) = &machine.metadata.creation_timestamp else {
        return 0.0;
    };
    let age = now.duration_since(created.0).as_secs_f64();
    if age < 0.0 {
        0.0
    } else {
        UNHEALTHY * (1.0 - (-age / AGE_SCALE_SECONDS).exp())
    }
}

/// Has it no node, or is it known to be unhealthy?
fn is_unhealthy(machine: &Machine) -> bool {
    let status = machine.status.as_ref();
    let is_false = |kind: &str| {
        status.is_some_and(|it| {
            it.conditions
                .iter()
                .any(|it| it.type_ == kind && it.status == "False")
        })
    };
    status.is_none_or(|it| it.node_ref.is_none())
        || is_false("NodeHealthy")
        || is_false("HealthCheckSucceeded")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const NOW: &str = "2026-01-10T00:00:00Z";

    /// `name:day[:mark]`, with the mark one of deleting, requested, unhealthy.
    fn machine(text: &str) -> Arc<Machine> {
        let mut parts = text.split(':');
        let (name, day, mark) = (
            parts.next().unwrap_or(""),
            parts.next().unwrap_or(""),
            parts.next().unwrap_or(""),
        );
        let created = format!("2026-01-{day:0>2}T00:00:00Z");
        let mut metadata = json!({ "name": name, "creationTimestamp": created });
        if mark == "deleting" {
            metadata["deletionTimestamp"] = json!(NOW);
        }
        if mark == "requested" {
            metadata["annotations"] = json!({ "cluster.x-k8s.io/delete-machine": "yes" });
        }
        let mut status = json!({ "nodeRef": { "name": name } });
        if mark == "unhealthy" {
            status = json!({});
        }
        Arc::new(
            serde_json::from_value(json!({ "metadata": metadata, "spec": {}, "status": status }))
                .expect("a machine"),
        )
    }

    fn order(order: MachineSetDeletionOrder, machines: &[&str]) -> String {
        let mut set = MachineSet::new("ns", "s");
        set.spec.deletion.order = Some(order);
        let machines: Vec<_> = machines.iter().map(|it| machine(it)).collect();
        let sorted = sorted(&set, &machines, NOW.parse().expect("a time"));
        sorted
            .iter()
            .map(|it| it.name_any())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn deleting_ones_go_first_then_requested_then_unhealthy_then_the_order() {
        let mixed = ["a:1", "b:9", "c:5:unhealthy", "d:5:requested", "e:5:deleting"];
        assert_eq!(order(MachineSetDeletionOrder::Random, &mixed), "e d c a b");
        assert_eq!(order(MachineSetDeletionOrder::Oldest, &mixed), "e d c a b");
        assert_eq!(order(MachineSetDeletionOrder::Newest, &mixed), "e d c b a");
    }
}
