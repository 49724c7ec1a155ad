//! What is true of a MachineSet, from what was seen, chosen and done.
// Parity: upstream core/reconcilers/machineset/machineset_controller_status.go

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use capstan_api::{
    condition::{self, Aggregate, Draft, Member, Reason, Reasons, Status, Type},
    core::{Conditioned, Machine, MachineSetStatus, StatusVersion},
};
use capstan_base::Timestamp;
use capstan_engine::{Plan, Trail};

use super::{
    act::{ActError, Action},
    preflight, v1beta1,
    view::View,
};
use crate::selector;

/// The condition types that this controller owns.
pub(super) const OWNED: &[&str] = &[
    "MachinesReady",
    "MachinesUpToDate",
    "ScalingUp",
    "ScalingDown",
    "Remediating",
    "Deleting",
    "Paused",
];

/// The whole status.
pub(super) fn report(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> MachineSetStatus {
    let before = view.machine_set.status.clone().unwrap_or_default();
    let mut conditions = before.conditions.clone();
    let drafts = [
        machines_ready(&view.machines),
        machines_up_to_date(view),
        scaling_up(view),
        scaling_down(view),
        remediating(&view.machines),
        deleting(view, plan),
    ];
    for draft in drafts {
        condition::set_in(
            &mut conditions,
            view.machine_set.metadata.generation,
            draft,
            view.now,
        );
    }
    MachineSetStatus {
        conditions,
        deprecated: v1beta1::report(view, plan, trail),
        selector: selector::text(&view.machine_set.spec.selector),
        replicas: Some(count(view.machines.len())),
        ready_replicas: Some(with(&view.machines, "Ready")),
        available_replicas: Some(with(&view.machines, "Available")),
        up_to_date_replicas: Some(with(&view.machines, "UpToDate")),
        versions: versions(&view.machines),
        ..before
    }
}

pub(super) fn count(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

fn with(machines: &[Arc<Machine>], kind: &str) -> i32 {
    count(
        machines
            .iter()
            .filter(|it| condition::is_true(it.conditions(), kind))
            .count(),
    )
}

/// The versions in use and by how many machines, lowest text first.
pub(crate) fn versions(machines: &[Arc<Machine>]) -> Vec<StatusVersion> {
    let mut counts: BTreeMap<String, i32> = BTreeMap::new();
    for machine in machines {
        let kubelet = machine.status.as_ref().and_then(|it| it.node_info.as_ref());
        let version = kubelet
            .map(|it| it.kubelet_version.clone())
            .filter(|it| !it.is_empty());
        if let Some(version) = version.or_else(|| machine.spec.version.clone()) {
            *counts.entry(version).or_default() += 1;
        }
    }
    counts
        .into_iter()
        .map(|(version, count)| StatusVersion {
            version,
            replicas: Some(count),
        })
        .collect()
}

/// Are all Machines ready?
pub(crate) fn machines_ready(machines: &[Arc<Machine>]) -> Draft {
    let target = Type::MachinesReady;
    let reasons = Reasons {
        issue: Reason::NotReady,
        unknown: Reason::ReadyUnknown,
        info: Reason::Ready,
    };
    let aggregate = Aggregate {
        source: "Ready",
        target: target.as_str(),
        negative: false,
        reasons,
    };
    let members = machines.iter().map(|it| Member::of(&**it, "Ready"));
    aggregate
        .of(members)
        .unwrap_or_else(|| Draft::new(target, Status::True, Reason::NoReplicas, ""))
}

fn machines_up_to_date(view: &View) -> Draft {
    up_to_date(&view.machines, view.now)
}

/// Are all Machines up to date? Machines younger than ten seconds that do not say so yet are left out.
pub(crate) fn up_to_date(machines: &[Arc<Machine>], now: Timestamp) -> Draft {
    let target = Type::MachinesUpToDate;
    let reasons = Reasons {
        issue: Reason::NotUpToDate,
        unknown: Reason::UpToDateUnknown,
        info: Reason::UpToDate,
    };
    let aggregate = Aggregate {
        source: "UpToDate",
        target: target.as_str(),
        negative: false,
        reasons,
    };
    let counts = |it: &Machine| {
        let says = condition::find(it.conditions(), "UpToDate").is_some();
        let created = it.metadata.creation_timestamp.as_ref().map(|it| it.0);
        says || created.is_some_and(|it| now.duration_since(it).as_secs() > 10)
    };
    let members = machines
        .iter()
        .filter(|it| counts(it))
        .map(|it| Member::of(&**it, "UpToDate"));
    aggregate
        .of(members)
        .unwrap_or_else(|| Draft::new(target, Status::True, Reason::NoReplicas, ""))
}

fn scaling_up(view: &View) -> Draft {
    let kind = Type::ScalingUp;
    if view.machine_set.spec.replicas.is_none() {
        let message = "Waiting for spec.replicas set";
        return Draft::new(kind, Status::Unknown, Reason::WaitingForReplicasSet, message);
    }
    let wanted = if view.is_deleting() { 0 } else { view.replicas() };
    let have = view.machines.len();
    let missing = missing_templates(view);
    if have >= wanted {
        // What would block the next machine is worth saying before it is asked for.
        return Draft::new(
            kind,
            Status::False,
            Reason::NotScalingUp,
            missing.unwrap_or_default(),
        );
    }
    let mut message = format!("Scaling up from {have} to {wanted} replicas");
    let mut blockers: Vec<String> = missing.into_iter().collect();
    blockers.extend(preflight::blockers(view));
    if !blockers.is_empty() {
        let lines: Vec<String> = blockers.iter().map(|it| format!("* {it}")).collect();
        message = format!("{message} is blocked because:\n{}", lines.join("\n"));
    }
    Draft::new(kind, Status::True, Reason::ScalingUp, message)
}

/// Which templates are missing, as a sentence. A set that is no longer the current revision needs none.
fn missing_templates(view: &View) -> Option<String> {
    if !view.is_current() {
        return None;
    }
    let missing = view.missing_templates();
    match missing.len() {
        0 => None,
        1 => Some(format!("{} does not exist", missing[0])),
        _ => Some(format!("{} do not exist", missing.join(" and "))),
    }
}

fn scaling_down(view: &View) -> Draft {
    let kind = Type::ScalingDown;
    if view.machine_set.spec.replicas.is_none() {
        let message = "Waiting for spec.replicas set";
        return Draft::new(kind, Status::Unknown, Reason::WaitingForReplicasSet, message);
    }
    let wanted = if view.is_deleting() { 0 } else { view.replicas() };
    let have = view.machines.len();
    if have <= wanted {
        return Draft::new(kind, Status::False, Reason::NotScalingDown, "");
    }
    let message = format!("Scaling down from {have} to {wanted} replicas");
    Draft::new(kind, Status::True, Reason::ScalingDown, message)
}

/// Which Machines are being repaired.
pub(crate) fn remediating(machines: &[Arc<Machine>]) -> Draft {
    let kind = Type::Remediating;
    let waiting: Vec<&Arc<Machine>> = machines
        .iter()
        .filter(|it| condition::is_false(it.conditions(), "OwnerRemediated"))
        .collect();
    if waiting.is_empty() {
        return Draft::new(kind, Status::False, Reason::NotRemediating, "");
    }
    let reasons = Reasons {
        issue: Reason::Remediating,
        unknown: Reason::Remediating,
        info: Reason::Remediating,
    };
    let aggregate = Aggregate {
        source: "OwnerRemediated",
        target: kind.as_str(),
        negative: false,
        reasons,
    };
    let told = aggregate.of(waiting.iter().map(|it| Member::of(&***it, "OwnerRemediated")));
    Draft::new(
        kind,
        Status::True,
        Reason::Remediating,
        told.map(|it| it.message).unwrap_or_default(),
    )
}

fn deleting(view: &View, _plan: &Plan<Action>) -> Draft {
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

/// When the next Machine that is ready becomes available.
pub(super) fn next_available(view: &View) -> Option<Timestamp> {
    let seconds =
        u64::try_from(view.machine_set.spec.template.spec.min_ready_seconds.unwrap_or(0)).unwrap_or(0);
    let ready = view.machines.iter().filter_map(|it| {
        let ready = condition::find(it.conditions(), "Ready").filter(|it| it.status == "True")?;
        Some(ready.last_transition_time.0 + Duration::from_secs(seconds))
    });
    ready.filter(|it| *it > view.now).min()
}
