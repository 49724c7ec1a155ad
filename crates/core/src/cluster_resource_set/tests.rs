//! Decisions about a ClusterResourceSet as a table of situations.

use std::sync::Arc;

use capstan_api::{
    addons::{ClusterResourceSetBinding, ResourceReference},
    condition::v1beta1::lines,
};
use capstan_engine::{Lookup, ObjectKey, Trail};
use expect_test::expect;
use serde_json::{Value, json};

use super::{
    act::{ActError, Action},
    bindings,
    decide::decide,
    manifests::Manifests,
    report::report,
    view::{Resource, Target, View},
};

fn parse<K: serde::de::DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).expect("an object")
}

fn reference(name: &str) -> ResourceReference {
    parse(json!({ "kind": "ConfigMap", "name": name }))
}

/// A resource that the set owns already.
fn resource(hash: &str) -> Resource {
    Resource {
        metadata: parse(
            json!({ "ownerReferences": [{ "apiVersion": "addons.cluster.x-k8s.io/v1beta2",
            "kind": "ClusterResourceSet", "name": "s", "uid": "u" }] }),
        ),
        manifests: Some(Manifests {
            hash: hash.to_owned(),
            objects: Ok(Vec::new()),
        }),
    }
}

/// A set of one resource and one cluster that can be reached; what is recorded of the resource is `record`.
fn view(strategy: &str, hash: &str, record: Value) -> View {
    let binding = json!({
        "metadata": { "name": "c", "namespace": "ns", "uid": "b", "resourceVersion": "1", "ownerReferences": [
            { "apiVersion": "addons.cluster.x-k8s.io/v1beta2", "kind": "ClusterResourceSet", "name": "s", "uid": "u" }] },
        "spec": { "clusterName": "c", "bindings": [{ "clusterResourceSetName": "s", "resources": [record] }] }
    });
    View {
        now: "2026-01-01T00:00:00Z".parse().expect("a time"),
        set: Arc::new(parse(
            json!({ "metadata": { "name": "s", "namespace": "ns", "uid": "u" },
            "spec": { "strategy": strategy, "resources": [{ "kind": "ConfigMap", "name": "a" }] } }),
        )),
        targets: vec![Target {
            cluster: ObjectKey::new("ns", "c"),
            unreachable: None,
        }],
        resources: vec![(reference("a"), Lookup::Found(resource(hash)))],
        bindings: if record.is_null() {
            Vec::new()
        } else {
            vec![Arc::new(parse(binding))]
        },
    }
}

fn record(hash: &str, applied: bool) -> Value {
    json!({ "kind": "ConfigMap", "name": "a", "hash": hash, "applied": applied, "lastAppliedTime": "2026-01-01T00:00:00Z" })
}

/// What is done, in words.
fn told(view: &View) -> String {
    let plan = decide(view);
    let steps = plan.steps.iter().map(|step| match &step.action {
        Action::PatchResource { key, .. } => format!("own {}", key.name),
        Action::Apply {
            cluster,
            resources,
            updates,
            ..
        } => {
            let names: Vec<&str> = resources.iter().map(|it| it.reference.name.as_str()).collect();
            format!(
                "{} [{}] to {}",
                if *updates { "update" } else { "create" },
                names.join(" "),
                cluster.name
            )
        }
        Action::PatchBinding { key, .. } => format!("leave {}", key.name),
        Action::DeleteBinding { key, .. } => format!("unbind {}", key.name),
    });
    let waits = plan.waiting.iter().map(|it| format!("({})", it.message));
    let end = plan.finalize.then(|| "gone".to_owned());
    steps.chain(waits).chain(end).collect::<Vec<_>>().join(" ")
}

#[test]
fn resources_are_applied_once_or_whenever_they_change() {
    for (strategy, hash, recorded, expected) in [
        ("ApplyOnce", "1", Value::Null, "create [a] to c"),
        ("ApplyOnce", "1", record("1", true), ""),
        ("ApplyOnce", "2", record("1", true), ""),
        ("ApplyOnce", "1", record("1", false), "create [a] to c"),
        ("Reconcile", "1", record("1", true), ""),
        ("Reconcile", "2", record("1", true), "update [a] to c"),
        ("Reconcile", "1", record("1", false), "update [a] to c"),
    ] {
        assert_eq!(
            told(&view(strategy, hash, recorded.clone())),
            expected,
            "{strategy} {hash} {recorded}"
        );
    }
}

