//! Strategic merge patches of a small type: what each directive and strategy does.

use capstan_merge::{PatchError, Schema, strategic};
use serde_json::{Value, json};

fn apply(object: &Value, patch: &Value) -> Result<Value, PatchError> {
    let schema = json!({"type": "object", "properties": {
        "name": {"type": "string"},
        "plain": {"type": "array", "items": {"type": "string"}},
        "finals": {"type": "array", "items": {"type": "string"}, "x-kubernetes-patch-strategy": "merge"},
        "nested": {"type": "array", "items": {"type": "array"}, "x-kubernetes-patch-strategy": "merge"},
        "items": {
            "type": "array",
            "items": {"$ref": "#/components/schemas/Item"},
            "x-kubernetes-patch-strategy": "merge",
            "x-kubernetes-patch-merge-key": "name",
        },
        "volume": {"type": "object", "x-kubernetes-patch-strategy": "retainKeys", "properties": {}},
        "whole": {"type": "object", "x-kubernetes-patch-strategy": "replace", "properties": {}},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
    }});
    let item = json!({"type": "object", "properties": {
        "name": {"type": "string"},
        "items": {
            "type": "array",
            "items": {"$ref": "#/components/schemas/Item"},
            "x-kubernetes-patch-strategy": "merge",
            "x-kubernetes-patch-merge-key": "name",
        },
    }});
    let schema =
        Schema::for_value(&schema, &|name| (name == "Item").then_some(&item)).expect("the schema compiles");
    strategic::apply(&schema, object, patch)
}

#[test]
fn patches_follow_the_strategies_of_the_type() {
    for (object, patch, expected) in [
        (
            json!({"name": "a", "map": {"x": "1"}}),
            json!({"map": {"y": "2"}}),
            json!({"name": "a", "map": {"x": "1", "y": "2"}}),
        ),
        (
            json!({"map": {"x": "1"}}),
            json!({"map": {"x": null}}),
            json!({"map": {}}),
        ),
        (
            json!({}),
            json!({"map": {"x": null, "y": "1"}}),
            json!({"map": {"y": "1"}}),
        ),
        (
            json!({"plain": ["a"]}),
            json!({"plain": ["b"]}),
            json!({"plain": ["b"]}),
        ),
        (
            json!({"finals": ["a", "b"]}),
            json!({"finals": ["c", "a"]}),
            json!({"finals": ["c", "a", "b"]}),
        ),
        (
            json!({"whole": {"a": 1}}),
            json!({"whole": {"b": 1}}),
            json!({"whole": {"b": 1}}),
        ),
        (
            json!({"items": [{"name": "a", "x": 1}, {"name": "b"}]}),
            json!({"items": [{"name": "c"}, {"name": "a", "y": 2}]}),
            json!({"items": [{"name": "c"}, {"name": "a", "x": 1, "y": 2}, {"name": "b"}]}),
        ),
        (
            json!({"items": [{"name": "a", "items": [{"name": "x"}]}]}),
            json!({"items": [{"name": "a", "items": [{"name": "y"}]}]}),
            json!({"items": [{"name": "a", "items": [{"name": "y"}, {"name": "x"}]}]}),
        ),
    ] {
        assert_eq!(apply(&object, &patch), Ok(expected), "{object} {patch}");
    }
}

#[test]
fn directives_are_carried_out_and_leave_no_trace() {
    for (object, patch, expected) in [
        (
            json!({"map": {"x": "1"}}),
            json!({"map": {"$patch": "replace", "y": "2"}}),
            json!({"map": {"y": "2"}}),
        ),
        (
            json!({"map": {"x": "1"}}),
            json!({"map": {"$patch": "delete"}}),
            json!({"map": {}}),
        ),
        (json!({}), json!({"map": {"$patch": "delete"}}), json!({})),
        (
            json!({"items": [{"name": "a"}, {"name": "b"}]}),
            json!({"items": [{"name": "a", "$patch": "delete"}]}),
            json!({"items": [{"name": "b"}]}),
        ),
        (
            json!({"items": [{"name": "a"}]}),
            json!({"items": [{"name": "b"}, {"$patch": "replace"}]}),
            json!({"items": [{"name": "b"}]}),
        ),
        (
            json!({}),
            json!({"items": [{"name": "a", "$patch": "delete"}, {"name": "b"}]}),
            json!({"items": [{"name": "b"}]}),
        ),
        (
            json!({"finals": ["a", "b", "c"]}),
            json!({"$deleteFromPrimitiveList/finals": ["a", "c"], "finals": ["d"]}),
            json!({"finals": ["d", "b"]}),
        ),
        (
            json!({"finals": ["a", "b", "c"]}),
            json!({"$setElementOrder/finals": ["c", "a"]}),
            json!({"finals": ["b", "c", "a"]}),
        ),
        (
            json!({"items": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}),
            json!({"$setElementOrder/items": [{"name": "c"}, {"name": "d"}, {"name": "a"}], "items": [{"name": "d"}]}),
            json!({"items": [{"name": "b"}, {"name": "c"}, {"name": "d"}, {"name": "a"}]}),
        ),
        (
            json!({"volume": {"a": {}, "b": {}}}),
            json!({"volume": {"$retainKeys": ["b", "c"], "c": {}}}),
            json!({"volume": {"b": {}, "c": {}}}),
        ),
    ] {
        assert_eq!(apply(&object, &patch), Ok(expected), "{object} {patch}");
    }
}

#[test]
fn patches_that_contradict_the_type_are_refused() {
    let object = json!({"items": [{"name": "a"}], "finals": ["a"], "nested": [["a"]], "map": {}});
    for (patch, expected) in [
        (
            json!([]),
            PatchError::Malformed("invalid JSON document".to_owned()),
        ),
        (
            json!({"items": [{"x": 1}]}),
            PatchError::Internal("map: {\"x\":1} does not contain declared merge key: name".to_owned()),
        ),
        (
            json!({"finals": [{"x": 1}]}),
            PatchError::Internal("list element types are not identical: [[\"a\"],[{\"x\":1}]]".to_owned()),
        ),
        (
            json!({"nested": [["b"]]}),
            PatchError::Failed("lists of lists are not supported".to_owned()),
        ),
        (
            json!({"map": {"$patch": "merge"}}),
            PatchError::Internal("unknown patch type: merge in map: {}".to_owned()),
        ),
        (
            json!({"map": {"$retainKeys": ["a"], "b": "c"}}),
            PatchError::Malformed("invalid patch format of retainKeys".to_owned()),
        ),
        (
            json!({"$setElementOrder": []}),
            PatchError::Malformed("invalid patch format of setElementOrder list".to_owned()),
        ),
        (
            json!({"$deleteFromPrimitiveList": []}),
            PatchError::Malformed("invalid patch format of primitive list".to_owned()),
        ),
    ] {
        assert_eq!(apply(&object, &patch), Err(expected), "{patch}");
    }
}
