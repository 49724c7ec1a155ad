//! Control planes drawn in a line: `m1 m2:a m3:nd` is three machines, with marks for what is not as usual.

use std::sync::Arc;

use capstan_api::{
    bootstrap::KubeadmConfig,
    controlplane::KubeadmControlPlane,
    core::{Cluster, Machine},
    well_known::annotation,
};
use capstan_contract::External;
use capstan_engine::Lookup;
use capstan_workload::{
    Remote,
    etcd::{Member as EtcdMember, MemberId},
};
use k8s_openapi::api::core::v1::{Node, Pod};
use serde_json::{Value, json};

use crate::{
    decide::decide,
    observe::certificate_set,
    upkeep::Upkeep,
    view::{Component, Etcd, Kubeconfig, Member, View},
};

/// The time of every pass.
pub(super) const NOW: &str = "2026-01-02T00:00:00Z";
/// The version that is wanted; a machine marked `o` has the one before.
pub(super) const VERSION: &str = "v1.36.0";

/// A control plane that wants `replicas` machines and has those drawn, each with a node, four healthy pods and a
/// voting etcd member, unless a mark says otherwise:
/// `o` older version, `n` no node yet, `d` being deleted, `h` waits for its etcd member to be taken out, `a` API server
/// down, `e` etcd pod down, `l` etcd member is a learner, `x` no etcd member, `u` health check failed and the owner is to
/// replace it, `f` health check failed and nobody is asked, `r` recovered.
pub(super) fn control_plane(replicas: i32, drawn: &str) -> View {
    let mut control_plane = KubeadmControlPlane::new("ns", "cp");
    control_plane.metadata.uid = Some("uid-cp".to_owned());
    control_plane.spec.replicas = Some(replicas);
    VERSION.clone_into(&mut control_plane.spec.version);
    control_plane.spec.machine_template.spec.infrastructure_ref =
        serde_json::from_value(json!({ "apiGroup": "infrastructure.cluster.x-k8s.io",
            "kind": "DevMachineTemplate", "name": "hosts" }))
        .expect("a reference");
    control_plane.status = Some(
        serde_json::from_value(json!({ "initialization": { "controlPlaneInitialized": true } }))
            .expect("a status"),
    );
    let members: Vec<Member> = drawn.split_whitespace().enumerate().map(member).collect();
    let etcd = drawn.split_whitespace().filter_map(etcd_member).collect();
    View {
        now: NOW.parse().expect("a time"),
        failures: 0,
        workers: 0,
        certificates: certificate_set(&control_plane)
            .0
            .iter()
            .map(|it| (it.purpose, Lookup::Found(())))
            .collect(),
        control_plane: Arc::new(control_plane),
        cluster: Some(Arc::new(cluster())),
        members,
        orphans: Vec::new(),
        unclaimed: Vec::new(),
        infrastructure_template: Lookup::Found(template()),
        kubeconfig: Lookup::Found(Kubeconfig { needs_renewal: false }),
        kubeadm_config: Remote::Found(()),
        etcd: Remote::Found(Etcd {
            members: etcd,
            alarms: Vec::new(),
            leader: None,
        }),
        upkeep: Upkeep::Settled,
    }
}

/// Changes the control plane of a view.
pub(super) fn with(mut view: View, change: impl FnOnce(&mut KubeadmControlPlane)) -> View {
    change(Arc::make_mut(&mut view.control_plane));
    view
}

/// What is decided: a line per step and per wait, with `*` for what is random in a new name. What every pass does to
/// keep machines in step and tell of them is left out.
pub(super) fn decisions(view: &View) -> Vec<String> {
    let plan = decide(view);
    let own = ["InPlace", "MachineConditions", "Own"];
    let steps = plan
        .steps
        .iter()
        .filter(|it| !own.contains(&&*it.why.reason))
        .map(|it| it.why.to_string());
    let waits = plan.waiting.iter().map(|it| format!("wait {it}"));
    steps.chain(waits).map(|it| without_random(&it)).collect()
}

fn without_random(line: &str) -> String {
    match line.split_once("create Machine cp-") {
        Some((start, rest)) => format!("{start}create Machine cp-*{}", &rest[5..]),
        None => line.to_owned(),
    }
}

fn cluster() -> Cluster {
    let value = json!({ "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
        "metadata": { "namespace": "ns", "name": "c", "uid": "uid-c" },
        "spec": { "controlPlaneEndpoint": { "host": "10.0.0.1", "port": 6443 } },
        "status": { "initialization": { "infrastructureProvisioned": true } } });
    serde_json::from_value(value).expect("a Cluster")
}

