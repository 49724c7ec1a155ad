//! The status of a DevCluster.

use capstan_api::{
    condition::{self, Draft, Reason, Status},
    infrastructure::{
        ClusterStatus,
        words::{condition::READY, reason},
    },
};
use capstan_engine::{Outcome, Plan, Trail};

use super::{act::ActError, decide::Action, view::View};

/// The condition types that this controller writes.
pub(super) const OWNED: &[&str] = &[READY, "Paused"];

pub(super) fn report(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> ClusterStatus {
    let mut status = view.object.status.clone().unwrap_or_default();
    if view.is_externally_managed || view.owner.is_none() {
        return status;
    }
    let opened_now = plan
        .steps
        .iter()
        .zip(&trail.outcomes)
        .any(|(step, outcome)| matches!((&step.action, outcome), (Action::Open { .. }, Outcome::Done)));
    let is_open = view.is_open || opened_now;
    if is_open && !view.is_deleting() {
        status.initialization.provisioned = Some(true);
    }
    let generation = view.object.metadata.generation;
    condition::set_in(
        &mut status.conditions,
        generation,
        ready(view, is_open, trail),
        view.now,
    );
    status
}

fn ready(view: &View, is_open: bool, trail: &Trail<ActError>) -> Draft {
    let not_ready = |reason: &str, message: String| Draft::new(READY, Status::False, reason, message);
    if view.is_deleting() {
        not_ready(reason::DELETING, String::new())
    } else if let Some(error) = trail.failure() {
        not_ready(reason::NOT_READY, error.to_string())
    } else if is_open {
        Draft::new(READY, Status::True, Reason::Ready, "")
    } else {
        not_ready(
            reason::NOT_READY,
            "The control plane's endpoint is being set up".to_owned(),
        )
    }
}
