//! What readers of v1beta1 are told of a Machine.
// Parity: upstream core/reconcilers/machine/machine_controller.go:patchMachine, machine_controller_phases.go,
// machine_controller_noderef.go

use capstan_api::{
    condition::v1beta1::{Draft, Reason, Severity, StepCounter, Summary, Type, with_summary},
    core::DeprecatedFailure,
};
use capstan_engine::Lookup;
use capstan_workload::Remote;
use k8s_openapi::api::core::v1::Node;
use kube::ResourceExt;

use super::{
    decide::{Stage, is_detached, is_drained, stage},
    drain::Drain,
    view::{NodeDeletion, View},
};
use crate::v1beta1::{info, mirrored, take_failure};

/// The condition types that this controller owns.
pub(super) const OWNED: &[&str] = &[
    "Ready",
    "BootstrapReady",
    "InfrastructureReady",
    "NodeHealthy",
    "PreDrainDeleteHookSucceeded",
    "PreTerminateDeleteHookSucceeded",
    "DrainingSucceeded",
    "VolumeDetachSucceeded",
];

/// What `Ready` sums up; the first of the worst decides.
const PARTS: &[Type] = &[
    Type::InfrastructureReady,
    Type::BootstrapReady,
    Type::HealthCheckSucceeded,
    Type::OwnerRemediated,
    Type::DrainingSucceeded,
];

/// The whole of it; `leaving` says which pods and volumes are still on the Node.
pub(super) fn report(view: &View, leaving: &str) -> DeprecatedFailure {
    let mut deprecated = view.machine.status.clone().unwrap_or_default().deprecated;
    let status = &mut deprecated.v1beta1;
    if let Some(external) = view.bootstrap_object() {
        take_failure(status, external, external.bootstrap_config().failure());
    }
    match &view.infrastructure {
        Lookup::Found(external) => {
            take_failure(status, external, external.infrastructure_machine().failure())
        }
        Lookup::Absent if view.was_provisioned() && !view.is_deleting() => {
            let kind = &view.machine.spec.infrastructure_ref.kind;
            let name = &view.machine.spec.infrastructure_ref.name;
            let namespace = view.machine.namespace().unwrap_or_default();
            status.failure_reason = Some("InvalidConfiguration".to_owned());
            status.failure_message = Some(format!(
                "Machine infrastructure resource {kind} {namespace}/{name} has been deleted after provisioning was \
                 completed"
            ));
        }
        Lookup::Absent | Lookup::Unreadable(_) => {}
    }
    let [pre_drain, pre_terminate] = hooks(view);
    let drafts = [
        bootstrap_ready(view),
        infrastructure_ready(view),
        node_healthy(view),
        pre_drain,
        pre_terminate,
        drained(view, leaving),
        detached(view),
    ];
    // Steps are counted until the host is there.
    let steps = if !view.is_deleting() && view.provider_id().is_none() {
        StepCounter::OnlyIf(&[Type::BootstrapReady, Type::InfrastructureReady])
    } else {
        StepCounter::Off
    };
    let summary = Summary { types: PARTS, steps };
    status.conditions = with_summary(&status.conditions, drafts, summary, view.now);
    deprecated
}

fn bootstrap_ready(view: &View) -> Option<Draft> {
    let target = Type::BootstrapReady;
    match view.bootstrap.as_ref()? {
        Lookup::Found(_) if view.machine.spec.bootstrap.data_secret_name.is_some() => {
            Some(Draft::yes(target))
        }
        Lookup::Found(external) => {
            let created = external.bootstrap_config().data_secret_created().unwrap_or(false);
            let reason = waiting_or_deleting(view, Reason::WaitingForDataSecret);
            mirrored(external, target, created, reason)
        }
        Lookup::Absent if view.is_deleting() && matches!(stage(view), Stage::Node | Stage::Completed) => {
            Some(info(target, Reason::Deleted))
        }
        Lookup::Absent | Lookup::Unreadable(_) => None,
    }
}

fn infrastructure_ready(view: &View) -> Option<Draft> {
    let target = Type::InfrastructureReady;
    match &view.infrastructure {
        Lookup::Found(external) => {
            let provisioned = external.infrastructure_machine().provisioned().unwrap_or(false);
            let reason = waiting_or_deleting(view, Reason::WaitingForInfrastructure);
            mirrored(external, target, provisioned, reason)
        }
        Lookup::Absent
            if view.is_deleting()
                && matches!(stage(view), Stage::Bootstrap | Stage::Node | Stage::Completed) =>
        {
            Some(info(target, Reason::Deleted))
        }
        Lookup::Absent | Lookup::Unreadable(_) => None,
    }
}

