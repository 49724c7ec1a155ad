//! The status of a DevMachine.

use capstan_api::{
    condition::{self, Draft, Reason, Reasons, Status, Summary},
    core::{MachineAddress, MachineAddressType},
    infrastructure::{
        MachineStatus,
        words::{condition as types, reason},
    },
};
use capstan_engine::{Outcome, Plan, Trail};

use super::{
    act::ActError,
    decide::{Action, Wait, wait},
    v1beta1,
    view::View,
};
use crate::{backend::BackendError, timeline::Parts};

/// The condition types that this controller writes.
pub(super) const OWNED: &[&str] = &[
    types::READY,
    types::PAUSED,
    types::VM_PROVISIONED,
    types::NODE_PROVISIONED,
    types::ETCD_PROVISIONED,
    types::API_SERVER_PROVISIONED,
];

const WORKER: &[&str] = &[types::VM_PROVISIONED, types::NODE_PROVISIONED];
const CONTROL_PLANE: &[&str] = &[
    types::VM_PROVISIONED,
    types::NODE_PROVISIONED,
    types::ETCD_PROVISIONED,
    types::API_SERVER_PROVISIONED,
];

pub(super) fn report(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> MachineStatus {
    let mut status = view.object.status.clone().unwrap_or_default();
    let wait = wait(view);
    if view.is_deleting() || wait == Some(Wait::Owner) {
        return status;
    }
    let up = up(view, plan, trail);
    if up.vm {
        status.initialization.provisioned = Some(true);
        status.addresses = addresses(view);
        status.failure_domain = view
            .machine
            .as_ref()
            .and_then(|it| it.spec.failure_domain.clone());
    }
    let scope = if view.is_control_plane() {
        CONTROL_PLANE
    } else {
        WORKER
    };
    let problem = problem(plan, trail);
    let generation = view.object.metadata.generation;
    for type_ in scope {
        let draft = provisioned(type_, up, wait, problem.as_ref());
        condition::set_in(&mut status.conditions, generation, draft, view.now);
    }
    let summary = Summary {
        target: types::READY,
        types: scope,
        reasons: READY_REASONS,
        ..Summary::default()
    };
    if let Ok(ready) = summary.of(&status.conditions) {
        condition::set_in(&mut status.conditions, generation, ready, view.now);
    }
    let old_style = &mut status.deprecated.v1beta1.conditions;
    let counts = view.object.spec.provider_id.is_none();
    *old_style = v1beta1::conditions(
        old_style,
        &status.conditions,
        view.is_control_plane(),
        counts,
        view.now,
    );
    status
}

const READY_REASONS: Reasons = Reasons {
    issue: Reason::NotReady,
    unknown: Reason::ReadyUnknown,
    info: Reason::Ready,
};

fn addresses(view: &View) -> Vec<MachineAddress> {
    vec![
        MachineAddress {
            type_: Some(MachineAddressType::InternalIp),
            address: view.node().address,
        },
        MachineAddress {
            type_: Some(MachineAddressType::Hostname),
            address: view.name(),
        },
    ]
}

/// What is up after this pass: what ran or was recorded before it, and what it started.
fn up(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> Parts {
    let (recorded, running) = (view.recorded(), view.facts.running);
    let has_id = view.object.spec.provider_id.is_some();
    let mut up = Parts {
        vm: recorded.vm || (has_id && view.due().vm),
        node: recorded.node || running.node,
        etcd: recorded.etcd || running.etcd,
        api_server: recorded.api_server || running.api_server,
    };
    let done = plan
        .steps
        .iter()
        .zip(&trail.outcomes)
        .filter(|(_, outcome)| matches!(outcome, Outcome::Done));
    for (step, _) in done {
        match &step.action {
            Action::RecordProviderId(_) => up.vm = true,
            Action::RegisterNode(..) => up.node = true,
            Action::StartEtcd(..) => up.etcd = true,
            Action::StartControlPlane(..) => up.api_server = true,
            Action::StartVm(_) | Action::StopVm => {}
        }
    }
    up
}

/// What keeps the next part from coming up, if it is not time alone.
struct Problem {
    reason: &'static str,
    message: String,
}

fn problem(plan: &Plan<Action>, trail: &Trail<ActError>) -> Option<Problem> {
    match trail.failure() {
        Some(ActError::Backend(error @ BackendError::Join(_))) => Some(Problem {
            reason: reason::BOOTSTRAP_FAILED,
            message: error.to_string(),
        }),
        Some(error) => Some(Problem {
            reason: reason::INTERNAL_ERROR,
            message: error.to_string(),
        }),
        None => plan
            .waiting
            .iter()
            .find(|it| it.reason == reason::BOOTSTRAP_FAILED)
            .map(|it| Problem {
                reason: reason::BOOTSTRAP_FAILED,
                message: it.message.clone(),
            }),
    }
}

/// Parity: upstream test/infrastructure/docker/reconcilers/backends/inmemory/inmemorymachine_backend.go.
fn provisioned(type_: &str, up: Parts, wait: Option<Wait>, problem: Option<&Problem>) -> Draft {
    let no = |reason: &str, message: &str| Draft::new(type_, Status::False, reason, message);
    let (is_up, is_next) = match type_ {
        types::VM_PROVISIONED => (up.vm, true),
        types::NODE_PROVISIONED => (up.node, up.vm),
        types::ETCD_PROVISIONED => (up.etcd, up.node),
        _ => (up.api_server, up.node),
    };
    if is_up {
        return Draft::new(type_, Status::True, reason::PROVISIONED, "");
    }
    match wait {
        Some(wait) if type_ == types::VM_PROVISIONED => no(vm_reason(wait), ""),
        _ if !is_next && !up.vm => no(reason::WAITING_FOR_VM, ""),
        _ if !is_next => no(reason::WAITING_FOR_NODE, ""),
        _ => match problem {
            Some(problem) => no(problem.reason, &problem.message),
            None => no(reason::WAITING_FOR_STARTUP, ""),
        },
    }
}

fn vm_reason(wait: Wait) -> &'static str {
    match wait {
        Wait::Owner | Wait::ClusterInfrastructure => reason::WAITING_FOR_CLUSTER_INFRASTRUCTURE,
        Wait::ControlPlane => reason::WAITING_FOR_CONTROL_PLANE,
        Wait::BootstrapData => reason::WAITING_FOR_BOOTSTRAP_DATA,
    }
}