fn template() -> External {
    let value = json!({ "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "DevMachineTemplate",
        "metadata": { "namespace": "ns", "name": "hosts",
            "ownerReferences": [{ "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": "c", "uid": "uid-c" }] },
        "spec": { "template": { "spec": {} } } });
    external("DevMachineTemplate", value)
}

fn external(kind: &str, value: Value) -> External {
    External {
        kind: kube::core::ApiResource {
            group: "infrastructure.cluster.x-k8s.io".to_owned(),
            version: "v1beta2".to_owned(),
            api_version: "infrastructure.cluster.x-k8s.io/v1beta2".to_owned(),
            kind: kind.to_owned(),
            plural: format!("{}s", kind.to_lowercase()),
        },
        contract: capstan_api::contract::Contract::V1Beta2,
        object: Arc::new(serde_json::from_value(value).expect("an object")),
    }
}

fn parts(text: &str) -> (&str, &str) {
    text.split_once(':').unwrap_or((text, ""))
}

fn member((place, text): (usize, &str)) -> Member {
    let (name, marks) = parts(text);
    let has = |mark: char| marks.contains(mark);
    let node = (!has('n')).then(|| json!({ "name": format!("node-{name}") }));
    let mut conditions = Vec::new();
    let mut say = |kind: &str, status: &str, reason: &str| {
        conditions.push(
            json!({ "type": kind, "status": status, "reason": reason, "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z" }),
        );
    };
    if has('u') || has('f') {
        say("HealthCheckSucceeded", "False", "UnhealthyNode");
    }
    if has('r') {
        say("HealthCheckSucceeded", "True", "HealthCheckSucceeded");
    }
    if has('u') || has('r') {
        say("OwnerRemediated", "False", "WaitingForRemediation");
    }
    if has('h') {
        say("Deleting", "True", "WaitingForPreTerminateHook");
    }
    let deleted = (has('d') || has('h')).then_some("2026-01-01T12:00:00Z");
    let machine: Machine = serde_json::from_value(json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
        "metadata": { "namespace": "ns", "name": name, "uid": format!("uid-{name}"),
            "creationTimestamp": format!("2026-01-01T00:0{place}:00Z"), "deletionTimestamp": deleted,
            "annotations": { annotation::KCP_PRE_TERMINATE_HOOK: "" } },
        "spec": { "clusterName": "c", "version": if has('o') { "v1.35.0" } else { VERSION },
            "bootstrap": { "configRef": { "apiGroup": "bootstrap.cluster.x-k8s.io", "kind": "KubeadmConfig", "name": name } },
            "infrastructureRef": { "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DevMachine", "name": name } },
        "status": { "nodeRef": node, "conditions": conditions },
    }))
    .expect("a Machine");
    let mut config = KubeadmConfig::new("ns", name);
    config
        .spec
        .join_configuration
        .control_plane
        .get_or_insert_default();
    let pod = |it: Component| {
        let is_down = (has('a') && it == Component::ApiServer) || (has('e') && it == Component::Etcd);
        (it, Remote::Found(Arc::new(static_pod(it, is_down))))
    };
    Member {
        machine: Arc::new(machine),
        infrastructure: Lookup::Absent,
        config: Lookup::Found(Arc::new(config)),
        node: if has('n') {
            Remote::Absent
        } else {
            Remote::Found(Arc::new(kubernetes_node(name)))
        },
        pods: if has('n') {
            Default::default()
        } else {
            Component::ALL.into_iter().map(pod).collect()
        },
    }
}

fn kubernetes_node(name: &str) -> Node {
    serde_json::from_value(json!({ "metadata": { "name": format!("node-{name}"),
        "creationTimestamp": "2026-01-01T00:30:00Z",
        "labels": { "node-role.kubernetes.io/control-plane": "" } } }))
    .expect("a Node")
}

fn static_pod(component: Component, is_down: bool) -> Pod {
    let status = if is_down {
        json!({ "phase": "Failed" })
    } else {
        json!({ "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] })
    };
    serde_json::from_value(json!({ "metadata": { "name": component.pod() }, "status": status }))
        .expect("a Pod")
}

fn etcd_member(text: &str) -> Option<EtcdMember> {
    let (name, marks) = parts(text);
    let is_there = !marks.contains('n') && !marks.contains('x');
    is_there.then(|| stray(&format!("node-{name}"), marks.contains('l')))
}

/// An etcd member of a node's name, which may be empty.
pub(super) fn stray(node: &str, is_learner: bool) -> EtcdMember {
    EtcdMember {
        id: MemberId(node.bytes().map(u64::from).sum()),
        name: node.to_owned(),
        peer_urls: Vec::new(),
        client_urls: Vec::new(),
        is_learner,
    }
}
