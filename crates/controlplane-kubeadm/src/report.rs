//! What is true of a control plane, from what was seen, chosen and done, and what it says of its Machines.
// Parity: upstream controlplane/kubeadm/reconcilers/status.go, controlplane/kubeadm/pkg/workload_cluster_conditions.go

use std::collections::BTreeMap;

use capstan_api::{
    Condition, IntOrString,
    condition::{self, Aggregate, Draft, Member as Source, Reason, Reasons, Status, Type},
    controlplane::{KubeadmControlPlaneInitialization, KubeadmControlPlaneStatus},
    core::{Conditioned, StatusVersion},
    well_known,
};
use capstan_base::version::Version;
use capstan_engine::{Plan, Trail};
use capstan_workload::Remote;
use kube::ResourceExt;
use serde_json::{Value, json};

use crate::{
    act::{ActError, Action},
    decide::blockers,
    quorum,
    view::{Component, Member, View},
};

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

/// The taint and label that kubeadm gives control plane nodes.
const CONTROL_PLANE_ROLE: &str = "node-role.kubernetes.io/control-plane";

/// The whole status.
pub(crate) fn report(
    view: &View,
    _plan: &Plan<Action>,
    _trail: &Trail<ActError>,
) -> KubeadmControlPlaneStatus {
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
        Draft::new(Type::Remediating, Status::False, Reason::NotRemediating, ""),
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

fn with_blockers(head: String, view: &View) -> String {
    let mut blockers = if view.members.is_empty() {
        Vec::new()
    } else {
        blockers(view)
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
    Draft::new(kind, Status::True, Reason::ScalingUp, with_blockers(head, view))
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
        with_blockers(head, view)
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

type Said = (&'static str, &'static str, String);

/// What is said of a machine before there is a node to look at; none if there is one.
fn before_node(member: &Member) -> Option<Said> {
    if member.is_deleting() {
        return Some(("False", "Deleting", "Machine is deleting".to_owned()));
    }
    if member.node_name().is_none() {
        let message = match &member.machine.spec.provider_id {
            Some(id) => format!("Waiting for a Node with spec.providerID {id} to exist"),
            None => format!(
                "Waiting for {} to report spec.providerID",
                member.machine.spec.infrastructure_ref.kind
            ),
        };
        return Some(("Unknown", "InspectionFailed", message));
    }
    match &member.node {
        Remote::Found(_) => None,
        Remote::Absent => Some(("Unknown", "InspectionFailed", "Node does not exist".to_owned())),
        Remote::Disconnected { .. } | Remote::NotTried(_) => Some((
            "Unknown",
            "ConnectionDown",
            "Remote connection is down".to_owned(),
        )),
    }
}

fn node_ready_is_unknown(member: &Member) -> bool {
    let conditions = member
        .node
        .found()
        .and_then(|it| it.status.as_ref()?.conditions.clone())
        .unwrap_or_default();
    conditions
        .iter()
        .any(|it| it.type_ == "Ready" && it.status == "Unknown")
}

fn pod_condition(member: &Member, component: Component) -> Said {
    if let Some(said) = before_node(member) {
        return said;
    }
    if node_ready_is_unknown(member) {
        let message = "Node Ready condition is Unknown, Pod data might be stale".to_owned();
        return ("Unknown", "InspectionFailed", message);
    }
    match (member.health(component), member.pods.get(&component)) {
        (Some(health), _) => (health.status, health.reason, health.message),
        (None, Some(Remote::Absent)) => ("False", "DoesNotExist", "Pod does not exist".to_owned()),
        (None, _) => (
            "Unknown",
            "ConnectionDown",
            "Remote connection is down".to_owned(),
        ),
    }
}

fn etcd_member_health(view: &View, member: &Member) -> Said {
    if let Some(said) = before_node(member) {
        return said;
    }
    let Some(etcd) = view.etcd.found() else {
        return (
            "Unknown",
            "InspectionFailed",
            "Failed to connect to the etcd cluster".to_owned(),
        );
    };
    let Some(found) = view.etcd_member(member) else {
        let message = "Etcd doesn't have a member for this Machine's Node".to_owned();
        return ("False", "NotHealthy", message);
    };
    if found.is_learner {
        return (
            "False",
            "NotHealthy",
            "Waiting for learner etcd member to be promoted".to_owned(),
        );
    }
    let alarms: Vec<String> = etcd
        .alarms
        .iter()
        .filter(|it| it.member == found.id)
        .map(|it| format!("{:?}", it.kind))
        .collect();
    if alarms.is_empty() {
        ("True", "Healthy", String::new())
    } else {
        (
            "False",
            "NotHealthy",
            format!("Etcd member reports alarms: {}", alarms.join(", ")),
        )
    }
}

/// Does the node carry kubeadm's label and, unless the spec leaves it out, its taint?
fn labels_and_taints(view: &View, member: &Member) -> Said {
    if let Some(said) = before_node(member) {
        return said;
    }
    let Some(node) = member.node.found() else {
        return ("Unknown", "InspectionFailed", "Node does not exist".to_owned());
    };
    if !node.labels().contains_key(CONTROL_PLANE_ROLE) {
        let message = format!("{CONTROL_PLANE_ROLE} label is not set");
        return ("False", "NotSet", message);
    }
    let spec = &view.control_plane.spec.kubeadm_config_spec;
    let given = spec.join_configuration.node_registration.taints.as_ref();
    let given = given.or(spec.init_configuration.node_registration.taints.as_ref());
    let wants = given.is_none_or(|it| {
        it.iter()
            .any(|it| it.key == CONTROL_PLANE_ROLE && it.effect == "NoSchedule")
    });
    let taints = node
        .spec
        .as_ref()
        .and_then(|it| it.taints.clone())
        .unwrap_or_default();
    let has = taints
        .iter()
        .any(|it| it.key == CONTROL_PLANE_ROLE && it.effect == "NoSchedule");
    if wants && !has {
        return (
            "False",
            "NotSet",
            format!("{CONTROL_PLANE_ROLE}:NoSchedule taint is not set"),
        );
    }
    ("True", "Set", String::new())
}

fn up_to_date(view: &View, member: &Member) -> Said {
    let differences = view.differences(member);
    if differences.is_empty() {
        return ("True", "UpToDate", String::new());
    }
    let lines: Vec<String> = differences.iter().map(|it| format!("* {it}")).collect();
    ("False", "NotUpToDate", lines.join("\n"))
}

/// The patch that brings the conditions that this controller writes to one Machine up to date; none if they are.
pub(crate) fn machine_conditions_patch(view: &View, member: &Member) -> Option<Value> {
    let mut said: Vec<(&'static str, Said)> = Component::ALL
        .into_iter()
        .filter(|it| *it != Component::Etcd || view.has_stacked_etcd())
        .map(|it| (it.condition(), pod_condition(member, it)))
        .collect();
    if view.has_stacked_etcd() {
        said.push(("EtcdMemberHealthy", etcd_member_health(view, member)));
    }
    said.push(("NodeKubeadmLabelsAndTaintsSet", labels_and_taints(view, member)));
    said.push(("UpToDate", up_to_date(view, member)));
    let stored: &[Condition] = member.machine.conditions();
    let mut conditions = stored.to_vec();
    for (kind, (status, reason, message)) in said {
        let status = status.parse().unwrap_or(Status::Unknown);
        let draft = Draft::new(kind, status, reason, message);
        condition::set_in(
            &mut conditions,
            member.machine.metadata.generation,
            draft,
            view.now,
        );
    }
    (conditions != stored).then(|| {
        json!({ "metadata": { "resourceVersion": member.machine.resource_version() }, "status": { "conditions": conditions } })
    })
}
