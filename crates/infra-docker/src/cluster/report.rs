//! The status of a cluster in containers.

use capstan_api::{
    condition::{
        self, Draft, Reason, Reasons, Status, Summary,
        v1beta1::{self, Severity, StepCounter, Type},
    },
    infrastructure::{
        ClusterStatus,
        words::{condition as types, reason},
    },
};
use capstan_engine::{Plan, Trail};

use super::{
    act::ActError,
    decide::{Action, Wait, wait},
    view::View,
};
use crate::docker::Privileges;

/// The condition types that this controller writes.
pub(super) const OWNED: &[&str] = &[
    types::READY,
    types::PAUSED,
    types::LOAD_BALANCER_AVAILABLE,
    types::ENGINE_PRIVILEGES,
];

const READY_REASONS: Reasons = Reasons {
    issue: Reason::NotReady,
    unknown: Reason::ReadyUnknown,
    info: Reason::Ready,
};

pub(super) fn report(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> ClusterStatus {
    let mut status = view.subject.status.clone();
    let wait = wait(view);
    if view.subject.is_externally_managed || wait == Some(Wait::Owner) {
        return status;
    }
    let available = available(view, plan, wait.as_ref(), trail);
    if available.status == Status::True && !view.subject.endpoint.host.is_empty() {
        status.initialization.provisioned = Some(true);
    }
    status
        .failure_domains
        .clone_from(&view.subject.backend.failure_domains);
    let told = told(view, wait.as_ref(), trail, &available);
    let generation = view.subject.identity.generation;
    condition::set_in(&mut status.conditions, generation, available, view.now);
    if let Some(privileges) = privileges(view) {
        condition::set_in(&mut status.conditions, generation, privileges, view.now);
    }
    let summary = Summary {
        target: types::READY,
        types: &[types::LOAD_BALANCER_AVAILABLE],
        reasons: READY_REASONS,
        ..Summary::default()
    };
    if let Ok(ready) = summary.of(&status.conditions) {
        condition::set_in(&mut status.conditions, generation, ready, view.now);
    }
    let steps = if view.subject.identity.is_deleting {
        StepCounter::Off
    } else {
        StepCounter::All
    };
    let old_style = &mut status.deprecated.v1beta1.conditions;
    let types = &[Type::LoadBalancerAvailable];
    *old_style = v1beta1::with_summary(old_style, [told], v1beta1::Summary { types, steps }, view.now);
    status
}

fn available(view: &View, plan: &Plan<Action>, wait: Option<&Wait>, trail: &Trail<ActError>) -> Draft {
    let type_ = types::LOAD_BALANCER_AVAILABLE;
    let no = |reason: &str, message: String| Draft::new(type_, Status::False, reason, message);
    if view.subject.identity.is_deleting {
        let failed = trail.failure().map(ToString::to_string);
        let silent = view.found.as_ref().err().map(ToString::to_string);
        return no(reason::DELETING, failed.or(silent).unwrap_or_default());
    }
    if let Some(Wait::Engine(error)) = wait
        && error.is_unreachable()
    {
        return Draft::new(type_, Status::Unknown, reason::NOT_AVAILABLE, error.to_string());
    }
    if let Some(wait) = wait {
        return no(reason::NOT_AVAILABLE, wait.message(view));
    }
    if let Some(error) = trail.failure() {
        return no(
            reason::NOT_AVAILABLE,
            format!("Failed to set up the load balancer: {error}"),
        );
    }
    if view.container().is_some_and(|it| it.is_running) {
        return Draft::new(type_, Status::True, Reason::Available, "");
    }
    let doing = plan.steps.first().map(|it| it.why.message.clone());
    no(
        reason::NOT_AVAILABLE,
        format!(
            "Starting container {}: {}",
            view.name(),
            doing.unwrap_or_default()
        ),
    )
}

/// What the Engine grants to nodes, once it is known.
fn privileges(view: &View) -> Option<Draft> {
    let found = view.privileges.as_ref()?;
    let (status, reason) = match found {
        Privileges::All => (Status::True, reason::ALL_PRIVILEGES),
        Privileges::Capabilities(_) => (Status::True, reason::CAPABILITIES),
        Privileges::Missing(_) => (Status::False, reason::CAPABILITIES_MISSING),
    };
    Some(Draft::new(
        types::ENGINE_PRIVILEGES,
        status,
        reason,
        found.sentence(),
    ))
}

/// The same for readers of v1beta1, who are told nothing before something happened.
fn told(
    view: &View,
    wait: Option<&Wait>,
    trail: &Trail<ActError>,
    available: &Draft,
) -> Option<v1beta1::Draft> {
    let type_ = Type::LoadBalancerAvailable;
    if view.subject.identity.is_deleting {
        return Some(v1beta1::Draft::no(type_, reason::DELETING, Severity::Info, ""));
    }
    if available.status == Status::True {
        return Some(v1beta1::Draft::yes(type_));
    }
    let failed = trail.failure().is_some() || wait.is_some_and(|it| *it != Wait::Image(None));
    failed.then(|| {
        v1beta1::Draft::no(
            type_,
            reason::LOAD_BALANCER_PROVISIONING_FAILED,
            Severity::Warning,
            available.message.as_str(),
        )
    })
}
