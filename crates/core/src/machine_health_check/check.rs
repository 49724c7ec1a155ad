//! Is one Machine healthy?
// Parity: upstream core/reconcilers/machinehealthcheck/machinehealthcheck_targets.go:needsRemediation

use jiff::SignedDuration;

use capstan_api::{
    condition::{self, Reason, Type, v1beta1},
    core::{Conditioned, Machine},
    well_known,
};
use capstan_base::{Timestamp, duration};
use capstan_workload::Remote;
use k8s_openapi::api::core::v1::Node;
use kube::ResourceExt;

use super::view::{Target, View};

/// How long a Node may take to appear where the health check does not say it.
const NODE_STARTUP_TIMEOUT: i32 = 600;
/// How much later than due a state is looked at again, so that it has lasted for longer than its time-out then.
const GRACE: SignedDuration = SignedDuration::from_secs(1);

/// What a health check finds of a Machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing is wrong.
    Healthy,
    /// It is not healthy.
    Unhealthy(Finding),
    /// Something is wrong, but not for long enough: to be looked at again then. Not counted as healthy.
    Pending(Timestamp),
    /// Nothing can be said: it is going, has no Node yet, or its cluster is not there yet. Not counted as healthy.
    Unknown,
}

/// Why a Machine is not healthy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub reason: Reason,
    pub message: String,
    pub v1beta1_reason: v1beta1::Reason,
    pub v1beta1_message: String,
}

/// What was found of one side, the Machine or its Node.
enum Side {
    Bad(Vec<String>),
    Waiting(Option<Timestamp>),
}

/// Judges one Machine.
pub(super) fn verdict(view: &View, target: &Target) -> Verdict {
    let machine = &*target.machine;
    let key = well_known::annotation::REMEDIATE_MACHINE;
    if machine.annotations().contains_key(key) {
        return Verdict::Unhealthy(Finding {
            reason: Reason::HasRemediateAnnotation,
            message: format!("Health check failed: marked for remediation via {key} annotation"),
            v1beta1_reason: v1beta1::Reason::HasRemediateMachineAnnotation,
            v1beta1_message: "Marked for remediation via remediate-machine annotation".to_owned(),
        });
    }
    let is_control_plane = machine.labels().contains_key(well_known::label::CONTROL_PLANE);
    let is_early = !view.is_cluster(Type::ControlPlaneInitialized) && !is_control_plane;
    if is_early || !view.is_cluster(Type::InfrastructureReady) {
        return if is_alive_with_node(target) {
            Verdict::Healthy
        } else {
            Verdict::Unknown
        };
    }
    let (reasons, node) = node_side(view, target);
    match (machine_side(view, machine), node) {
        (Side::Waiting(one), Side::Waiting(other)) => match [one, other].into_iter().flatten().min() {
            Some(next) => Verdict::Pending(next),
            None if is_alive_with_node(target) => Verdict::Healthy,
            None => Verdict::Unknown,
        },
        (Side::Bad(mut messages), node) => {
            if let Side::Bad(more) = node {
                messages.extend(more);
            }
            let reasons = (Reason::UnhealthyMachine, v1beta1::Reason::UnhealthyMachine);
            Verdict::Unhealthy(finding(reasons, &messages))
        }
        (Side::Waiting(_), Side::Bad(messages)) => Verdict::Unhealthy(finding(reasons, &messages)),
    }
}

fn is_alive_with_node(target: &Target) -> bool {
    let node = target.node.as_ref().and_then(Remote::found);
    target.machine.metadata.deletion_timestamp.is_none() && node.is_some()
}

fn finding((reason, v1beta1_reason): (Reason, v1beta1::Reason), messages: &[String]) -> Finding {
    let lines: Vec<String> = messages.iter().map(|it| format!("  * {it}")).collect();
    let v1beta1_message = if v1beta1_reason == v1beta1::Reason::NodeNotFound {
        String::new()
    } else {
        messages.join("; ")
    };
    Finding {
        reason,
        message: format!("Health check failed:\n{}", lines.join("\n")),
        v1beta1_reason,
        v1beta1_message,
    }
}

/// A condition that is looked at, of the Machine or the Node.
struct Looked<'a> {
    kind: &'a str,
    bad_status: &'a str,
    timeout_seconds: Option<i32>,
    status: &'a str,
    reason: &'a str,
    since: Timestamp,
}

