//! The smallest JSON merge patch from one object to another.

use serde_json::{Map, Value};

use crate::value;

/// The merge patch that turns `old` into `new`; an empty object when they are the same. Lists that differ are sent
/// whole, entries that are gone as null. A null entry in `new` counts as gone: merge patches cannot set it.
pub fn merge_patch(old: &Value, new: &Value) -> Value {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => Value::Object(changes(old, new)),
        _ if value::equal(old, new) => Value::Object(Map::new()),
        _ => new.clone(),
    }
}

fn changes(old: &Map<String, Value>, new: &Map<String, Value>) -> Map<String, Value> {
    let mut patch = Map::new();
    for (name, entry) in new {
        match (old.get(name), entry) {
            (None | Some(Value::Null), Value::Null) => {}
            (Some(Value::Object(old)), Value::Object(new)) => {
                let nested = changes(old, new);
                if !nested.is_empty() {
                    patch.insert(name.clone(), Value::Object(nested));
                }
            }
            (Some(old), new) if value::equal(old, new) => {}
            _ => {
                patch.insert(name.clone(), entry.clone());
            }
        }
    }
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    patch
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_differs_is_in_the_patch() {
        for (old, new, expected) in [
            (
                json!({"a": 1, "b": {"c": 1}}),
                json!({"a": 1, "b": {"c": 1}}),
                json!({}),
            ),
            (json!({"a": 1}), json!({"a": 1.0}), json!({})),
            (
                json!({"a": 1, "b": {"c": 1, "d": 2}}),
                json!({"a": 1, "b": {"c": 2, "d": 2}}),
                json!({"b": {"c": 2}}),
            ),
            (json!({"a": 1, "b": 2}), json!({"b": 2}), json!({"a": null})),
            (json!({"a": [1, 2]}), json!({"a": [1, 3]}), json!({"a": [1, 3]})),
            (json!({"a": {"b": 1}}), json!({"a": 1}), json!({"a": 1})),
            (json!({}), json!({"a": {"b": {}}}), json!({"a": {"b": {}}})),
            (json!({"a": 1}), json!({"a": null}), json!({"a": null})),
            (json!({}), json!({"a": null}), json!({})),
        ] {
            assert_eq!(merge_patch(&old, &new), expected, "{old} {new}");
        }
    }
}
