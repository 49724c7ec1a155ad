//! What is true of a control plane, from what was seen, chosen and done, and what it says of its Machines.
// Parity: upstream controlplane/kubeadm/reconcilers/kubeadmcontrolplane/status.go

mod machine;
mod v1beta1;

use std::collections::BTreeMap;

use capstan_api::{
    IntOrString,
    condition::{self, Aggregate, Draft, Member as Source, Reason, Reasons, Status, Type},
    controlplane::{KubeadmControlPlaneInitialization, KubeadmControlPlaneStatus},
    core::{Conditioned, StatusVersion},
    well_known,
};
use capstan_base::version::Version;
use capstan_engine::{Plan, Trail};
use capstan_workload::Remote;
use kube::ResourceExt;

use crate::{
    act::{ActError, Action},
    preflight::{Scaling, blockers},
    quorum, remediation,
    view::{Component, Member, View},
};

pub(crate) use machine::machine_conditions_patch;
use machine::{etcd_member_health, pod_condition};

/// The condition types that this controller owns.
pub(crate) const OWNED: &[&str] = &[
    "Available",
    "Initialized",
    "CertificatesAvailable",
    "EtcdClusterHealthy",
    "ControlPlaneComponentsHealthy",
    "MachinesReady",
    "MachinesUpToDate",
    "RollingOut",
    "ScalingUp",
    "ScalingDown",
    "Remediating",
    "Deleting",
    "Paused",
];

