//! Decisions about a MachineSet, as a table of situations.

use std::sync::Arc;

use capstan_api::{condition::v1beta1::lines, core::MachineSet};
use capstan_contract::External;
use capstan_engine::{Lookup, Trail};
use expect_test::expect;
use serde_json::{Value, json};

use super::{act::Action, decide::decide, v1beta1, view::View};
use crate::testing::external;

fn template(kind: &str) -> Lookup<External> {
    let object = json!({ "apiVersion": "g/v1beta2", "kind": kind,
        "metadata": { "name": "t", "namespace": "ns", "uid": "u9" }, "spec": { "template": { "spec": {} } } });
    external(kind, object)
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
        unclaimed: Vec::new(),
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
            Action::Remediate { key, .. } => text.push_str(&format!(" repair {}", key.name)),
            Action::PatchMachineStatus { key, patch } => {
                text.push_str(&format!(" say {}: {}", key.name, said(patch)))
            }
            other => text.push_str(&format!(" {other:?}")),
        }
    }
    for why in &plan.waiting {
        text.push_str(&format!(" ({})", why.message));
    }
    format!("+{made}{text}")
}

/// What a patch says of a Machine's repair.
fn said(patch: &Value) -> String {
    let conditions = patch.pointer("/status/conditions").and_then(Value::as_array);
    let found = conditions
        .into_iter()
        .flatten()
        .find(|it| it["type"] == "OwnerRemediated");
    found.map_or("nothing".to_owned(), |it| {
        it["reason"].as_str().unwrap_or_default().to_owned()
    })
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
            lines(&status.conditions)
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

/// The status of a Machine that a health check judged, and whose owner was asked for the repair or not.
fn judged(healthy: &str, asked: Option<&str>) -> Value {
    let condition = |kind: &str, status: &str, reason: &str| json!({ "type": kind, "status": status, "reason": reason, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z" });
    let mut conditions = vec![condition("HealthCheckSucceeded", healthy, "UnhealthyNode")];
    conditions.extend(asked.map(|reason| condition("OwnerRemediated", "False", reason)));
    json!({ "conditions": conditions })
}

/// The view, its set the current or an old revision of a MachineDeployment with this limit of repairs.
fn in_deployment(mut view: View, revision: &str, max_in_flight: Value) -> View {
    let deployment = json!({
        "metadata": { "name": "d", "namespace": "ns", "annotations": { "machinedeployment.clusters.x-k8s.io/revision": "2" } },
        "spec": { "clusterName": "c", "replicas": 4, "remediation": { "maxInFlight": max_in_flight } }
    });
    view.machine_deployment = Some(Arc::new(
        serde_json::from_value(deployment).expect("a MachineDeployment"),
    ));
    let set = Arc::make_mut(&mut view.machine_set);
    let key = "machinedeployment.clusters.x-k8s.io/revision".to_owned();
    set.metadata.annotations = Some([(key, revision.to_owned())].into());
    view
}

#[test]
fn unhealthy_machines_are_repaired_within_limits() {
    let (well, sick) = (
        judged("True", None),
        judged("False", Some("WaitingForRemediation")),
    );
    let gone = judged("False", Some("MachineDeleting"));
    let three = with_statuses(
        view(3, &["a", "b", "c"]),
        &[well.clone(), sick.clone(), sick.clone()],
    );
    let one_going = with_statuses(view(2, &["a!", "b"]), &[gone, sick.clone()]);
    let found_only = with_statuses(view(1, &["a"]), &[judged("False", None)]);
    let recovered = with_statuses(view(1, &["a"]), &[judged("True", Some("WaitingForRemediation"))]);
    let control_plane = json!({ "metadata": { "name": "k", "namespace": "ns" }, "spec": { "version": "v1.34.0" },
        "status": { "version": "v1.33.0" } });
    let mut upgrading = with_statuses(view(1, &["a"]), &[sick]);
    upgrading.control_plane = Some(template("KubeadmControlPlane").map(|it| External {
        object: Arc::new(serde_json::from_value(control_plane).expect("an object")),
        ..it
    }));
    for (case, view, expected) in [
        ("no limit", three.clone(), "+0 repair b repair c"),
        (
            "a limit",
            in_deployment(three.clone(), "2", json!(1)),
            "+0 say c: RemediationDeferred repair b",
        ),
        (
            "a percentage",
            in_deployment(three.clone(), "2", json!("26%")),
            "+0 repair b repair c",
        ),
        (
            "no repairs",
            in_deployment(three.clone(), "2", json!(0)),
            "+0 say b: RemediationDeferred say c: RemediationDeferred",
        ),
        (
            "an old revision",
            in_deployment(three, "1", Value::Null),
            "+0 say b: CannotBeRemediated say c: CannotBeRemediated",
        ),
        (
            "one in flight",
            in_deployment(one_going, "2", json!(1)),
            "+0 say b: RemediationDeferred",
        ),
        ("nobody asked for it", found_only, "+0"),
        ("healthy again", recovered, "+0 say a: nothing"),
        (
            "the control plane upgrades",
            upgrading,
            "+0 say a: RemediationDeferred (KubeadmControlPlane k is upgrading (\"ControlPlaneIsStable\" preflight check failed))",
        ),
    ] {
        assert_eq!(planned(&view), expected, "{case}");
    }
}
