//! Laws of sets and of ownership that hold for all inputs.

use std::{collections::BTreeMap, sync::Arc};

use capstan_merge::{
    PathElement, Schema, Set, diff,
    managed::{Operation, SingleVersion, apply, update},
    merge_patch, typed,
};
use proptest::{collection::vec, prelude::*};
use serde_json::{Map, Value, json};

fn schema() -> Arc<Schema> {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "replicas": {"type": "integer"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "hosts": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "args": {"type": "array", "items": {"type": "string"}},
        "ports": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port", "protocol"],
            "items": {"type": "object", "properties": {
                "port": {"type": "integer"},
                "protocol": {"type": "string", "default": "TCP"},
                "name": {"type": "string"},
            }},
        },
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    }}}});
    Schema::for_object(&schema, &|_| None).expect("the schema compiles")
}

fn text() -> impl Strategy<Value = String> {
    "[a-c]"
}

fn free() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (0..3).prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::btree_map(text(), inner, 0..3)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn free_map() -> impl Strategy<Value = Value> {
    proptest::collection::btree_map(text(), free(), 0..3)
        .prop_map(|entries| Value::Object(entries.into_iter().collect()))
}

fn port() -> impl Strategy<Value = Port> {
    (
        (80..82, proptest::option::of(any::<bool>())),
        proptest::option::of(text()),
    )
}

/// Port number, whether the protocol is UDP if it is given, name if it has one.
type Port = ((i32, Option<bool>), Option<String>);

fn ports(items: Vec<Port>) -> Value {
    let distinct: BTreeMap<(i32, bool), _> = items
        .into_iter()
        .map(|((port, udp), name)| ((port, udp == Some(true)), (udp, name)))
        .collect();
    let items = distinct.into_iter().map(|((port, is_udp), (udp, name))| {
        let mut item = json!({"port": port});
        if udp.is_some() {
            item["protocol"] = json!(if is_udp { "UDP" } else { "TCP" });
        }
        if let Some(name) = name {
            item["name"] = json!(name);
        }
        item
    });
    items.collect()
}

prop_compose! {
    fn config()(
        replicas in proptest::option::of(0..3),
        labels in proptest::option::of(proptest::collection::btree_map(text(), text(), 0..3)),
        hosts in proptest::option::of(proptest::collection::btree_set(text(), 0..3)),
        args in proptest::option::of(vec(text(), 0..3)),
        list in proptest::option::of(vec(port(), 0..4)),
        free in proptest::option::of(free_map()),
    ) -> Value {
        let mut spec = Map::new();
        let fields = [
            ("replicas", replicas.map(|replicas| json!(replicas))),
            ("labels", labels.map(|labels| json!(labels))),
            ("hosts", hosts.map(|hosts| json!(hosts))),
            ("args", args.map(|args| json!(args))),
            ("ports", list.map(ports)),
            ("free", free),
        ];
        for (name, value) in fields {
            if let Some(value) = value {
                spec.insert(name.to_owned(), value);
            }
        }
        json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": spec})
    }
}

fn element() -> impl Strategy<Value = PathElement> {
    prop_oneof![
        text().prop_map(PathElement::field),
        (0..2).prop_map(|port| PathElement::key([("port", json!(port))])),
        (0..2).prop_map(|value| PathElement::value(json!(value))),
        (0..2_i64).prop_map(PathElement::Index),
    ]
}

fn set() -> impl Strategy<Value = Set> {
    vec(vec(element(), 1..4), 0..12).prop_map(|paths| paths.into_iter().collect())
}

