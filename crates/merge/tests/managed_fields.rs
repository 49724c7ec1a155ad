//! The rules around ownership that are about entries rather than fields: identity, time, number, and kubectl.

use std::{collections::BTreeMap, sync::Arc};

use capstan_merge::{
    PathElement, Schema, Set,
    managed::{
        ApplyError, ConversionError, Operation, ScalePaths, SingleVersion, Versions, apply, from_scale,
        manager_from_user_agent, revert_timestamps, to_scale, update, validate,
    },
};
use expect_test::expect;
use jiff::Timestamp;
use serde_json::{Value, json};

#[derive(Clone, Copy)]
struct Write<'a> {
    manager: &'a str,
    subresource: &'a str,
    second: i64,
    ignored: &'a [&'a str],
}

const WRITE: Write<'static> = Write {
    manager: "a",
    subresource: "",
    second: 1,
    ignored: &[],
};

fn with<T>(write: Write<'_>, versions: &dyn Versions, run: impl FnOnce(&Operation<'_>) -> T) -> T {
    let reset: Set = write
        .ignored
        .iter()
        .map(|name| vec![PathElement::field(*name)])
        .collect();
    run(&Operation {
        manager: write.manager,
        subresource: write.subresource,
        api_version: "v1",
        kind: "Thing",
        empty: &json!({"apiVersion": "v1", "kind": "Thing"}),
        versions,
        reset_fields: &BTreeMap::from([("v1".to_owned(), reset)]),
        now: Timestamp::constant(write.second, 0),
    })
}

fn versions() -> SingleVersion {
    SingleVersion {
        api_version: "v1".to_owned(),
        schema: Schema::deduced(),
    }
}

fn do_update(write: Write<'_>, live: Option<&Value>, new: Value) -> Value {
    with(write, &versions(), |operation| {
        let updated = update(operation, live.unwrap_or(operation.empty), new);
        assert_eq!(updated.failure, None);
        let mut object = updated.object;
        object["metadata"]["uid"] = json!("u");
        object
    })
}

fn do_apply(write: Write<'_>, live: &Value, patch: &Value, force: bool) -> Result<Value, ApplyError> {
    with(write, &versions(), |operation| {
        apply(operation, live, patch, force)
    })
}

fn thing(fields: &Value) -> Value {
    let mut object = json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x", "uid": "u"}});
    for (name, value) in fields.as_object().expect("fields") {
        object[name] = value.clone();
    }
    object
}

