//! The conditions of a Cluster, each a plain function of the snapshot.
// Parity: upstream core/reconcilers/cluster/cluster_controller_status.go

use std::{sync::Arc, time::Duration};

use capstan_api::{
    Condition,
    condition::{
        self, Aggregate, Draft, Member, Priority, Reason, Reasons, Status, Summary, Type, foreign_conditions,
    },
    core::{ClusterStatus, ConditionPolarity, Conditioned, Machine},
};
use capstan_contract::External;
use capstan_engine::Lookup;
use kube::ResourceExt;

use super::{
    decide::{Stage, stage},
    report,
    view::View,
};
use crate::mirror;

/// How long a successful probe is trusted.
pub(super) const PROBE_GRACE: Duration = Duration::from_secs(50);

/// How many probes may fail before a cluster that was never reached is called out of reach.
const PROBES: u32 = 5;

/// How old a Machine may be without saying whether it is up to date.
const SETTLING_SECONDS: i64 = 10;

/// All conditions, starting from the stored ones so that unchanged ones keep their time.
pub(super) fn of(view: &View, status: &ClusterStatus) -> Vec<Condition> {
    let generation = view.cluster.metadata.generation;
    let mut list = view.cluster.status.clone().unwrap_or_default().conditions;
    let workers: Vec<&Arc<Machine>> = view.worker_machines().collect();
    let control_plane: Vec<&Arc<Machine>> = view.control_plane_machines().collect();
    let drafts = [
        Some(remote_connection_probe(view)),
        Some(infrastructure_ready(view, status)),
        Some(control_plane_available(view, status)),
        control_plane_initialized(view, status),
        Some(workers_available(view)),
        Some(machines_ready(&control_plane, Type::ControlPlaneMachinesReady)),
        Some(machines_ready(&workers, Type::WorkerMachinesReady)),
        Some(machines_up_to_date(
            view,
            &control_plane,
            Type::ControlPlaneMachinesUpToDate,
        )),
        Some(machines_up_to_date(view, &workers, Type::WorkerMachinesUpToDate)),
        Some(changing(
            view,
            Type::RollingOut,
            (
                Reason::RollingOut,
                Reason::RollingOutUnknown,
                Reason::NotRollingOut,
            ),
        )),
        Some(changing(
            view,
            Type::ScalingUp,
            (Reason::ScalingUp, Reason::ScalingUpUnknown, Reason::NotScalingUp),
        )),
        Some(changing(
            view,
            Type::ScalingDown,
            (
                Reason::ScalingDown,
                Reason::ScalingDownUnknown,
                Reason::NotScalingDown,
            ),
        )),
        Some(remediating(view)),
        Some(deleting(view)),
    ];
    for draft in drafts.into_iter().flatten() {
        condition::set_in(&mut list, generation, draft, view.now);
    }
    let available = available(view, &list);
    condition::set_in(&mut list, generation, available, view.now);
    list
}

fn remote_connection_probe(view: &View) -> Draft {
    let kind = Type::RemoteConnectionProbe;
    match view.health.last_probe_success {
        None if view.health.failures < PROBES => {
            // A reason that was already given stays; nothing new is known.
            let stored = view.cluster.status.clone().unwrap_or_default().conditions;
            condition::find(&stored, kind.as_str()).map_or_else(
                || {
                    Draft::new(
                        kind,
                        Status::False,
                        Reason::ProbeFailed,
                        "Remote connection not established yet",
                    )
                },
                Draft::from,
            )
        }
        None => Draft::new(
            kind,
            Status::False,
            Reason::ProbeFailed,
            "Remote connection probe failed",
        ),
        Some(last) if last + PROBE_GRACE < view.now => {
            let at = last.strftime("%Y-%m-%dT%H:%M:%SZ");
            let message = format!("Remote connection probe failed, probe last succeeded at {at}");
            Draft::new(kind, Status::False, Reason::ProbeFailed, message)
        }
        Some(_) => Draft::new(kind, Status::True, Reason::ProbeSucceeded, ""),
    }
}

