//! Judgements and decisions about Machines, as tables of situations.

use std::sync::Arc;

use capstan_api::condition::v1beta1::lines;
use capstan_engine::{Lookup, Plan, Trail};
use capstan_workload::{NotTried, Remote};
use expect_test::expect;
use kube::core::ApiResource;
use serde_json::{Value, json};

use super::{
    act::Action,
    check::{Verdict, verdict},
    decide::decide,
    report::report,
    view::{Target, View},
};

const START: &str = "2026-01-01T00:00:00Z";

fn condition(kind: &str, status: &str, since: &str) -> Value {
    json!({ "type": kind, "status": status, "reason": "R", "message": "", "lastTransitionTime": since })
}

/// A Machine with a Node, both well.
fn target(name: &str) -> Target {
    let machine = json!({
        "metadata": { "name": name, "namespace": "ns", "uid": "u", "creationTimestamp": START, "resourceVersion": "1" },
        "spec": { "clusterName": "c" },
        "status": { "nodeRef": { "name": name }, "conditions": [condition("InfrastructureReady", "True", START)] }
    });
    let node = json!({ "metadata": { "name": name }, "status": { "conditions": [condition("Ready", "True", START)] } });
    Target {
        machine: Arc::new(serde_json::from_value(machine).expect("a Machine")),
        node: Some(Remote::Found(Arc::new(
            serde_json::from_value(node).expect("a Node"),
        ))),
        request: None,
    }
}

/// The target with another Node.
fn with_node(target: Target, node: Option<Remote<Value>>) -> Target {
    let parse = |it| Arc::new(serde_json::from_value(it).expect("a Node"));
    Target {
        node: node.map(|it| it.map(parse)),
        ..target
    }
}

/// The target with its Machine changed by a merge patch.
fn changed(target: Target, patch: Value) -> Target {
    let machine = serde_json::to_value(&*target.machine).expect("JSON");
    let machine = capstan_merge::merge_patch::apply(&machine, &patch).expect("a patch");
    Target {
        machine: Arc::new(serde_json::from_value(machine).expect("a Machine")),
        ..target
    }
}

/// Half an hour after the start, a cluster that is up, and a health check that waits five minutes for bad states.
fn view(targets: Vec<Target>) -> View {
    let check = json!({
        "metadata": { "name": "h", "namespace": "ns", "labels": { "cluster.x-k8s.io/cluster-name": "c" },
            "ownerReferences": [{ "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": "c", "uid": "u0" }] },
        "spec": { "clusterName": "c", "selector": {}, "checks": {
            "unhealthyNodeConditions": [{ "type": "Ready", "status": "False", "timeoutSeconds": 300 },
                { "type": "Ready", "status": "Unknown", "timeoutSeconds": 300 }],
            "unhealthyMachineConditions": [{ "type": "Broken", "status": "True", "timeoutSeconds": 300 }] } }
    });
    let cluster = json!({ "metadata": { "name": "c", "namespace": "ns", "uid": "u0" }, "status": { "conditions": [
        condition("ControlPlaneInitialized", "True", START), condition("InfrastructureReady", "True", START)] } });
    View {
        now: "2026-01-01T00:30:00Z".parse().expect("a time"),
        health_check: Arc::new(serde_json::from_value(check).expect("a MachineHealthCheck")),
        cluster: Lookup::Found(Arc::new(serde_json::from_value(cluster).expect("a Cluster"))),
        targets,
        template: None,
    }
}

fn node(ready: &str, since: &str) -> Option<Remote<Value>> {
    let node = json!({ "metadata": { "name": "n" }, "status": { "conditions": [condition("Ready", ready, since)] } });
    Some(Remote::Found(node))
}

/// A Machine whose Node is bad for ten minutes.
fn sick(name: &str) -> Target {
    with_node(target(name), node("False", "2026-01-01T00:20:00Z"))
}