#[test]
fn what_keeps_resources_from_being_applied_is_named() {
    let usual = || view("ApplyOnce", "1", Value::Null);
    let with = |lookup| View {
        resources: vec![(reference("a"), lookup)],
        ..usual()
    };
    let missing = with(Lookup::Absent);
    let wrong_type = with(Lookup::Found(Resource {
        manifests: None,
        ..resource("1")
    }));
    let mut unreachable = usual();
    unreachable.targets[0].unreachable = Some("no route".to_owned());
    let orphan = with(Lookup::Found(Resource {
        metadata: parse(json!({})),
        ..resource("1")
    }));
    for (view, expected) in [
        (&missing, "create [] to c (ConfigMap a does not exist)"),
        (&wrong_type, ""),
        (
            &unreachable,
            "create [] to c (Cluster c cannot be reached: no route)",
        ),
        (&orphan, "own a create [a] to c"),
    ] {
        assert_eq!(told(view), expected);
    }
    let shown = |view: &View, trail: &Trail<ActError>| {
        let status = report(view, &decide(view), trail);
        let told = status
            .conditions
            .iter()
            .map(|it| format!("{} {} | {}\n", it.status, it.reason, it.message));
        told.collect::<String>() + &lines(&status.deprecated.v1beta1.conditions)
    };
    let failed = Trail {
        outcomes: vec![capstan_engine::Outcome::Failed(ActError::Apply {
            cluster: ObjectKey::new("ns", "c"),
            problems: vec!["Pod p: no".to_owned()],
        })],
    };
    let good = Trail::default();
    expect![[r"
        True Applied | 
        ResourcesApplied True
    "]]
    .assert_eq(&shown(&usual(), &good));
    expect![[r"
        False InternalError | ConfigMap a does not exist
        ResourcesApplied False Warning | RetrievingResourceFailed | ConfigMap a does not exist
    "]]
    .assert_eq(&shown(&missing, &good));
    expect![[r"
        False WrongSecretType | Secret type of resource a is not supported
        ResourcesApplied False Warning | WrongSecretType | Secret type of resource a is not supported
    "]]
    .assert_eq(&shown(&wrong_type, &good));
    expect![[r"
        False InternalError | Cluster c cannot be reached: no route
        ResourcesApplied False Error | RemoteClusterClientFailed | Cluster c cannot be reached: no route
    "]]
    .assert_eq(&shown(&unreachable, &good));
    expect![[r"
        False NotApplied | Failed to apply ClusterResourceSet resources to Cluster: failed to apply resources to Cluster ns/c: Pod p: no
        ResourcesApplied False Warning | ApplyFailed | Failed to apply ClusterResourceSet resources to Cluster: failed to apply resources to Cluster ns/c: Pod p: no
    "]]
    .assert_eq(&shown(&usual(), &failed));
}

#[test]
fn a_set_that_goes_leaves_its_bindings() {
    let deleted = |view: View| {
        let mut set = (*view.set).clone();
        set.metadata.deletion_timestamp = Some(parse(json!("2026-01-01T00:00:00Z")));
        View {
            set: Arc::new(set),
            targets: Vec::new(),
            ..view
        }
    };
    let bound = || view("ApplyOnce", "1", record("1", true));
    let mut shared = bound();
    let mut binding: ClusterResourceSetBinding = (*shared.bindings[0]).clone();
    let other = parse(json!({ "clusterResourceSetName": "other", "resources": [] }));
    binding.spec.bindings.push(other);
    shared.bindings = vec![Arc::new(binding)];
    let stranger = View {
        bindings: vec![Arc::new(ClusterResourceSetBinding::new("ns", "x"))],
        ..bound()
    };
    for (view, expected) in [
        (bound(), "unbind c"),
        (shared, "leave c"),
        (stranger, "gone"),
        (view("ApplyOnce", "1", Value::Null), "gone"),
    ] {
        assert_eq!(told(&deleted(view)), expected);
    }
}

#[test]
fn a_record_takes_the_place_of_the_one_of_the_same_resource() {
    let view = view("ApplyOnce", "1", record("1", false));
    let binding = &*view.bindings[0];
    let recorded = bindings::recorded(Some(binding), "s").to_vec();
    assert_eq!(bindings::patch(binding, &view.set, recorded.clone()), None);
    let changed = bindings::with(recorded, parse(record("2", true)));
    let patch = bindings::patch(binding, &view.set, changed).expect("a patch");
    assert_eq!(
        patch["spec"],
        json!({ "bindings": [{ "clusterResourceSetName": "s", "resources": [record("2", true)] }] })
    );
}
