//! What readers of v1beta1 are told of a machine in a container: the same, in the words of that version.
// Parity: upstream test/infrastructure/docker/api/v1beta2/v1beta1_condition_consts.go

use capstan_api::{
    Condition,
    condition::{
        self,
        v1beta1::{self, Draft, Severity, StepCounter, Summary, Type},
    },
    core::V1Beta1Condition,
    infrastructure::words::{condition as types, reason},
};
use capstan_base::Timestamp;

const TYPES: &[Type] = &[Type::ContainerProvisioned, Type::BootstrapExecSucceeded];

/// `before` with what `conditions` say; `counts` has the steps counted until the machine is there.
pub(super) fn conditions(
    before: &[V1Beta1Condition],
    conditions: &[Condition],
    counts: bool,
    now: Timestamp,
) -> Vec<V1Beta1Condition> {
    let drafts = [
        condition::find(conditions, types::CONTAINER_PROVISIONED).and_then(container),
        condition::find(conditions, types::BOOTSTRAP_COMPLETED).and_then(bootstrap),
    ];
    let steps = if counts {
        StepCounter::All
    } else {
        StepCounter::Off
    };
    v1beta1::with_summary(before, drafts, Summary { types: TYPES, steps }, now)
}

fn container(said: &Condition) -> Option<Draft> {
    let type_ = Type::ContainerProvisioned;
    let info = |reason: &str| Some(Draft::no(type_, reason, Severity::Info, ""));
    if said.status == "True" {
        return Some(Draft::yes(type_));
    }
    if said.status == "Unknown" {
        return Some(Draft::unknown(type_, said.reason.as_str(), said.message.as_str()));
    }
    match said.reason.as_str() {
        reason::WAITING_FOR_CLUSTER_INFRASTRUCTURE => info("WaitingForClusterInfrastructure"),
        reason::WAITING_FOR_BOOTSTRAP_DATA | reason::WAITING_FOR_CONTROL_PLANE => {
            info(reason::WAITING_FOR_BOOTSTRAP_DATA)
        }
        reason::DELETING => info(reason::DELETING),
        _ if said.message.ends_with("is not running anymore") => Some(Draft::no(
            type_,
            "ContainerDeleted",
            Severity::Error,
            said.message.as_str(),
        )),
        _ => Some(Draft::no(
            type_,
            "ContainerProvisioningFailed",
            Severity::Warning,
            said.message.as_str(),
        )),
    }
}

/// Nothing is said of a bootstrap before there is a container.
fn bootstrap(said: &Condition) -> Option<Draft> {
    let type_ = Type::BootstrapExecSucceeded;
    if said.status == "True" {
        return Some(Draft::yes(type_));
    }
    match said.reason.as_str() {
        reason::NOT_COMPLETED | reason::WAITING_FOR_CGROUPS | reason::WAITING_FOR_PRELOADED_IMAGES => {
            Some(Draft::no(type_, "Bootstrapping", Severity::Info, ""))
        }
        reason::FAILED | reason::INTERNAL_ERROR => Some(Draft::no(
            type_,
            "BootstrapFailed",
            Severity::Warning,
            said.message.as_str(),
        )),
        _ => None,
    }
}
