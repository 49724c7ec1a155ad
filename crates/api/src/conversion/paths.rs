//! Reads, takes and puts values by paths such as `spec.template.spec`.

use serde_json::{Map, Value};

use super::rules::Object;

/// The value at the path.
pub(super) fn get<'a>(object: &'a Object, path: &str) -> Option<&'a Value> {
    match path.split_once('.') {
        None => object.get(path),
        Some((first, rest)) => get(object.get(first)?.as_object()?, rest),
    }
}

/// The value at the path, to be changed.
pub(super) fn get_mut<'a>(object: &'a mut Object, path: &str) -> Option<&'a mut Value> {
    match path.split_once('.') {
        None => object.get_mut(path),
        Some((first, rest)) => get_mut(object.get_mut(first)?.as_object_mut()?, rest),
    }
}

/// Removes the value at the path, together with objects above it that have nothing else in them.
pub(super) fn take(object: &mut Object, path: &str) -> Option<Value> {
    let Some((first, rest)) = path.split_once('.') else {
        return object.remove(path);
    };
    let parent = object.get_mut(first)?.as_object_mut()?;
    let taken = take(parent, rest)?;
    if parent.is_empty() {
        object.remove(first);
    }
    Some(taken)
}

/// Puts a value at the path, and objects above it where there are none.
pub(super) fn put(object: &mut Object, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            object.insert(path.to_owned(), value);
        }
        Some((first, rest)) => {
            let parent = object.entry(first).or_insert_with(|| Value::Object(Map::new()));
            if !parent.is_object() {
                *parent = Value::Object(Map::new());
            }
            if let Some(parent) = parent.as_object_mut() {
                put(parent, rest, value);
            }
        }
    }
}