fn waiting_or_deleting(view: &View, waiting: Reason) -> Reason {
    if view.is_deleting() {
        Reason::Deleting
    } else {
        waiting
    }
}

fn node_healthy(view: &View) -> Option<Draft> {
    let target = Type::NodeHealthy;
    if view.provider_id().is_none() {
        return Some(info(target, Reason::WaitingForNodeRef));
    }
    let has_node = view
        .machine
        .status
        .as_ref()
        .is_some_and(|it| it.node_ref.is_some());
    match &view.node {
        Remote::Found(_) if view.infrastructure.found().is_none_or(|it| it.is_deleting()) => {
            Some(info(target, Reason::Deleting))
        }
        Remote::Found(node) => Some(node_problems(node)),
        Remote::Absent if view.is_deleting() => None,
        Remote::Absent if !view.node_rivals.is_empty() => Some(Draft::unknown(
            target,
            Reason::NodeInspectionFailed,
            "Failed to get the Node for this Machine by ProviderID",
        )),
        Remote::Absent if has_node => Some(Draft::no(target, Reason::NodeNotFound, Severity::Error, "")),
        Remote::Absent => Some(Draft::no(
            target,
            Reason::NodeProvisioning,
            Severity::Warning,
            "Waiting for a node with matching ProviderID to exist",
        )),
        Remote::Disconnected { .. } | Remote::NotTried(_) => None,
    }
}

/// Sums up the Node's own conditions: one that is bad decides; only if all four are unknown, nothing is known.
fn node_problems(node: &Node) -> Draft {
    let target = Type::NodeHealthy;
    let (mut bad, mut unknown, mut messages) = (0, 0, Vec::new());
    let conditions = node.status.as_ref().and_then(|it| it.conditions.as_ref());
    for condition in conditions.into_iter().flatten() {
        let good = match condition.type_.as_str() {
            "MemoryPressure" | "DiskPressure" | "PIDPressure" => "False",
            "Ready" => "True",
            _ => continue,
        };
        if condition.status == good {
            continue;
        }
        messages.push(format!(
            "Node condition {} is {}",
            condition.type_, condition.status
        ));
        if condition.status == "Unknown" {
            unknown += 1;
        } else {
            bad += 1;
        }
    }
    let message = messages.join(". ");
    if bad > 0 {
        Draft::no(target, Reason::NodeConditionsFailed, Severity::Warning, message)
    } else if unknown < 4 {
        Draft::yes(target)
    } else {
        Draft::unknown(target, Reason::NodeConditionsFailed, message)
    }
}

/// How the drain stands. Says nothing new where the Node is not drained, or not to its end.
fn drained(view: &View, leaving: &str) -> Option<Draft> {
    let kind = Type::DrainingSucceeded;
    if !view.is_deleting() {
        return None;
    }
    let is_draining = stage(view) == Stage::Drain;
    match &view.drain {
        Drain::Failed(_) if is_draining => Some(Draft::no(
            kind,
            Reason::DrainingFailed,
            Severity::Warning,
            leaving,
        )),
        _ if is_draining => Some(Draft::no(kind, Reason::Draining, Severity::Info, leaving)),
        _ => is_drained(view).then(|| Draft::yes(kind)),
    }
}

/// Whether the volumes are detached.
fn detached(view: &View) -> Option<Draft> {
    let kind = Type::VolumeDetachSucceeded;
    if !view.is_deleting() {
        return None;
    }
    if stage(view) == Stage::VolumeDetach {
        let message = "Waiting for node volumes to be detached";
        return Some(Draft::no(
            kind,
            Reason::WaitingForVolumeDetach,
            Severity::Info,
            message,
        ));
    }
    is_detached(view).then(|| Draft::yes(kind))
}

/// Whether hooks hold the deletion back: before the drain, and before the host goes.
fn hooks(view: &View) -> [Option<Draft>; 2] {
    if !view.is_deleting() {
        return [None, None];
    }
    let (drain, terminate) = (
        Type::PreDrainDeleteHookSucceeded,
        Type::PreTerminateDeleteHookSucceeded,
    );
    let passed = || (view.node_deletion == NodeDeletion::Allowed).then(|| Draft::yes(drain));
    match stage(view) {
        Stage::Drain | Stage::VolumeDetach => [passed(), None],
        Stage::PreDrainHook(_) => [Some(info(drain, Reason::WaitingExternalHook)), None],
        Stage::PreTerminateHook(_) => [passed(), Some(info(terminate, Reason::WaitingExternalHook))],
        Stage::Infrastructure | Stage::Bootstrap | Stage::Node | Stage::Completed => {
            [passed(), Some(Draft::yes(terminate))]
        }
    }
}