/// The whole status.
pub(crate) fn report(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> KubeadmControlPlaneStatus {
    let before = view.control_plane.status.clone().unwrap_or_default();
    let mut conditions = before.conditions.clone();
    let generation = view.control_plane.metadata.generation;
    let drafts = [
        initialized(view),
        certificates_available(view),
        etcd_cluster_healthy(view),
        components_healthy(view),
        machines(
            view,
            Type::MachinesReady,
            "Ready",
            (Reason::NotReady, Reason::ReadyUnknown, Reason::Ready),
        ),
        machines(
            view,
            Type::MachinesUpToDate,
            "UpToDate",
            (Reason::NotUpToDate, Reason::UpToDateUnknown, Reason::UpToDate),
        ),
        rolling_out(view),
        scaling_up(view),
        scaling_down(view),
        remediating(view),
        deleting(view),
        available(view),
    ];
    for draft in drafts {
        condition::set_in(&mut conditions, generation, draft, view.now);
    }
    let with = |kind: &str| {
        count(
            view.members
                .iter()
                .filter(|it| condition::is_true(it.machine.conditions(), kind))
                .count(),
        )
    };
    KubeadmControlPlaneStatus {
        conditions,
        deprecated: v1beta1::report(view, plan, trail),
        initialization: KubeadmControlPlaneInitialization {
            control_plane_initialized: view.is_initialized().then_some(true),
        },
        selector: selector(view),
        replicas: Some(count(view.members.len())),
        ready_replicas: Some(with("Ready")),
        available_replicas: Some(with("Available")),
        up_to_date_replicas: Some(count(
            view.members
                .iter()
                .filter(|it| view.differences(it).is_empty())
                .count(),
        )),
        versions: versions(view),
        version: lowest_version(view),
        last_remediation: remediation::last(view).or_else(|| before.last_remediation.clone()),
        ..before
    }
}

fn count(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// How many machines a rollout may have too many: 1 unless the spec says 0.
pub(crate) fn max_surge(view: &View) -> i32 {
    match &view.control_plane.spec.rollout.strategy.rolling_update.max_surge {
        Some(IntOrString::Int(number)) => *number,
        Some(IntOrString::String(_)) | None => 1,
    }
}

fn selector(view: &View) -> Option<String> {
    let cluster = view.cluster.as_ref()?.name_any();
    Some(format!(
        "{}={cluster},{}",
        well_known::label::CLUSTER_NAME,
        well_known::label::CONTROL_PLANE
    ))
}

fn versions(view: &View) -> Vec<StatusVersion> {
    let mut counts: BTreeMap<String, i32> = BTreeMap::new();
    for version in view
        .members
        .iter()
        .filter_map(|it| it.machine.spec.version.clone())
    {
        *counts.entry(version).or_default() += 1;
    }
    counts
        .into_iter()
        .map(|(version, count)| StatusVersion {
            version,
            replicas: Some(count),
        })
        .collect()
}

fn lowest_version(view: &View) -> Option<String> {
    let versions = view
        .members
        .iter()
        .filter_map(|it| it.machine.spec.version.clone());
    let parsed = versions.filter_map(|it| Some((Version::parse_tolerant(&it).ok()?, it)));
    parsed.min_by(|a, b| a.0.precedence(&b.0)).map(|it| it.1)
}

fn initialized(view: &View) -> Draft {
    if view.is_initialized() {
        Draft::new(Type::Initialized, Status::True, Reason::Initialized, "")
    } else {
        Draft::new(Type::Initialized, Status::False, Reason::NotInitialized, "")
    }
}

fn certificates_available(view: &View) -> Draft {
    let kind = Type::CertificatesAvailable;
    let names: Vec<&str> = view
        .certificates
        .iter()
        .filter(|(_, it)| it.is_absent())
        .map(|(purpose, _)| purpose.suffix())
        .collect();
    if view
        .certificates
        .values()
        .any(|it| !it.is_absent() && it.found().is_none())
    {
        return Draft::internal_error(kind);
    }
    if names.is_empty() {
        Draft::new(kind, Status::True, Reason::Available, "")
    } else {
        let message = format!("Missing certificate secrets: {}", names.join(", "));
        Draft::new(kind, Status::False, Reason::NotAvailable, message)
    }
}

fn etcd_cluster_healthy(view: &View) -> Draft {
    let kind = Type::EtcdClusterHealthy;
    let draft = |status, reason, message: String| Draft::new(kind, status, reason, message);
    if !view.is_initialized() {
        let message = "Waiting for Cluster control plane to be initialized".to_owned();
        return draft(Status::Unknown, Reason::InspectionFailed, message);
    }
    if !view.has_stacked_etcd() {
        return draft(Status::True, Reason::Healthy, String::new());
    }
    let etcd = match &view.etcd {
        Remote::Found(etcd) => etcd,
        Remote::Disconnected { .. } | Remote::NotTried(_) | Remote::Absent => {
            return draft(
                Status::Unknown,
                Reason::ConnectionDown,
                "Failed to connect to the etcd cluster".to_owned(),
            );
        }
    };
    let mut lines = Vec::new();
    for member in &etcd.members {
        let machine = view
            .members
            .iter()
            .find(|it| it.node_name() == Some(member.name.as_str()));
        if machine.is_none() && view.members.iter().all(|it| it.node_name().is_some()) {
            lines.push(format!(
                "* Etcd member {} does not have a corresponding Machine",
                member.name
            ));
        }
    }
    for member in view
        .members
        .iter()
        .filter(|it| it.node_name().is_some() && !it.is_deleting())
    {
        let health = etcd_member_health(view, member);
        if health.0 == "False" {
            lines.push(format!(
                "* Machine {}: EtcdMemberHealthy: {}",
                member.name(),
                health.2
            ));
        }
    }
    if lines.is_empty() {
        draft(Status::True, Reason::Healthy, String::new())
    } else {
        draft(Status::False, Reason::NotHealthy, lines.join("\n"))
    }
}

fn components_healthy(view: &View) -> Draft {
    let kind = Type::ControlPlaneComponentsHealthy;
    if !view.is_initialized() {
        let message = "Waiting for Cluster control plane to be initialized";
        return Draft::new(kind, Status::Unknown, Reason::InspectionFailed, message);
    }
    let (mut issues, mut unknown) = (Vec::new(), Vec::new());
    for member in &view.members {
        for component in Component::ALL
            .into_iter()
            .filter(|it| *it != Component::Etcd || view.has_stacked_etcd())
        {
            let (status, _, message) = pod_condition(member, component);
            let line = format!(
                "* Machine {}: {}: {message}",
                member.name(),
                component.condition()
            );
            match status {
                "False" => issues.push(line),
                "Unknown" => unknown.push(line),
                _ => {}
            }
        }
    }
    if !issues.is_empty() {
        issues.extend(unknown);
        Draft::new(kind, Status::False, Reason::NotHealthy, issues.join("\n"))
    } else if !unknown.is_empty() {
        Draft::new(kind, Status::Unknown, Reason::HealthUnknown, unknown.join("\n"))
    } else {
        Draft::new(kind, Status::True, Reason::Healthy, "")
    }
}

fn machines(
    view: &View,
    target: Type,
    source: &str,
    (issue, unknown, info): (Reason, Reason, Reason),
) -> Draft {
    let aggregate = Aggregate {
        source,
        target: target.as_str(),
        negative: false,
        reasons: Reasons { issue, unknown, info },
    };
    let members = view.members.iter().map(|it| Source::of(&*it.machine, source));
    aggregate
        .of(members)
        .unwrap_or_else(|| Draft::new(target, Status::True, Reason::NoReplicas, ""))
}

fn rolling_out(view: &View) -> Draft {
    let mut reasons: Vec<String> = Vec::new();
    let mut outdated = 0;
    for member in &view.members {
        let differences = view.differences(member);
        outdated += usize::from(!differences.is_empty());
        for line in differences.into_iter().map(|it| format!("* {it}")) {
            if !reasons.contains(&line) {
                reasons.push(line);
            }
        }
    }
    if outdated == 0 {
        return Draft::new(Type::RollingOut, Status::False, Reason::NotRollingOut, "");
    }
    reasons.sort();
    let head = format!("Rolling out {outdated} not up-to-date replicas");
    let message = std::iter::once(head)
        .chain(reasons)
        .collect::<Vec<_>>()
        .join("\n");
    Draft::new(Type::RollingOut, Status::True, Reason::RollingOut, message)
}

fn with_blockers(head: String, view: &View, scaling: Scaling) -> String {
    let mut blockers = if view.members.is_empty() {
        Vec::new()
    } else {
        blockers(view, scaling)
    };
    if let capstan_engine::Lookup::Absent = view.infrastructure_template {
        let kind = &view
            .control_plane
            .spec
            .machine_template
            .spec
            .infrastructure_ref
            .kind;
        blockers.push(format!("{kind} does not exist"));
    }
    if blockers.is_empty() {
        return head;
    }
    let lines: Vec<String> = blockers.iter().map(|it| format!("* {it}")).collect();
    format!("{head} is blocked because:\n{}", lines.join("\n"))
}

fn remediating(view: &View) -> Draft {
    let aggregate = Aggregate {
        source: Type::OwnerRemediated.as_str(),
        target: Type::Remediating.as_str(),
        negative: false,
        reasons: Reasons {
            issue: Reason::Remediating,
            unknown: Reason::Remediating,
            info: Reason::Remediating,
        },
    };
    let asked = view
        .members
        .iter()
        .filter(|it| remediation::is_to_be_remediated(&it.machine))
        .map(|it| Source::of(&*it.machine, Type::OwnerRemediated.as_str()));
    if let Some(told) = aggregate.of(asked) {
        return Draft::new(Type::Remediating, Status::True, Reason::Remediating, told.message);
    }
    let names = remediation::unhealthy_only(view);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let message = match names.len() {
        0 => String::new(),
        number => format!(
            "{} {} not healthy (not to be remediated by KubeadmControlPlane)",
            condition::named("Machine", &names),
            if number == 1 { "is" } else { "are" },
        ),
    };
    Draft::new(Type::Remediating, Status::False, Reason::NotRemediating, message)
}

fn scaling_up(view: &View) -> Draft {
    let kind = Type::ScalingUp;
    let (have, wanted) = (
        view.members.len(),
        if view.is_deleting() { 0 } else { view.replicas() },
    );
    if have >= wanted {
        return Draft::new(kind, Status::False, Reason::NotScalingUp, "");
    }
    let head = format!("Scaling up from {have} to {wanted} replicas");
    Draft::new(
        kind,
        Status::True,
        Reason::ScalingUp,
        with_blockers(head, view, Scaling::Up),
    )
}

fn scaling_down(view: &View) -> Draft {
    let kind = Type::ScalingDown;
    let (have, wanted) = (
        view.members.len(),
        if view.is_deleting() { 0 } else { view.replicas() },
    );
    if have <= wanted {
        return Draft::new(kind, Status::False, Reason::NotScalingDown, "");
    }
    let head = format!("Scaling down from {have} to {wanted} replicas");
    let message = if view.is_deleting() {
        head
    } else {
        with_blockers(head, view, Scaling::Down)
    };
    Draft::new(kind, Status::True, Reason::ScalingDown, message)
}

fn deleting(view: &View) -> Draft {
    let draft = |reason, message: String| Draft::new(Type::Deleting, Status::True, reason, message);
    if !view.is_deleting() {
        return Draft::new(Type::Deleting, Status::False, Reason::NotDeleting, "");
    }
    if view.workers > 0 {
        let message = format!("Waiting for {} worker Machines to be deleted", view.workers);
        return draft(Reason::WaitingForWorkersDeletion, message);
    }
    match view.members.len() {
        0 => draft(Reason::DeletionCompleted, "Deletion completed".to_owned()),
        1 => draft(Reason::WaitingForMachineDeletion, "Deleting 1 Machine".to_owned()),
        many => draft(
            Reason::WaitingForMachineDeletion,
            format!("Deleting {many} Machines"),
        ),
    }
}

/// At least one machine with all components, and a quorum of healthy etcd members.
fn available(view: &View) -> Draft {
    let kind = Type::Available;
    let mut issues = Vec::new();
    if !view.is_initialized() {
        issues.push("* Control plane not yet initialized".to_owned());
        return Draft::new(kind, Status::False, Reason::NotAvailable, issues.join("\n"));
    }
    if view.is_deleting() {
        issues.push("* Control plane metadata.deletionTimestamp is set".to_owned());
    }
    if !view.has_certificates() {
        issues.push("* Control plane certificates are not available".to_owned());
    }
    if view.has_stacked_etcd() {
        if view.etcd.found().is_none() {
            let message = "* Failed to get etcd members";
            return Draft::new(kind, Status::Unknown, Reason::InspectionFailed, message);
        }
        let members = view.quorum_members();
        let healthy = members
            .iter()
            .filter(|it| it.is_healthy && !it.is_learner)
            .count();
        if !quorum::holds(&members) {
            let voting = members.iter().filter(|it| !it.is_learner).count();
            issues.push(format!(
                "* {healthy} of {voting} etcd members are healthy, at least {} healthy members are required for etcd quorum",
                voting / 2 + 1
            ));
        }
    }
    let whole = |it: &&Member| !it.is_deleting() && it.are_pods_healthy(view.has_stacked_etcd());
    if view.members.iter().filter(whole).count() == 0 {
        issues.push(
            "* There are no Machines with healthy control plane components, at least 1 required".to_owned(),
        );
    }
    if issues.is_empty() {
        Draft::new(kind, Status::True, Reason::Available, "")
    } else {
        Draft::new(kind, Status::False, Reason::NotAvailable, issues.join("\n"))
    }
}
