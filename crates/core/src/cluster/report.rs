//! What is true of a Cluster, from what was seen, chosen and done.
// Parity: upstream core/reconcilers/cluster/cluster_controller_status.go

use std::collections::BTreeMap;

use capstan_api::core::{ClusterInitialization, ClusterPhase, ClusterStatus, FailureDomain};
use capstan_base::Timestamp;
use capstan_engine::{Plan, Trail};

use super::{
    act::{ActError, Action, Descendant},
    conditions, counters, v1beta1,
    view::View,
};

/// The condition types that this controller owns.
pub(super) const OWNED: &[&str] = &[
    "Available",
    "RemoteConnectionProbe",
    "InfrastructureReady",
    "ControlPlaneInitialized",
    "ControlPlaneAvailable",
    "ControlPlaneMachinesReady",
    "ControlPlaneMachinesUpToDate",
    "WorkersAvailable",
    "WorkerMachinesReady",
    "WorkerMachinesUpToDate",
    "RollingOut",
    "ScalingUp",
    "ScalingDown",
    "Remediating",
    "Deleting",
    "Paused",
];

/// How many names a message lists.
const NAMES: usize = 3;

/// The whole status.
pub(super) fn report(view: &View, _plan: &Plan<Action>, _trail: &Trail<ActError>) -> ClusterStatus {
    let before = view.cluster.status.clone().unwrap_or_default();
    let sticky = |before: Option<bool>, now: bool| if now { Some(true) } else { before };
    let mut status = ClusterStatus {
        initialization: ClusterInitialization {
            infrastructure_provisioned: sticky(
                before.initialization.infrastructure_provisioned,
                view.is_infrastructure_provisioned(),
            ),
            control_plane_initialized: sticky(
                before.initialization.control_plane_initialized,
                view.is_control_plane_initialized(),
            ),
        },
        failure_domains: failure_domains(view).unwrap_or_else(|| before.failure_domains.clone()),
        control_plane: counters::control_plane(view),
        workers: counters::workers(view),
        phase: Some(phase(view)),
        ..before.clone()
    };
    status.deprecated = v1beta1::report(view);
    status.conditions = conditions::of(view, &status);
    status
}

/// The failure domains of provisioned infrastructure, by name.
fn failure_domains(view: &View) -> Option<Vec<FailureDomain>> {
    let infrastructure = view
        .infrastructure_object()
        .filter(|_| view.is_infrastructure_provisioned())?;
    let mut domains = infrastructure.infrastructure_cluster().failure_domains().ok()?;
    domains.sort_by(|a, b| a.name.cmp(&b.name));
    Some(domains)
}

/// The phase: where the cluster stands, in one word.
pub(super) fn phase(view: &View) -> ClusterPhase {
    let spec = &view.cluster.spec;
    if view.is_deleting() {
        ClusterPhase::Deleting
    } else if view.is_infrastructure_provisioned() && view.endpoint().is_some() {
        ClusterPhase::Provisioned
    } else if spec.infrastructure_ref.is_some() || spec.control_plane_ref.is_some() {
        ClusterPhase::Provisioning
    } else {
        ClusterPhase::Pending
    }
}

/// When the last successful probe will be too old to trust; none if it is already, or if there was none.
pub(super) fn probe_expires_at(view: &View) -> Option<Timestamp> {
    let at = view.health.last_probe_success? + conditions::PROBE_GRACE;
    (at > view.now && view.health.failures > 0).then_some(at)
}

/// The descendants that are still there, as the `Deleting` condition lists them.
pub(super) fn descendants(left: &BTreeMap<Descendant, Vec<String>>) -> String {
    let line = |(kind, names): (&Descendant, &Vec<String>)| {
        let shown = names.iter().take(NAMES).cloned().collect::<Vec<_>>().join(", ");
        let more = names.len().saturating_sub(NAMES);
        let rest = if more > 0 {
            format!(", ... ({more} more)")
        } else {
            String::new()
        };
        format!("* {}: {shown}{rest}", kind.plural())
    };
    left.iter().map(line).collect::<Vec<_>>().join("\n")
}
