//! What is dropped from objects, and what is filled in.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use capstan_base::field::Path;
use capstan_schema::{
    Level, Schema, Structural, default,
    metadata::{Malformed, coerce, validate_embedded},
    prune,
};
use serde_json::{Value, json};

fn check_prune(
    name: &str,
    schema: &Value,
    level: Level,
    mut object: Value,
    expected: &Value,
    unknown: &[&str],
) {
    let structural = Structural::parse(schema).unwrap();
    let found = prune(&mut object, &structural, level);
    assert_eq!(
        (object, found),
        (
            expected.clone(),
            unknown.iter().map(|it| (*it).to_owned()).collect()
        ),
        "{name}"
    );
}

#[test]
fn unspecified_fields_are_pruned_and_told() {
    let schema = json!({"properties": {
        "a": {"type": "string"},
        "list": {"items": {"properties": {"b": {}}}},
        "map": {"additionalProperties": {"properties": {"c": {}}}},
        "free": {"additionalProperties": true},
    }});
    check_prune(
        "nested",
        &schema,
        Level::Part,
        json!({"a": 1, "x": {"y": 1}, "list": [{"b": 1, "z": 1}, 3], "map": {"k": {"c": 1, "d": 1}}, "free": {"s": 1, "o": {"p": 1}}}),
        &json!({"a": 1, "list": [{"b": 1}, 3], "map": {"k": {"c": 1}}, "free": {"s": 1, "o": {}}}),
        &["free.o.p", "list[0].z", "map.k.d", "x"],
    );
    check_prune(
        "metadata of a whole object stays, that of a part does not",
        &json!({"properties": {"spec": {"type": "object"}}}),
        Level::Resource,
        json!({"apiVersion": "v1", "kind": "K", "metadata": {"any": 1}, "spec": {"metadata": {}}, "extra": 1}),
        &json!({"apiVersion": "v1", "kind": "K", "metadata": {"any": 1}, "spec": {}}),
        &["extra", "spec.metadata"],
    );
}

#[test]
fn preserved_fields_stay_but_specified_ones_below_are_pruned() {
    let schema = json!({
        "x-kubernetes-preserve-unknown-fields": true,
        "properties": {
            "known": {"type": "object", "properties": {"b": {}}},
            "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "list": {"items": {"properties": {"inner": {"properties": {"x": {}}}}}},
        },
    });
    check_prune(
        "preserve at the root",
        &schema,
        Level::Part,
        json!({"unknown": {"deep": 1}, "known": {"b": 1, "c": 1}, "open": {"d": {"e": 1}}, "list": [{"inner": {"x": 1, "y": 1}, "z": 1}]}),
        &json!({"unknown": {"deep": 1}, "known": {"b": 1}, "open": {"d": {"e": 1}}, "list": [{"inner": {"x": 1}}]}),
        &["known.c", "list[0].inner.y", "list[0].z"],
    );
}

#[test]
fn embedded_resources_keep_type_and_metadata() {
    let embedded = json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"spec": {"properties": {"a": {}}}}});
    let preserving = json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true});
    let schema = json!({"properties": {"strict": embedded, "open": preserving}});
    let whole = json!({"apiVersion": "v1", "kind": "K", "metadata": {"name": "n", "odd": 1}, "spec": {"a": 1, "b": 1}, "x": 1});
    check_prune(
        "embedded",
        &schema,
        Level::Part,
        json!({"strict": whole, "open": whole}),
        &json!({
            "strict": {"apiVersion": "v1", "kind": "K", "metadata": {"name": "n", "odd": 1}, "spec": {"a": 1}},
            "open": whole,
        }),
        &["strict.spec.b", "strict.x"],
    );
}

