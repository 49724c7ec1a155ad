//! JSON patches (RFC 6902), with the leniencies and error texts of the library the API server uses
//! (evanphx/json-patch v4): negative indices count from the end, `replace` may add a field, and a missing `value` is
//! null.

use serde_json::{Map, Value};

use crate::PatchError;

/// The object after all operations of `patch`, or the first reason why one does not apply. How many operations are
/// allowed is the caller's to say.
///
/// # Errors
/// [`PatchError::Malformed`] when the patch is not a list of objects, [`PatchError::Failed`] when an operation does not
/// apply, a `test` included.
pub fn apply(object: &Value, patch: &Value) -> Result<Value, PatchError> {
    let malformed = |found: &Value| {
        PatchError::Malformed(format!(
            "error decoding patch: expected a list of operations, found {}",
            json_type(found)
        ))
    };
    let operations = patch.as_array().ok_or_else(|| malformed(patch))?;
    let mut result = object.clone();
    for operation in operations {
        let operation = operation.as_object().ok_or_else(|| malformed(operation))?;
        apply_one(&mut result, operation).map_err(PatchError::Failed)?;
    }
    Ok(result)
}

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

type Operation = Map<String, Value>;

fn apply_one(object: &mut Value, operation: &Operation) -> Result<(), String> {
    let value = || operation.get("value").cloned().unwrap_or_default();
    match operation.get("op").and_then(Value::as_str).unwrap_or("unknown") {
        "add" => add(
            object,
            text_of(operation, "path").map_err(|_| failed_path("add"))?,
            value(),
        ),
        "remove" => remove(
            object,
            text_of(operation, "path").map_err(|_| failed_path("remove"))?,
        ),
        "replace" => {
            let path = text_of(operation, "path");
            let path = path.map_err(|error| format!("replace operation failed to decode path: {error}"))?;
            replace(object, path, value())
        }
        "move" => relocate(object, operation),
        "copy" => copy(object, operation),
        "test" => {
            let path = text_of(operation, "path");
            let path = path.map_err(|error| format!("test operation failed to decode path: {error}"))?;
            test(object, path, &value())
        }
        other => Err(format!("Unexpected kind: {other}")),
    }
}

fn failed_path(operation: &str) -> String {
    format!("{operation} operation failed to decode path: missing value")
}

fn text_of<'o>(operation: &'o Operation, field: &str) -> Result<&'o str, String> {
    match operation.get(field) {
        Some(Value::String(text)) => Ok(text),
        None | Some(Value::Null) if field == "from" => {
            Err("operation, missing from field: missing value".to_owned())
        }
        None | Some(Value::Null) => Err(format!("operation missing {field} field: missing value")),
        Some(other) => Err(format!("expected a string, found {}", json_type(other))),
    }
}

fn add(object: &mut Value, path: &str, value: Value) -> Result<(), String> {
    let (container, key) = find(object, path).ok_or_else(|| {
        format!("add operation does not apply: doc is missing path: \"{path}\": missing value")
    })?;
    insert_at(container, &key, value).map_err(|error| format!("error in add for path: '{path}': {error}"))
}

fn remove(object: &mut Value, path: &str) -> Result<(), String> {
    let (container, key) = find(object, path).ok_or_else(|| {
        format!("remove operation does not apply: doc is missing path: \"{path}\": missing value")
    })?;
    remove_at(container, &key)
        .map(|_| ())
        .map_err(|error| format!("error in remove for path: '{path}': {error}"))
}

fn replace(object: &mut Value, path: &str, value: Value) -> Result<(), String> {
    if path.is_empty() {
        if !value.is_object() && !value.is_array() {
            return Err("replace operation value must be object or array".to_owned());
        }
        *object = value;
        return Ok(());
    }
    let (container, key) = find(object, path).ok_or_else(|| {
        format!("replace operation does not apply: doc is missing path: {path}: missing value")
    })?;
    match container {
        Value::Array(items) => {
            let index = existing_index(&key, items.len()).map_err(|_| {
                format!("replace operation does not apply: doc is missing key: {path}: missing value")
            })?;
            items[index] = value;
        }
        container => insert_at(container, &key, value)?,
    }
    Ok(())
}

fn relocate(object: &mut Value, operation: &Operation) -> Result<(), String> {
    let from = text_of(operation, "from");
    let from = from.map_err(|error| format!("move operation failed to decode from: {error}"))?;
    let (container, key) = find(object, from).ok_or_else(|| {
        format!("move operation does not apply: doc is missing from path: {from}: missing value")
    })?;
    let value =
        remove_at(container, &key).map_err(|error| format!("error in move for path: '{key}': {error}"))?;
    let path = text_of(operation, "path");
    let path = path.map_err(|error| format!("move operation failed to decode path: {error}"))?;
    let (container, key) = find(object, path).ok_or_else(|| {
        format!("move operation does not apply: doc is missing destination path: {path}: missing value")
    })?;
    insert_at(container, &key, value).map_err(|error| format!("error in move for path: '{path}': {error}"))
}

