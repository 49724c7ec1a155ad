//! Uniqueness in lists of type set and map.
//! Source: apiextensions-apiserver `pkg/apiserver/schema/listtype/validation.go`.

use std::collections::BTreeMap;

use capstan_base::field;
use serde_json::{Map, Value};

use crate::structural::{ListType, Structural};

/// Checks that lists of type set have no value twice, and lists of type map no item twice.
///
/// On an update, callers check the old object first and leave the new one alone if that was invalid already.
pub fn validate_list_types(value: &Value, schema: &Structural, path: &field::Path) -> Vec<field::Error> {
    let mut errors = Vec::new();
    visit(value, schema, path, &mut errors);
    errors
}

fn visit(value: &Value, schema: &Structural, path: &field::Path, errors: &mut Vec<field::Error>) {
    match value {
        Value::Object(map) => {
            for (name, child) in map {
                if !matches!(child, Value::Object(_) | Value::Array(_)) {
                    continue;
                }
                if let Some(below) = schema.properties.get(name) {
                    visit(child, below, &path.child(name), errors);
                } else if let Some(below) = schema.additional.schema() {
                    visit(child, below, &path.key(name), errors);
                }
            }
        }
        Value::Array(list) => {
            match schema.list_type {
                Some(ListType::Set) => {
                    for index in repeated(list) {
                        errors.push(field::Error::duplicate(&path.index(index), list[index].clone()));
                    }
                }
                Some(ListType::Map) => visit_map_list(list, schema, path, errors),
                Some(ListType::Atomic) | None => {}
            }
            if let Some(items) = schema.items.as_deref() {
                for (index, item) in list.iter().enumerate() {
                    visit(item, items, &path.index(index), errors);
                }
            }
        }
        _ => {}
    }
}

fn visit_map_list(list: &[Value], schema: &Structural, path: &field::Path, errors: &mut Vec<field::Error>) {
    let stray = list.iter().position(|item| !item.is_object() && !item.is_null());
    if let Some(index) = stray {
        errors.push(field::Error::invalid(
            &path.index(index),
            list[index].clone(),
            "must be an object for an array of list-type map",
        ));
        return;
    }
    let keys: Vec<Value> = list
        .iter()
        .map(|item| {
            let given = schema
                .list_map_keys
                .iter()
                .filter_map(|key| Some((key.clone(), item.get(key)?.clone())));
            Value::Object(given.collect::<Map<String, Value>>())
        })
        .collect();
    for index in repeated(&keys) {
        errors.push(field::Error::duplicate(&path.index(index), keys[index].clone()));
    }
}

/// The index of the second occurrence of each value that occurs more than once, in order.
fn repeated(list: &[Value]) -> Vec<usize> {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut found = Vec::new();
    if list.len() > 1 {
        for (index, value) in list.iter().enumerate() {
            let times = seen.entry(value.to_string()).or_default();
            *times += 1;
            if *times == 2 {
                found.push(index);
            }
        }
    }
    found
}
