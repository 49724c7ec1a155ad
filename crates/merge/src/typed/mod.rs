//! Operations on values under a merge schema: what they own, how they merge, how they differ.
//! Upstream: structured-merge-diff `typed`.

mod compare;
mod field_set;
mod merge;
mod reconcile;
mod remove;
mod validate;

use std::{fmt, sync::Arc};

use serde_json::Value;

use crate::{
    path::{KeyFields, Literal, PathElement, Trail, path_text},
    types::{Identity, List, Scalar, Schema},
    value,
};

pub use compare::{Comparison, compare};
pub use field_set::field_set;
pub use merge::merge;
pub use reconcile::reconcile;
pub use remove::{extract, remove};
pub use validate::{Duplicates, validate};

/// Everything wrong with a value under its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeErrors(Vec<TypeError>);

/// One thing wrong with a value under its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeError {
    /// Where, as in `.spec.ports[name="a"]`; empty for the value itself.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl TypeErrors {
    /// The errors, at least one.
    pub fn iter(&self) -> impl Iterator<Item = &TypeError> {
        self.0.iter()
    }
}

impl std::error::Error for TypeErrors {}

impl fmt::Display for TypeErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.0.as_slice() {
            return only.fmt(f);
        }
        f.write_str("errors:")?;
        self.0.iter().try_for_each(|error| write!(f, "\n  {error}"))
    }
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colon = if self.path.is_empty() { "" } else { ": " };
        write!(f, "{}{colon}{}", self.path, self.message)
    }
}

/// Collects errors during a walk.
#[derive(Default)]
struct Errors(Vec<TypeError>);

impl Errors {
    fn add(&mut self, at: Trail<'_>, message: impl Into<String>) {
        self.0.push(TypeError {
            path: path_text(&at.path()),
            message: message.into(),
        });
    }

    fn finish<T>(self, result: T) -> Result<T, TypeErrors> {
        if self.0.is_empty() {
            Ok(result)
        } else {
            Err(TypeErrors(self.0))
        }
    }
}

const INVALID_ATOM: &str = "schema error: invalid atom: inlined";

/// Why `value` is not a scalar of this kind; absent and null values are of every kind.
fn scalar_problem(scalar: Scalar, value: Option<&Value>) -> Option<String> {
    let value = value.filter(|value| !value.is_null())?;
    let (valid, expected) = match scalar {
        Scalar::Numeric => (value.is_number(), "numeric (int or float)"),
        Scalar::String => (value.is_string(), "string"),
        Scalar::Boolean => (value.is_boolean(), "boolean"),
        Scalar::Untyped => (!value.is_array() && !value.is_object(), "any scalar"),
    };
    (!valid).then(|| format!("expected {expected}, got {}", value::display(value)))
}

/// How the item of an associative list is addressed.
fn item_element(schema: &Schema, list: &List, item: &Value) -> Result<PathElement, String> {
    match &list.identity {
        Identity::Atomic => Err("invalid indexing of non-associative list".to_owned()),
        Identity::Set => set_element(item),
        Identity::Keys(keys) => keyed_element(schema, list, keys, item),
    }
}

fn set_element(item: &Value) -> Result<PathElement, String> {
    match item {
        Value::Object(_) => Err("associative list without keys has an element that's a map type".to_owned()),
        Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
        Value::Null => Err("associative list without keys has an element that's an explicit null".to_owned()),
        scalar => Ok(PathElement::value(scalar.clone())),
    }
}

/// A key that is missing and has no default is left out: an item with fewer keys is another item.
fn keyed_element(
    schema: &Schema,
    list: &List,
    keys: &[Arc<str>],
    item: &Value,
) -> Result<PathElement, String> {
    let fields = match item {
        Value::Object(fields) => fields,
        Value::Null => return Err("associative list with keys may not have a null element".to_owned()),
        _ => return Err("associative list with keys may not have non-map elements".to_owned()),
    };
    let found = keys.iter().filter_map(|key| {
        let value = fields
            .get(key.as_ref())
            .or_else(|| schema.key_default(list, key))?;
        Some((Arc::clone(key), Literal::from(value.clone())))
    });
    let found: KeyFields = found.collect();
    if found.iter().next().is_none() && !keys.is_empty() {
        let names: Vec<_> = keys.iter().map(|key| format!("{key:?}")).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] (and doesn't have default \
             values for any key fields)",
            names.join(" ")
        ));
    }
    Ok(PathElement::Key(found))
}

fn items_of(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn is_empty_list(value: Option<&Value>) -> bool {
    items_of(value).is_empty()
}

fn is_empty_map(value: Option<&Value>) -> bool {
    value
        .and_then(Value::as_object)
        .is_none_or(serde_json::Map::is_empty)
}
