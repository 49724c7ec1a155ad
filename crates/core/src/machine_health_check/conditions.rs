//! What a health check says of a Machine.

use capstan_api::{
    condition::{self, Draft, Reason, Status, Type, v1beta1},
    core::{Conditioned, Machine},
};
use capstan_contract::MachineConditions;

use super::check::{Finding, Verdict};

/// Says whether the Machine is healthy; says nothing new where nothing is known.
pub(super) fn health(conditions: &mut MachineConditions<'_>, verdict: &Verdict) {
    let (kind, old_kind) = (Type::HealthCheckSucceeded, v1beta1::Type::HealthCheckSucceeded);
    match verdict {
        Verdict::Healthy => {
            conditions.set(Draft::new(kind, Status::True, Reason::HealthCheckSucceeded, ""));
            conditions.set_v1beta1(v1beta1::Draft::yes(old_kind));
        }
        Verdict::Unhealthy(finding) => {
            let Finding {
                reason,
                message,
                v1beta1_reason,
                v1beta1_message,
            } = finding;
            conditions.set(Draft::new(kind, Status::False, *reason, message.as_str()));
            let severity = v1beta1::Severity::Warning;
            conditions.set_v1beta1(v1beta1::Draft::no(
                old_kind,
                *v1beta1_reason,
                severity,
                v1beta1_message.as_str(),
            ));
        }
        Verdict::Pending(_) | Verdict::Unknown => {}
    }
}

/// Asks the Machine's owner for the repair, unless it is at it already.
pub(super) fn ask_owner(conditions: &mut MachineConditions<'_>, machine: &Machine) {
    let kind = Type::OwnerRemediated;
    if !condition::is_false(machine.conditions(), kind.as_str()) {
        let message = "Waiting for remediation";
        conditions.set(Draft::new(
            kind,
            Status::False,
            Reason::WaitingForRemediation,
            message,
        ));
    }
    let old_kind = v1beta1::Type::OwnerRemediated;
    let old = v1beta1::find(machine.v1beta1_conditions(), old_kind);
    if old.is_none_or(|it| it.status == "True") {
        let (reason, severity) = (v1beta1::Reason::WaitingForRemediation, v1beta1::Severity::Warning);
        conditions.set_v1beta1(v1beta1::Draft::no(old_kind, reason, severity, ""));
    }
}

/// Says how the repair by somebody outside stands.
pub(super) fn externally(conditions: &mut MachineConditions<'_>, reason: Reason, message: &str) {
    conditions.set(Draft::new(
        Type::ExternallyRemediated,
        Status::False,
        reason,
        message,
    ));
}
