//! What is true of a MachineHealthCheck, from what was seen, chosen and done.

use capstan_api::{
    condition::{self, Draft, Reason, Status, Type, v1beta1},
    core::MachineHealthCheckStatus,
};
use capstan_engine::{Lookup, Plan, Trail};
use kube::ResourceExt;

use super::{
    act::{ActError, Action},
    check::Verdict,
    decide::{Findings, findings},
    limit::Limit,
    view::View,
};

/// The condition types that this controller owns.
pub(super) const OWNED: &[&str] = &["RemediationAllowed", "Paused"];
/// Those that readers of v1beta1 see.
pub(super) const OWNED_V1BETA1: &[&str] = &[
    "RemediationAllowed",
    "ExternalRemediationTemplateAvailable",
    "ExternalRemediationRequestAvailable",
];

/// The whole status.
pub(super) fn report(view: &View, _plan: &Plan<Action>, trail: &Trail<ActError>) -> MachineHealthCheckStatus {
    let mut status = view.health_check.status.clone().unwrap_or_default();
    let Some(findings) = findings(view).filter(|_| !view.is_deleting()) else {
        return status;
    };
    let (draft, old) = allowed(&findings.limit);
    let generation = view.health_check.metadata.generation;
    condition::set_in(&mut status.conditions, generation, draft, view.now);
    let old_style = &mut status.deprecated.v1beta1.conditions;
    for draft in std::iter::once(old).chain(external(view, &findings, trail)) {
        v1beta1::set_in(old_style, draft, view.now);
    }
    MachineHealthCheckStatus {
        expected_machines: Some(findings.total),
        current_healthy: Some(findings.healthy),
        remediations_allowed: Some(match findings.limit {
            Limit::Allowed(more) => more,
            Limit::Forbidden(_) => 0,
        }),
        targets: view.targets.iter().map(|it| it.machine.name_any()).collect(),
        ..status
    }
}

fn allowed(limit: &Limit) -> (Draft, v1beta1::Draft) {
    let (kind, old_kind) = (Type::RemediationAllowed, v1beta1::Type::RemediationAllowed);
    match limit {
        Limit::Allowed(_) => (
            Draft::new(kind, Status::True, Reason::RemediationAllowed, ""),
            v1beta1::Draft::yes(old_kind),
        ),
        Limit::Forbidden(message) => (
            Draft::new(kind, Status::False, Reason::TooManyUnhealthy, message.as_str()),
            v1beta1::Draft::no(
                old_kind,
                v1beta1::Reason::TooManyUnhealthy,
                v1beta1::Severity::Warning,
                message.as_str(),
            ),
        ),
    }
}

/// What failed about repairs by somebody outside.
fn external(view: &View, findings: &Findings, trail: &Trail<ActError>) -> Vec<v1beta1::Draft> {
    let error =
        |kind, reason, message: String| v1beta1::Draft::no(kind, reason, v1beta1::Severity::Error, message);
    let mut drafts = Vec::new();
    let is_wanted = matches!(findings.limit, Limit::Allowed(_))
        && findings
            .verdicts
            .iter()
            .any(|it| matches!(it, Verdict::Unhealthy(_)));
    if let (Some(Lookup::Absent), true) = (&view.template, is_wanted) {
        let template = view.health_check.spec.remediation.template_ref.as_ref();
        let name = template
            .map(|it| format!("{} {}", it.kind, it.name))
            .unwrap_or_default();
        drafts.push(error(
            v1beta1::Type::ExternalRemediationTemplateAvailable,
            v1beta1::Reason::ExternalRemediationTemplateNotFound,
            format!("{name} does not exist"),
        ));
    }
    if let Some(failure @ ActError::Request(_)) = trail.failure() {
        drafts.push(error(
            v1beta1::Type::ExternalRemediationRequestAvailable,
            v1beta1::Reason::ExternalRemediationRequestCreationFailed,
            failure.to_string(),
        ));
    }
    drafts
}
