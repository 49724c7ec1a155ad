//! The conditions of a Machine, each a plain function of the snapshot.
// Parity: upstream core/reconcilers/machine/machine_controller_status.go

use capstan_api::{
    Condition,
    condition::{self, Draft, Priority, Reason, Reasons, Status, Summary, Type},
    core::{ConditionPolarity, MachineStatus},
};
use capstan_base::Timestamp;
use capstan_engine::Lookup;
use capstan_workload::Remote;
use k8s_openapi::api::core::v1::{Node, NodeCondition};

use super::{
    decide::{Stage, stage},
    report,
    view::View,
    wiring::GRACE,
};
use crate::{machine_deployment::differences, mirror};

/// The probes that may fail before a cluster that was never reached is called out of reach.
const PROBES: u32 = 5;

/// All conditions, starting from the stored ones so that unchanged ones keep their time.
pub(super) fn of(view: &View, status: &MachineStatus, leaving: &str) -> Vec<Condition> {
    let generation = view.machine.metadata.generation;
    let mut list = view.machine.status.clone().unwrap_or_default().conditions;
    let mut set = |draft: Draft| condition::set_in(&mut list, generation, draft, view.now);
    set(bootstrap_config_ready(view, status));
    set(infrastructure_ready(view, status));
    for draft in node_conditions(view, status) {
        set(draft);
    }
    set(deleting(view, leaving));
    set(Draft::new(Type::Updating, Status::False, Reason::NotUpdating, ""));
    if let Some(draft) = up_to_date(view, status) {
        set(draft);
    }
    let ready = ready(view, &list);
    condition::set_in(&mut list, generation, ready, view.now);
    let available = report::available(view, &list);
    condition::set_in(&mut list, generation, available, view.now);
    list
}

fn bootstrap_config_ready(view: &View, status: &MachineStatus) -> Draft {
    let target = Type::BootstrapConfigReady;
    let (Some(lookup), Some(reference)) = (&view.bootstrap, &view.machine.spec.bootstrap.config_ref) else {
        return Draft::new(target, Status::True, Reason::DataSecretProvided, "");
    };
    let created = status.initialization.bootstrap_data_secret_created == Some(true);
    match lookup {
        Lookup::Found(external) => {
            let field = "status.initialization.dataSecretCreated";
            mirror::ready(
                external,
                target,
                created,
                (Reason::Ready, Reason::NotReady),
                field,
            )
        }
        Lookup::Unreadable(why) => mirror::unreadable(target, why),
        Lookup::Absent if view.is_deleting() && created => {
            let message = format!("{} has been deleted", reference.kind);
            Draft::new(target, Status::False, Reason::ObjectDeleted, message)
        }
        Lookup::Absent => {
            let message = format!("{} does not exist", reference.kind);
            Draft::new(target, Status::False, Reason::ObjectDoesNotExist, message)
        }
    }
}

fn infrastructure_ready(view: &View, status: &MachineStatus) -> Draft {
    let target = Type::InfrastructureReady;
    let kind = &view.machine.spec.infrastructure_ref.kind;
    let provisioned = status.initialization.infrastructure_provisioned == Some(true);
    let gone = |reason, message: String| Draft::new(target, Status::False, reason, message);
    match &view.infrastructure {
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
        Lookup::Unreadable(why) => mirror::unreadable(target, why),
        Lookup::Absent if provisioned && view.is_deleting() => {
            gone(Reason::ObjectDeleted, format!("{kind} has been deleted"))
        }
        Lookup::Absent if provisioned => gone(
            Reason::ObjectDeleted,
            format!("{kind} has been deleted while the Machine still exists"),
        ),
        Lookup::Absent => gone(Reason::ObjectDoesNotExist, format!("{kind} does not exist")),
    }
}

