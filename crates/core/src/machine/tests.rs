//! Decisions about a Machine, as a table of situations.

use std::sync::Arc;

use capstan_api::{
    condition::v1beta1::lines,
    core::{Cluster, Machine},
};
use capstan_contract::External;
use capstan_engine::{Lookup, ObjectKey, Outcome, Trail};
use capstan_workload::{Health, Remote};
use expect_test::expect;
use k8s_openapi::api::core::v1::Node;
use serde_json::{Value, json};

use super::{
    act::ActError,
    conditions,
    decide::decide,
    drain::{Attached, Disposition, Drain, Found, Judged},
    report::report,
    v1beta1,
    view::{NodeDeletion, View},
};
use crate::testing::external;

/// An object that the Machine controls already.
fn owned(status: Value, spec: Value) -> Value {
    json!({
        "metadata": { "name": "m", "namespace": "ns", "uid": "u2", "resourceVersion": "1",
            "labels": { "cluster.x-k8s.io/cluster-name": "c" },
            "ownerReferences": [{ "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "name": "m", "uid": "u1",
                "controller": true, "blockOwnerDeletion": true }] },
        "spec": spec, "status": status
    })
}

/// A worker of a MachineSet, nothing of it there yet.
fn view() -> View {
    let machine: Machine = serde_json::from_value(json!({
        "metadata": { "name": "m", "namespace": "ns", "uid": "u1", "labels": {
                "cluster.x-k8s.io/cluster-name": "c", "cluster.x-k8s.io/set-name": "s" } },
        "spec": { "clusterName": "c",
            "bootstrap": { "configRef": { "apiGroup": "g", "kind": "KubeadmConfig", "name": "m" } },
            "infrastructureRef": { "apiGroup": "g", "kind": "DevMachine", "name": "m" } }
    }))
    .expect("a machine");
    let cluster: Cluster = serde_json::from_value(json!({
        "metadata": { "name": "c", "namespace": "ns", "uid": "u0" },
        "status": { "initialization": { "infrastructureProvisioned": true }, "conditions": [
            { "type": "ControlPlaneInitialized", "status": "True", "reason": "Initialized", "message": "",
              "lastTransitionTime": "2026-01-01T00:00:00Z" }] }
    }))
    .expect("a cluster");
    View {
        now: "2026-01-01T00:01:00Z".parse().expect("a time"),
        machine: Arc::new(machine),
        cluster: Lookup::Found(Arc::new(cluster)),
        bootstrap: Some(external("KubeadmConfig", owned(json!({}), json!({})))),
        infrastructure: external("DevMachine", owned(json!({}), json!({}))),
        node: Remote::Absent,
        node_rivals: Vec::new(),
        health: Health {
            last_probe_success: Some("2026-01-01T00:00:59Z".parse().expect("a time")),
            failures: 0,
        },
        machine_set: None,
        machine_deployment: None,
        node_deletion: NodeDeletion::Allowed,
        drain: Drain::NotAsked,
    }
}

fn provisioned() -> Lookup<External> {
    let status = json!({ "initialization": { "provisioned": true } });
    external("DevMachine", owned(status, json!({ "providerID": "dev://m" })))
}

fn with_data() -> Option<Lookup<External>> {
    let status = json!({ "initialization": { "dataSecretCreated": true }, "dataSecretName": "m" });
    Some(external("KubeadmConfig", owned(status, json!({}))))
}

fn deleting(mut view: View) -> View {
    let mut machine = (*view.machine).clone();
    let time = serde_json::from_value(json!("2026-01-01T00:00:30Z")).expect("a time");
    machine.metadata.deletion_timestamp = Some(time);
    view.machine = Arc::new(machine);
    view
}