#[test]
fn a_machine_is_judged_by_its_conditions_its_node_and_its_user() {
    let young = |created: &str| {
        let patch = json!({ "metadata": { "creationTimestamp": created }, "status": { "nodeRef": null } });
        with_node(changed(target("m"), patch), None)
    };
    let host_late = json!({ "status": { "nodeRef": null, "conditions": [condition("InfrastructureReady", "True", "2026-01-01T00:25:00Z")] } });
    let broken = json!({ "status": { "conditions": [condition("Broken", "True", "2026-01-01T00:20:00Z")] } });
    let both = with_node(
        changed(target("m"), broken.clone()),
        node("Unknown", "2026-01-01T00:20:00Z"),
    );
    let marked = json!({ "metadata": { "annotations": { "cluster.x-k8s.io/remediate-machine": "" } } });
    let going = json!({ "metadata": { "deletionTimestamp": START } });
    for (case, target, expected) in [
        ("well", target("m"), "healthy"),
        ("going", changed(target("m"), going), "unknown"),
        (
            "marked by its user",
            changed(target("m"), marked),
            "HasRemediateAnnotation: Health check failed: marked for remediation via cluster.x-k8s.io/remediate-machine annotation",
        ),
        (
            "bad for not long enough",
            with_node(target("m"), node("False", "2026-01-01T00:26:00Z")),
            "again at 2026-01-01T00:31:01Z",
        ),
        (
            "bad for too long",
            sick("m"),
            "UnhealthyNode: Health check failed:\n  * Condition Ready on Node is reporting status False with reason R for more than 5m0s",
        ),
        (
            "the Machine itself",
            changed(target("m"), broken),
            "UnhealthyMachine: Health check failed:\n  * Condition Broken on Machine is reporting status True with reason R for more than 5m0s",
        ),
        (
            "both",
            both,
            "UnhealthyMachine: Health check failed:\n  * Condition Broken on Machine is reporting status True with reason R for more than 5m0s\n  * Condition Ready on Node is reporting status Unknown with reason R for more than 5m0s",
        ),
        (
            "the Node is gone",
            with_node(target("m"), Some(Remote::Absent)),
            "NodeDeleted: Health check failed:\n  * Node m has been deleted",
        ),
        (
            "no Node yet",
            young("2026-01-01T00:25:00Z"),
            "again at 2026-01-01T00:35:01Z",
        ),
        (
            "no Node in time",
            young(START),
            "NodeStartupTimeout: Health check failed:\n  * Node failed to report startup in 10m0s",
        ),
        (
            "the clock starts with the host",
            with_node(changed(target("m"), host_late), None),
            "again at 2026-01-01T00:35:01Z",
        ),
    ] {
        let view = view(vec![target]);
        let found = match verdict(&view, &view.targets[0]) {
            Verdict::Healthy => "healthy".to_owned(),
            Verdict::Unknown => "unknown".to_owned(),
            Verdict::Pending(next) => format!("again at {next}"),
            Verdict::Unhealthy(finding) => format!("{}: {}", finding.reason, finding.message),
        };
        assert_eq!(found, expected, "{case}");
    }
}

#[test]
fn workers_are_not_judged_before_the_cluster_is_up() {
    let with_cluster = |conditions: Value, target: Target| {
        let cluster = json!({ "metadata": { "name": "c", "namespace": "ns", "uid": "u0" }, "status": { "conditions": conditions } });
        View {
            cluster: Lookup::Found(Arc::new(serde_json::from_value(cluster).expect("a Cluster"))),
            ..view(vec![target])
        }
    };
    let late = || {
        with_node(
            changed(target("m"), json!({ "status": { "nodeRef": null } })),
            None,
        )
    };
    let control_plane = json!({ "metadata": { "labels": { "cluster.x-k8s.io/control-plane": "" } } });
    let infrastructure = json!([condition("InfrastructureReady", "True", START)]);
    for (case, view, is_unhealthy) in [
        ("a worker", with_cluster(infrastructure.clone(), late()), false),
        (
            "a control plane machine",
            with_cluster(infrastructure, changed(late(), control_plane.clone())),
            true,
        ),
        (
            "no infrastructure",
            with_cluster(json!([]), changed(late(), control_plane)),
            false,
        ),
    ] {
        let found = matches!(verdict(&view, &view.targets[0]), Verdict::Unhealthy(_));
        assert_eq!(found, is_unhealthy, "{case}");
    }
}

/// What is done, in words.
fn told(view: &View) -> String {
    let plan: Plan<Action> = decide(view);
    let steps = plan.steps.iter().map(|step| match &step.action {
        Action::PatchHealthCheck { .. } => "own".to_owned(),
        Action::PatchMachineStatus { machine, patch, .. } => {
            format!(
                "say {}: {}",
                machine.metadata.name.clone().unwrap_or_default(),
                said(Some(patch))
            )
        }
        Action::RequestRemediation {
            object,
            created,
            failed,
            ..
        } => {
            let name = object.metadata.name.clone().unwrap_or_default();
            format!(
                "request {name}: {} or {}",
                said(created.as_ref()),
                said(failed.as_ref())
            )
        }
        Action::DeleteRequest { key, .. } => format!("withdraw {}", key.name),
        Action::Announce { .. } => "RemediationRestricted".to_owned(),
    });
    let waits = plan.waiting.iter().map(|it| format!("({})", it.reason));
    steps.chain(waits).collect::<Vec<_>>().join("\n")
}