/// What is said of an object that the Cluster refers to and that is not at hand.
fn missing(view: &View, target: Type, lookup: &Lookup<External>, kind: &str, was_there: bool) -> Draft {
    let draft = |reason, message: String| Draft::new(target, Status::False, reason, message);
    match lookup {
        Lookup::Unreadable(why) => mirror::unreadable(target, why),
        Lookup::Found(_) | Lookup::Absent if was_there && view.is_deleting() => {
            draft(Reason::ObjectDeleted, format!("{kind} has been deleted"))
        }
        Lookup::Found(_) | Lookup::Absent if was_there => draft(
            Reason::ObjectDeleted,
            format!("{kind} has been deleted while the cluster still exists"),
        ),
        Lookup::Found(_) | Lookup::Absent => {
            draft(Reason::ObjectDoesNotExist, format!("{kind} does not exist"))
        }
    }
}

const NO_TOPOLOGY_YET: &str = "Waiting for cluster topology to be reconciled";

fn infrastructure_ready(view: &View, status: &ClusterStatus) -> Draft {
    let target = Type::InfrastructureReady;
    let provisioned = status.initialization.infrastructure_provisioned == Some(true);
    let Some(lookup) = &view.infrastructure else {
        if view.cluster.spec.topology.is_some() {
            return Draft::new(target, Status::False, Reason::ObjectDoesNotExist, NO_TOPOLOGY_YET);
        }
        // Without an infrastructure object there is nothing to wait for.
        return Draft::new(target, Status::True, Reason::Ready, "");
    };
    let kind = view
        .cluster
        .spec
        .infrastructure_ref
        .as_ref()
        .map_or("", |it| it.kind.as_str());
    match lookup {
        Lookup::Found(external) => {
            let field = "status.initialization.provisioned";
            mirror::ready(
                external,
                target,
                provisioned,
                (Reason::Ready, Reason::NotReady),
                field,
            )
        }
        other => missing(view, target, other, kind, provisioned),
    }
}

fn control_plane_available(view: &View, status: &ClusterStatus) -> Draft {
    let target = Type::ControlPlaneAvailable;
    let initialized = status.initialization.control_plane_initialized == Some(true);
    let Some(lookup) = &view.control_plane else {
        if view.cluster.spec.topology.is_some() {
            return Draft::new(target, Status::False, Reason::ObjectDoesNotExist, NO_TOPOLOGY_YET);
        }
        let machines: Vec<&Arc<Machine>> = view.control_plane_machines().collect();
        let aggregate = aggregate(
            "Available",
            target,
            false,
            Reason::NotAvailable,
            Reason::AvailableUnknown,
            Reason::Available,
        );
        let members = machines.iter().map(|it| Member::of(&***it, "Available"));
        let none = || {
            Draft::new(
                target,
                Status::False,
                Reason::NotAvailable,
                "No control plane machines exist",
            )
        };
        return aggregate.of(members).unwrap_or_else(none);
    };
    let kind = view
        .cluster
        .spec
        .control_plane_ref
        .as_ref()
        .map_or("", |it| it.kind.as_str());
    match lookup {
        Lookup::Found(external) => {
            let field = "status.initialization.controlPlaneInitialized";
            let reasons = (Reason::Available, Reason::NotAvailable);
            mirror::of(external, Type::Available, target, initialized, reasons, field)
        }
        other => missing(view, target, other, kind, initialized),
    }
}

fn control_plane_initialized(view: &View, status: &ClusterStatus) -> Option<Draft> {
    let target = Type::ControlPlaneInitialized;
    let stored = view.cluster.status.clone().unwrap_or_default().conditions;
    if condition::is_true(&stored, target.as_str()) {
        return condition::find(&stored, target.as_str()).map(Draft::from);
    }
    if status.initialization.control_plane_initialized == Some(true) {
        return Some(Draft::new(target, Status::True, Reason::Initialized, ""));
    }
    Some(match &view.control_plane {
        None if view.cluster.spec.topology.is_some() => Draft::new(
            target,
            Status::Unknown,
            Reason::ObjectDoesNotExist,
            NO_TOPOLOGY_YET,
        ),
        None => {
            let message = "Waiting for the first control plane machine to have status.nodeRef set";
            Draft::new(target, Status::False, Reason::NotInitialized, message)
        }
        Some(Lookup::Found(_)) => Draft::new(
            target,
            Status::False,
            Reason::NotInitialized,
            "Control plane not yet initialized",
        ),
        Some(Lookup::Unreadable(why)) => mirror::unreadable(target, why),
        Some(Lookup::Absent) => {
            let kind = view
                .cluster
                .spec
                .control_plane_ref
                .as_ref()
                .map_or("", |it| it.kind.as_str());
            Draft::new(
                target,
                Status::Unknown,
                Reason::ObjectDoesNotExist,
                format!("{kind} does not exist"),
            )
        }
    })
}

