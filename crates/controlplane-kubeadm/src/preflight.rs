//! Whether the control plane is in a state in which a machine may be added or taken away.
// Parity: upstream controlplane/kubeadm/reconcilers/kubeadmcontrolplane/preflight.go:preflightChecks

use capstan_api::well_known;
use kube::ResourceExt;

use crate::{
    quorum::{self, Change},
    remediation::Record,
    view::{Component, View},
};

/// What a machine is to be added or removed for: the two ask different things of the control plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scaling {
    /// One machine more.
    Up,
    /// One machine less.
    Down,
}

/// What forbids to add or remove a machine now, in the words of the conditions.
pub(crate) fn blockers(view: &View, scaling: Scaling) -> Vec<String> {
    if let Some(version) = upgrade_to_come(view) {
        return vec![format!(
            "waiting for a version upgrade to {version} to be propagated"
        )];
    }
    if scaling == Scaling::Up && !view.has_certificates() {
        return vec!["cluster certificates are missing or unknown".to_owned()];
    }
    if let Some(member) = view.members.iter().find(|it| it.is_deleting()) {
        return vec![format!("waiting for Machine {} to be deleted", member.name())];
    }
    let weaknesses = weaknesses(view);
    let replaces = scaling == Scaling::Up && Record::in_progress(&view.control_plane).is_some();
    if !weaknesses.is_empty() && replaces {
        // More than one machine may be broken: the first replacement must be able to come up beside the others.
        return obstacles_to_replacement(view);
    }
    weaknesses
}

/// The version that the topology is about to hand down, if it is another one.
fn upgrade_to_come(view: &View) -> Option<String> {
    let cluster = view.cluster.as_ref()?;
    let topology = &cluster.spec.topology.as_ref()?.version;
    let step = cluster
        .annotations()
        .get(well_known::annotation::TOPOLOGY_UPGRADE_STEP);
    let step = step.filter(|it| !it.is_empty());
    let own = &view.control_plane.spec.version;
    (topology != own && step != Some(own)).then(|| step.unwrap_or(topology).clone())
}

fn obstacles_to_replacement(view: &View) -> Vec<String> {
    let mut obstacles = Vec::new();
    if !view
        .members
        .iter()
        .any(|it| it.are_pods_healthy(view.has_stacked_etcd()))
    {
        obstacles.push("no control plane Machine has all its components healthy".to_owned());
    }
    if view.has_stacked_etcd() && !quorum::holds_after(&view.quorum_members(), Change::Add) {
        obstacles.push("the etcd cluster would have no quorum with one more member".to_owned());
    }
    obstacles
}

/// What is not as it should be on the machines.
fn weaknesses(view: &View) -> Vec<String> {
    let mut found = Vec::new();
    for member in &view.members {
        if member.node_name().is_none() {
            found.push(format!(
                "Machine {} does not have a corresponding Node yet (Machine.status.nodeRef not set)",
                member.name()
            ));
            continue;
        }
        for component in Component::ALL {
            if component == Component::Etcd && !view.has_stacked_etcd() {
                continue;
            }
            let health = member.health(component);
            if health.as_ref().is_none_or(|it| it.status != "True") {
                let told = health.map(|it| it.message).filter(|it| !it.is_empty());
                let told = told.unwrap_or_else(|| "not known yet".to_owned());
                found.push(format!(
                    "Machine {}: {}: {told}",
                    member.name(),
                    component.condition()
                ));
            }
        }
        if !view.is_etcd_member_healthy(member) {
            found.push(format!(
                "Machine {}: EtcdMemberHealthy: not healthy or not known yet",
                member.name()
            ));
        }
    }
    found
}
