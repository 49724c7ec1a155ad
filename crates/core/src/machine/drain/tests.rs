//! Judgements about pods and volumes as tables, and the sentences that tell how a drain stands.

use std::{collections::BTreeMap, sync::Arc};

use capstan_api::core::MachineDrainRule;
use expect_test::expect;
use k8s_openapi::api::{
    core::v1::{Node, PersistentVolume, Pod},
    storage::v1::VolumeAttachment,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{
    Attached, Disposition, Found, Judged, message,
    rules::{Context, disposition},
    volumes_message,
};

const NOW: &str = "2026-01-01T00:10:00Z";

fn parse<K: DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).expect("an object")
}

/// A pod in namespace `ns`, running, of a replica set.
fn pod(changes: Value) -> Arc<Pod> {
    let pod = json!({ "metadata": { "name": "p", "namespace": "ns",
            "ownerReferences": [{ "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u", "controller": true }] },
        "status": { "phase": "Running" } });
    let pod = capstan_merge::merge_patch::apply(&pod, &changes).expect("a patch");
    Arc::new(parse(pod))
}

fn rule(name: &str, spec: Value) -> Arc<MachineDrainRule> {
    Arc::new(parse(
        json!({ "metadata": { "name": name, "namespace": "ns" }, "spec": spec }),
    ))
}

fn context(rules: Vec<Arc<MachineDrainRule>>) -> Context {
    Context {
        now: NOW.parse().expect("a time"),
        is_unreachable: false,
        daemon_sets: ["ns/daemon".to_owned()].into(),
        namespaces: [("ns".to_owned(), [("tier".to_owned(), "one".to_owned())].into())].into(),
        rules,
    }
}

#[test]
fn a_pod_is_evicted_unless_its_kind_its_label_or_a_rule_says_otherwise() {
    let owned = |name: &str| {
        json!({ "metadata": { "ownerReferences": [{ "apiVersion": "apps/v1", "kind": "DaemonSet",
        "name": name, "uid": "u", "controller": true }] } })
    };
    let finished = json!({ "status": { "phase": "Succeeded" } });
    let labelled = |value: &str| json!({ "metadata": { "labels": { "cluster.x-k8s.io/drain": value } } });
    let mirror = json!({ "metadata": { "annotations": { "kubernetes.io/config.mirror": "x" } } });
    let mut done = labelled("wait-completed");
    done["status"] = json!({ "phase": "Succeeded" });
    for (case, pod, expected) in [
        ("a usual one", pod(json!({})), Disposition::Drain(0)),
        (
            "without a controller",
            pod(json!({ "metadata": { "ownerReferences": null } })),
            Disposition::Drain(0),
        ),
        ("of a daemon set", pod(owned("daemon")), Disposition::Skip),
        (
            "of a daemon set that is gone",
            pod(owned("gone")),
            Disposition::Drain(0),
        ),
        ("static", pod(mirror), Disposition::Skip),
        ("finished", pod(finished), Disposition::Drain(0)),
        ("to be left alone", pod(labelled("skip")), Disposition::Skip),
        (
            "to be waited for",
            pod(labelled("wait-completed")),
            Disposition::WaitCompleted,
        ),
        ("waited for and done", pod(done), Disposition::Skip),
        ("an unknown label", pod(labelled("never")), Disposition::Drain(0)),
    ] {
        assert_eq!(disposition(&pod, &context(Vec::new())), expected, "{case}");
    }
}

#[test]
fn the_first_rule_that_is_about_a_pod_decides() {
    let about = |labels: Value, namespace: Value, drain: Value| json!({ "drain": drain, "pods": [{ "selector": { "matchLabels": labels }, "namespaceSelector": { "matchLabels": namespace } }] });
    let web = pod(json!({ "metadata": { "labels": { "app": "web" } } }));
    let (late, skip) = (
        json!({ "behavior": "Drain", "order": 5 }),
        json!({ "behavior": "Skip" }),
    );
    for (case, rules, expected) in [
        (
            "another app",
            vec![rule("a", about(json!({ "app": "db" }), json!({}), skip.clone()))],
            Disposition::Drain(0),
        ),
        (
            "another namespace",
            vec![rule(
                "a",
                about(json!({}), json!({ "tier": "two" }), skip.clone()),
            )],
            Disposition::Drain(0),
        ),
        (
            "the first",
            vec![
                rule(
                    "a",
                    about(json!({ "app": "web" }), json!({ "tier": "one" }), late.clone()),
                ),
                rule("b", json!({ "drain": skip })),
            ],
            Disposition::Drain(5),
        ),
        (
            "all pods",
            vec![rule("a", json!({ "drain": { "behavior": "WaitCompleted" } }))],
            Disposition::WaitCompleted,
        ),
    ] {
        assert_eq!(disposition(&web, &context(rules)), expected, "{case}");
    }
}

#[test]
fn pods_of_a_silent_kubelet_are_given_up_once_they_were_deleted() {
    let silent = Context {
        is_unreachable: true,
        ..context(Vec::new())
    };
    for (deleted, expected) in [
        (Value::Null, Disposition::Drain(0)),
        (json!("2026-01-01T00:09:59Z"), Disposition::Drain(0)),
        (json!("2026-01-01T00:09:58Z"), Disposition::Skip),
    ] {
        let pod = pod(json!({ "metadata": { "deletionTimestamp": deleted } }));
        assert_eq!(disposition(&pod, &silent), expected, "{deleted}");
    }
}

