//! What readers of v1beta1 are told of a MachineSet.
// Parity: upstream core/reconcilers/machineset/machineset_controller.go:reconcileV1Beta1Status, syncReplicas

use std::{cmp::Ordering, sync::Arc, time::Duration};

use capstan_api::{
    condition::{
        self,
        v1beta1::{Draft, Localized, Reason, Severity, StepCounter, Summary, Type, aggregate, with_summary},
    },
    core::{Conditioned, Machine, MachineSetDeprecated},
};
use capstan_contract::CreationError;
use capstan_engine::{Plan, Trail};
use kube::ResourceExt;

use super::{
    act::{ActError, Action},
    preflight,
    report::count,
    view::View,
};

/// The condition types that this controller owns.
pub(super) const OWNED: &[&str] = &["Ready", "MachinesCreated", "Resized", "MachinesReady"];

const READY: Summary<'static> = Summary {
    types: &[Type::MachinesCreated, Type::Resized, Type::MachinesReady],
    steps: StepCounter::Off,
};

/// The whole of it.
pub(super) fn report(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> MachineSetDeprecated {
    let mut deprecated = view.machine_set.status.clone().unwrap_or_default().deprecated;
    let status = &mut deprecated.v1beta1;
    let number =
        |counts: &dyn Fn(&Machine) -> bool| count(view.machines.iter().filter(|it| counts(it)).count());
    let ready = number(&|it| is_node_ready(it, None));
    status.fully_labeled_replicas = Some(number(&|it| is_fully_labelled(view, it)));
    status.ready_replicas = Some(ready);
    status.available_replicas = Some(number(&|it| is_node_ready(it, Some(view))));
    let drafts = [
        machines_created(view, plan, trail),
        resized(view, ready),
        Some(machines_ready(&view.machines)),
    ];
    status.conditions = with_summary(&status.conditions, drafts, READY, view.now);
    deprecated
}

fn is_fully_labelled(view: &View, machine: &Machine) -> bool {
    let wanted = &view.machine_set.spec.template.metadata.labels;
    wanted
        .iter()
        .all(|(key, value)| machine.labels().get(key) == Some(value))
}

/// Is the Machine's Node ready, and with `long_enough` for the time that the set's template asks?
// Differs: upstream reads the Node once more; here the Machine's controller has done so.
fn is_node_ready(machine: &Machine, long_enough: Option<&View>) -> bool {
    let ready = condition::find(machine.conditions(), "NodeReady").filter(|it| it.status == "True");
    let Some(ready) = ready else { return false };
    long_enough.is_none_or(|view| {
        let seconds = view.machine_set.spec.template.spec.min_ready_seconds.unwrap_or(0);
        let wait = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
        ready.last_transition_time.0 + wait <= view.now
    })
}

fn wanted(view: &View) -> usize {
    if view.is_deleting() { 0 } else { view.replicas() }
}

/// Could the Machines be made? Says nothing new while more are wanted and nothing failed.
fn machines_created(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> Option<Draft> {
    let kind = Type::MachinesCreated;
    let failed = |reason, message: String| Some(Draft::no(kind, reason, Severity::Error, message));
    let failure = plan.failure_of(trail, |it| matches!(it, Action::CloneMachine { .. }));
    if let Some(error) = failure {
        return failed(reason_of(view, error), error.to_string());
    }
    if view.machines.len() >= wanted(view) {
        return Some(Draft::yes(kind));
    }
    let blockers = preflight::blockers(view);
    if !blockers.is_empty() {
        return failed(Reason::PreflightCheckFailed, blockers.join("; "));
    }
    let missing = view.missing_templates();
    let first = missing.first()?;
    let template = &view.machine_set.spec.template.spec;
    let is_bootstrap = template
        .bootstrap
        .config_ref
        .as_ref()
        .is_some_and(|it| it.kind == *first);
    let reason = if is_bootstrap {
        Reason::BootstrapTemplateCloningFailed
    } else {
        Reason::InfrastructureTemplateCloningFailed
    };
    failed(reason, format!("{first} does not exist"))
}

/// Which part of a Machine could not be made.
fn reason_of(view: &View, error: &ActError) -> Reason {
    let kind = match error {
        ActError::Creation(CreationError::NameTaken { kind, .. }) => kind.as_str(),
        ActError::Creation(CreationError::Write(error)) | ActError::Write(error) => error.kind.as_str(),
    };
    let template = &view.machine_set.spec.template.spec;
    let is_clone = |of: &str| of.strip_suffix("Template") == Some(kind);
    if template
        .bootstrap
        .config_ref
        .as_ref()
        .is_some_and(|it| is_clone(&it.kind))
    {
        Reason::BootstrapTemplateCloningFailed
    } else if is_clone(&template.infrastructure_ref.kind) {
        Reason::InfrastructureTemplateCloningFailed
    } else {
        Reason::MachineCreationFailed
    }
}

/// Are there as many Machines as are wanted, with ready Nodes? Says nothing new until the Nodes are ready.
fn resized(view: &View, ready: i32) -> Option<Draft> {
    let kind = Type::Resized;
    let (have, wanted) = (view.machines.len(), wanted(view));
    let scaling = |reason, verb: &str| {
        let message = format!("Scaling {verb} MachineSet to {wanted} replicas (actual {have})");
        Some(Draft::no(kind, reason, Severity::Warning, message))
    };
    match have.cmp(&wanted) {
        Ordering::Less => scaling(Reason::ScalingUp, "up"),
        Ordering::Greater => scaling(Reason::ScalingDown, "down"),
        Ordering::Equal => (ready == count(have)).then(|| Draft::yes(kind)),
    }
}

fn machines_ready(machines: &[Arc<Machine>]) -> Draft {
    let all = machines.iter().map(|it| Localized::of(&**it)).collect();
    aggregate(all, Type::MachinesReady)
        .filter(|_| !machines.is_empty())
        .unwrap_or_else(|| Draft::yes(Type::MachinesReady))
}