fn copy(object: &mut Value, operation: &Operation) -> Result<(), String> {
    let from = text_of(operation, "from");
    let from = from.map_err(|error| format!("copy operation failed to decode from: {error}"))?;
    let (container, key) = find(object, from).ok_or_else(|| {
        format!("copy operation does not apply: doc is missing from path: {from}: missing value")
    })?;
    let value =
        get_at(container, &key).map_err(|error| format!("error in copy for from: '{from}': {error}"))?;
    let value = value.cloned().unwrap_or_default();
    let path = text_of(operation, "path").map_err(|_| failed_path("copy"))?;
    let (container, key) = find(object, path).ok_or_else(|| {
        format!("copy operation does not apply: doc is missing destination path: {path}: missing value")
    })?;
    insert_at(container, &key, value)
        .map_err(|error| format!("error while adding value during copy: {error}"))
}

fn test(object: &mut Value, path: &str, expected: &Value) -> Result<(), String> {
    let failed = || format!("testing value {path} failed: test failed");
    if path.is_empty() {
        return if object == expected { Ok(()) } else { Err(failed()) };
    }
    let (container, key) = find(object, path)
        .ok_or_else(|| format!("test operation does not apply: is missing path: {path}: missing value"))?;
    let found =
        get_at(container, &key).map_err(|error| format!("error in test for path: '{path}': {error}"))?;
    if found.unwrap_or(&Value::Null) == expected {
        Ok(())
    } else {
        Err(failed())
    }
}

/// The container a path points into, and the key in it.
fn find<'v>(object: &'v mut Value, path: &str) -> Option<(&'v mut Value, String)> {
    let mut parts: Vec<&str> = path.split('/').skip(1).collect();
    let key = unescape(parts.pop()?);
    let mut container = object;
    for part in parts {
        let part = unescape(part);
        container = match container {
            Value::Object(entries) => entries.get_mut(&part)?,
            Value::Array(items) => {
                let index = existing_index(&part, items.len()).ok()?;
                items.get_mut(index)?
            }
            _ => return None,
        };
    }
    (container.is_object() || container.is_array()).then_some((container, key))
}

/// RFC 6901 escapes, replaced in one pass so that `~01` is `~1`.
fn unescape(part: &str) -> String {
    let mut text = String::with_capacity(part.len());
    let mut rest = part;
    while let Some(at) = rest.find('~') {
        let (before, escape) = rest.split_at(at);
        text.push_str(before);
        let (plain, length) = match escape.as_bytes().get(1) {
            Some(b'1') => ("/", 2),
            Some(b'0') => ("~", 2),
            _ => ("~", 1),
        };
        text.push_str(plain);
        rest = &escape[length..];
    }
    text.push_str(rest);
    text
}

fn get_at<'v>(container: &'v Value, key: &str) -> Result<Option<&'v Value>, String> {
    match container {
        Value::Array(items) => Ok(items.get(existing_index(key, items.len())?)),
        container => Ok(container.get(key)),
    }
}

fn insert_at(container: &mut Value, key: &str, value: Value) -> Result<(), String> {
    match container {
        Value::Object(entries) => {
            entries.insert(key.to_owned(), value);
        }
        Value::Array(items) if key == "-" => items.push(value),
        Value::Array(items) => {
            let index = parse_index(key)
                .map_err(|error| format!("value was not a proper array index: '{key}': {error}"))?;
            items.insert(place(index, items.len() + 1)?, value);
        }
        _ => {}
    }
    Ok(())
}

fn remove_at(container: &mut Value, key: &str) -> Result<Value, String> {
    match container {
        Value::Array(items) => {
            let index = existing_index(key, items.len())?;
            Ok(items.remove(index))
        }
        container => container
            .as_object_mut()
            .and_then(|entries| entries.remove(key))
            .ok_or_else(|| format!("Unable to remove nonexistent key: {key}: missing value")),
    }
}

fn existing_index(key: &str, length: usize) -> Result<usize, String> {
    place(parse_index(key)?, length)
}

fn parse_index(key: &str) -> Result<i64, String> {
    key.parse()
        .map_err(|_| format!("strconv.Atoi: parsing {key:?}: invalid syntax"))
}