/// One line per entry: verb, manager, version, subresource, time, fields.
fn entries(object: &Value) -> String {
    let entries = object["metadata"]["managedFields"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let text = |entry: &Value, field: &str| entry[field].as_str().unwrap_or("-").to_owned();
    let line = |entry: &Value| {
        let fields = ["operation", "manager", "apiVersion", "subresource", "time"];
        format!(
            "{} {}\n",
            fields.map(|field| text(entry, field)).join(" "),
            entry["fieldsV1"]
        )
    };
    entries.iter().map(line).collect()
}

#[test]
fn updates_are_recorded_per_manager_version_and_subresource_with_their_last_time() {
    let created = do_update(WRITE, None, thing(&json!({"spec": {"x": 1, "y": 1}})));
    let same = do_update(Write { second: 2, ..WRITE }, Some(&created), created.clone());
    assert_eq!(same, created);
    let other = Write {
        manager: "b",
        second: 3,
        ..WRITE
    };
    let changed = do_update(other, Some(&created), thing(&json!({"spec": {"x": 2, "y": 1}})));
    let status = Write {
        subresource: "status",
        second: 4,
        ..WRITE
    };
    let reported = do_update(
        status,
        Some(&changed),
        thing(&json!({"spec": {"x": 2, "y": 1}, "status": {"z": 1}})),
    );
    expect![[r#"
        Update a v1 - 1970-01-01T00:00:01Z {"f:spec":{".":{},"f:y":{}}}
        Update b v1 - 1970-01-01T00:00:03Z {"f:spec":{"f:x":{}}}
        Update a v1 status 1970-01-01T00:00:04Z {"f:status":{".":{},"f:z":{}}}
    "#]]
    .assert_eq(&entries(&reported));
}

#[test]
fn fields_the_endpoint_resets_are_not_owned() {
    let main = Write {
        ignored: &["status"],
        ..WRITE
    };
    let created = do_update(main, None, thing(&json!({"spec": {"x": 1}, "status": {"y": 1}})));
    expect![[r#"
        Update a v1 - 1970-01-01T00:00:01Z {"f:spec":{".":{},"f:x":{}}}
    "#]]
    .assert_eq(&entries(&created));
}

#[test]
fn absent_managed_fields_are_kept_and_empty_ones_forget_all_managers() {
    let created = do_update(WRITE, None, thing(&json!({"spec": 1})));
    let mut edited = created.clone();
    for reset in [json!([]), json!([{}])] {
        edited["metadata"]["managedFields"] = reset;
        let forgotten = do_update(WRITE, Some(&created), edited.clone());
        assert_eq!(forgotten, thing(&json!({"spec": 1})));
        let untracked = do_update(WRITE, Some(&forgotten), thing(&json!({"spec": 2})));
        assert_eq!(entries(&untracked), "");
        let through_status = do_update(
            Write {
                subresource: "status",
                ..WRITE
            },
            Some(&created),
            edited.clone(),
        );
        assert_eq!(through_status, created);
    }
    edited["metadata"]["managedFields"] = json!([{"operation": "Guess"}]);
    assert_eq!(do_update(WRITE, Some(&created), edited), created);
}

#[test]
fn the_first_apply_of_an_untracked_object_records_what_was_there_before() {
    let live = thing(&json!({"spec": {"x": 1, "y": 1}}));
    let patch = json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": {"x": 1}});
    let applied = do_apply(WRITE, &live, &patch, false).expect("same values do not conflict");
    expect![[r#"
        Apply a v1 - - {"f:spec":{".":{},"f:x":{}}}
        Update before-first-apply v1 - 1970-01-01T00:00:01Z {"f:spec":{".":{},"f:x":{},"f:y":{}}}
    "#]]
    .assert_eq(&entries(&applied));
}

#[test]
fn the_time_of_an_applier_moves_only_when_the_object_changes() {
    let empty = json!({"apiVersion": "v1", "kind": "Thing"});
    let patch =
        |x: i32| json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": {"x": x}});
    let once = do_apply(WRITE, &empty, &patch(1), false).expect("applies");
    let again = do_apply(Write { second: 2, ..WRITE }, &once, &patch(1), false).expect("applies");
    assert_eq!(again, once);
    let changed = do_apply(Write { second: 3, ..WRITE }, &once, &patch(2), false).expect("applies");
    expect![[r#"
        Apply a v1 - 1970-01-01T00:00:03Z {"f:spec":{".":{},"f:x":{}}}
    "#]]
    .assert_eq(&entries(&changed));
}

#[test]
fn conflicts_name_the_manager_its_version_and_subresource() {
    let created = do_update(
        Write {
            manager: "kubectl",
            ..WRITE
        },
        None,
        thing(&json!({"spec": {"x": 1, "y": 1}})),
    );
    let scale = Write {
        manager: "kubectl",
        subresource: "scale",
        ..WRITE
    };
    let scaled = do_update(scale, Some(&created), thing(&json!({"spec": {"x": 2, "y": 1}})));
    let patch = json!({"apiVersion": "v1", "kind": "Thing", "spec": {"x": 3}});
    let Err(ApplyError::Conflict(conflicts)) = do_apply(WRITE, &scaled, &patch, false) else {
        panic!("no conflict")
    };
    expect![[
        r#"Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using v1: .spec.x"#
    ]]
    .assert_eq(&conflicts.to_string());
    let patch = json!({"apiVersion": "v1", "kind": "Thing", "spec": {"x": 3, "y": 3}});
    let Err(ApplyError::Conflict(conflicts)) = do_apply(WRITE, &scaled, &patch, false) else {
        panic!("no conflict")
    };
    expect![[r#"
        Apply failed with 2 conflicts: conflicts with "kubectl" with subresource "scale" using v1:
        - .spec.x
        conflicts with "kubectl" using v1:
        - .spec.y"#]]
    .assert_eq(&conflicts.to_string());
    let causes: Vec<_> = conflicts
        .causes()
        .into_iter()
        .map(|cause| (cause.message, cause.field))
        .collect();
    let expected = [
        (
            r#"conflict with "kubectl" with subresource "scale" using v1"#.to_owned(),
            ".spec.x".to_owned(),
        ),
        (
            r#"conflict with "kubectl" using v1"#.to_owned(),
            ".spec.y".to_owned(),
        ),
    ];
    assert_eq!(causes, expected);
    let forced = do_apply(WRITE, &scaled, &patch, true).expect("forced");
    assert_eq!(forced["spec"], json!({"x": 3, "y": 3}));
}

#[test]
fn a_patch_of_another_type_or_with_managers_is_a_bad_request() {
    let empty = json!({"apiVersion": "v1", "kind": "Thing"});
    for (patch, expected) in [
        (
            json!({"apiVersion": "apps/v2", "kind": "Thing"}),
            "invalid object type: apps/v2, Kind=Thing",
        ),
        (
            json!({"apiVersion": "v2", "kind": "Thing"}),
            "invalid object type: /v2, Kind=Thing",
        ),
        (
            json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"managedFields": []}}),
            "metadata.managedFields must be nil",
        ),
    ] {
        let error = do_apply(WRITE, &empty, &patch, false);
        assert_eq!(error, Err(ApplyError::BadRequest(expected.to_owned())), "{patch}");
    }
}

#[test]
fn the_oldest_of_more_than_ten_updates_are_merged_into_ancient_changes() {
    let first = Write {
        manager: "m00",
        second: 0,
        ..WRITE
    };
    let mut object = do_update(first, None, thing(&json!({"m00": 1})));
    for index in 1..=12 {
        let manager = format!("m{index:02}");
        let mut next = object.clone();
        next[&manager] = json!(1);
        object = do_update(
            Write {
                manager: &manager,
                second: index,
                ..WRITE
            },
            Some(&object),
            next,
        );
    }
    expect![[r#"
        Update ancient-changes v1 - 1970-01-01T00:00:03Z {"f:m00":{},"f:m01":{},"f:m02":{},"f:m03":{}}
        Update m04 v1 - 1970-01-01T00:00:04Z {"f:m04":{}}
        Update m05 v1 - 1970-01-01T00:00:05Z {"f:m05":{}}
        Update m06 v1 - 1970-01-01T00:00:06Z {"f:m06":{}}
        Update m07 v1 - 1970-01-01T00:00:07Z {"f:m07":{}}
        Update m08 v1 - 1970-01-01T00:00:08Z {"f:m08":{}}
        Update m09 v1 - 1970-01-01T00:00:09Z {"f:m09":{}}
        Update m10 v1 - 1970-01-01T00:00:10Z {"f:m10":{}}
        Update m11 v1 - 1970-01-01T00:00:11Z {"f:m11":{}}
        Update m12 v1 - 1970-01-01T00:00:12Z {"f:m12":{}}
    "#]]
    .assert_eq(&entries(&object));
}

#[test]
fn kubectl_takes_over_what_it_applied_from_the_client() {
    let last = r#"{"apiVersion":"v1","kind":"Thing","metadata":{"name":"x"},"spec":{"x":1}}"#;
    let annotation = "kubectl.kubernetes.io/last-applied-configuration";
    let mut live = thing(&json!({"spec": {"x": 1, "y": 1}}));
    live["metadata"]["annotations"] = json!({annotation: last});
    let live = do_update(
        Write {
            manager: "kubectl-client-side-apply",
            ..WRITE
        },
        None,
        live,
    );
    let patch = json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": {"x": 2}});
    let other = do_apply(
        Write {
            manager: "other",
            ..WRITE
        },
        &live,
        &patch,
        false,
    );
    assert!(matches!(other, Err(ApplyError::Conflict(_))));
    let kubectl = Write {
        manager: "kubectl",
        second: 2,
        ..WRITE
    };
    let applied = do_apply(kubectl, &live, &patch, false).expect("kubectl may");
    assert_eq!(
        applied["metadata"]["annotations"][annotation],
        format!("{patch}\n")
    );
    let wider =
        json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": {"x": 2, "y": 2}});
    let Err(ApplyError::Conflict(conflicts)) = do_apply(kubectl, &live, &wider, false) else {
        panic!("no conflict")
    };
    expect![[r#"Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .spec.y"#]]
        .assert_eq(&conflicts.to_string());
}

#[test]
fn managers_of_versions_that_are_gone_disappear() {
    struct Renamed(Arc<Schema>);
    impl Versions for Renamed {
        fn schema(&self, api_version: &str) -> Option<Arc<Schema>> {
            ["v1", "v2"].contains(&api_version).then(|| Arc::clone(&self.0))
        }
        fn convert(&self, object: &Value, api_version: &str) -> Result<Value, ConversionError> {
            let (from, to) = if api_version == "v1" {
                ("new", "old")
            } else {
                ("old", "new")
            };
            let mut object = object.clone();
            object["apiVersion"] = json!(api_version);
            let value = object.as_object_mut().and_then(|fields| fields.remove(from));
            if let Some(value) = value {
                object[to] = value;
            }
            Ok(object)
        }
    }
    let mut live = thing(&json!({"old": 1}));
    let entry = |version: &str, manager: &str, field: &str| {
        json!({"apiVersion": version, "fieldsType": "FieldsV1", "fieldsV1": {field: {}}, "manager": manager,
            "operation": "Apply"})
    };
    live["metadata"]["managedFields"] = json!([entry("v2", "two", "f:new"), entry("v0", "zero", "f:older")]);
    let patch = json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x"}, "old": 2});
    let renamed = Renamed(Schema::deduced());
    let refused = with(WRITE, &renamed, |operation| {
        apply(operation, &live, &patch, false)
    });
    let expected = "Apply failed with 1 conflict: conflict with \"two\": .new";
    assert_eq!(refused.expect_err("a conflict").to_string(), expected);
    let forced = with(WRITE, &renamed, |operation| apply(operation, &live, &patch, true)).expect("forced");
    expect![[r#"
        Apply a v1 - 1970-01-01T00:00:01Z {"f:old":{}}
    "#]]
    .assert_eq(&entries(&forced));
}

#[test]
fn scale_sees_and_moves_only_the_replicas() {
    let path = vec![PathElement::field("spec"), PathElement::field("replicas")];
    let paths = ScalePaths::from([("apps/v1".to_owned(), Some(path))]);
    let entry = |version: &str, manager: &str, fields: Value| {
        json!({"apiVersion": version, "fieldsType": "FieldsV1", "fieldsV1": fields, "manager": manager,
            "operation": "Update"})
    };
    let both = json!({"f:spec": {"f:replicas": {}, "f:x": {}}});
    let replicas = json!({"f:spec": {"f:replicas": {}}});
    let parent = json!([
        entry("apps/v1", "a", both.clone()),
        entry("apps/v1", "b", json!({"f:x": {}}))
    ]);
    let scale = to_scale(Some(&parent), &paths).expect("readable");
    assert_eq!(
        scale,
        Some(json!([entry("autoscaling/v1", "a", replicas.clone())]))
    );
    assert_eq!(
        from_scale(Some(&parent), scale.as_ref(), "apps/v1", &paths),
        Ok(Some(parent.clone()))
    );
    let stolen = json!([entry("autoscaling/v1", "c", replicas.clone())]);
    let after = from_scale(Some(&parent), Some(&stolen), "apps/v1", &paths).expect("readable");
    let expected = json!([
        entry("apps/v1", "a", json!({"f:spec": {"f:x": {}}})),
        entry("apps/v1", "b", json!({"f:x": {}})),
        entry("apps/v1", "c", replicas),
    ]);
    assert_eq!(after, Some(expected));
}

#[test]
fn a_change_of_times_alone_is_reverted() {
    let entry = |time: &str| json!([{"manager": "a", "time": time}]);
    let object = |time: &str, x: i32| json!({"metadata": {"managedFields": entry(time)}, "x": x});
    for (new, expected) in [(object("2", 1), object("1", 1)), (object("2", 2), object("2", 2))] {
        let mut reverted = new;
        revert_timestamps(&object("1", 1), &mut reverted);
        assert_eq!(reverted, expected);
    }
}

#[test]
fn malformed_managed_fields_are_told_apart() {
    for (entries, expected) in [
        (json!({}), "invalid managed fields: expected a list, got {}"),
        (
            json!([{"operation": "Guess"}]),
            "operation must be `Apply` or `Update`",
        ),
        (json!([{"operation": "Apply"}]), "apiVersion must not be empty"),
        (
            json!([{"operation": "Apply", "apiVersion": "v1"}]),
            "missing fieldsType in managed fields entry 0",
        ),
        (
            json!([{"operation": "Apply", "apiVersion": "v1", "fieldsType": "X"}]),
            "invalid fieldsType \"X\" in managed fields entry 0",
        ),
        (
            json!([{"operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f": {}}}]),
            "error decoding set: failed to read field set: missing colon: f",
        ),
    ] {
        assert_eq!(validate(&entries).expect_err("malformed").to_string(), expected);
    }
}

#[test]
fn a_user_agent_names_the_manager() {
    assert_eq!(manager_from_user_agent("kubectl/v1.34 (linux)"), "kubectl");
    assert_eq!(manager_from_user_agent("a\u{7}b"), "ab");
    assert_eq!(manager_from_user_agent(&"x".repeat(200)).len(), 128);
}