/// Which states have lasted too long; else when the first one will have.
fn judge<'a>(what: &str, conditions: impl Iterator<Item = Looked<'a>>, now: Timestamp) -> Side {
    let (mut bad, mut next) = (Vec::new(), None);
    for it in conditions.filter(|it| it.status == it.bad_status) {
        let timeout = seconds(it.timeout_seconds.unwrap_or(0));
        let due = it.since + timeout;
        if due < now {
            bad.push(format!(
                "Condition {} on {what} is reporting status {} with reason {} for more than {}",
                it.kind,
                it.bad_status,
                it.reason,
                duration::format(timeout)
            ));
        } else {
            let due = due + GRACE;
            next = Some(next.map_or(due, |it: Timestamp| it.min(due)));
        }
    }
    if bad.is_empty() {
        Side::Waiting(next)
    } else {
        Side::Bad(bad)
    }
}

fn machine_side(view: &View, machine: &Machine) -> Side {
    let checks = &view.health_check.spec.checks.unhealthy_machine_conditions;
    let looked = checks.iter().filter_map(|check| {
        let found = condition::find(machine.conditions(), &check.type_)?;
        Some(Looked {
            kind: &check.type_,
            bad_status: &check.status,
            timeout_seconds: check.timeout_seconds,
            status: &found.status,
            reason: &found.reason,
            since: found.last_transition_time.0,
        })
    });
    judge("Machine", looked, view.now)
}

fn node_side(view: &View, target: &Target) -> ((Reason, v1beta1::Reason), Side) {
    let name = target
        .machine
        .status
        .as_ref()
        .and_then(|it| it.node_ref.as_ref())
        .map(|it| &it.name);
    match (&target.node, name) {
        (Some(Remote::Absent), Some(name)) => (
            (Reason::NodeDeleted, v1beta1::Reason::NodeNotFound),
            Side::Bad(vec![format!("Node {name} has been deleted")]),
        ),
        (Some(Remote::Found(node)), _) => (
            (Reason::UnhealthyNode, v1beta1::Reason::UnhealthyNode),
            node_conditions(view, node),
        ),
        _ => (
            (Reason::NodeStartupTimeout, v1beta1::Reason::NodeStartupTimeout),
            startup(view, &target.machine),
        ),
    }
}

fn node_conditions(view: &View, node: &Node) -> Side {
    let checks = &view.health_check.spec.checks.unhealthy_node_conditions;
    let conditions = node
        .status
        .as_ref()
        .and_then(|it| it.conditions.as_deref())
        .unwrap_or_default();
    let looked = checks.iter().filter_map(|check| {
        let found = conditions.iter().find(|it| it.type_ == check.type_)?;
        Some(Looked {
            kind: &check.type_,
            bad_status: &check.status,
            timeout_seconds: check.timeout_seconds,
            status: &found.status,
            reason: found.reason.as_deref().unwrap_or_default(),
            since: found
                .last_transition_time
                .as_ref()
                .map_or(Timestamp::MIN, |it| it.0),
        })
    });
    judge("Node", looked, view.now)
}

/// Has the Node had enough time to appear? The clock starts with the last of what has to be there first.
fn startup(view: &View, machine: &Machine) -> Side {
    let given = view.health_check.spec.checks.node_startup_timeout_seconds;
    let timeout = seconds(given.unwrap_or(NODE_STARTUP_TIMEOUT));
    if timeout.is_zero() {
        return Side::Waiting(None);
    }
    let since = |conditions: &[capstan_api::Condition], kind: Type| {
        condition::find(conditions, kind.as_str())
            .filter(|it| it.status == "True")
            .map(|it| it.last_transition_time.0)
    };
    let cluster = view.cluster.found().map(|it| it.conditions()).unwrap_or_default();
    let starts = [
        machine.metadata.creation_timestamp.as_ref().map(|it| it.0),
        since(cluster, Type::ControlPlaneInitialized),
        since(cluster, Type::InfrastructureReady),
        since(machine.conditions(), Type::InfrastructureReady),
    ];
    let Some(start) = starts.into_iter().flatten().max() else {
        return Side::Waiting(None);
    };
    let due = start + timeout;
    if due < view.now {
        let message = format!("Node failed to report startup in {}", duration::format(timeout));
        Side::Bad(vec![message])
    } else {
        Side::Waiting(Some(due + GRACE))
    }
}

fn seconds(number: i32) -> SignedDuration {
    SignedDuration::from_secs(i64::from(number.max(0)))
}
