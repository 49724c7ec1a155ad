//! Filling in default values, and dropping nulls where null is no value.
//! Source: apiextensions-apiserver `pkg/apiserver/schema/defaulting/{algorithm,prunenulls}.go`.

use serde_json::{Map, Value};

use crate::structural::Structural;

/// Fills in `value` what `schema` has defaults for.
///
/// A default is set where a field is missing, or null without being nullable, in an object that exists; a missing
/// object comes into being only by a default of its own. A null that is neither allowed nor defaulted is removed.
/// List items and map values are visited.
pub fn default(value: &mut Value, schema: &Structural) {
    match value {
        Value::Object(map) => default_object(map, schema),
        Value::Array(list) => {
            let Some(items) = schema.items.as_deref() else {
                return;
            };
            for item in list {
                if is_stray_null(item, items)
                    && let Some(value) = &items.default
                {
                    *item = value.clone();
                }
                default(item, items);
            }
        }
        _ => {}
    }
}

fn default_object(map: &mut Map<String, Value>, schema: &Structural) {
    map.retain(|name, child| {
        !child.is_null()
            || schema
                .field(name)
                .is_none_or(|below| !is_stray_null(child, below) || below.default.is_some())
    });
    for (name, below) in &schema.properties {
        let Some(value) = &below.default else { continue };
        match map.get_mut(name) {
            None => {
                map.insert(name.clone(), value.clone());
            }
            Some(child) if is_stray_null(child, below) => *child = value.clone(),
            Some(_) => {}
        }
    }
    for (name, child) in map {
        let Some(below) = schema.field(name) else { continue };
        if is_stray_null(child, below)
            && let Some(value) = &below.default
        {
            *child = value.clone();
        }
        default(child, below);
    }
}

/// Whether `value` is a null that `schema` does not allow.
fn is_stray_null(value: &Value, schema: &Structural) -> bool {
    value.is_null() && !schema.nullable
}
