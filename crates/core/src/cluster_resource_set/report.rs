//! What is true of a ClusterResourceSet, from what was seen, chosen and done.

use capstan_api::{
    addons::ClusterResourceSetStatus,
    condition::{self, v1beta1},
};
use capstan_engine::{Plan, Trail};

use super::{
    act::{ActError, Action},
    conditions::applied,
    view::View,
};

/// The condition types that this controller owns.
pub(super) const OWNED: &[&str] = &["ResourcesApplied", "Paused"];
/// Those that readers of v1beta1 see.
pub(super) const OWNED_V1BETA1: &[&str] = &["ResourcesApplied"];

/// The whole status.
pub(super) fn report(view: &View, _plan: &Plan<Action>, trail: &Trail<ActError>) -> ClusterResourceSetStatus {
    let mut status = view.set.status.clone().unwrap_or_default();
    if view.is_deleting() || view.targets.is_empty() {
        return status;
    }
    let (draft, old) = applied(view, trail);
    condition::set_in(
        &mut status.conditions,
        view.set.metadata.generation,
        draft,
        view.now,
    );
    v1beta1::set_in(&mut status.deprecated.v1beta1.conditions, old, view.now);
    status
}
