//! Decisions about a MachineSet, as a table of situations.

use std::sync::Arc;

use capstan_api::{contract::Contract, core::MachineSet};
use capstan_contract::External;
use capstan_engine::{Lookup, Trail};
use expect_test::expect;
use kube::core::ApiResource;
use serde_json::{Value, json};

use super::{act::Action, decide::decide, v1beta1, view::View};
use crate::v1beta1::drawn;

fn template(kind: &str) -> Lookup<External> {
    let object = json!({ "apiVersion": "g/v1beta2", "kind": kind,
        "metadata": { "name": "t", "namespace": "ns", "uid": "u9" }, "spec": { "template": { "spec": {} } } });
    let kind = ApiResource {
        group: "g".to_owned(),
        version: "v1beta2".to_owned(),
        api_version: "g/v1beta2".to_owned(),
        kind: kind.to_owned(),
        plural: format!("{}s", kind.to_lowercase()),
    };
    Lookup::Found(External {
        kind,
        contract: Contract::V1Beta2,
        object: Arc::new(serde_json::from_value(object).expect("an object")),
    })
}

/// A MachineSet that stands alone, with a template of hosts and `machines`, each `name`, `name!` if it is being deleted.
fn view(replicas: i32, machines: &[&str]) -> View {
    let machine_set: MachineSet = serde_json::from_value(json!({
        "metadata": { "name": "s", "namespace": "ns", "uid": "u1", "annotations": {} },
        "spec": { "clusterName": "c", "replicas": replicas, "selector": { "matchLabels": { "a": "b" } },
            "template": { "metadata": { "labels": { "a": "b" } }, "spec": { "clusterName": "c",
                "bootstrap": { "dataSecretName": "d" },
                "infrastructureRef": { "apiGroup": "g", "kind": "DevMachineTemplate", "name": "t" } } } }
    }))
    .expect("a MachineSet");
    let labels = json!({ "a": "b", "cluster.x-k8s.io/cluster-name": "c", "cluster.x-k8s.io/set-name": "s" });
    let machine = |(index, text): (usize, &&str)| {
        let name = text.trim_end_matches('!');
        let deleted = if text.ends_with('!') {
            json!("2026-01-01T00:00:30Z")
        } else {
            Value::Null
        };
        let machine = json!({
            "metadata": { "name": name, "namespace": "ns", "uid": format!("m{index}"), "labels": labels,
                "deletionTimestamp": deleted },
            "spec": { "clusterName": "c", "bootstrap": { "dataSecretName": "d" },
                "infrastructureRef": { "apiGroup": "g", "kind": "DevMachine", "name": name } }
        });
        Arc::new(serde_json::from_value(machine).expect("a Machine"))
    };
    View {
        now: "2026-01-01T00:01:00Z".parse().expect("a time"),
        failures: 0,
        machine_set: Arc::new(machine_set),
        cluster: Lookup::Absent,
        machine_deployment: None,
        machines: machines.iter().enumerate().map(machine).collect(),
        orphans: Vec::new(),
        bootstrap_template: None,
        infrastructure_template: template("DevMachineTemplate"),
        control_plane: None,
    }
}

/// How many Machines are made, which are deleted, and what is waited for.
fn planned(view: &View) -> String {
    let plan = decide(view);
    let mut made = 0;
    let mut text = String::new();
    for step in &plan.steps {
        match &step.action {
            Action::CloneMachine { .. } => made += 1,
            Action::DeleteMachine { key, .. } => text.push_str(&format!(" -{}", key.name)),
            other => text.push_str(&format!(" {other:?}")),
        }
    }
    for why in &plan.waiting {
        text.push_str(&format!(" ({})", why.message));
    }
    format!("+{made}{text}")
}

#[test]
fn the_number_of_machines_follows_the_number_that_is_wanted() {
    for (replicas, machines, expected) in [
        (0, &[][..], "+0"),
        (2, &[][..], "+2"),
        (2, &["a", "b"][..], "+0"),
        (1, &["a", "b!"][..], "+0 (waiting for 1 Machines to go)"),
        (0, &["a", "b!"][..], "+0 -a (waiting for 2 Machines to go)"),
        // A slip of the hand does not stop everything else.
        (i32::MAX, &["a"][..], "+200"),
    ] {
        assert_eq!(
            planned(&view(replicas, machines)),
            expected,
            "{replicas} of {machines:?}"
        );
    }
}

#[test]
fn nothing_is_made_from_a_template_that_does_not_exist() {
    let view = View {
        infrastructure_template: Lookup::Absent,
        ..view(2, &[])
    };
    assert_eq!(planned(&view), "+0 (DevMachineTemplate does not exist)");
}

/// The view with its Machines' statuses.
fn with_statuses(mut view: View, statuses: &[Value]) -> View {
    for (machine, status) in view.machines.iter_mut().zip(statuses) {
        let changed = Arc::make_mut(machine);
        changed.status = Some(serde_json::from_value(status.clone()).expect("a status"));
    }
    view
}

#[test]
fn readers_of_v1beta1_follow_a_machine_set_too() {
    let shown = |view: &View| {
        let plan = decide(view);
        let status = v1beta1::report(view, &plan, &Trail::all_done(plan.steps.len())).v1beta1;
        let counts = [
            status.fully_labeled_replicas,
            status.ready_replicas,
            status.available_replicas,
        ];
        format!(
            "{:?}\n{}",
            counts.map(Option::unwrap_or_default),
            drawn(&status.conditions)
        )
    };
    let no_template = View {
        infrastructure_template: Lookup::Absent,
        ..view(1, &[])
    };
    expect![[r"
        [0, 0, 0]
        Ready False Error | InfrastructureTemplateCloningFailed | DevMachineTemplate does not exist
        MachinesCreated False Error | InfrastructureTemplateCloningFailed | DevMachineTemplate does not exist
        MachinesReady True
        Resized False Warning | ScalingUp | Scaling up MachineSet to 1 replicas (actual 0)
    "]]
    .assert_eq(&shown(&no_template));
    let condition = |kind: &str, status: &str| json!({ "type": kind, "status": status, "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z" });
    let ready = json!({ "conditions": [condition("NodeReady", "True")],
        "deprecated": { "v1beta1": { "conditions": [condition("Ready", "True")] } } });
    let mut waiting = condition("Ready", "False");
    waiting["severity"] = json!("Info");
    let not_ready = json!({ "deprecated": { "v1beta1": { "conditions": [waiting] } } });
    let half = with_statuses(view(2, &["a", "b"]), &[ready.clone(), not_ready]);
    expect![[r"
        [2, 1, 1]
        Ready False Info | R @ Machine/b | 1 of 2 completed
        MachinesCreated True
        MachinesReady False Info | R @ Machine/b | 1 of 2 completed
    "]]
    .assert_eq(&shown(&half));
    let whole = with_statuses(view(1, &["a"]), &[ready]);
    expect![[r"
        [1, 1, 1]
        Ready True
        MachinesCreated True
        MachinesReady True
        Resized True
    "]]
    .assert_eq(&shown(&whole));
}
