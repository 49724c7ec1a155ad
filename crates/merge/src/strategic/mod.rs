//! Strategic merge patches: merge patches that know from the type how lists merge, and carry directives.
//! Upstream: apimachinery `util/strategicpatch`.
//!
//! ```text
//! $patch: replace | delete            in a map: replace it by the rest of the patch, or empty it
//! $patch: replace | delete            in a list item: replace the list, or delete the item with that merge key
//! $retainKeys: [a, b]                 in a map: remove every other entry
//! $deleteFromPrimitiveList/x: [v]     beside x: delete these scalars from it
//! $setElementOrder/x: [..]            beside x: the order of its items; items not listed keep their relative order
//! ```

mod lists;

use serde_json::{Map, Value};

use crate::{
    PatchError,
    types::{Schema, TypeId},
};

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM_PRIMITIVE_LIST: &str = "$deleteFromPrimitiveList";
const SET_ELEMENT_ORDER: &str = "$setElementOrder";

/// The object after `patch`, both of the type of `schema`.
///
/// # Errors
/// [`PatchError::Malformed`] for directives of the wrong form, [`PatchError::Failed`] for lists of lists,
/// [`PatchError::Internal`] for patches that contradict the type, such as list items without their merge key.
pub fn apply(schema: &Schema, object: &Value, patch: &Value) -> Result<Value, PatchError> {
    let (Value::Object(object), Value::Object(patch)) = (object, patch) else {
        return Err(PatchError::Malformed("invalid JSON document".to_owned()));
    };
    let merged = Merger { schema }.map(schema.root(), object.clone(), patch.clone())?;
    Ok(Value::Object(merged))
}

type Object = Map<String, Value>;

#[derive(Clone, Copy)]
struct Merger<'a> {
    schema: &'a Schema,
}

/// How a field merges.
#[derive(Clone, Copy)]
struct FieldMeta<'a> {
    type_id: TypeId,
    strategy: &'a str,
    merge_key: Option<&'a str>,
}

impl<'a> Merger<'a> {
    fn field(self, type_id: TypeId, name: &str) -> Result<FieldMeta<'a>, PatchError> {
        let Some(map) = &self.schema.atom(type_id).map else {
            return Ok(FieldMeta {
                type_id: TypeId::UNTYPED,
                strategy: "",
                merge_key: None,
            });
        };
        let Some(field) = map.fields.get(name) else {
            return Ok(FieldMeta {
                type_id: map.element,
                strategy: "",
                merge_key: None,
            });
        };
        let strategies: Vec<&str> = field.patch_strategies.iter().map(String::as_str).collect();
        let strategy = match strategies.as_slice() {
            [] | ["retainKeys"] => "",
            [only] | ["retainKeys", only] | [only, "retainKeys"] => only,
            _ => {
                return Err(PatchError::Internal(format!(
                    "unexpected patch strategy: {strategies:?}"
                )));
            }
        };
        Ok(FieldMeta {
            type_id: field.type_id,
            strategy,
            merge_key: field.patch_merge_key.as_deref(),
        })
    }

    fn map(self, type_id: TypeId, mut original: Object, mut patch: Object) -> Result<Object, PatchError> {
        if let Some(directive) = patch.remove(DIRECTIVE) {
            return match directive.as_str() {
                Some("replace") => Ok(patch),
                Some("delete") => Ok(Object::new()),
                _ => Err(unknown_directive(&directive, &patch)),
            };
        }
        retain_keys(&mut original, &mut patch)?;
        self.merge_ordered_lists(type_id, &mut original, &mut patch)?;
        for (key, change) in patch {
            let deleted_from = deletion_target(&key)?;
            let name = deleted_from.unwrap_or(&key);
            if change.is_null() {
                original.remove(name);
            } else if let Some(current) = original
                .get_mut(name)
                .filter(|current| same_type(current, &change))
            {
                let meta = self.field(type_id, name)?;
                *current = self.value(meta, current.take(), change, deleted_from.is_some())?;
            } else if deleted_from.is_none() {
                match without_directives(without_nulls(change)) {
                    Some(change) => original.insert(name.to_owned(), change),
                    None => original.remove(name),
                };
            }
        }
        Ok(original)
    }

    /// Merges two values of the same JSON type.
    fn value(
        self,
        meta: FieldMeta<'_>,
        original: Value,
        patch: Value,
        delete: bool,
    ) -> Result<Value, PatchError> {
        match (original, patch) {
            (Value::Object(original), Value::Object(patch)) if meta.strategy != "replace" => {
                self.map(meta.type_id, original, patch).map(Value::Object)
            }
            (Value::Array(original), Value::Array(patch)) if meta.strategy == "merge" || delete => {
                self.list(meta, original, patch, delete).map(Value::Array)
            }
            (_, patch) => Ok(patch),
        }
    }
}

/// The field a deletion list is about, if the key is one.
fn deletion_target(key: &str) -> Result<Option<&str>, PatchError> {
    if !key.starts_with(DELETE_FROM_PRIMITIVE_LIST) {
        return Ok(None);
    }
    match key.split_once('/') {
        Some((DELETE_FROM_PRIMITIVE_LIST, name)) => Ok(Some(name)),
        _ => Err(PatchError::Malformed(
            "invalid patch format of primitive list".to_owned(),
        )),
    }
}

fn retain_keys(original: &mut Object, patch: &mut Object) -> Result<(), PatchError> {
    let Some(directive) = patch.remove(RETAIN_KEYS) else {
        return Ok(());
    };
    let malformed = || PatchError::Malformed("invalid patch format of retainKeys".to_owned());
    let retained = directive.as_array().ok_or_else(malformed)?;
    let is_retained = |key: &str| retained.iter().any(|name| name.as_str() == Some(key));
    let is_directive =
        |key: &str| key.starts_with(DELETE_FROM_PRIMITIVE_LIST) || key.starts_with(SET_ELEMENT_ORDER);
    if patch
        .iter()
        .any(|(key, change)| !change.is_null() && !is_directive(key) && !is_retained(key))
    {
        return Err(malformed());
    }
    original.retain(|key, _| is_retained(key));
    Ok(())
}

fn unknown_directive(directive: &Value, patch: &Object) -> PatchError {
    let directive = directive
        .as_str()
        .map_or_else(|| directive.to_string(), str::to_owned);
    let patch = Value::Object(patch.clone());
    PatchError::Internal(format!("unknown patch type: {directive} in map: {patch}"))
}

/// Whether both are of the same type, integers and floats being two.
fn same_type(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.is_f64() == right.is_f64(),
        _ => std::mem::discriminant(left) == std::mem::discriminant(right),
    }
}

/// The value without null entries in its objects, at any depth.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(entries) => {
            let kept = entries.into_iter().filter(|(_, entry)| !entry.is_null());
            Value::Object(kept.map(|(key, entry)| (key, without_nulls(entry))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        scalar => scalar,
    }
}

/// The value without the objects in it that are directives; `None` when it is one itself.
fn without_directives(value: Value) -> Option<Value> {
    Some(match value {
        Value::Object(entries) if entries.contains_key(DIRECTIVE) => return None,
        Value::Object(entries) => Value::Object(
            entries
                .into_iter()
                .filter_map(|(key, entry)| Some((key, without_directives(entry)?)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().filter_map(without_directives).collect()),
        scalar => scalar,
    })
}