fn aggregate(
    source: &'static str,
    target: Type,
    negative: bool,
    issue: Reason,
    unknown: Reason,
    info: Reason,
) -> Aggregate<'static> {
    Aggregate {
        source,
        target: target.as_str(),
        negative,
        reasons: Reasons { issue, unknown, info },
    }
}

fn workers_available(view: &View) -> Draft {
    let target = Type::WorkersAvailable;
    let aggregate = aggregate(
        "Available",
        target,
        false,
        Reason::NotAvailable,
        Reason::AvailableUnknown,
        Reason::Available,
    );
    let members = view
        .machine_deployments
        .iter()
        .map(|it| Member::of(&**it, "Available"));
    aggregate
        .of(members)
        .unwrap_or_else(|| Draft::new(target, Status::True, Reason::NoWorkers, ""))
}

fn machines_ready(machines: &[&Arc<Machine>], target: Type) -> Draft {
    let aggregate = aggregate(
        "Ready",
        target,
        false,
        Reason::NotReady,
        Reason::ReadyUnknown,
        Reason::Ready,
    );
    let members = machines.iter().map(|it| Member::of(&***it, "Ready"));
    aggregate
        .of(members)
        .unwrap_or_else(|| Draft::new(target, Status::True, Reason::NoReplicas, ""))
}

/// Only Machines that say whether they are up to date, or are old enough that they should.
fn machines_up_to_date(view: &View, machines: &[&Arc<Machine>], target: Type) -> Draft {
    let aggregate = aggregate(
        "UpToDate",
        target,
        false,
        Reason::NotUpToDate,
        Reason::UpToDateUnknown,
        Reason::UpToDate,
    );
    let counts = |it: &Machine| {
        let says = condition::find(it.conditions(), "UpToDate").is_some();
        let created = it.metadata.creation_timestamp.as_ref().map(|it| it.0);
        says || created.is_some_and(|it| view.now.duration_since(it).as_secs() > SETTLING_SECONDS)
    };
    let members = machines
        .iter()
        .filter(|it| counts(it))
        .map(|it| Member::of(&***it, "UpToDate"));
    aggregate
        .of(members)
        .unwrap_or_else(|| Draft::new(target, Status::True, Reason::NoReplicas, ""))
}

/// RollingOut, ScalingUp and ScalingDown: what the control plane (if it says so) and the pools are doing.
fn changing(view: &View, kind: Type, (yes, unknown, no): (Reason, Reason, Reason)) -> Draft {
    let source = kind.as_str();
    let aggregate = aggregate(source, kind, true, yes, unknown, no);
    let mut members = Vec::new();
    if let Some(external) = view.control_plane_object() {
        let found = foreign_conditions(&external.object.data).unwrap_or_default();
        if let Some(draft) = found.into_iter().find(|it| it.type_ == source) {
            members.push(Member::foreign(
                &external.kind.kind,
                &external.object.name_any(),
                Some(draft),
            ));
        }
    }
    members.extend(
        view.machine_deployments
            .iter()
            .map(|it| Member::of(&**it, source)),
    );
    if kind != Type::RollingOut {
        members.extend(view.standalone_machine_sets().map(|it| Member::of(&**it, source)));
    }
    aggregate
        .of(members)
        .unwrap_or_else(|| Draft::new(kind, Status::False, no, ""))
}