fn with_operation<T>(manager: &str, second: i64, run: impl FnOnce(&Operation<'_>) -> T) -> T {
    let versions = SingleVersion {
        api_version: "v1".to_owned(),
        schema: schema(),
    };
    run(&Operation {
        manager,
        subresource: "",
        api_version: "v1",
        kind: "Thing",
        empty: &json!({"apiVersion": "v1", "kind": "Thing"}),
        versions: &versions,
        reset_fields: &BTreeMap::new(),
        now: jiff::Timestamp::constant(second, 0),
    })
}

fn with_uid(mut object: Value) -> Value {
    object["metadata"]["uid"] = json!("u");
    object
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sets_obey_the_laws_of_sets(a in set(), b in set(), c in set()) {
        prop_assert_eq!(a.union(&b), b.union(&a));
        prop_assert_eq!(a.union(&b).union(&c), a.union(&b.union(&c)));
        prop_assert_eq!(a.intersection(&b), b.intersection(&a));
        prop_assert_eq!(a.intersection(&b.union(&c)), a.intersection(&b).union(&a.intersection(&c)));
        prop_assert_eq!(a.difference(&b).union(&a.intersection(&b)), a.clone());
        prop_assert!(a.difference(&a).is_empty());
        prop_assert_eq!(a.recursive_difference(&b).difference(&a.difference(&b)), Set::new());
        prop_assert_eq!(a.union(&b).len() + a.intersection(&b).len(), a.len() + b.len());
        prop_assert_eq!(a.paths().into_iter().collect::<Set>(), a.clone());
        prop_assert_eq!(a.leaves().difference(&a), Set::new());
    }

    #[test]
    fn sets_survive_the_wire(a in set()) {
        prop_assert_eq!(Set::from_fields_v1(&a.to_fields_v1()), Ok(a));
    }

    #[test]
    fn comparing_tells_exactly_what_changed(a in config(), b in config()) {
        let schema = schema();
        let forth = typed::compare(&schema, &a, &b).expect("comparable");
        let back = typed::compare(&schema, &b, &a).expect("comparable");
        prop_assert!(typed::compare(&schema, &a, &a).expect("comparable").is_same());
        prop_assert_eq!(&forth.added, &back.removed);
        prop_assert_eq!(&forth.modified, &back.modified);
    }

    #[test]
    fn merging_keeps_what_the_configuration_says(a in config(), b in config()) {
        let schema = schema();
        let merged = typed::merge(&schema, &a, &b).expect("mergeable");
        let again = typed::merge(&schema, &merged, &b).expect("mergeable");
        prop_assert_eq!(&again, &merged);
        prop_assert_eq!(typed::merge(&schema, &a, &a), Ok(a));
    }

    #[test]
    fn applying_again_changes_nothing(live in config(), applied in config()) {
        let live = with_uid(with_operation("updater", 1, |operation| update(operation, operation.empty, live)).object);
        let once = with_operation("applier", 2, |operation| apply(operation, &live, &applied, true)).expect("applies");
        let twice = with_operation("applier", 3, |operation| apply(operation, &once, &applied, false)).expect("applies");
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn an_update_that_changes_nothing_keeps_the_managers(object in config()) {
        let live = with_uid(with_operation("creator", 1, |operation| update(operation, operation.empty, object)).object);
        let updated = with_operation("other", 2, |operation| update(operation, &live, live.clone()));
        prop_assert_eq!(updated.object, live);
    }

    #[test]
    fn applying_nothing_removes_what_was_applied_alone(applied in config()) {
        let once = with_operation("applier", 1, |operation| apply(operation, operation.empty, &applied, false));
        let once = once.expect("applies");
        // Empty lists of items own nothing; an object nobody owns counts as older than all managers.
        prop_assume!(!once["metadata"]["managedFields"].is_null());
        let nothing = json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}});
        let gone = with_operation("applier", 2, |operation| apply(operation, &with_uid(once), &nothing, false));
        prop_assert_eq!(&gone.expect("applies")["metadata"]["managedFields"], &Value::Null);
    }

    #[test]
    fn a_merge_patch_leads_from_old_to_new(old in free_map(), new in free_map()) {
        // Merge patches cannot say null; applying one to nothing leaves it without.
        let without_nulls = |value| merge_patch::apply(&json!({}), value).expect("a patch");
        let (old, new) = (without_nulls(&old), without_nulls(&new));
        let patched = merge_patch::apply(&old, &diff::merge_patch(&old, &new)).expect("a patch");
        prop_assert_eq!(patched, new);
    }
}
