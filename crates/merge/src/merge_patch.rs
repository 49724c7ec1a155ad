//! JSON merge patches (RFC 7386), as the API server applies them.

use serde_json::{Map, Value};

use crate::PatchError;

/// The object after `patch`.
///
/// # Errors
/// [`PatchError::Malformed`] when the patch is neither an object nor a list.
pub fn apply(object: &Value, patch: &Value) -> Result<Value, PatchError> {
    if !patch.is_object() && !patch.is_array() {
        return Err(PatchError::Malformed("Invalid JSON Patch".to_owned()));
    }
    let mut result = object.clone();
    merge(&mut result, patch);
    Ok(result)
}

fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        // Differs from RFC 7386, as the library of the API server does: where a list does not replace an object, it
        // loses the nulls of the objects in it.
        *target = if target.is_object() {
            patch.clone()
        } else {
            without_nulls(patch)
        };
        return;
    };
    let Value::Object(entries) = target else {
        *target = without_nulls(patch);
        return;
    };
    for (name, change) in changes {
        if change.is_null() {
            entries.remove(name);
        } else {
            merge(entries.entry(name.as_str()).or_insert(Value::Null), change);
        }
    }
}

/// The value without the null entries of its objects; nulls in lists stay.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(entries) => {
            let kept = entries.iter().filter(|(_, entry)| !entry.is_null());
            Value::Object(
                kept.map(|(name, entry)| (name.clone(), without_nulls(entry)))
                    .collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        scalar => scalar.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_merge_and_everything_else_replaces() {
        for (object, patch, expected) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
            (
                json!({"a": {"b": "c"}}),
                json!({"a": {"b": "d", "c": null}}),
                json!({"a": {"b": "d"}}),
            ),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!(["a", "b"]), json!(["c", "d"]), json!(["c", "d"])),
            (json!({"a": "b"}), json!(["c"]), json!(["c"])),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!([1, 2]), json!({"a": "b", "c": null}), json!({"a": "b"})),
            (
                json!({}),
                json!({"a": {"bb": {"ccc": null}}}),
                json!({"a": {"bb": {}}}),
            ),
            (
                json!({}),
                json!({"a": [{"b": null}, null]}),
                json!({"a": [{}, null]}),
            ),
            (
                json!({"a": {}}),
                json!({"a": [{"b": null}]}),
                json!({"a": [{"b": null}]}),
            ),
        ] {
            assert_eq!(apply(&object, &patch), Ok(expected), "{object} {patch}");
        }
    }

    #[test]
    fn a_scalar_is_no_patch() {
        for patch in [json!(null), json!("a"), json!(1)] {
            assert_eq!(
                apply(&json!({}), &patch),
                Err(PatchError::Malformed("Invalid JSON Patch".to_owned())),
                "{patch}"
            );
        }
    }
}
