//! What readers of v1beta1 are told of a MachineDeployment.
// Parity: upstream core/reconcilers/machinedeployment/machinedeployment_sync.go:calculateV1Beta1Status

use capstan_api::{
    condition::v1beta1::{self, Draft, Reason, Severity, StepCounter, Summary, Type, with_summary},
    core::{Conditioned, MachineDeploymentDeprecated, MachineSet},
};

use super::view::View;
use crate::v1beta1::info;

/// The condition types that this controller owns.
pub(super) const OWNED: &[&str] = &["Ready", "Available", "MachineSetReady"];

const READY: Summary<'static> = Summary {
    types: &[Type::Available],
    steps: StepCounter::Off,
};

/// The whole of it; `available` is how many Machines are available as v1beta2 counts them.
pub(super) fn report(view: &View, available: i32) -> MachineDeploymentDeprecated {
    let mut deprecated = view
        .machine_deployment
        .status
        .clone()
        .unwrap_or_default()
        .deprecated;
    let status = &mut deprecated.v1beta1;
    let (current, _) = view.current_and_old();
    let sum = |of: &dyn Fn(&MachineSet) -> Option<i32>| -> i32 {
        let each = view.machine_sets.iter().map(|it| of(it).unwrap_or(0));
        each.fold(0, i32::saturating_add)
    };
    let old_style = |of: fn(&capstan_api::core::MachineSetV1Beta1) -> Option<i32>| {
        sum(&|it| it.status.as_ref().and_then(|it| of(&it.deprecated.v1beta1)))
    };
    let available_nodes = old_style(|it| it.available_replicas);
    status.ready_replicas = Some(old_style(|it| it.ready_replicas));
    status.available_replicas = Some(available_nodes);
    status.unavailable_replicas = Some((sum(&|it| it.spec.replicas) - available_nodes).max(0));
    status.updated_replicas = Some(
        current
            .and_then(|it| it.status.as_ref())
            .and_then(|it| it.replicas)
            .unwrap_or(0),
    );
    let drafts = [
        Some(is_available(view, available_nodes, available)),
        machine_set_ready(current.map(|it| &**it)),
    ];
    status.conditions = with_summary(&status.conditions, drafts, READY, view.now);
    deprecated
}

fn is_available(view: &View, available_nodes: i32, available: i32) -> Draft {
    let kind = Type::Available;
    let needed = view.replicas() - view.strategy().unavailable();
    if available_nodes >= needed {
        return Draft::yes(kind);
    }
    let message = format!("Minimum availability requires {needed} replicas, current {available} available");
    Draft::no(
        kind,
        Reason::WaitingForAvailableMachines,
        Severity::Warning,
        message,
    )
}

fn machine_set_ready(current: Option<&MachineSet>) -> Option<Draft> {
    let target = Type::MachineSetReady;
    let Some(current) = current else {
        let message = "MachineSet not found";
        return Some(Draft::no(
            target,
            Reason::WaitingForMachineSet,
            Severity::Info,
            message,
        ));
    };
    let ready = v1beta1::find(current.v1beta1_conditions(), Type::Ready).map(Draft::from);
    v1beta1::mirror(
        ready,
        target,
        Some(info(Type::Ready, Reason::WaitingForMachineSet)),
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use capstan_api::condition::v1beta1::lines;
    use capstan_engine::Lookup;
    use expect_test::expect;
    use serde_json::{Value, json};

    use super::*;

    /// A MachineDeployment of three replicas and its only MachineSet, if there is one.
    fn view(set_status: Option<Value>) -> View {
        let template = json!({ "spec": { "clusterName": "c", "bootstrap": { "dataSecretName": "d" },
            "infrastructureRef": { "apiGroup": "g", "kind": "DevMachineTemplate", "name": "t" } } });
        let metadata = json!({ "name": "d", "namespace": "ns", "uid": "u" });
        let spec = json!({ "clusterName": "c", "replicas": 3, "selector": {}, "template": template });
        let parse = |status: Value| json!({ "metadata": metadata, "spec": spec, "status": status });
        let set = |status| Arc::new(serde_json::from_value(parse(status)).expect("a MachineSet"));
        View {
            now: "2026-01-01T00:01:00Z".parse().expect("a time"),
            machine_deployment: Arc::new(
                serde_json::from_value(parse(json!({}))).expect("a MachineDeployment"),
            ),
            cluster: Lookup::Absent,
            machine_sets: set_status.map(set).into_iter().collect(),
            orphans: Vec::new(),
            machines: Vec::new(),
            bootstrap_template: None,
            infrastructure_template: Lookup::Absent,
        }
    }

    fn shown(view: &View) -> String {
        let status = report(view, 2).v1beta1;
        let counts = [
            status.updated_replicas,
            status.ready_replicas,
            status.available_replicas,
            status.unavailable_replicas,
        ];
        format!(
            "{:?}\n{}",
            counts.map(Option::unwrap_or_default),
            lines(&status.conditions)
        )
    }

    #[test]
    fn readers_of_v1beta1_follow_a_machine_deployment_too() {
        expect![[r"
            [0, 0, 0, 0]
            Ready False Warning | WaitingForAvailableMachines | Minimum availability requires 3 replicas, current 2 available
            Available False Warning | WaitingForAvailableMachines | Minimum availability requires 3 replicas, current 2 available
            MachineSetReady False Info | WaitingForMachineSet | MachineSet not found
        "]]
        .assert_eq(&shown(&view(None)));
        let ready =
            json!({ "type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z" });
        let status = json!({ "replicas": 3, "deprecated": { "v1beta1": {
            "conditions": [ready], "readyReplicas": 3, "availableReplicas": 3 } } });
        expect![[r"
            [3, 3, 3, 0]
            Ready True
            Available True
            MachineSetReady True
        "]]
        .assert_eq(&shown(&view(Some(status))));
    }
}
