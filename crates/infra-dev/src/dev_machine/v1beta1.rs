//! What readers of v1beta1 are told of a DevMachine: the same, in the words of that version.
// Parity: upstream test/infrastructure/docker/internal/controllers/backends/inmemory/inmemorymachine_backend.go

use capstan_api::{
    Condition,
    condition::{
        self,
        v1beta1::{self, Draft, Severity, StepCounter, Summary, Type},
    },
    core::V1Beta1Condition,
    infrastructure::words::reason,
};
use capstan_base::Timestamp;

const WORKER: &[Type] = &[Type::VmProvisioned, Type::NodeProvisioned];
const CONTROL_PLANE: &[Type] = &[
    Type::VmProvisioned,
    Type::NodeProvisioned,
    Type::EtcdProvisioned,
    Type::ApiServerProvisioned,
];

/// `before` with what `conditions` say; `counts` has the steps counted until the VM is there.
pub(super) fn conditions(
    before: &[V1Beta1Condition],
    conditions: &[Condition],
    is_control_plane: bool,
    counts: bool,
    now: Timestamp,
) -> Vec<V1Beta1Condition> {
    let types = if is_control_plane { CONTROL_PLANE } else { WORKER };
    let drafts = types.iter().map(|kind| {
        let said = condition::find(conditions, kind.as_str());
        said.and_then(|it| draft(*kind, it))
    });
    let steps = if counts {
        StepCounter::All
    } else {
        StepCounter::Off
    };
    v1beta1::with_summary(before, drafts, Summary { types, steps }, now)
}

/// Nothing is said of a part before the part that it needs is there.
fn draft(kind: Type, said: &Condition) -> Option<Draft> {
    if said.status == "True" {
        return Some(Draft::yes(kind));
    }
    let info = |reason: &str| Some(Draft::no(kind, reason, Severity::Info, ""));
    match said.reason.as_str() {
        reason::WAITING_FOR_VM | reason::WAITING_FOR_NODE => None,
        reason::WAITING_FOR_CLUSTER_INFRASTRUCTURE => info("WaitingForClusterInfrastructure"),
        reason::WAITING_FOR_CONTROL_PLANE => info("WaitingControlPlaneInitialized"),
        other @ (reason::WAITING_FOR_BOOTSTRAP_DATA | reason::WAITING_FOR_STARTUP) => info(other),
        other => Some(Draft::no(kind, other, Severity::Warning, said.message.as_str())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capstan_api::infrastructure::words::condition as types;

    fn told(said: &[(&str, &str, &str)], is_control_plane: bool) -> Vec<String> {
        let condition = |(kind, status, reason): &(&str, &str, &str)| Condition {
            type_: (*kind).to_owned(),
            status: (*status).to_owned(),
            reason: (*reason).to_owned(),
            message: "why".to_owned(),
            last_transition_time: capstan_api::Time(Timestamp::UNIX_EPOCH),
            observed_generation: None,
        };
        let said: Vec<Condition> = said.iter().map(condition).collect();
        let list = conditions(&[], &said, is_control_plane, true, Timestamp::UNIX_EPOCH);
        let words = |it: &V1Beta1Condition| {
            [&it.type_, &it.status, &it.severity, &it.reason, &it.message]
                .map(|it| it.as_str())
                .join(" ")
        };
        list.iter().map(|it| words(it).trim_end().to_owned()).collect()
    }

    #[test]
    fn parts_are_told_one_after_the_other_and_counted() {
        let (vm, node) = (types::VM_PROVISIONED, types::NODE_PROVISIONED);
        assert_eq!(
            told(
                &[
                    (vm, "False", reason::WAITING_FOR_CONTROL_PLANE),
                    (node, "False", reason::WAITING_FOR_VM)
                ],
                false
            ),
            [
                "Ready False Info WaitingControlPlaneInitialized 0 of 2 completed",
                "VMProvisioned False Info WaitingControlPlaneInitialized",
            ]
        );
        assert_eq!(
            told(
                &[
                    (vm, "True", reason::PROVISIONED),
                    (node, "False", reason::BOOTSTRAP_FAILED)
                ],
                true
            ),
            [
                "Ready False Warning BootstrapFailed 1 of 4 completed",
                "NodeProvisioned False Warning BootstrapFailed why",
                "VMProvisioned True",
            ]
        );
    }
}