/// The position `index` stands for among `length` ones, from the end when it is negative.
fn place(index: i64, length: usize) -> Result<usize, String> {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let position = if index < 0 {
        index.saturating_add(length)
    } else {
        index
    };
    usize::try_from(position)
        .ok()
        .filter(|_| position < length)
        .ok_or_else(|| format!("Unable to access invalid index: {index}: invalid index referenced"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn operations_apply_in_order() {
        for (object, patch, expected) in [
            (json!({"a": 1}), json!([]), json!({"a": 1})),
            (
                json!({}),
                json!([{"op": "add", "path": "/a", "value": 1}]),
                json!({"a": 1}),
            ),
            (
                json!({}),
                json!([{"op": "add", "path": "/a"}]),
                json!({"a": null}),
            ),
            (
                json!({"a": [1, 3]}),
                json!([{"op": "add", "path": "/a/1", "value": 2}]),
                json!({"a": [1, 2, 3]}),
            ),
            (
                json!({"a": [1]}),
                json!([{"op": "add", "path": "/a/-", "value": 2}]),
                json!({"a": [1, 2]}),
            ),
            (
                json!({"a": [1, 2]}),
                json!([{"op": "add", "path": "/a/-1", "value": 3}]),
                json!({"a": [1, 2, 3]}),
            ),
            (
                json!({"a": [1, 2]}),
                json!([{"op": "remove", "path": "/a/-1"}]),
                json!({"a": [1]}),
            ),
            (
                json!({"a": {"b": 1}}),
                json!([{"op": "remove", "path": "/a/b"}]),
                json!({"a": {}}),
            ),
            (
                json!({"a": 1}),
                json!([{"op": "replace", "path": "/b", "value": 2}]),
                json!({"a": 1, "b": 2}),
            ),
            (
                json!({"a": 1}),
                json!([{"op": "replace", "path": "", "value": {"b": 1}}]),
                json!({"b": 1}),
            ),
            (
                json!({"a/b": {"~1": 1}}),
                json!([{"op": "remove", "path": "/a~1b/~01"}]),
                json!({"a/b": {}}),
            ),
            (
                json!({"a": {"b": 1}}),
                json!([{"op": "move", "from": "/a/b", "path": "/c"}]),
                json!({"a": {}, "c": 1}),
            ),
            (
                json!({"a": [1]}),
                json!([{"op": "copy", "from": "/a/0", "path": "/b"}]),
                json!({"a": [1], "b": 1}),
            ),
            (
                json!({"a": {"b": [1]}}),
                json!([{"op": "test", "path": "/a", "value": {"b": [1]}}]),
                json!({"a": {"b": [1]}}),
            ),
            (
                json!({"a": 1}),
                json!([{"op": "test", "path": "/b", "value": null}]),
                json!({"a": 1}),
            ),
        ] {
            assert_eq!(apply(&object, &patch), Ok(expected), "{object} {patch}");
        }
    }

    #[test]
    fn an_operation_that_does_not_apply_fails_the_patch() {
        for (patch, expected) in [
            (
                json!({"op": "test", "path": "/a", "value": 2}),
                "testing value /a failed: test failed",
            ),
            (
                json!({"op": "test", "path": "/a/b", "value": 2}),
                "test operation does not apply: is missing path: /a/b: missing value",
            ),
            (
                json!({"op": "remove", "path": "/b"}),
                "error in remove for path: '/b': Unable to remove nonexistent key: b: missing value",
            ),
            (
                json!({"op": "remove", "path": "/b/c"}),
                "remove operation does not apply: doc is missing path: \"/b/c\": missing value",
            ),
            (
                json!({"op": "add", "path": "/b/c"}),
                "add operation does not apply: doc is missing path: \"/b/c\": missing value",
            ),
            (
                json!({"op": "add", "path": "/l/3"}),
                "error in add for path: '/l/3': Unable to access invalid index: 3: invalid index referenced",
            ),
            (
                json!({"op": "add", "path": "/l/x"}),
                "error in add for path: '/l/x': value was not a proper array index: 'x': strconv.Atoi: parsing \"x\": invalid syntax",
            ),
            (
                json!({"op": "replace", "path": "/l/2"}),
                "replace operation does not apply: doc is missing key: /l/2: missing value",
            ),
            (
                json!({"op": "move", "from": "/b", "path": "/c"}),
                "error in move for path: 'b': Unable to remove nonexistent key: b: missing value",
            ),
            (
                json!({"op": "copy", "path": "/c"}),
                "copy operation failed to decode from: operation, missing from field: missing value",
            ),
            (
                json!({"op": "add"}),
                "add operation failed to decode path: missing value",
            ),
            (json!({"op": "frob", "path": "/a"}), "Unexpected kind: frob"),
            (json!({"path": "/a"}), "Unexpected kind: unknown"),
        ] {
            let result = apply(&json!({"a": 1, "l": [1, 2]}), &json!([patch]));
            assert_eq!(result, Err(PatchError::Failed(expected.to_owned())), "{patch}");
        }
    }

    #[test]
    fn anything_but_a_list_of_objects_is_malformed() {
        for patch in [json!({}), json!([1]), json!(null)] {
            assert!(
                matches!(apply(&json!({}), &patch), Err(PatchError::Malformed(_))),
                "{patch}"
            );
        }
    }
}
