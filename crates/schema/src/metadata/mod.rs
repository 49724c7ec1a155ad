//! The metadata of whole and embedded objects: its shape is fixed, whatever a schema says.
//! Source: apiextensions-apiserver `pkg/apiserver/schema/objectmeta`.

mod embedded;
mod object_meta;

use capstan_base::field;
use serde_json::Value;

pub use embedded::validate_embedded;

use crate::structural::{Level, Structural};

/// What becomes of apiVersion, kind and metadata fields of the wrong type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// They are an error: for requests.
    Reject,
    /// They are dropped: for stored objects, which must stay readable.
    Drop,
}

/// Brings the metadata of all whole and embedded objects in `value` into the form that Kubernetes writes: known fields
/// only, of the right types, without empty ones. Returns the paths of unknown fields that this dropped, sorted:
/// `metadata.foo`, `spec.template.metadata.ownerReferences[0].foo`.
///
/// # Errors
/// The first field of the wrong type, with [`Malformed::Reject`].
pub fn coerce(
    value: &mut Value,
    schema: &Structural,
    level: Level,
    malformed: Malformed,
) -> Result<Vec<String>, field::Error> {
    let mut unknown = Vec::new();
    visit(
        value,
        schema,
        level,
        malformed,
        &field::Path::root(),
        &mut unknown,
    )?;
    unknown.sort_unstable();
    Ok(unknown)
}

fn visit(
    value: &mut Value,
    schema: &Structural,
    level: Level,
    malformed: Malformed,
    path: &field::Path,
    unknown: &mut Vec<String>,
) -> Result<(), field::Error> {
    match value {
        Value::Object(map) => {
            if level.is_resource(schema) {
                for name in ["apiVersion", "kind"] {
                    match map.get(name) {
                        None | Some(Value::String(_)) => {}
                        Some(_) if malformed == Malformed::Drop => {
                            map.remove(name);
                        }
                        Some(other) => {
                            return Err(field::Error::invalid(
                                &path.child(name),
                                other.clone(),
                                "must be a string",
                            ));
                        }
                    }
                }
                if let Some(metadata) = map.get_mut("metadata") {
                    let path = path.child("metadata");
                    object_meta::coerce(metadata, malformed, path.as_str(), unknown)
                        .map_err(|problem| field::Error::invalid(&path, metadata.clone(), problem))?;
                }
            }
            for (name, child) in map.iter_mut() {
                if !matches!(child, Value::Object(_) | Value::Array(_)) {
                    continue;
                }
                if let Some(below) = schema.properties.get(name) {
                    visit(child, below, Level::Part, malformed, &path.child(name), unknown)?;
                } else if let Some(below) = schema.additional.schema() {
                    visit(child, below, Level::Part, malformed, &path.key(name), unknown)?;
                }
            }
        }
        Value::Array(list) => {
            let Some(items) = schema.items.as_deref() else {
                return Ok(());
            };
            for (index, item) in list.iter_mut().enumerate() {
                visit(item, items, Level::Part, malformed, &path.index(index), unknown)?;
            }
        }
        _ => {}
    }
    Ok(())
}