fn said(patch: Option<&Value>) -> String {
    let conditions = patch
        .and_then(|it| it.pointer("/status/conditions"))
        .and_then(Value::as_array);
    let asked = ["HealthCheckSucceeded", "OwnerRemediated", "ExternallyRemediated"];
    let told = conditions
        .into_iter()
        .flatten()
        .filter(|it| asked.contains(&it["type"].as_str().unwrap_or_default()));
    let words = told.map(|it| {
        format!(
            "{}={}",
            it["type"].as_str().unwrap_or_default(),
            it["reason"].as_str().unwrap_or_default()
        )
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The view with a limit of unhealthy Machines.
fn limited(view: View, most: &str) -> View {
    let mut check = (*view.health_check).clone();
    check.spec.remediation.trigger_if.unhealthy_less_than_or_equal_to =
        Some(capstan_api::IntOrString::String(most.to_owned()));
    View {
        health_check: Arc::new(check),
        ..view
    }
}

#[test]
fn owners_are_asked_for_repairs_unless_too_much_is_unhealthy() {
    expect![[r"
        say a: HealthCheckSucceeded=HealthCheckSucceeded
        say b: HealthCheckSucceeded=UnhealthyNode OwnerRemediated=WaitingForRemediation"]]
    .assert_eq(&told(&view(vec![target("a"), sick("b")])));
    expect![[r"
        RemediationRestricted
        say a: HealthCheckSucceeded=HealthCheckSucceeded
        say b: HealthCheckSucceeded=UnhealthyNode
        (TooManyUnhealthy)"]]
    .assert_eq(&told(&limited(view(vec![target("a"), sick("b")]), "40%")));
    let deferred = json!({ "status": { "conditions": [
        json!({ "type": "OwnerRemediated", "status": "False", "reason": "RemediationDeferred", "message": "", "lastTransitionTime": START })] } });
    expect!["say b: HealthCheckSucceeded=UnhealthyNode OwnerRemediated=RemediationDeferred"]
        .assert_eq(&told(&view(vec![changed(sick("b"), deferred)])));
    let unreachable = with_node(target("a"), Some(Remote::NotTried(NotTried::Connecting)));
    expect!["(ConnectionDown)"].assert_eq(&told(&view(vec![unreachable, sick("b")])));
}

#[test]
fn repairs_by_others_are_requested_and_withlines() {
    let kind = ApiResource {
        group: "r".to_owned(),
        version: "v1".to_owned(),
        api_version: "r/v1".to_owned(),
        kind: "DevRemediation".to_owned(),
        plural: "devremediations".to_owned(),
    };
    let parse = |object: Value| Arc::new(serde_json::from_value(object).expect("an object"));
    let template = || {
        Lookup::Found(parse(
            json!({ "apiVersion": "r/v1", "kind": "DevRemediationTemplate",
            "metadata": { "name": "t", "namespace": "ns" }, "spec": { "template": { "spec": { "how": "reboot" } } } }),
        ))
    };
    let with = |target: Target, request| Target {
        request: Some((kind.clone(), request)),
        ..target
    };
    let there = || {
        Lookup::Found(parse(
            json!({ "apiVersion": "r/v1", "kind": "DevRemediation", "metadata": { "name": "m" } }),
        ))
    };
    let external = |target: Target, template| {
        let mut view = View {
            template: Some(template),
            ..view(vec![target])
        };
        let mut check = (*view.health_check).clone();
        let reference = json!({ "apiVersion": "r/v1", "kind": "DevRemediationTemplate", "name": "t" });
        check.spec.remediation.template_ref = Some(serde_json::from_value(reference).expect("a reference"));
        view.health_check = Arc::new(check);
        view
    };
    expect!["request b: HealthCheckSucceeded=UnhealthyNode ExternallyRemediated=WaitingForRemediation or HealthCheckSucceeded=UnhealthyNode ExternallyRemediated=RemediationRequestCreationFailed"]
        .assert_eq(&told(&external(with(sick("b"), Lookup::Absent), template())));
    expect!["say b: HealthCheckSucceeded=UnhealthyNode"]
        .assert_eq(&told(&external(with(sick("b"), there()), template())));
    expect![[r"
        withdraw m
        say a: HealthCheckSucceeded=HealthCheckSucceeded"]]
    .assert_eq(&told(&external(with(target("a"), there()), template())));
    let lost = external(with(sick("b"), Lookup::Absent), Lookup::Absent);
    expect![[r"
        say b: HealthCheckSucceeded=UnhealthyNode ExternallyRemediated=RemediationTemplateNotFound
        (RemediationTemplateNotFound)"]]
    .assert_eq(&told(&lost));
    let status = report(&lost, &decide(&lost), &Trail::default());
    expect![[r"
        ExternalRemediationTemplateAvailable False Error | ExternalRemediationTemplateNotFound | DevRemediationTemplate t does not exist
        RemediationAllowed True
    "]]
    .assert_eq(&lines(&status.deprecated.v1beta1.conditions));
}

#[test]
fn the_status_counts_what_is_expected_healthy_and_allowed() {
    let shown = |view: &View| {
        let status = report(view, &decide(view), &Trail::default());
        let counts = [
            status.expected_machines,
            status.current_healthy,
            status.remediations_allowed,
        ];
        let told = status
            .conditions
            .iter()
            .map(|it| format!("{}={} {}", it.type_, it.status, it.reason));
        format!(
            "{:?} {:?} {}",
            counts.map(Option::unwrap_or_default),
            status.targets,
            told.collect::<Vec<_>>().join(" ")
        )
    };
    let targets = || vec![target("a"), sick("b"), target("c")];
    expect![[r#"[3, 2, 2] ["a", "b", "c"] RemediationAllowed=True RemediationAllowed"#]]
        .assert_eq(&shown(&view(targets())));
    expect![[r#"[3, 2, 0] ["a", "b", "c"] RemediationAllowed=False TooManyUnhealthy"#]]
        .assert_eq(&shown(&limited(view(targets()), "20%")));
}