#[test]
fn defaults_fill_what_is_missing_or_wrongly_null() {
    let cases = [
        (
            "missing",
            json!({"a": {"default": "A"}}),
            json!({}),
            json!({"a": "A"}),
        ),
        (
            "present",
            json!({"a": {"default": "A"}}),
            json!({"a": "B"}),
            json!({"a": "B"}),
        ),
        (
            "null is replaced",
            json!({"a": {"default": "A"}}),
            json!({"a": null}),
            json!({"a": "A"}),
        ),
        ("null is dropped", json!({"a": {}}), json!({"a": null}), json!({})),
        (
            "null is a value",
            json!({"a": {"nullable": true, "default": "A"}}),
            json!({"a": null}),
            json!({"a": null}),
        ),
        (
            "null default says nothing",
            json!({"a": {"nullable": true, "default": null}}),
            json!({}),
            json!({}),
        ),
        (
            "no missing parents",
            json!({"p": {"properties": {"a": {"default": 1}}}}),
            json!({}),
            json!({}),
        ),
        (
            "existing parents",
            json!({"p": {"properties": {"a": {"default": 1}}}}),
            json!({"p": {}}),
            json!({"p": {"a": 1}}),
        ),
        (
            "defaulted parents are filled further",
            json!({"p": {"default": {"b": 2}, "properties": {"a": {"default": 1}, "b": {}}}}),
            json!({}),
            json!({"p": {"a": 1, "b": 2}}),
        ),
        (
            "items",
            json!({"l": {"items": {"default": {"n": 0}, "properties": {"a": {"default": 1}}}}}),
            json!({"l": [{}, null, {"a": 2}]}),
            json!({"l": [{"a": 1}, {"a": 1, "n": 0}, {"a": 2}]}),
        ),
        (
            "null items without a default stay",
            json!({"l": {"items": {}}}),
            json!({"l": [null]}),
            json!({"l": [null]}),
        ),
        (
            "map values",
            json!({"m": {"additionalProperties": {"properties": {"a": {"default": 1}}}}}),
            json!({"m": {"x": {}, "y": null}}),
            json!({"m": {"x": {"a": 1}}}),
        ),
        (
            "unspecified nulls stay",
            json!({"a": {}}),
            json!({"z": null}),
            json!({"z": null}),
        ),
    ];
    for (name, properties, mut object, expected) in cases {
        let schema = Structural::parse(&json!({"properties": properties})).unwrap();
        default(&mut object, &schema);
        assert_eq!(object, expected, "{name}");
    }
}

#[test]
fn metadata_is_written_as_kubernetes_writes_it() {
    let schema = Structural::parse(&json!({"type": "object"})).unwrap();
    let mut object = json!({"metadata": {
        "name": "n", "namespace": "", "labels": {"a": "b", "c": null}, "annotations": {}, "generation": 0,
        "creationTimestamp": "2024-01-02T03:04:05.678+01:00", "deletionTimestamp": null, "odd": 1,
        "ownerReferences": [{"name": "o", "controller": false, "odd": 1}],
    }});
    let unknown = coerce(&mut object, &schema, Level::Resource, Malformed::Reject).unwrap();
    assert_eq!(unknown, ["metadata.odd", "metadata.ownerReferences[0].odd"]);
    assert_eq!(
        object,
        json!({"metadata": {
            "name": "n", "labels": {"a": "b", "c": ""}, "creationTimestamp": "2024-01-02T02:04:05Z",
            "ownerReferences": [{"apiVersion": "", "kind": "", "name": "o", "uid": "", "controller": false}],
        }})
    );
}

#[test]
fn malformed_metadata_is_refused_in_requests_and_dropped_from_storage() {
    let schema = Structural::parse(&json!({"type": "object"})).unwrap();
    let object = json!({"apiVersion": 1, "metadata": {"name": "n", "labels": {"a": 1}}});
    let error = coerce(&mut object.clone(), &schema, Level::Resource, Malformed::Reject).unwrap_err();
    assert_eq!(
        error.to_string(),
        "apiVersion: Invalid value: 1: must be a string"
    );
    let mut request = json!({"metadata": {"labels": {"a": 1}}});
    let error = coerce(&mut request, &schema, Level::Resource, Malformed::Reject).unwrap_err();
    assert_eq!(
        error.to_string(),
        "metadata: Invalid value: {\"labels\":{\"a\":1}}: json: cannot unmarshal number into Go struct field \
         ObjectMeta.labels of type string"
    );
    let mut stored = object;
    coerce(&mut stored, &schema, Level::Resource, Malformed::Drop).unwrap();
    assert_eq!(stored, json!({"metadata": {"name": "n"}}));
}

#[test]
fn embedded_resources_are_validated() {
    let schema = Structural::parse(
        &json!({"properties": {"e": {"type": "object", "x-kubernetes-embedded-resource": true}}}),
    );
    let object = json!({"e": {"apiVersion": "a/b/c", "metadata": {"name": "a/b", "labels": {"-": "x y"}}}});
    let found: Vec<String> = validate_embedded(&object, &schema.unwrap(), Level::Part, &Path::root())
        .iter()
        .map(|error| error.path.as_str().to_owned())
        .collect();
    assert_eq!(
        found,
        [
            "e.apiVersion",
            "e.kind",
            "e.metadata.name",
            "e.metadata.labels",
            "e.metadata.labels"
        ]
    );
}

#[test]
fn a_request_is_coerced_pruned_and_defaulted_in_one_go() {
    let schema = Schema::new(&json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"replicas": {"type": "integer", "default": 1}}},
    }}))
    .unwrap();
    let mut object = json!({"kind": "K", "metadata": {"foo": 1}, "spec": {"bar": 1}});
    assert_eq!(schema.admit(&mut object).unwrap(), ["metadata.foo", "spec.bar"]);
    assert_eq!(
        object,
        json!({"kind": "K", "metadata": {}, "spec": {"replicas": 1}})
    );
}
