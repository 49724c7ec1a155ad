//! What is true of a Machine, from what was seen, chosen and done.
// Parity: upstream core/reconcilers/machine/machine_controller_status.go

use std::{collections::BTreeMap, time::Duration};

use capstan_api::{
    Time,
    condition::{self, Draft, Reason, Status, Type},
    core::{
        MachineAddress, MachineDeletionStatus, MachineInitialization, MachinePhase, MachineStatus,
        NodeReference,
    },
    well_known,
};
use capstan_base::Timestamp;
use capstan_engine::{Outcome, Plan, Trail};
use kube::ResourceExt;

use super::{
    act::{ActError, Action},
    conditions,
    decide::{Stage, stage},
    drain::{self, Drain},
    v1beta1,
    view::View,
};

/// The condition types that this controller owns.
pub(super) const OWNED: &[&str] = &[
    "Available",
    "Ready",
    "UpToDate",
    "BootstrapConfigReady",
    "InfrastructureReady",
    "NodeHealthy",
    "NodeReady",
    "Updating",
    "Deleting",
    "Paused",
];

/// The whole status.
pub(super) fn report(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> MachineStatus {
    let before = view.machine.status.clone().unwrap_or_default();
    let mut status = MachineStatus {
        initialization: MachineInitialization {
            bootstrap_data_secret_created: sticky(
                before.initialization.bootstrap_data_secret_created,
                view.data_secret_name().is_some(),
            ),
            infrastructure_provisioned: sticky(
                before.initialization.infrastructure_provisioned,
                view.is_provisioned(),
            ),
        },
        addresses: addresses(view).unwrap_or(before.addresses.clone()),
        failure_domain: failure_domain(view).or(before.failure_domain.clone()),
        node_ref: before.node_ref.clone().or_else(|| {
            let node = view.node.found().filter(|_| view.is_provisioned())?;
            Some(NodeReference {
                name: node.name_any(),
            })
        }),
        node_info: node_info(view).or(before.node_info.clone()),
        certificates_expiry_date: certificates_expiry(view),
        deletion: deletion(view, before.deletion.as_ref()),
        ..before.clone()
    };
    let leaving = leaving(view, status.deletion.as_ref(), plan, trail);
    status.deprecated = v1beta1::report(view, &leaving);
    status.conditions = conditions::of(view, &status, &leaving);
    let phase = phase(view, &status);
    if before.phase != Some(phase) {
        status.last_updated = Some(Time(whole_seconds(view.now)));
    }
    status.phase = Some(phase);
    status
}

fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

/// A flag that stays once it is set.
fn sticky(before: Option<bool>, now: bool) -> Option<bool> {
    if now { Some(true) } else { before }
}

fn addresses(view: &View) -> Option<Vec<MachineAddress>> {
    if !view.is_provisioned() {
        return None;
    }
    view.infrastructure
        .found()?
        .infrastructure_machine()
        .addresses()
        .ok()
        .filter(|it| !it.is_empty())
}

fn failure_domain(view: &View) -> Option<String> {
    if !view.is_provisioned() {
        return None;
    }
    view.infrastructure
        .found()?
        .infrastructure_machine()
        .failure_domain()
        .ok()
        .flatten()
}

fn node_info(view: &View) -> Option<k8s_openapi::api::core::v1::NodeSystemInfo> {
    view.node.found()?.status.as_ref()?.node_info.clone()
}

/// When the first certificate of a control plane machine ends: from its own annotation, or else from its bootstrap
/// object's.
fn certificates_expiry(view: &View) -> Option<Time> {
    if !view.is_control_plane() {
        return None;
    }
    let key = well_known::annotation::CERTIFICATES_EXPIRY;
    let own = view.machine.annotations().get(key).cloned();
    let text = own.or_else(|| view.bootstrap_object()?.object.annotations().get(key).cloned())?;
    text.parse::<Timestamp>().ok().map(Time)
}

/// Which pods and volumes are still on the Node, and why; empty where nothing of the kind is waited for.
fn leaving(
    view: &View,
    deletion: Option<&MachineDeletionStatus>,
    plan: &Plan<Action>,
    trail: &Trail<ActError>,
) -> String {
    if !view.is_deleting() {
        return String::new();
    }
    let since = |time: Option<&Time>| time.map_or(view.now, |it| it.0);
    match (stage(view), &view.drain) {
        (Stage::Drain, Drain::Found(found)) => {
            let started = since(deletion.and_then(|it| it.node_drain_start_time.as_ref()));
            drain::message(found, started, &refused(plan, trail))
        }
        (Stage::VolumeDetach, Drain::Found(found)) => {
            let started = deletion.and_then(|it| it.wait_for_node_volume_detach_start_time.as_ref());
            drain::volumes_message(&found.volumes, since(started))
        }
        (Stage::Drain, Drain::Failed(why)) => format!("Error draining Node: {why}"),
        (Stage::VolumeDetach, Drain::Failed(why)) => {
            format!("Error waiting for volumes to be detached from Node: {why}")
        }
        _ => String::new(),
    }
}

/// The pods that could not be evicted in this pass, by `namespace/name`, and why.
fn refused(plan: &Plan<Action>, trail: &Trail<ActError>) -> BTreeMap<String, String> {
    let outcomes = plan.steps.iter().zip(&trail.outcomes);
    outcomes
        .filter_map(|(step, outcome)| match (&step.action, outcome) {
            (Action::Evict { pod, .. }, Outcome::Failed(ActError::Evict { why, .. })) => {
                Some((format!("{}/{}", pod.namespace, pod.name), why.clone()))
            }
            (Action::Evict { pod, .. }, Outcome::Failed(error)) => {
                Some((format!("{}/{}", pod.namespace, pod.name), error.to_string()))
            }
            _ => None,
        })
        .collect()
}

fn deletion(view: &View, before: Option<&MachineDeletionStatus>) -> Option<MachineDeletionStatus> {
    if !view.is_deleting() {
        return None;
    }
    let mut deletion = before.cloned().unwrap_or_default();
    let now = || Some(Time(whole_seconds(view.now)));
    match stage(view) {
        Stage::PreDrainHook(_) if deletion.wait_for_pre_drain_hook_start_time.is_none() => {
            deletion.wait_for_pre_drain_hook_start_time = now();
        }
        Stage::Drain if deletion.node_drain_start_time.is_none() => {
            deletion.node_drain_start_time = now();
        }
        Stage::VolumeDetach if deletion.wait_for_node_volume_detach_start_time.is_none() => {
            deletion.wait_for_node_volume_detach_start_time = now();
        }
        Stage::PreTerminateHook(_) if deletion.wait_for_pre_terminate_hook_start_time.is_none() => {
            deletion.wait_for_pre_terminate_hook_start_time = now();
        }
        _ => {}
    }
    (deletion != MachineDeletionStatus::default()).then_some(deletion)
}

// Parity: upstream setMachinePhaseAndLastUpdated
fn phase(view: &View, status: &MachineStatus) -> MachinePhase {
    let is = |it: Option<bool>| it == Some(true);
    if view.is_deleting() {
        return MachinePhase::Deleting;
    }
    if condition::is_true(&status.conditions, Type::Updating.as_str()) {
        return MachinePhase::Updating;
    }
    let provisioned = is(status.initialization.infrastructure_provisioned);
    if status.node_ref.is_some() && provisioned {
        return MachinePhase::Running;
    }
    if view.provider_id().is_some() {
        return MachinePhase::Provisioned;
    }
    if is(status.initialization.bootstrap_data_secret_created) && !provisioned {
        return MachinePhase::Provisioning;
    }
    MachinePhase::Pending
}

/// When a Machine that is ready becomes available; none if it is not ready or available already.
pub(super) fn available_at(view: &View) -> Option<Timestamp> {
    let conditions = view.machine.status.as_ref()?.conditions.as_slice();
    let ready = condition::find(conditions, Type::Ready.as_str()).filter(|it| it.status == "True")?;
    let at = ready.last_transition_time.0 + min_ready(view);
    (at > view.now).then_some(at)
}

fn min_ready(view: &View) -> Duration {
    Duration::from_secs(u64::try_from(view.machine.spec.min_ready_seconds.unwrap_or(0)).unwrap_or(0))
}

/// Available: ready for as long as the Machine's spec asks.
pub(super) fn available(view: &View, conditions: &[capstan_api::Condition]) -> Draft {
    let draft = |status: Status, reason: Reason| Draft::new(Type::Available, status, reason, "");
    match condition::find(conditions, Type::Ready.as_str()).filter(|it| it.status == "True") {
        None => draft(Status::False, Reason::NotReady),
        Some(ready) => {
            let since = ready.last_transition_time.0;
            if since + min_ready(view) <= view.now {
                draft(Status::True, Reason::Available).since(since + min_ready(view))
            } else {
                draft(Status::False, Reason::WaitingForMinReadySeconds)
            }
        }
    }
}
