//! Creates, updates, patches and deletes, over the in-process service.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Fixture, WIDGETS, widget};
use serde_json::json;

const A: &str = "/apis/example.io/v1/namespaces/default/widgets/a";

#[tokio::test]
async fn a_created_object_has_what_the_server_fills_in() {
    let f = Fixture::with_widgets().await;
    let answer = f
        .post(WIDGETS, widget("a", json!({ "size": 1, "junk": 2 })))
        .await;
    assert_eq!(answer.code, 201, "{}", answer.body);
    assert_eq!(
        answer.headers["warning"],
        "299 - \"unknown field \\\"spec.junk\\\"\""
    );
    let mut body = answer.body;
    body["metadata"]["uid"] = json!("…");
    expect_test::expect![[r#"
        {
          "apiVersion": "example.io/v1",
          "kind": "Widget",
          "metadata": {
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "generation": 1,
            "managedFields": [
              {
                "apiVersion": "example.io/v1",
                "fieldsType": "FieldsV1",
                "fieldsV1": {
                  "f:spec": {
                    ".": {},
                    "f:color": {},
                    "f:size": {}
                  }
                },
                "manager": "tester",
                "operation": "Update",
                "time": "2026-01-02T03:04:05Z"
              }
            ],
            "name": "a",
            "namespace": "default",
            "resourceVersion": "9",
            "uid": "…"
          },
          "spec": {
            "color": "red",
            "size": 1
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&body).unwrap());
}

#[tokio::test]
async fn wrong_objects_get_the_codes_of_kubernetes() {
    let f = Fixture::with_widgets().await;
    f.post(WIDGETS, widget("a", json!({ "size": 1 }))).await;
    let nowhere = "/apis/example.io/v1/namespaces/nowhere/widgets";
    let strict = format!("{WIDGETS}?fieldValidation=Strict");
    let dry = format!("{WIDGETS}?dryRun=Some");
    let good = json!({ "size": 1 });
    for (what, url, name, spec, metadata, expected) in [
        (
            "taken",
            WIDGETS,
            "a",
            good.clone(),
            json!({}),
            "409 AlreadyExists",
        ),
        ("missing field", WIDGETS, "b", json!({}), json!({}), "422 Invalid"),
        (
            "rule",
            WIDGETS,
            "b",
            json!({ "size": 13 }),
            json!({}),
            "422 Invalid",
        ),
        (
            "wrong type",
            WIDGETS,
            "b",
            json!({ "size": "x" }),
            json!({}),
            "422 Invalid",
        ),
        (
            "unknown field",
            &strict,
            "b",
            json!({ "size": 1, "x": 1 }),
            json!({}),
            "400 BadRequest",
        ),
        ("bad name", WIDGETS, "B_", good.clone(), json!({}), "422 Invalid"),
        (
            "version given",
            WIDGETS,
            "b",
            good.clone(),
            json!({ "resourceVersion": "1" }),
            "500 ",
        ),
        (
            "other namespace",
            WIDGETS,
            "b",
            good.clone(),
            json!({ "namespace": "x" }),
            "400 BadRequest",
        ),
        (
            "metadata type",
            WIDGETS,
            "b",
            good.clone(),
            json!({ "labels": 1 }),
            "400 BadRequest",
        ),
        (
            "no namespace",
            nowhere,
            "b",
            good.clone(),
            json!({}),
            "404 NotFound",
        ),
        ("dry run", &dry, "b", good.clone(), json!({}), "422 Invalid"),
    ] {
        let mut object = widget(name, spec);
        for (key, value) in metadata.as_object().unwrap() {
            object["metadata"][key] = value.clone();
        }
        let answer = f.post(url, object).await;
        assert_eq!(answer.reason(), expected, "{what}: {}", answer.body);
    }
}

#[tokio::test]
async fn wrong_requests_get_the_codes_of_kubernetes() {
    const JSON: &str = "application/json";
    let f = Fixture::with_widgets().await;
    f.post(WIDGETS, widget("a", json!({ "size": 1 }))).await;
    let unversioned = widget("a", json!({ "size": 1 })).to_string();
    let failing = r#"[{ "op": "test", "path": "/spec/size", "value": 9 }]"#;
    let policies = r#"{ "propagationPolicy": "Orphan", "orphanDependents": true }"#;
    let nobody = format!("{WIDGETS}/nobody");
    for (what, method, url, media_type, body, expected) in [
        ("no version", "PUT", A, JSON, unversioned.as_str(), "422 Invalid"),
        (
            "strategic",
            "PATCH",
            A,
            "application/strategic-merge-patch+json",
            "{}",
            "415 UnsupportedMediaType",
        ),
        (
            "failed test",
            "PATCH",
            A,
            "application/json-patch+json",
            failing,
            "422 Invalid",
        ),
        (
            "no manager",
            "PATCH",
            A,
            "application/apply-patch+yaml",
            "{}",
            "422 Invalid",
        ),
        ("unknown object", "GET", &nobody, JSON, "", "404 NotFound"),
        (
            "unknown resource",
            "GET",
            "/apis/example.io/v1/gadgets",
            JSON,
            "",
            "404 NotFound",
        ),
        ("not JSON", "POST", WIDGETS, JSON, "{", "400 BadRequest"),
        (
            "protobuf",
            "POST",
            WIDGETS,
            "application/vnd.kubernetes.protobuf",
            "k8s\0",
            "415 UnsupportedMediaType",
        ),
        ("both policies", "DELETE", A, JSON, policies, "422 Invalid"),
        (
            "other uid",
            "DELETE",
            A,
            JSON,
            r#"{ "preconditions": { "uid": "x" } }"#,
            "409 Conflict",
        ),
    ] {
        let answer = f.send(method, url, media_type, body.to_owned()).await;
        assert_eq!(answer.reason(), expected, "{what}: {}", answer.body);
    }
}

#[tokio::test]
async fn generation_counts_content_and_status_is_written_apart() {
    let f = Fixture::with_widgets().await;
    f.post(WIDGETS, widget("a", json!({ "size": 1 }))).await;
    let generation = |answer: &common::Answer| answer.body["metadata"]["generation"].as_i64().unwrap();
    let status = format!("{A}/status");
    let first = f
        .merge(
            &status,
            json!({ "status": { "phase": "x" }, "metadata": { "labels": { "a": "b" } } }),
        )
        .await;
    assert_eq!(
        (generation(&first), &first.body["status"]["phase"]),
        (1, &json!("x"))
    );
    assert_eq!(first.body["metadata"].get("labels"), None);
    let second = f
        .merge(
            A,
            json!({ "metadata": { "labels": { "a": "b" } }, "status": { "phase": "y" } }),
        )
        .await;
    assert_eq!(
        (generation(&second), &second.body["status"]["phase"]),
        (1, &json!("x"))
    );
    let third = f.merge(A, json!({ "spec": { "size": 2 } })).await;
    assert_eq!(generation(&third), 2);
    let same = f.merge(A, json!({ "spec": { "size": 2 } })).await;
    assert_eq!(
        same.body["metadata"]["resourceVersion"],
        third.body["metadata"]["resourceVersion"]
    );
    let scaled = f
        .merge(&format!("{A}/scale"), json!({ "spec": { "replicas": 3 } }))
        .await;
    assert_eq!(scaled.code, 500, "no replicas yet: {}", scaled.body);
    f.merge(A, json!({ "spec": { "replicas": 1 } })).await;
    let scaled = f
        .merge(&format!("{A}/scale"), json!({ "spec": { "replicas": 3 } }))
        .await;
    assert_eq!(
        (
            scaled.code,
            &scaled.body["kind"],
            &scaled.body["spec"]["replicas"]
        ),
        (200, &json!("Scale"), &json!(3))
    );
    assert_eq!(generation(&f.get(A).await), 4);
}

#[tokio::test]
async fn a_stale_update_conflicts() {
    let f = Fixture::with_widgets().await;
    let mut object = f.post(WIDGETS, widget("a", json!({ "size": 1 }))).await.body;
    f.merge(A, json!({ "spec": { "size": 2 } })).await;
    object["spec"]["size"] = json!(3);
    assert_eq!(f.put(A, object).await.reason(), "409 Conflict");
}

#[tokio::test]
async fn finalizers_hold_a_deleted_object() {
    let f = Fixture::with_widgets().await;
    let mut object = widget("a", json!({ "size": 1 }));
    object["metadata"]["finalizers"] = json!(["example.io/hold"]);
    f.post(WIDGETS, object).await;
    let first = f.delete(A, json!({})).await;
    assert_eq!(
        (first.code, &first.body["metadata"]["generation"]),
        (200, &json!(2))
    );
    assert_eq!(
        first.body["metadata"]["deletionTimestamp"],
        "2026-01-02T03:04:05Z"
    );
    let second = f.delete(A, json!({})).await;
    assert_eq!(second.body, first.body);
    let more = f
        .merge(
            A,
            json!({ "metadata": { "finalizers": ["example.io/hold", "example.io/more"] } }),
        )
        .await;
    assert_eq!(more.reason(), "422 Invalid", "{}", more.body);
    let last = f.merge(A, json!({ "metadata": { "finalizers": [] } })).await;
    assert_eq!(last.code, 200);
    assert_eq!(f.get(A).await.code, 404);
}

#[tokio::test]
async fn server_side_apply_shares_conflicts_and_forces() {
    let f = Fixture::with_widgets().await;
    let x = |size: i64| widget("a", json!({ "size": size }));
    assert_eq!(f.apply(A, "one", x(1)).await.code, 201);
    assert_eq!(f.apply(A, "two", x(1)).await.code, 200);
    let conflict = f.apply(A, "two", x(2)).await;
    assert_eq!(conflict.reason(), "409 Conflict");
    assert_eq!(conflict.body["details"]["causes"][0]["field"], ".spec.size");
    let forced = f.apply(&format!("{A}?force=true"), "two", x(2)).await;
    assert_eq!((forced.code, &forced.body["spec"]["size"]), (200, &json!(2)));
    assert_eq!(
        f.get(A).await.body["metadata"]["managedFields"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn strategic_merge_patches_of_built_in_kinds_merge_lists_by_key() {
    let f = Fixture::new().await;
    let url = "/api/v1/namespaces/default/services";
    let service = json!({
        "metadata": { "name": "s" },
        "spec": { "ports": [{ "port": 80, "name": "a" }, { "port": 81, "name": "b" }] },
    });
    let created = f.post(url, service).await;
    assert_eq!(created.code, 201, "{}", created.body);
    let patch = json!({ "spec": { "ports": [{ "port": 81, "name": "c" }] } }).to_string();
    let patched = f
        .send(
            "PATCH",
            &format!("{url}/s"),
            "application/strategic-merge-patch+json",
            patch,
        )
        .await;
    let names: Vec<_> = patched.body["spec"]["ports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names.len(), 2, "{}", patched.body);
}

#[tokio::test]
async fn a_namespace_takes_its_content_along() {
    let f = Fixture::with_widgets().await;
    f.post("/api/v1/namespaces", json!({ "metadata": { "name": "n" } }))
        .await;
    let url = "/apis/example.io/v1/namespaces/n/widgets";
    f.post(url, widget("a", json!({ "size": 1 }))).await;
    let answer = f.delete("/api/v1/namespaces/n", json!({})).await;
    assert_eq!(answer.body["status"]["phase"], "Terminating");
    let refused = f.post(url, widget("b", json!({ "size": 1 }))).await;
    assert_eq!(refused.reason(), "403 Forbidden");
    f.settle().await;
    assert_eq!(f.get("/api/v1/namespaces/n").await.code, 404);
    assert_eq!(f.delete("/api/v1/namespaces/default", json!({})).await.code, 403);
}

#[tokio::test]
async fn dependents_follow_their_owner_by_policy() {
    let f = Fixture::with_widgets().await;
    for (policy, expected) in [
        ("Background", (404, 404)),
        ("Foreground", (404, 404)),
        ("Orphan", (404, 200)),
    ] {
        let owner = f.post(WIDGETS, widget("a", json!({ "size": 1 }))).await.body;
        let mut child = widget("b", json!({ "size": 1 }));
        child["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "example.io/v1", "kind": "Widget", "name": "a", "uid": owner["metadata"]["uid"],
            "blockOwnerDeletion": true,
        }]);
        assert_eq!(f.post(WIDGETS, child).await.code, 201);
        f.delete(A, json!({ "propagationPolicy": policy })).await;
        f.settle().await;
        let b = f.get(&format!("{WIDGETS}/b")).await;
        assert_eq!((f.get(A).await.code, b.code), expected, "{policy}");
        if b.code == 200 {
            assert_eq!(b.body["metadata"].get("ownerReferences"), None);
        }
    }
}

#[tokio::test]
async fn a_definition_takes_its_objects_along() {
    let f = Fixture::with_widgets().await;
    f.post(WIDGETS, widget("a", json!({ "size": 1 }))).await;
    f.delete(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.io",
        json!({}),
    )
    .await;
    f.settle().await;
    assert_eq!(f.get(WIDGETS).await.code, 404);
    assert_eq!(
        f.server.registry().store().snapshot().count("example.io/widgets"),
        0
    );
}

#[tokio::test]
async fn events_of_both_groups_are_the_same_objects() {
    let f = Fixture::new().await;
    let event = json!({
        "metadata": { "name": "e" }, "involvedObject": { "kind": "Pod", "name": "p" },
        "reason": "R", "message": "m", "type": "Normal", "count": 2,
    });
    assert_eq!(f.post("/api/v1/namespaces/default/events", event).await.code, 201);
    let other = f.get("/apis/events.k8s.io/v1/namespaces/default/events/e").await;
    assert_eq!(
        (&other.body["note"], &other.body["regarding"]["name"]),
        (&json!("m"), &json!("p"))
    );
    let listed = f
        .get("/api/v1/events?fieldSelector=involvedObject.name=p,reason=R")
        .await;
    assert_eq!(listed.body["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn an_eviction_respects_and_spends_the_disruption_budget_of_its_pod() {
    const PODS: &str = "/api/v1/namespaces/default/pods";
    const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    let f = Fixture::new().await;
    let evict = async |name: &str| {
        let eviction = json!({ "apiVersion": "policy/v1", "kind": "Eviction", "metadata": { "name": name } });
        let answer = f.post(&format!("{PODS}/{name}/eviction"), eviction).await;
        format!(
            "{} {}",
            answer.code,
            answer.body["details"]["causes"][0]["message"]
                .as_str()
                .unwrap_or_default()
        )
    };
    for (name, app) in [("a", "web"), ("b", "web"), ("c", "other")] {
        let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "labels": { "app": app } },
            "spec": { "containers": [{ "name": "c", "image": "i" }] } });
        f.post(PODS, pod).await;
        f.merge(
            &format!("{PODS}/{name}/status"),
            json!({ "status": { "phase": "Running" } }),
        )
        .await;
    }
    let budget = json!({ "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": { "name": "web" },
        "spec": { "minAvailable": 1, "selector": { "matchLabels": { "app": "web" } } } });
    f.post(BUDGETS, budget).await;
    assert_eq!(
        evict("a").await,
        "429 The disruption budget web is still being processed by the server."
    );
    let status = json!({ "status": { "observedGeneration": 1, "disruptionsAllowed": 1, "desiredHealthy": 1, "currentHealthy": 2,
        "expectedPods": 2 } });
    f.merge(&format!("{BUDGETS}/web/status"), status).await;
    assert_eq!(evict("a").await, "201 ");
    assert_eq!(
        evict("b").await,
        "429 The disruption budget web needs 1 healthy pods and has 2 currently"
    );
    assert_eq!(evict("c").await, "201 ");
    assert_eq!(evict("c").await, "404 ");
    let left = f.get(PODS).await.body["items"].as_array().map(Vec::len);
    assert_eq!(left, Some(1));
}