/// NodeReady and NodeHealthy; none where what was known before is still the best there is.
fn node_conditions(view: &View, status: &MachineStatus) -> Vec<Draft> {
    let both = |status: Status, reason: Reason, message: String| {
        vec![
            Draft::new(Type::NodeReady, status, reason, message.clone()),
            Draft::new(Type::NodeHealthy, status, reason, message),
        ]
    };
    let unknown = |reason: Reason, message: String| both(Status::Unknown, reason, message);
    let before = view.machine.status.clone().unwrap_or_default().conditions;
    let has_both =
        condition::find(&before, "NodeReady").is_some() && condition::find(&before, "NodeHealthy").is_some();
    let keep_or = |message: String| {
        if has_both {
            Vec::new()
        } else {
            unknown(Reason::ConnectionDown, message)
        }
    };
    let cluster = view
        .cluster
        .found()
        .and_then(|it| it.status.clone())
        .unwrap_or_default();
    if cluster.initialization.infrastructure_provisioned != Some(true) {
        let message = "Waiting for Cluster status.initialization.infrastructureProvisioned to be true";
        return unknown(Reason::InspectionFailed, message.to_owned());
    }
    let initialized = condition::find(&cluster.conditions, Type::ControlPlaneInitialized.as_str());
    let Some(initialized) = initialized.filter(|it| it.status == "True") else {
        return unknown(
            Reason::InspectionFailed,
            "Waiting for Cluster control plane to be initialized".to_owned(),
        );
    };
    let last = view.health.last_probe_success;
    if last.is_none() && view.health.failures < PROBES {
        return keep_or("Remote connection not established yet".to_owned());
    }
    let since = last
        .unwrap_or(Timestamp::MIN)
        .max(initialized.last_transition_time.0);
    if view.now.duration_since(since).as_secs() > i64::try_from(GRACE.as_secs()).unwrap_or(i64::MAX) {
        return unknown(Reason::ConnectionDown, last_probe(last));
    }
    match &view.node {
        Remote::Found(node) => vec![node_ready(node), node_healthy(node)],
        Remote::Disconnected { .. } | Remote::NotTried(_) => keep_or(last_probe(last)),
        Remote::Absent => both_without_node(view, status, &both),
    }
}

fn both_without_node(
    view: &View,
    status: &MachineStatus,
    both: &dyn Fn(Status, Reason, String) -> Vec<Draft>,
) -> Vec<Draft> {
    let inspect = |message: String| both(Status::Unknown, Reason::InspectionFailed, message);
    if !view.node_rivals.is_empty() {
        let id = view.provider_id().unwrap_or_default();
        return inspect(format!(
            "More than one Node has spec.providerID {id}: {}",
            view.node_rivals.join(", ")
        ));
    }
    match (&status.node_ref, view.is_deleting()) {
        (Some(node), true) => both(
            Status::False,
            Reason::NodeDeleted,
            format!("Node {} has been deleted", node.name),
        ),
        (None, true) => both(
            Status::Unknown,
            Reason::NodeDoesNotExist,
            "Node does not exist".to_owned(),
        ),
        (Some(node), false) => {
            let message = format!(
                "Node {} has been deleted while the Machine still exists",
                node.name
            );
            both(Status::False, Reason::NodeDeleted, message)
        }
        (None, false) => match view.provider_id() {
            Some(id) => inspect(format!("Waiting for a Node with spec.providerID {id} to exist")),
            None => {
                let kind = &view.machine.spec.infrastructure_ref.kind;
                inspect(format!("Waiting for {kind} to report spec.providerID"))
            }
        },
    }
}

fn last_probe(last: Option<Timestamp>) -> String {
    last.map(|it| format!("Last successful probe at {}", it.strftime("%Y-%m-%dT%H:%M:%SZ")))
        .unwrap_or_default()
}

fn node_condition<'a>(node: &'a Node, kind: &str) -> Option<&'a NodeCondition> {
    node.status
        .as_ref()?
        .conditions
        .as_ref()?
        .iter()
        .find(|it| it.type_ == kind)
}

fn node_ready(node: &Node) -> Draft {
    let Some(condition) = node_condition(node, "Ready") else {
        let message = "* Node.Ready: Condition not yet reported";
        return Draft::new(
            Type::NodeReady,
            Status::Unknown,
            Reason::NodeReadyUnknown,
            message,
        );
    };
    let status = condition.status.parse().unwrap_or(Status::Unknown);
    let reason = match status {
        Status::True => Reason::NodeReady,
        Status::False => Reason::NodeNotReady,
        Status::Unknown => Reason::NodeReadyUnknown,
    };
    let told = condition
        .message
        .as_deref()
        .filter(|it| status != Status::True && !it.is_empty());
    let message = told.map(|it| format!("* Node.Ready: {it}")).unwrap_or_default();
    let draft = Draft::new(Type::NodeReady, status, reason, message);
    match &condition.last_transition_time {
        Some(time) => draft.since(time.0),
        None => draft,
    }
}

