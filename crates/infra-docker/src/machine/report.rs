//! The status of a machine in a container.

use capstan_api::{
    condition::{self, Draft, Reason, Reasons, Status, Summary},
    core::{MachineAddress, MachineAddressType},
    infrastructure::{
        MachineStatus,
        words::{condition as types, reason},
    },
};
use capstan_engine::{Plan, Trail};

use super::{
    act::ActError,
    decide::{Action, waits_for},
    stage::{Stage, stage},
    v1beta1,
    view::View,
};

/// The condition types that this controller writes.
pub(super) const OWNED: &[&str] = &[
    types::READY,
    types::PAUSED,
    types::CONTAINER_PROVISIONED,
    types::CGROUPS_READY,
    types::PRE_LOADED_IMAGES_READY,
    types::BOOTSTRAP_COMPLETED,
];

const READY_REASONS: Reasons = Reasons {
    issue: Reason::NotReady,
    unknown: Reason::ReadyUnknown,
    info: Reason::Ready,
};

pub(super) fn report(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> MachineStatus {
    let mut status = view.subject.status.clone();
    let stage = stage(view);
    if stage == Stage::Owner && !view.subject.identity.is_deleting {
        return status;
    }
    let mut drafts = vec![container(view, &stage, trail)];
    if !view.subject.identity.is_deleting && !matches!(stage, Stage::Engine(_)) {
        drafts.push(cgroups(view, &stage));
        drafts.push(images(view, &stage));
        drafts.push(bootstrap(view, &stage, plan, trail));
        place(view, &stage, &mut status);
    }
    let generation = view.subject.identity.generation;
    for draft in drafts {
        condition::set_in(&mut status.conditions, generation, draft, view.now);
    }
    let summary = Summary {
        target: types::READY,
        types: &[
            types::CGROUPS_READY,
            types::CONTAINER_PROVISIONED,
            types::PRE_LOADED_IMAGES_READY,
            types::BOOTSTRAP_COMPLETED,
        ],
        reasons: READY_REASONS,
        ..Summary::default()
    };
    if let Ok(ready) = summary.of(&status.conditions) {
        condition::set_in(&mut status.conditions, generation, ready, view.now);
    }
    let counts = view.subject.provider_id.is_none() && !view.subject.identity.is_deleting;
    let old_style = &mut status.deprecated.v1beta1.conditions;
    *old_style = v1beta1::conditions(old_style, &status.conditions, counts, view.now);
    status
}

/// Where the machine is, and that it is there.
fn place(view: &View, stage: &Stage, status: &mut MachineStatus) {
    if view.subject.provider_id.is_some() && stage.is_provisioned() {
        status.initialization.provisioned = Some(true);
    }
    let Some(container) = view.container().filter(|_| stage.has_container()) else {
        return;
    };
    if view.subject.tells_load_balancer && view.is_control_plane() && !status.addresses.is_empty() {
        status.load_balancer_configured = Some(true);
    }
    if !container.address.is_empty() {
        status.addresses = addresses(&view.name(), &container.address);
    }
    status.failure_domain = view.belonging().failure_domain;
}

// Parity: upstream dockermachine_backend.go, setMachineAddress
fn addresses(name: &str, address: &str) -> Vec<MachineAddress> {
    [
        (MachineAddressType::Hostname, name),
        (MachineAddressType::InternalIp, address),
        (MachineAddressType::ExternalIp, address),
    ]
    .map(|(type_, address)| MachineAddress {
        type_: Some(type_),
        address: address.to_owned(),
    })
    .to_vec()
}

fn container(view: &View, stage: &Stage, trail: &Trail<ActError>) -> Draft {
    let type_ = types::CONTAINER_PROVISIONED;
    let no = |reason: &str, message: String| Draft::new(type_, Status::False, reason, message);
    if view.subject.identity.is_deleting {
        let silent = view.found.as_ref().err().map(ToString::to_string);
        let failed = trail.failure().map(ToString::to_string);
        return no(reason::DELETING, failed.or(silent).unwrap_or_default());
    }
    if stage.has_container() {
        return Draft::new(type_, Status::True, reason::PROVISIONED, "");
    }
    let message = waits_for(view, stage).map(|it| it.1);
    match stage {
        Stage::Engine(error) if error.is_unreachable() => {
            Draft::new(type_, Status::Unknown, reason::INTERNAL_ERROR, error.to_string())
        }
        Stage::ClusterInfrastructure => no(reason::WAITING_FOR_CLUSTER_INFRASTRUCTURE, String::new()),
        Stage::ControlPlane => no(reason::WAITING_FOR_CONTROL_PLANE, String::new()),
        Stage::BootstrapData => no(reason::WAITING_FOR_BOOTSTRAP_DATA, String::new()),
        _ => {
            let failed = trail.failure().map(ToString::to_string);
            let creating = || format!("Creating container {}", view.name());
            no(
                reason::NOT_PROVISIONED,
                failed.or(message).unwrap_or_else(creating),
            )
        }
    }
}

fn is_recorded(view: &View, type_: &str) -> bool {
    view.subject.provider_id.is_some() || condition::is_true(&view.subject.status.conditions, type_)
}

fn cgroups(view: &View, stage: &Stage) -> Draft {
    let type_ = types::CGROUPS_READY;
    if stage.is_up() || is_recorded(view, type_) {
        return Draft::new(type_, Status::True, reason::READY, "");
    }
    match stage {
        Stage::Boot(_) => {
            let message = waits_for(view, stage).map(|it| it.1).unwrap_or_default();
            Draft::new(type_, Status::False, reason::NOT_READY, message)
        }
        _ => Draft::new(type_, Status::False, reason::WAITING_FOR_CONTAINER, ""),
    }
}

fn images(view: &View, stage: &Stage) -> Draft {
    let type_ = types::PRE_LOADED_IMAGES_READY;
    if stage.is_provisioned() || is_recorded(view, type_) {
        return Draft::new(type_, Status::True, reason::READY, "");
    }
    let no = |reason: &str, message: String| Draft::new(type_, Status::False, reason, message);
    match stage {
        Stage::Images(_) => {
            let message = waits_for(view, stage).map(|it| it.1).unwrap_or_default();
            no(reason::NOT_READY, message)
        }
        Stage::Boot(_) => no(reason::WAITING_FOR_CGROUPS, String::new()),
        _ => no(reason::WAITING_FOR_CONTAINER, String::new()),
    }
}

fn bootstrap(view: &View, stage: &Stage, plan: &Plan<Action>, trail: &Trail<ActError>) -> Draft {
    let type_ = types::BOOTSTRAP_COMPLETED;
    let no = |reason: &str, message: String| Draft::new(type_, Status::False, reason, message);
    // What happened to a machine that is gone stays what happened.
    if *stage == Stage::Complete || condition::is_true(&view.subject.status.conditions, type_) {
        return Draft::new(type_, Status::True, reason::COMPLETED, "");
    }
    let message = || waits_for(view, stage).map(|it| it.1).unwrap_or_default();
    match stage {
        Stage::Failed(why) => no(reason::FAILED, why.clone()),
        Stage::Bootstrapping(_) => no(reason::NOT_COMPLETED, message()),
        Stage::Data(why) => no(reason::INTERNAL_ERROR, why.clone()),
        Stage::Bootstrap => {
            let failed = plan.failure_of(trail, |it| matches!(it, Action::StartBootstrap { .. }));
            match failed {
                Some(error) => no(reason::INTERNAL_ERROR, error.to_string()),
                None => no(reason::NOT_COMPLETED, "Starting the bootstrap".to_owned()),
            }
        }
        Stage::Images(_) => no(reason::WAITING_FOR_PRELOADED_IMAGES, String::new()),
        Stage::Boot(_) => no(reason::WAITING_FOR_CGROUPS, String::new()),
        _ => no(reason::WAITING_FOR_CONTAINER, String::new()),
    }
}
