//! What all kinds need to say of themselves to readers of v1beta1.

use capstan_api::{
    condition::v1beta1::{self, Draft, Reason, Severity, Type},
    contract::ContractError,
    core::V1Beta1Failure,
};
use capstan_contract::External;
use capstan_engine::ConditionList;
use kube::ResourceExt;

/// The list of the conditions, of which a controller owns the types `owned`.
pub(crate) const fn list(owned: &'static [&'static str]) -> ConditionList {
    ConditionList {
        pointer: "/status/deprecated/v1beta1/conditions",
        owned,
    }
}

/// The `Ready` condition of an object that another refers to, under another type. Where it has none, `fallback` says
/// whether the object is well, and the reason why not.
pub(crate) fn mirrored(external: &External, target: Type, fallback: bool, reason: Reason) -> Option<Draft> {
    let instead = if fallback {
        Draft::yes(Type::Ready)
    } else {
        info(Type::Ready, reason)
    };
    v1beta1::mirror(
        v1beta1::foreign_ready(&external.object.data),
        target,
        Some(instead),
    )
}

/// `type_` is `False`, which is to be expected for now.
pub(crate) fn info(type_: Type, reason: Reason) -> Draft {
    Draft::no(type_, reason, Severity::Info, "")
}

/// Takes over a provider's terminal failure. Once there it stays.
// Parity: upstream core/reconcilers/cluster/cluster_controller_phases.go:reconcileExternal
pub(crate) fn take_failure(
    status: &mut V1Beta1Failure,
    external: &External,
    failure: Result<(String, String), ContractError>,
) {
    let Ok((reason, message)) = failure else { return };
    if !reason.is_empty() {
        status.failure_reason = Some(reason);
    }
    if !message.is_empty() {
        let kind = &external.kind;
        status.failure_message = Some(format!(
            "Failure detected from referenced resource {}, Kind={} with name {:?}: {message}",
            kind.api_version,
            kind.kind,
            external.object.name_any()
        ));
    }
}