/// Healthy: ready, and under no pressure.
fn node_healthy(node: &Node) -> Draft {
    let (mut failed, mut unknown) = (false, false);
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut reported = 0;
    for (kind, good) in [
        ("Ready", "True"),
        ("MemoryPressure", "False"),
        ("DiskPressure", "False"),
        ("PIDPressure", "False"),
    ] {
        let Some(condition) = node_condition(node, kind) else {
            lines.push((kind.to_owned(), "Condition not yet reported".to_owned()));
            unknown = true;
            continue;
        };
        if condition.status == good {
            continue;
        }
        reported += 1;
        let told = condition.message.clone().filter(|it| !it.is_empty());
        lines.push((
            kind.to_owned(),
            told.unwrap_or_else(|| format!("Condition is {}", condition.status)),
        ));
        if condition.status == "Unknown" {
            unknown = true
        } else {
            failed = true
        }
    }
    let same = lines.iter().all(|it| it.1 == lines[0].1);
    let message = if reported > 1 && reported == lines.len() && same {
        format!("* Node.AllConditions: {}", lines[0].1)
    } else {
        lines
            .iter()
            .map(|(kind, it)| format!("* Node.{kind}: {it}"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    if failed {
        Draft::new(Type::NodeHealthy, Status::False, Reason::NodeNotHealthy, message)
    } else if unknown {
        Draft::new(
            Type::NodeHealthy,
            Status::Unknown,
            Reason::NodeHealthUnknown,
            message,
        )
    } else {
        Draft::new(Type::NodeHealthy, Status::True, Reason::NodeHealthy, "")
    }
}

fn deleting(view: &View, leaving: &str) -> Draft {
    if !view.is_deleting() {
        return Draft::new(Type::Deleting, Status::False, Reason::NotDeleting, "");
    }
    let (reason, message) = match stage(view) {
        Stage::PreDrainHook(hooks) => (Reason::WaitingForPreDrainHook, hooks_message(&hooks)),
        Stage::Drain => (Reason::DrainingNode, leaving.to_owned()),
        Stage::VolumeDetach => (Reason::WaitingForVolumeDetach, leaving.to_owned()),
        Stage::PreTerminateHook(hooks) => (Reason::WaitingForPreTerminateHook, hooks_message(&hooks)),
        Stage::Infrastructure => {
            let kind = &view.machine.spec.infrastructure_ref.kind;
            (
                Reason::WaitingForInfrastructureDeletion,
                external_message(kind, &view.infrastructure),
            )
        }
        Stage::Bootstrap => {
            let kind = view
                .machine
                .spec
                .bootstrap
                .config_ref
                .as_ref()
                .map_or("", |it| it.kind.as_str());
            let lookup = view.bootstrap.as_ref().unwrap_or(&Lookup::Absent);
            (
                Reason::WaitingForBootstrapDeletion,
                external_message(kind, lookup),
            )
        }
        Stage::Node => (
            Reason::DeletingNode,
            "Waiting for the Node to be deleted".to_owned(),
        ),
        Stage::Completed => (Reason::DeletionCompleted, "Deletion completed".to_owned()),
    };
    Draft::new(Type::Deleting, Status::True, reason, message)
}

fn hooks_message(hooks: &[String]) -> String {
    format!("Waiting for hooks to succeed (hooks: {})", hooks.join(","))
}

fn external_message<T>(kind: &str, lookup: &Lookup<T>) -> String {
    match lookup {
        Lookup::Unreadable(why) => format!("Waiting for {kind} to be deleted, but it cannot be read: {why}"),
        Lookup::Found(_) | Lookup::Absent => format!("Waiting for {kind} to be deleted"),
    }
}

/// Whether the Machine is what its MachineDeployment asks for; none for other Machines.
fn up_to_date(view: &View, status: &MachineStatus) -> Option<Draft> {
    let (set, deployment) = (view.machine_set.as_ref()?, view.machine_deployment.as_ref()?);
    let mut found = differences(&set.spec.template.spec, &deployment.spec.template.spec);
    let after = deployment
        .spec
        .rollout
        .after
        .as_ref()
        .map(|it| it.0)
        .filter(|it| *it < view.now);
    let created = set.metadata.creation_timestamp.as_ref().map(|it| it.0);
    if after
        .zip(created)
        .is_some_and(|(after, created)| created.as_second() < after.as_second())
    {
        found.push("MachineDeployment spec.rolloutAfter expired".to_owned());
    }
    if !found.is_empty() {
        let lines: Vec<String> = found.iter().map(|it| format!("* {it}")).collect();
        return Some(Draft::new(
            Type::UpToDate,
            Status::False,
            Reason::NotUpToDate,
            lines.join("\n"),
        ));
    }
    let kubelet = status
        .node_info
        .as_ref()
        .map(|it| it.kubelet_version.clone())
        .filter(|it| !it.is_empty());
    let wanted = view.machine.spec.version.clone().unwrap_or_default();
    if let Some(kubelet) = kubelet.filter(|it| *it != wanted) {
        let message = format!("* Node.status.nodeInfo.kubeletVersion {kubelet}, {wanted} required");
        return Some(Draft::new(
            Type::UpToDate,
            Status::False,
            Reason::Updating,
            message,
        ));
    }
    Some(Draft::new(Type::UpToDate, Status::True, Reason::UpToDate, ""))
}

fn ready(view: &View, conditions: &[Condition]) -> Draft {
    let gates = &view.machine.spec.readiness_gates;
    let mut types = vec![
        "Deleting",
        "Updating",
        "BootstrapConfigReady",
        "InfrastructureReady",
        "NodeHealthy",
        "HealthCheckSucceeded",
    ];
    let mut negative = vec!["Deleting", "Updating"];
    for gate in gates {
        types.push(&gate.condition_type);
        if gate.polarity == Some(ConditionPolarity::Negative) {
            negative.push(&gate.condition_type);
        }
    }
    let is_deleting = view.is_deleting();
    let overrides: Vec<Draft> = if is_deleting {
        deleting_in_summary(view, conditions)
    } else {
        Vec::new()
    };
    let tolerated = move |it: &Draft| -> Option<Priority> {
        let is_part =
            ["BootstrapConfigReady", "InfrastructureReady", "NodeHealthy"].contains(&it.type_.as_str());
        let is_gone = [
            "ObjectDeleted",
            "ObjectDoesNotExist",
            "NodeDeleted",
            "NodeDoesNotExist",
        ]
        .contains(&it.reason.as_str());
        (is_deleting && is_part && is_gone).then_some(Priority::Info)
    };
    let summary = Summary {
        target: "Ready",
        types: &types,
        negative: &negative,
        ignore_if_missing: &["HealthCheckSucceeded"],
        overrides: &overrides,
        priority: Some(&tolerated),
        transform: Some(condition::group_control_plane_components),
        reasons: Reasons {
            issue: Reason::NotReady,
            unknown: Reason::ReadyUnknown,
            info: Reason::Ready,
        },
    };
    summary
        .of(conditions)
        .unwrap_or_else(|_| Draft::internal_error(Type::Ready))
}

/// In the summary the deletion is told by its stage alone.
fn deleting_in_summary(view: &View, conditions: &[Condition]) -> Vec<Draft> {
    let Some(stored) = condition::find(conditions, Type::Deleting.as_str()) else {
        return Vec::new();
    };
    let since = view.machine.metadata.deletion_timestamp.as_ref().map(|it| it.0);
    let is_long = since.is_some_and(|it| view.now.duration_since(it).as_secs() > 15 * 60);
    let how_long = if is_long { " since more than 15m" } else { "" };
    let message = format!("Machine deletion in progress{how_long}, stage: {}", stored.reason);
    vec![Draft {
        message,
        ..Draft::from(stored)
    }]
}
