//! What is true of a MachineDeployment, from what was seen, chosen and done.
// Parity: upstream core/reconcilers/machinedeployment/machinedeployment_status.go

use capstan_api::{
    condition::{self, Draft, Reason, Status, Type},
    core::{Conditioned, Machine, MachineDeploymentPhase, MachineDeploymentStatus},
};
use capstan_engine::{Plan, Trail};

use super::{
    act::{ActError, Action},
    v1beta1,
    view::View,
};
use crate::{machine_set, selector};

/// The condition types that this controller owns.
pub(super) const OWNED: &[&str] = &[
    "Available",
    "MachinesReady",
    "MachinesUpToDate",
    "RollingOut",
    "ScalingUp",
    "ScalingDown",
    "Remediating",
    "Deleting",
    "Paused",
];

/// The sums over all MachineSets.
struct Sums {
    existing: i32,
    ready: i32,
    available: i32,
    up_to_date: i32,
}

/// The whole status.
pub(super) fn report(view: &View, _plan: &Plan<Action>, _trail: &Trail<ActError>) -> MachineDeploymentStatus {
    let before = view.machine_deployment.status.clone().unwrap_or_default();
    let sums = sums(view);
    let mut conditions = before.conditions.clone();
    let drafts = [
        available(view, &sums),
        rolling_out(view),
        scaling(view, &sums, Type::ScalingUp),
        scaling(view, &sums, Type::ScalingDown),
        machine_set::machines_ready(&view.machines),
        machine_set::up_to_date(&view.machines, view.now),
        machine_set::remediating(&view.machines),
        deleting(view),
    ];
    for draft in drafts {
        condition::set_in(
            &mut conditions,
            view.machine_deployment.metadata.generation,
            draft,
            view.now,
        );
    }
    MachineDeploymentStatus {
        conditions,
        deprecated: v1beta1::report(view, sums.available),
        selector: selector::text(&view.machine_deployment.spec.selector),
        replicas: Some(sums.existing),
        ready_replicas: Some(sums.ready),
        available_replicas: Some(sums.available),
        up_to_date_replicas: Some(sums.up_to_date),
        versions: machine_set::versions(&view.machines),
        phase: Some(phase(view, &sums)),
        ..before
    }
}

fn sums(view: &View) -> Sums {
    let mut sums = Sums {
        existing: 0,
        ready: 0,
        available: 0,
        up_to_date: 0,
    };
    for status in view.machine_sets.iter().filter_map(|it| it.status.as_ref()) {
        sums.existing += status.replicas.unwrap_or(0);
        sums.ready += status.ready_replicas.unwrap_or(0);
        sums.available += status.available_replicas.unwrap_or(0);
        sums.up_to_date += status.up_to_date_replicas.unwrap_or(0);
    }
    sums
}

fn phase(view: &View, sums: &Sums) -> MachineDeploymentPhase {
    let wanted = view.replicas();
    if sums.existing < wanted || (sums.existing == wanted && sums.ready < wanted) {
        MachineDeploymentPhase::ScalingUp
    } else if sums.existing > wanted {
        MachineDeploymentPhase::ScalingDown
    } else {
        MachineDeploymentPhase::Running
    }
}

fn available(view: &View, sums: &Sums) -> Draft {
    let kind = Type::Available;
    let Some(replicas) = view.machine_deployment.spec.replicas else {
        return Draft::new(
            kind,
            Status::Unknown,
            Reason::WaitingForReplicasSet,
            "Waiting for spec.replicas set",
        );
    };
    if view.machine_sets.iter().all(|it| it.status.is_none()) && replicas > 0 {
        let message = "Waiting for status.availableReplicas set";
        return Draft::new(
            kind,
            Status::Unknown,
            Reason::WaitingForAvailableReplicasSet,
            message,
        );
    }
    let unavailable = view.strategy().unavailable();
    let needed = replicas - unavailable;
    if sums.available >= needed {
        return Draft::new(kind, Status::True, Reason::Available, "");
    }
    let mut message = format!(
        "{} available replicas, at least {needed} required",
        sums.available
    );
    if view
        .machine_deployment
        .spec
        .rollout
        .strategy
        .rolling_update
        .max_unavailable
        .is_some()
    {
        message = format!(
            "{message} (spec.strategy.rollout.maxUnavailable is {unavailable}, spec.replicas is {replicas})"
        );
    }
    if view.is_deleting() {
        "Deletion in progress".clone_into(&mut message);
    }
    Draft::new(kind, Status::False, Reason::NotAvailable, message)
}

fn rolling_out(view: &View) -> Draft {
    let kind = Type::RollingOut;
    let outdated: Vec<&Machine> = view
        .machines
        .iter()
        .map(|it| &**it)
        .filter(|it| condition::is_false(it.conditions(), "UpToDate"))
        .collect();
    if outdated.is_empty() {
        return Draft::new(kind, Status::False, Reason::NotRollingOut, "");
    }
    let mut reasons: Vec<String> = Vec::new();
    for condition in outdated
        .iter()
        .filter_map(|it| condition::find(it.conditions(), "UpToDate"))
    {
        for line in condition.message.lines().filter(|it| it.starts_with('*')) {
            if !reasons.iter().any(|it| it == line) {
                reasons.push(line.to_owned());
            }
        }
    }
    reasons.sort();
    let head = format!("Rolling out {} not up-to-date replicas", outdated.len());
    let message = std::iter::once(head)
        .chain(reasons)
        .collect::<Vec<_>>()
        .join("\n");
    Draft::new(kind, Status::True, Reason::RollingOut, message)
}

fn scaling(view: &View, sums: &Sums, kind: Type) -> Draft {
    let Some(replicas) = view.machine_deployment.spec.replicas else {
        return Draft::new(
            kind,
            Status::Unknown,
            Reason::WaitingForReplicasSet,
            "Waiting for spec.replicas set",
        );
    };
    let wanted = if view.is_deleting() { 0 } else { replicas };
    let have = sums.existing;
    if kind == Type::ScalingUp {
        let missing = view.missing_templates();
        let blocked = (!missing.is_empty()).then(|| {
            let verb = if missing.len() == 1 { "does" } else { "do" };
            format!("{} {verb} not exist", missing.join(" and "))
        });
        if have >= wanted {
            return Draft::new(
                kind,
                Status::False,
                Reason::NotScalingUp,
                blocked.unwrap_or_default(),
            );
        }
        let head = format!("Scaling up from {have} to {wanted} replicas");
        let message = blocked.map_or_else(
            || head.clone(),
            |it| format!("{head} is blocked because:\n* {it}"),
        );
        return Draft::new(kind, Status::True, Reason::ScalingUp, message);
    }
    if have <= wanted {
        return Draft::new(kind, Status::False, Reason::NotScalingDown, "");
    }
    Draft::new(
        kind,
        Status::True,
        Reason::ScalingDown,
        format!("Scaling down from {have} to {wanted} replicas"),
    )
}

fn deleting(view: &View) -> Draft {
    if !view.is_deleting() {
        return Draft::new(Type::Deleting, Status::False, Reason::NotDeleting, "");
    }
    let message = match view.machines.len() {
        0 => "Deletion completed".to_owned(),
        1 => "Deleting 1 Machine".to_owned(),
        many => format!("Deleting {many} Machines"),
    };
    Draft::new(Type::Deleting, Status::True, Reason::Deleting, message)
}