/// The reasons of the steps and waits, and whether the Machine may go.
fn told(view: &View) -> String {
    let plan = decide(view);
    let steps = plan.steps.iter().map(|it| it.why.reason.to_string());
    let waits = plan.waiting.iter().map(|it| format!("({})", it.reason));
    let end = plan.finalize.then(|| "gone".to_owned());
    steps.chain(waits).chain(end).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_machine_comes_up_step_by_step() {
    let with_host = View {
        bootstrap: with_data(),
        infrastructure: provisioned(),
        ..view()
    };
    let node = json!({ "metadata": { "name": "n" }, "spec": { "providerID": "dev://m" } });
    let with_node = View {
        node: Remote::Found(Arc::new(serde_json::from_value(node).expect("a node"))),
        ..with_host.clone()
    };
    let table = [
        ("no data yet", view(), "(WaitingForDataSecret)"),
        (
            "data, no host",
            View {
                bootstrap: with_data(),
                ..view()
            },
            "Adopt (WaitingForInfrastructure)",
        ),
        ("data and host, no node", with_host, "Adopt (WaitingForNode)"),
        ("a node", with_node, "Adopt SyncNode SuccessfulSetNodeRef"),
    ];
    for (case, view, expected) in table {
        assert_eq!(told(&view), expected, "{case}");
    }
}

#[test]
fn a_machine_goes_step_by_step_and_hooks_hold_it() {
    let mut held = deleting(view());
    let mut machine = (*held.machine).clone();
    machine.metadata.annotations = Some(
        [(
            "pre-terminate.delete.hook.machine.cluster.x-k8s.io/x".to_owned(),
            String::new(),
        )]
        .into(),
    );
    held.machine = Arc::new(machine);
    let no_host = View {
        infrastructure: Lookup::Absent,
        ..deleting(view())
    };
    let nothing = View {
        bootstrap: Some(Lookup::Absent),
        ..no_host.clone()
    };
    let node = serde_json::from_value(json!({ "metadata": { "name": "n" } })).expect("a node");
    let with_node = View {
        node: Remote::Found(Arc::new(node)),
        now: "2026-01-01T00:00:35Z".parse().expect("a time"),
        ..nothing.clone()
    };
    let too_long = View {
        now: "2026-01-01T00:00:45Z".parse().expect("a time"),
        ..with_node.clone()
    };
    let unreadable = View {
        infrastructure: Lookup::Unreadable(capstan_engine::ReadFailure("no CRD".to_owned())),
        ..deleting(view())
    };
    let table = [
        ("held", held, "(WaitingForPreTerminateHook)"),
        (
            "host first",
            deleting(view()),
            "WaitingForInfrastructureDeletion (WaitingForInfrastructureDeletion)",
        ),
        (
            "nobody knows of the host",
            unreadable,
            "(WaitingForInfrastructureDeletion)",
        ),
        (
            "then the bootstrap object",
            no_host,
            "WaitingForBootstrapDeletion (WaitingForBootstrapDeletion)",
        ),
        ("then the node", with_node.clone(), "DeletingNode (DeletingNode)"),
        ("ten seconds are enough for a node", too_long, "gone"),
        ("no node to delete", nothing, "gone"),
        (
            "the node of a whole cluster that goes stays",
            View {
                node_deletion: NodeDeletion::ClusterDeleting,
                ..with_node
            },
            "gone",
        ),
    ];
    for (case, view, expected) in table {
        assert_eq!(told(&view), expected, "{case}");
    }
}

#[test]
fn the_phase_and_the_conditions_follow() {
    let shown = |view: &View| {
        let status = report(view, &decide(view), &capstan_engine::Trail::default());
        let conditions = conditions::of(view, &status, "");
        let ready = conditions
            .iter()
            .find(|it| it.type_ == "Ready")
            .map(|it| it.message.clone())
            .unwrap_or_default();
        format!(
            "{}: {}",
            status.phase.map(|it| it.as_str()).unwrap_or_default(),
            ready
        )
    };
    assert_eq!(
        shown(&view()),
        "Pending: * BootstrapConfigReady: KubeadmConfig status.initialization.dataSecretCreated is false\n\
         * InfrastructureReady: DevMachine status.initialization.provisioned is false\n\
         * NodeHealthy: Waiting for DevMachine to report spec.providerID"
    );
    let node = json!({ "metadata": { "name": "n" }, "status": { "conditions": [
        { "type": "Ready", "status": "True" }, { "type": "MemoryPressure", "status": "False" },
        { "type": "DiskPressure", "status": "False" }, { "type": "PIDPressure", "status": "False" }] } });
    let running = View {
        bootstrap: with_data(),
        infrastructure: provisioned(),
        node: Remote::Found(Arc::new(serde_json::from_value(node).expect("a node"))),
        ..view()
    };
    assert_eq!(shown(&running), "Running: ");
}

#[test]
fn readers_of_v1beta1_follow_a_machine_too() {
    let shown = |view: &View| lines(&v1beta1::report(view, "").v1beta1.conditions);
    expect![[r"
        Ready False Info | WaitingForInfrastructure | 0 of 2 completed
        BootstrapReady False Info | WaitingForDataSecret
        InfrastructureReady False Info | WaitingForInfrastructure
        NodeHealthy False Info | WaitingForNodeRef
    "]]
    .assert_eq(&shown(&view()));
    let booting = json!({ "deprecated": { "v1beta1": { "conditions": [
        { "type": "Ready", "status": "False", "severity": "Warning", "reason": "Booting", "message": "almost",
          "lastTransitionTime": "2026-01-01T00:00:20Z" }] } } });
    let with_data = View {
        bootstrap: with_data(),
        infrastructure: external("DevMachine", owned(booting, json!({}))),
        ..view()
    };
    expect![[r"
        Ready False Warning | Booting | 1 of 2 completed
        BootstrapReady True
        InfrastructureReady False Warning | Booting | almost
        NodeHealthy False Info | WaitingForNodeRef
    "]]
    .assert_eq(&shown(&with_data));
    let with_host = View {
        infrastructure: provisioned(),
        ..with_data
    };
    expect![[r"
        Ready True
        BootstrapReady True
        InfrastructureReady True
        NodeHealthy False Warning | NodeProvisioning | Waiting for a node with matching ProviderID to exist
    "]]
    .assert_eq(&shown(&with_host));
    let node = json!({ "metadata": { "name": "n" }, "status": { "conditions": [
        { "type": "Ready", "status": "Unknown" }, { "type": "MemoryPressure", "status": "True" }] } });
    let with_node = View {
        node: Remote::Found(Arc::new(serde_json::from_value(node).expect("a node"))),
        ..with_host.clone()
    };
    expect![[r"
        Ready True
        BootstrapReady True
        InfrastructureReady True
        NodeHealthy False Warning | NodeConditionsFailed | Node condition Ready is Unknown. Node condition MemoryPressure is True
    "]]
    .assert_eq(&shown(&with_node));
    let gone = View {
        infrastructure: Lookup::Absent,
        ..deleting(with_host)
    };
    expect![[r"
        Ready False Info | Deleted
        BootstrapReady True
        InfrastructureReady False Info | Deleted
        NodeHealthy False Info | WaitingForNodeRef
        PreDrainDeleteHookSucceeded True
        PreTerminateDeleteHookSucceeded True
    "]]
    .assert_eq(&shown(&gone));
}

#[test]
fn a_terminal_failure_of_the_host_stays_readable_in_v1beta1() {
    let status = json!({ "failureReason": "CreateError", "failureMessage": "no quota" });
    let failed = View {
        infrastructure: external("DevMachine", owned(status, json!({}))),
        ..view()
    };
    let status = v1beta1::report(&failed, "").v1beta1;
    assert_eq!(
        (
            status.failure_reason.as_deref(),
            status.failure_message.as_deref()
        ),
        (
            Some("CreateError"),
            Some(
                "Failure detected from referenced resource g/v1beta2, Kind=DevMachine with name \"m\": no quota"
            )
        )
    );
}

/// A Machine that is being deleted, its Node with pods still on it.
fn draining(spec: Value, status: Value, annotations: Value) -> View {
    let mut view = deleting(View {
        bootstrap: with_data(),
        infrastructure: provisioned(),
        ..view()
    });
    let patch = json!({ "metadata": { "annotations": annotations }, "spec": { "deletion": spec },
        "status": { "nodeRef": { "name": "n" }, "deletion": status } });
    let machine = serde_json::to_value(&*view.machine).expect("JSON");
    let machine = capstan_merge::merge_patch::apply(&machine, &patch).expect("a patch");
    view.machine = Arc::new(serde_json::from_value(machine).expect("a machine"));
    let node: Arc<Node> = Arc::new(
        serde_json::from_value(json!({ "metadata": { "name": "n" }, "spec": { "unschedulable": true } }))
            .expect("a node"),
    );
    let pod = json!({ "metadata": { "name": "p", "namespace": "apps" } });
    view.node = Remote::Found(Arc::clone(&node));
    view.drain = Drain::Found(Box::new(Found {
        node,
        pods: vec![Judged {
            pod: Arc::new(serde_json::from_value(pod).expect("a pod")),
            disposition: Disposition::Drain(0),
        }],
        volumes: Attached::default(),
    }));
    view
}

#[test]
fn a_node_is_drained_and_its_volumes_detached_before_its_host_goes() {
    let (empty, begun) = (json!({}), json!({ "nodeDrainStartTime": "2026-01-01T00:00:00Z" }));
    let with = |view: View, drain: Drain| View { drain, ..view };
    let usual = || draining(empty.clone(), empty.clone(), empty.clone());
    let change = |view: View, change: &dyn Fn(&mut Found)| {
        let Drain::Found(mut found) = view.drain.clone() else {
            return view;
        };
        change(&mut found);
        with(view, Drain::Found(found))
    };
    let open = change(usual(), &|it| it.node = Arc::default());
    let emptied = |view: View| change(view, &|it| it.pods.clear());
    let attached = |view: View| change(emptied(view), &|it| it.volumes.claims = vec!["apps/c".to_owned()]);
    let timed = |limit: i32| {
        draining(
            json!({ "nodeDrainTimeoutSeconds": limit }),
            begun.clone(),
            empty.clone(),
        )
    };
    let annotated = |name: &str| {
        draining(
            empty.clone(),
            empty.clone(),
            json!({ format!("machine.cluster.x-k8s.io/{name}"): "" }),
        )
    };
    let detaching = json!({ "waitForNodeVolumeDetachStartTime": "2026-01-01T00:00:00Z" });
    let host = "WaitingForInfrastructureDeletion (WaitingForInfrastructureDeletion)";
    for (case, view, expected) in [
        ("pods are evicted", usual(), "DrainingNode (DrainingNode)"),
        (
            "a Node is closed first",
            open,
            "DrainingNode DrainingNode (DrainingNode)",
        ),
        ("nothing is left", emptied(usual()), host),
        ("the Node is gone", with(usual(), Drain::NodeGone), host),
        (
            "nobody answers",
            with(usual(), Drain::Failed("no".to_owned())),
            "(DrainingNode)",
        ),
        ("within its time", timed(61), "DrainingNode (DrainingNode)"),
        ("its time is over", timed(60), host),
        ("without limit", timed(0), "DrainingNode (DrainingNode)"),
        ("a user says no", annotated("exclude-node-draining"), host),
        (
            "volumes are attached",
            attached(usual()),
            "(WaitingForVolumeDetach)",
        ),
        (
            "a user does not wait for them",
            attached(annotated("exclude-wait-for-node-volume-detach")),
            host,
        ),
        (
            "volumes had their time",
            attached(draining(
                json!({ "nodeVolumeDetachTimeoutSeconds": 60 }),
                detaching,
                empty.clone(),
            )),
            host,
        ),
        (
            "what was begun and done is told",
            emptied(draining(empty.clone(), begun.clone(), empty.clone())),
            "WaitingForInfrastructureDeletion SuccessfulDrainNode (WaitingForInfrastructureDeletion)",
        ),
    ] {
        assert_eq!(told(&view), expected, "{case}");
    }
}

#[test]
fn a_drain_that_a_budget_holds_says_which() {
    let view = draining(json!({}), json!({}), json!({}));
    let plan = decide(&view);
    let refused = ActError::Evict {
        pod: ObjectKey::new("apps", "p"),
        why: "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget web needs 1 \
              healthy pods and has 1 currently"
            .to_owned(),
    };
    let trail = Trail {
        outcomes: vec![Outcome::Failed(refused)],
    };
    let status = report(&view, &plan, &trail);
    let deleting = status.conditions.iter().find(|it| it.type_ == "Deleting");
    expect![[r"
        Drain not completed yet (started at 2026-01-01T00:01:00Z):
        * Pod apps/p: cannot evict pod as it would violate the pod's disruption budget. The disruption budget web needs 1 healthy pods and has 1 currently"]]
    .assert_eq(deleting.map(|it| it.message.as_str()).unwrap_or_default());
    let old = lines(&status.deprecated.v1beta1.conditions);
    assert!(
        old.contains("DrainingSucceeded False Info | Draining | Drain not completed yet"),
        "{old}"
    );
    assert!(status.deletion.and_then(|it| it.node_drain_start_time).is_some());
}
