//! Repairs unhealthy Machines of a MachineSet by deleting them: the set then makes new ones.
// Parity: upstream core/reconcilers/machineset/machineset_controller.go:reconcileUnhealthyMachines

use std::{cmp::Reverse, sync::Arc};

use capstan_api::{
    IntOrString,
    condition::{self, Draft, Reason, Status, Type, v1beta1},
    core::{Conditioned, Machine},
};
use capstan_base::int_or_percent::{IntOrPercent, Rounding};
use capstan_contract::MachineConditions;
use capstan_engine::{ObjectKey, Plan, Preconditions, Wake, Why};
use kube::ResourceExt;

use super::{act::Action, decide::BLOCKED_RETRY, preflight, view::View};

/// Repairs what may be repaired now, and says of the rest why not.
pub(super) fn remediate(view: &View, plan: &mut Plan<Action>) {
    forget_the_healthy(view, plan);
    let mut asked: Vec<&Arc<Machine>> = view
        .machines
        .iter()
        .filter(|it| is_to_be_remediated(it))
        .collect();
    if asked.is_empty() {
        return;
    }
    if !view.is_current() {
        let message = "Machine won't be remediated because it is pending removal due to rollout";
        for machine in asked {
            say(view, machine, Reason::CannotBeRemediated, message, None, plan);
        }
        return;
    }
    // The newest first: those that fail to come up run nothing yet.
    asked.sort_by_key(|it| (Reverse(it.metadata.creation_timestamp.clone()), it.name_any()));
    let limit = max_in_flight(view);
    let in_flight = view.machines.iter().filter(|it| is_in_flight(it)).count();
    let free = limit
        .as_ref()
        .map_or(usize::MAX, |(_, most)| most.saturating_sub(in_flight));
    let deferred = asked.split_off(free.min(asked.len()));
    for machine in deferred {
        let given = limit
            .as_ref()
            .map(|(given, _)| given.as_str())
            .unwrap_or_default();
        let message = format!(
            "Waiting because there are already too many remediations in progress (spec.strategy.remediation.maxInFlight \
             is {given})"
        );
        say(view, machine, Reason::RemediationDeferred, &message, None, plan);
    }
    let blockers = preflight::blockers(view);
    if blockers.is_empty() {
        for machine in asked {
            delete(view, machine, plan);
        }
        return;
    }
    let lines: Vec<String> = blockers.iter().map(|it| format!("* {it}")).collect();
    let old = v1beta1::Draft::no(
        v1beta1::Type::OwnerRemediated,
        v1beta1::Reason::WaitingForRemediation,
        v1beta1::Severity::Warning,
        blockers.join("; "),
    );
    for machine in asked {
        say(
            view,
            machine,
            Reason::RemediationDeferred,
            &lines.join("\n"),
            Some(old.clone()),
            plan,
        );
    }
    plan.waits(Why::new("RemediationDeferred", blockers.join("; ")));
    plan.wakes(Wake::After(BLOCKED_RETRY), view.now);
}

/// Unhealthy, its owner is asked for the repair, and it is not going already.
fn is_to_be_remediated(machine: &Machine) -> bool {
    let is_false = |kind: Type| condition::is_false(machine.conditions(), kind.as_str());
    machine.metadata.deletion_timestamp.is_none()
        && is_false(Type::HealthCheckSucceeded)
        && is_false(Type::OwnerRemediated)
}

/// Is it being deleted for its repair?
fn is_in_flight(machine: &Machine) -> bool {
    let told = condition::find(machine.conditions(), Type::OwnerRemediated.as_str());
    machine.metadata.deletion_timestamp.is_some()
        && told.is_some_and(|it| it.status == "False" && it.reason == Reason::MachineDeleting.as_str())
}

/// How many repairs may go on at once, as the MachineDeployment's user wrote it and as a number; none if all may.
fn max_in_flight(view: &View) -> Option<(String, usize)> {
    let deployment = view.machine_deployment.as_ref()?;
    let total = deployment.spec.replicas.unwrap_or(1);
    let given = deployment.spec.remediation.max_in_flight.as_ref()?;
    let (text, number) = match given {
        IntOrString::Int(number) => (number.to_string(), *number),
        IntOrString::String(text) => {
            let parsed = text.parse::<IntOrPercent>().ok()?;
            (text.clone(), parsed.of(total, Rounding::Up))
        }
    };
    Some((text, usize::try_from(number).unwrap_or(0)))
}

/// A Machine that is healthy again needs no repair.
fn forget_the_healthy(view: &View, plan: &mut Plan<Action>) {
    let is_alive = |it: &&Arc<Machine>| it.metadata.deletion_timestamp.is_none();
    for machine in view.machines.iter().filter(is_alive) {
        let mut said = MachineConditions::of(machine, view.now);
        let (new, old) = (machine.conditions(), machine.v1beta1_conditions());
        let (health, repair) = (Type::HealthCheckSucceeded.as_str(), Type::OwnerRemediated);
        if condition::is_true(new, health) && condition::is_false(new, repair.as_str()) {
            said.remove(repair);
        }
        let (health, repair) = (
            v1beta1::Type::HealthCheckSucceeded,
            v1beta1::Type::OwnerRemediated,
        );
        let is_false = v1beta1::find(old, repair).is_some_and(|it| it.status == "False");
        if v1beta1::is_true(old, health) && is_false {
            said.remove_v1beta1(repair);
        }
        if let Some(patch) = said.patch() {
            let action = Action::PatchMachineStatus {
                key: ObjectKey::of(&**machine),
                patch,
            };
            let why = format!("Machine {} is healthy again", machine.name_any());
            plan.step_and_continue(action, Why::new("HealthCheckSucceeded", why));
        }
    }
}

fn owner_remediated(reason: Reason, message: &str) -> Draft {
    Draft::new(Type::OwnerRemediated, Status::False, reason, message)
}

/// Says why a Machine is not repaired now.
fn say(
    view: &View,
    machine: &Machine,
    reason: Reason,
    message: &str,
    old: Option<v1beta1::Draft>,
    plan: &mut Plan<Action>,
) {
    let mut said = MachineConditions::of(machine, view.now);
    said.set(owner_remediated(reason, message));
    if let Some(old) = old {
        said.set_v1beta1(old);
    }
    if let Some(patch) = said.patch() {
        let action = Action::PatchMachineStatus {
            key: ObjectKey::of(machine),
            patch,
        };
        let why = format!("Machine {} is not repaired now: {message}", machine.name_any());
        plan.step_and_continue(action, Why::new(reason.as_str(), why));
    }
}

/// Deletes a Machine for its repair, having said so: a Machine that is going says no more.
fn delete(view: &View, machine: &Machine, plan: &mut Plan<Action>) {
    let mut said = MachineConditions::of(machine, view.now);
    said.set(owner_remediated(Reason::MachineDeleting, "Machine is deleting"));
    said.set_v1beta1(v1beta1::Draft::yes(v1beta1::Type::OwnerRemediated));
    let action = Action::Remediate {
        key: ObjectKey::of(machine),
        patch: said.patch(),
        preconditions: Preconditions {
            uid: machine.uid(),
            resource_version: None,
        },
    };
    let health = condition::find(machine.conditions(), Type::HealthCheckSucceeded.as_str());
    let cause = health.map(|it| it.message.clone()).unwrap_or_default();
    let why = format!("delete Machine {} for its repair: {cause}", machine.name_any());
    plan.step_and_continue(action, Why::new("MachineDeleting", why));
}
