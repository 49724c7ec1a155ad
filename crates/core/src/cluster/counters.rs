//! How many machines a Cluster has, wants, and how many of them are well.
// Parity: upstream core/reconcilers/cluster/cluster_controller_status.go:setControlPlaneReplicas, setWorkersReplicas

use std::{collections::BTreeMap, sync::Arc};

use capstan_api::{
    condition,
    core::{ClusterReplicasStatus, Conditioned, Machine, StatusVersion},
};
use kube::ResourceExt;

use super::view::View;

/// The control plane in numbers: what its object says, or else its Machines counted.
pub(super) fn control_plane(view: &View) -> Option<ClusterReplicasStatus> {
    if view.control_plane.is_some() {
        let external = view.control_plane_object()?;
        let contract = external.control_plane();
        return Some(ClusterReplicasStatus {
            desired_replicas: contract.replicas().ok().flatten(),
            replicas: contract.status_replicas().ok().flatten(),
            ready_replicas: contract.ready_replicas().ok().flatten(),
            available_replicas: contract.available_replicas().ok().flatten(),
            up_to_date_replicas: contract.up_to_date_replicas().ok().flatten(),
            versions: contract.status_versions().unwrap_or_default(),
            upgrade_plan: Vec::new(),
        });
    }
    let machines: Vec<&Arc<Machine>> = view.control_plane_machines().collect();
    (!machines.is_empty()).then(|| of_machines(&machines))
}

/// The workers in numbers: MachineDeployments, MachineSets and Machines that stand alone, added up. None if there are
/// no workers.
pub(super) fn workers(view: &View) -> Option<ClusterReplicasStatus> {
    let mut parts: Vec<ClusterReplicasStatus> = Vec::new();
    for deployment in &view.machine_deployments {
        let status = deployment.status.clone().unwrap_or_default();
        parts.push(ClusterReplicasStatus {
            desired_replicas: deployment.spec.replicas,
            replicas: status.replicas,
            ready_replicas: status.ready_replicas,
            available_replicas: status.available_replicas,
            up_to_date_replicas: status.up_to_date_replicas,
            versions: status.versions,
            upgrade_plan: Vec::new(),
        });
    }
    for set in view.standalone_machine_sets() {
        let status = set.status.clone().unwrap_or_default();
        parts.push(ClusterReplicasStatus {
            desired_replicas: set.spec.replicas,
            replicas: status.replicas,
            ready_replicas: status.ready_replicas,
            available_replicas: status.available_replicas,
            up_to_date_replicas: status.up_to_date_replicas,
            versions: status.versions,
            upgrade_plan: Vec::new(),
        });
    }
    let alone = |it: &&Arc<Machine>| it.owner_references().iter().all(|it| it.controller != Some(true));
    let standalone: Vec<&Arc<Machine>> = view.worker_machines().filter(alone).collect();
    if !standalone.is_empty() {
        parts.push(of_machines(&standalone));
    }
    parts.into_iter().reduce(add)
}

fn of_machines(machines: &[&Arc<Machine>]) -> ClusterReplicasStatus {
    let count = |it: usize| Some(i32::try_from(it).unwrap_or(i32::MAX));
    let with = |kind: &str| {
        count(
            machines
                .iter()
                .filter(|it| condition::is_true(it.conditions(), kind))
                .count(),
        )
    };
    let mut versions: BTreeMap<String, i32> = BTreeMap::new();
    for version in machines.iter().filter_map(|it| it.spec.version.clone()) {
        *versions.entry(version).or_default() += 1;
    }
    ClusterReplicasStatus {
        desired_replicas: count(machines.len()),
        replicas: count(machines.len()),
        ready_replicas: with("Ready"),
        available_replicas: with("Available"),
        up_to_date_replicas: with("UpToDate"),
        versions: listed(versions),
        upgrade_plan: Vec::new(),
    }
}

fn listed(versions: BTreeMap<String, i32>) -> Vec<StatusVersion> {
    versions
        .into_iter()
        .map(|(version, count)| StatusVersion {
            version,
            replicas: Some(count),
        })
        .collect()
}

fn add(a: ClusterReplicasStatus, b: ClusterReplicasStatus) -> ClusterReplicasStatus {
    let sum = |a: Option<i32>, b: Option<i32>| match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
    };
    let mut versions: BTreeMap<String, i32> = BTreeMap::new();
    for version in a.versions.into_iter().chain(b.versions) {
        let count = versions.entry(version.version).or_default();
        *count = count.saturating_add(version.replicas.unwrap_or(0));
    }
    ClusterReplicasStatus {
        desired_replicas: sum(a.desired_replicas, b.desired_replicas),
        replicas: sum(a.replicas, b.replicas),
        ready_replicas: sum(a.ready_replicas, b.ready_replicas),
        available_replicas: sum(a.available_replicas, b.available_replicas),
        up_to_date_replicas: sum(a.up_to_date_replicas, b.up_to_date_replicas),
        versions: listed(versions),
        upgrade_plan: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_users_ask_for_are_added_without_overflow() {
        let asked = |desired: i32| ClusterReplicasStatus {
            desired_replicas: Some(desired),
            ..ClusterReplicasStatus::default()
        };
        assert_eq!(add(asked(1), asked(2)), asked(3));
        assert_eq!(add(asked(i32::MAX), asked(2)), asked(i32::MAX));
        assert_eq!(add(asked(1), ClusterReplicasStatus::default()), asked(1));
    }
}