fn remediating(view: &View) -> Draft {
    let kind = Type::Remediating;
    let unhealthy: Vec<&Arc<Machine>> = view
        .machines
        .iter()
        .filter(|it| condition::is_false(it.conditions(), "HealthCheckSucceeded"))
        .collect();
    let (waiting, left): (Vec<&Arc<Machine>>, Vec<&Arc<Machine>>) = unhealthy
        .into_iter()
        .partition(|it| condition::is_false(it.conditions(), "OwnerRemediated"));
    if !waiting.is_empty() {
        let aggregate = aggregate(
            "OwnerRemediated",
            kind,
            false,
            Reason::Remediating,
            Reason::Remediating,
            Reason::Remediating,
        );
        let message = aggregate.of(waiting.iter().map(|it| Member::of(&***it, "OwnerRemediated")));
        let message = message.map(|it| it.message).unwrap_or_default();
        return Draft::new(kind, Status::True, Reason::Remediating, message);
    }
    let names: Vec<String> = left.iter().map(|it| it.name_any()).collect();
    let message = match names.len() {
        0 => String::new(),
        1 => format!("Machine {} is not healthy (not to be remediated)", names[0]),
        _ => format!(
            "Machines {} are not healthy (not to be remediated)",
            names.join(", ")
        ),
    };
    Draft::new(kind, Status::False, Reason::NotRemediating, message)
}

fn deleting(view: &View) -> Draft {
    if !view.is_deleting() {
        return Draft::new(Type::Deleting, Status::False, Reason::NotDeleting, "");
    }
    let waiting = |lookup: Option<&Lookup<External>>, kind: &str| match lookup {
        Some(Lookup::Unreadable(why)) => {
            format!("Waiting for {kind} to be deleted, but it cannot be read: {why}")
        }
        _ => format!("Waiting for {kind} to be deleted"),
    };
    let spec = &view.cluster.spec;
    let (reason, message) = match stage(view) {
        Stage::Workers(left) => (Reason::WaitingForWorkersDeletion, report::descendants(&left)),
        Stage::ControlPlane => {
            let kind = spec.control_plane_ref.as_ref().map_or("", |it| it.kind.as_str());
            (
                Reason::WaitingForControlPlaneDeletion,
                waiting(view.control_plane.as_ref(), kind),
            )
        }
        Stage::Infrastructure => {
            let kind = spec.infrastructure_ref.as_ref().map_or("", |it| it.kind.as_str());
            (
                Reason::WaitingForInfrastructureDeletion,
                waiting(view.infrastructure.as_ref(), kind),
            )
        }
        Stage::Completed => (Reason::DeletionCompleted, "Deletion completed".to_owned()),
    };
    Draft::new(Type::Deleting, Status::True, reason, message)
}

fn available(view: &View, conditions: &[Condition]) -> Draft {
    let mut types = vec![
        "Deleting",
        "RemoteConnectionProbe",
        "InfrastructureReady",
        "ControlPlaneAvailable",
        "WorkersAvailable",
        "TopologyReconciled",
    ];
    let mut negative = vec!["Deleting"];
    for gate in &view.cluster.spec.availability_gates {
        types.push(&gate.condition_type);
        if gate.polarity == Some(ConditionPolarity::Negative) {
            negative.push(&gate.condition_type);
        }
    }
    let ignored: &[&str] = if view.cluster.spec.topology.is_none() {
        &["TopologyReconciled"]
    } else {
        &[]
    };
    let is_deleting = view.is_deleting();
    let tolerated = move |it: &Draft| -> Option<Priority> {
        let is_part = ["InfrastructureReady", "ControlPlaneAvailable"].contains(&it.type_.as_str());
        let is_gone = ["ObjectDeleted", "ObjectDoesNotExist"].contains(&it.reason.as_str());
        (is_deleting && is_part && is_gone).then_some(Priority::Info)
    };
    let summary = Summary {
        target: "Available",
        types: &types,
        negative: &negative,
        ignore_if_missing: ignored,
        priority: Some(&tolerated),
        reasons: Reasons {
            issue: Reason::NotAvailable,
            unknown: Reason::AvailableUnknown,
            info: Reason::Available,
        },
        ..Summary::default()
    };
    summary
        .of(conditions)
        .unwrap_or_else(|_| Draft::internal_error(Type::Available))
}
