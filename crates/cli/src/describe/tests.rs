//! Whole trees as text.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{
    build::build,
    fetch::{Facts, Reference},
    render::render,
    tree::Options,
};

const GROUP: &str = "infrastructure.cluster.x-k8s.io";

fn check(facts: &Facts, options: &Options, expected: &Expect) {
    let now = "2026-01-02T03:10:05Z".parse().unwrap();
    expected.assert_eq(&render(&build(facts, options), now, false));
}

fn defaults() -> Options {
    Options {
        grouping: true,
        ..Options::default()
    }
}

fn condition(type_: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({
        "type": type_, "status": status, "reason": reason, "message": message,
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    })
}

fn object(kind: &str, name: &str, spec: &Value, status: &Value) -> Value {
    json!({
        "kind": kind,
        "metadata": {"namespace": "default", "name": name, "uid": format!("{kind}-{name}")},
        "spec": spec,
        "status": status,
    })
}

fn owned_by(mut object: Value, kind: &str, name: &str) -> Value {
    object["metadata"]["ownerReferences"] =
        json!([{"kind": kind, "name": name, "uid": format!("{kind}-{name}"), "controller": true}]);
    object
}

fn machine(name: &str, ready: &Value) -> Value {
    let spec = json!({
        "version": "v1.34.1",
        "infrastructureRef": {"apiGroup": GROUP, "kind": "DevMachine", "name": name},
    });
    let is_ready = ready["status"] == "True";
    let (status, reason) = if is_ready {
        ("True", "Available")
    } else {
        ("False", "NotReady")
    };
    let conditions = [
        condition("Available", status, reason, ""),
        ready.clone(),
        condition("UpToDate", "True", "UpToDate", ""),
    ];
    object("Machine", name, &spec, &json!({"conditions": conditions}))
}

fn control_plane_machine(name: &str, ready: &Value) -> Value {
    let mut machine = machine(name, ready);
    machine["metadata"]["labels"] = json!({"cluster.x-k8s.io/control-plane": ""});
    machine
}

/// Three control plane machines; of two workers one does not come up.
fn facts() -> Facts {
    let ready = condition("Ready", "True", "Ready", "");
    let waiting = condition(
        "Ready",
        "False",
        "NotReady",
        "* NodeHealthy: waiting for a node\n* InfrastructureReady: the VM boots",
    );
    let cluster_status = json!({
        "controlPlane": {"desiredReplicas": 3, "replicas": 3, "readyReplicas": 3, "availableReplicas": 3, "upToDateReplicas": 3},
        "workers": {"desiredReplicas": 2, "replicas": 2, "readyReplicas": 1, "availableReplicas": 1, "upToDateReplicas": 2},
        "conditions": [condition("Available", "False", "NotAvailable", "* WorkersAvailable:\n  * MachineDeployment demo-md: 1 available replicas, at least 2 required")],
    });
    let all_good = json!({
        "version": "v1.34.1", "replicas": 3, "readyReplicas": 3, "availableReplicas": 3, "upToDateReplicas": 3,
        "conditions": [condition("Available", "True", "Available", "")],
    });
    let pool = json!({
        "replicas": 2, "template": {"spec": {
            "version": "v1.34.1",
            "bootstrap": {"configRef": {"apiGroup": "bootstrap.cluster.x-k8s.io", "kind": "KubeadmConfigTemplate", "name": "demo-md"}},
            "infrastructureRef": {"apiGroup": GROUP, "kind": "DevMachineTemplate", "name": "demo-md"},
        }},
    });
    let pool_status = json!({
        "replicas": 2, "readyReplicas": 1, "availableReplicas": 1, "upToDateReplicas": 2,
        "conditions": [condition("Available", "False", "NotAvailable", "1 available replicas, at least 2 required")],
    });
    let control_plane_spec = json!({
        "replicas": 3, "version": "v1.34.1",
        "machineTemplate": {"spec": {"infrastructureRef": {"apiGroup": GROUP, "kind": "DevMachineTemplate", "name": "demo-cp"}}},
    });
    let part = |name: &str, condition: Value| {
        let reference = Reference {
            group: GROUP.to_owned(),
            kind: "DevMachine".to_owned(),
            name: name.to_owned(),
        };
        (
            reference,
            object(
                "DevMachine",
                name,
                &json!({}),
                &json!({"conditions": [condition]}),
            ),
        )
    };
    Facts {
        cluster: object("Cluster", "demo", &json!({}), &cluster_status),
        infrastructure: Some(object(
            "DevCluster",
            "demo",
            &json!({}),
            &json!({"conditions": [ready]}),
        )),
        control_plane: Some((
            object("KubeadmControlPlane", "demo-cp", &control_plane_spec, &all_good),
            capstan_api::contract::Contract::V1Beta2,
        )),
        machines: vec![
            control_plane_machine("demo-cp-1", &ready),
            control_plane_machine("demo-cp-2", &ready),
            control_plane_machine("demo-cp-3", &ready),
            owned_by(machine("demo-md-1", &ready), "MachineSet", "demo-md-a"),
            owned_by(machine("demo-md-2", &waiting), "MachineSet", "demo-md-a"),
        ],
        machine_sets: vec![owned_by(
            object("MachineSet", "demo-md-a", &pool, &pool_status),
            "MachineDeployment",
            "demo-md",
        )],
        machine_deployments: vec![object("MachineDeployment", "demo-md", &pool, &pool_status)],
        parts: [
            part("demo-md-1", condition("Ready", "True", "Ready", "")),
            part(
                "demo-md-2",
                condition("Ready", "False", "WaitingForVM", "the VM boots"),
            ),
        ]
        .into(),
        ..Facts::default()
    }
}