/// A node with pods `name:disposition`, `!` where one is being deleted.
fn found(pods: &[(&str, Disposition)]) -> Found {
    let judged = |(name, disposition): &(&str, Disposition)| {
        let deleted = if name.ends_with('!') {
            json!(NOW)
        } else {
            Value::Null
        };
        let name = name.trim_end_matches('!');
        Judged {
            pod: pod(json!({ "metadata": { "name": name, "deletionTimestamp": deleted } })),
            disposition: *disposition,
        }
    };
    Found {
        node: Arc::new(parse(json!({ "metadata": { "name": "n" } }))),
        pods: pods.iter().map(judged).collect(),
        volumes: Attached::default(),
    }
}

#[test]
fn pods_of_the_lowest_order_go_first_and_the_rest_is_announced() {
    let found = found(&[
        ("a", Disposition::Drain(1)),
        ("b", Disposition::Drain(0)),
        ("c!", Disposition::Drain(0)),
        ("d", Disposition::Skip),
        ("e", Disposition::WaitCompleted),
        ("f", Disposition::Drain(0)),
        ("g", Disposition::Drain(0)),
        ("h", Disposition::Drain(0)),
    ]);
    let now: Vec<String> = found.evictable().map(Judged::name).collect();
    assert_eq!(
        (now, found.is_drained()),
        (["b", "f", "g", "h"].map(|it| format!("ns/{it}")).to_vec(), false)
    );
    let budget = "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget web needs 2 \
                  healthy pods and has 2 currently";
    let failures: BTreeMap<String, String> = [("ns/b", budget), ("ns/f", "no")]
        .map(|(pod, why)| (pod.to_owned(), why.to_owned()))
        .into();
    expect![[r"
        Drain not completed yet (started at 2026-01-01T00:10:00Z):
        * Pods ns/c, ns/g, ns/h: deletionTimestamp set, but still not removed from the Node
        * Pod ns/b: cannot evict pod as it would violate the pod's disruption budget. The disruption budget web needs 2 healthy pods and has 2 currently
        * Pod ns/f: failed to evict Pod, no
        * Pod ns/e: waiting for completion
        After above Pods have been removed from the Node, the following Pods will be evicted: ns/a"]]
    .assert_eq(&message(&found, NOW.parse().expect("a time"), &failures));
}

#[test]
fn volumes_hold_a_node_unless_their_pods_may_stay() {
    let node: Node = parse(
        json!({ "metadata": { "name": "n" }, "status": { "volumesAttached": [
        { "name": "kubernetes.io/csi/disk.io^1", "devicePath": "" }, { "name": "kubernetes.io/csi/disk.io^9", "devicePath": "" }] } }),
    );
    let attachment = |node: &str, volume: &str, attached: bool| -> VolumeAttachment {
        parse(
            json!({ "metadata": { "name": volume }, "spec": { "attacher": "a", "nodeName": node,
            "source": { "persistentVolumeName": volume } }, "status": { "attached": attached } }),
        )
    };
    let volume = |name: &str, handle: &str, claim: Value| -> PersistentVolume {
        parse(
            json!({ "metadata": { "name": name }, "spec": { "csi": { "driver": "disk.io", "volumeHandle": handle }, "claimRef": claim } }),
        )
    };
    let claim = |name: &str| json!({ "kind": "PersistentVolumeClaim", "namespace": "ns", "name": name });
    let mut pods = found(&[("d", Disposition::Skip)]).pods;
    let kept = json!({ "spec": { "containers": [], "volumes": [{ "name": "v", "persistentVolumeClaim": { "claimName": "kept" } }] } });
    pods[0].pod = pod(kept);
    let attachments: Vec<VolumeAttachment> = [
        ("n", "two", true),
        ("n", "three", true),
        ("n", "four", true),
        ("n", "five", false),
        ("other", "six", true),
        ("n", "lost", true),
    ]
    .iter()
    .map(|(node, volume, attached)| attachment(node, volume, *attached))
    .collect();
    let claims = [
        ("one", claim("a")),
        ("two", claim("b")),
        ("three", Value::Null),
        ("four", claim("kept")),
        ("five", claim("c")),
        ("six", claim("d")),
    ];
    let numbered = (1..7).zip(claims);
    let volumes: Vec<PersistentVolume> = numbered
        .map(|(number, (name, claim))| volume(name, &number.to_string(), claim))
        .collect();
    let attached = Attached::of(&node, &attachments, &volumes, &pods);
    expect![[r"
        Waiting for Node volumes to be detached (started at 2026-01-01T00:10:00Z)
        * PersistentVolumeClaims: ns/a, ns/b
        * PersistentVolumes without a .spec.claimRef to a PersistentVolumeClaim: three
        * Node with .status.volumesAttached entries not matching a PersistentVolume: kubernetes.io/csi/disk.io^9
        * VolumeAttachment with .spec.source.persistentVolumeName not matching a PersistentVolume: lost"]]
    .assert_eq(&volumes_message(&attached, NOW.parse().expect("a time")));
}