#[test]
fn a_cluster_is_shown_with_its_trouble() {
    check(
        &facts(),
        &defaults(),
        &expect![[r#"
        NAME                                            REPLICAS AVAILABLE READY UP TO DATE STATUS REASON        SINCE MESSAGE
        Cluster default/demo                            5/5      4         4     5          False  NotAvailable  6m    * WorkersAvailable:
        │                                                                                                                * MachineDeployment demo-md: 1 available replicas, at least 2 required
        ├─DevCluster default/demo                                                           True   Ready         6m
        ├─KubeadmControlPlane default/demo-cp, v1.34.1  3/3      3         3     3          True   Available     6m
        │ └─3 Machines...                                        3         3     3          True   Ready         6m    See demo-cp-1, demo-cp-2, ...
        └─Workers
          └─MachineDeployment default/demo-md, v1.34.1  2/2      1         1     2          False  NotAvailable  6m    1 available replicas, at least 2 required
            ├─Machine default/demo-md-1, v1.34.1        1        1         1     1          True   Ready         6m
            └─Machine default/demo-md-2, v1.34.1        1        0         0     1          False  NotReady      6m    * NodeHealthy: waiting for a node
              │                                                                                                        * InfrastructureReady: the VM boots
              └─DevMachine default/demo-md-2                                                False  WaitingForVM  6m    the VM boots
    "#]],
    );
}

#[test]
fn everything_is_shown_if_it_is_asked_for() {
    let options = Options {
        show_conditions: "Machine/demo-md-2,KubeadmControlPlane+".to_owned(),
        show_machine_sets: true,
        show_templates: true,
        echo: true,
        grouping: false,
    };
    check(
        &facts(),
        &options,
        &expect![[r#"
        NAME                                            REPLICAS AVAILABLE READY UP TO DATE STATUS REASON        SINCE MESSAGE
        Cluster default/demo                            5/5      4         4     5          False  NotAvailable  6m    * WorkersAvailable:
        │                                                                                                                * MachineDeployment demo-md: 1 available replicas, at least 2 required
        ├─DevCluster default/demo                                                           True   Ready         6m
        ├─KubeadmControlPlane default/demo-cp, v1.34.1  3/3      3         3     3
        │ │           └─Available                                                           True   Available     6m
        │ ├─Templates
        │ │ └─DevMachineTemplate default/demo-cp
        │ ├─Machine default/demo-cp-1, v1.34.1          1        1         1     1          True   Ready         6m
        │ ├─Machine default/demo-cp-2, v1.34.1          1        1         1     1          True   Ready         6m
        │ └─Machine default/demo-cp-3, v1.34.1          1        1         1     1          True   Ready         6m
        └─Workers
          └─MachineDeployment default/demo-md, v1.34.1  2/2      1         1     2          False  NotAvailable  6m    1 available replicas, at least 2 required
            ├─Templates
            │ ├─DevMachineTemplate default/demo-md
            │ └─KubeadmConfigTemplate default/demo-md
            └─MachineSet default/demo-md-a, v1.34.1     2/2      1         1     2
              ├─Machine default/demo-md-1, v1.34.1      1        1         1     1          True   Ready         6m
              │ └─DevMachine default/demo-md-1                                              True   Ready         6m
              └─Machine default/demo-md-2, v1.34.1      1        0         0     1
                │           ├─Available                                                     False  NotReady      6m
                │           ├─Ready                                                         False  NotReady      6m    * NodeHealthy: waiting for a node
                │           │                                                                                          * InfrastructureReady: the VM boots
                │           └─UpToDate                                                      True   UpToDate      6m
                └─DevMachine default/demo-md-2                                              False  WaitingForVM  6m    the VM boots
    "#]],
    );
}

#[test]
fn what_is_deleted_and_what_has_no_owner_is_shown_as_such() {
    let mut facts = facts();
    facts.cluster["metadata"]["deletionTimestamp"] = "2026-01-02T03:05:00Z".into();
    facts.control_plane = None;
    facts.infrastructure = None;
    facts.machines.truncate(4);
    facts.machine_sets.clear();
    facts.machine_deployments.clear();
    check(
        &facts,
        &defaults(),
        &expect![[r#"
        NAME                                      REPLICAS AVAILABLE READY UP TO DATE STATUS REASON        SINCE MESSAGE
        !! DELETED !! Cluster default/demo        5/5      4         4     5          False  NotAvailable  6m    * WorkersAvailable:
        │                                                                                                          * MachineDeployment demo-md: 1 available replicas, at least 2 required
        └─Workers
          └─Other
            └─Machine default/demo-md-1, v1.34.1  1        1         1     1          True   Ready         6m
    "#]],
    );
}
