//! Whether a value conforms to its merge schema.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Errors, INVALID_ATOM, TypeErrors, item_element, scalar_problem};
use crate::{
    path::Trail,
    types::{Identity, List, MapType, Schema, Shape, TypeId},
    value,
};

/// Whether two items of an associative list may have the same identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplicates {
    /// They may: stored objects can be older than the list's type.
    Allowed,
    /// They may not: applied configurations must be unambiguous.
    Rejected,
}

/// Checks a value against the merge schema: JSON types, declared fields, list identities. This is not the validation
/// of the API, only what merging relies on.
///
/// # Errors
/// Everything that does not conform.
pub fn validate(schema: &Schema, value: &Value, duplicates: Duplicates) -> Result<(), TypeErrors> {
    let mut walk = Walk {
        schema,
        duplicates,
        errors: Errors::default(),
    };
    walk.value(schema.root(), value, Trail::ROOT);
    walk.errors.finish(())
}

struct Walk<'a> {
    schema: &'a Schema,
    duplicates: Duplicates,
    errors: Errors,
}

impl<'a> Walk<'a> {
    fn value(&mut self, type_id: TypeId, value: &Value, at: Trail<'_>) {
        let shape = self.schema.atom(type_id).shape(Some(value));
        match (shape, value) {
            (Shape::Nothing, _) => self.errors.add(at, INVALID_ATOM),
            (Shape::Scalar(scalar), _) => {
                if let Some(problem) = scalar_problem(scalar, Some(value)) {
                    self.errors.add(at, problem);
                }
            }
            (Shape::List(_) | Shape::Map(_), Value::Null) => {}
            (Shape::List(list), Value::Array(items)) => self.items(list, items, at),
            (Shape::Map(map), Value::Object(entries)) => self.entries(map, entries, at),
            (Shape::List(_), _) => self
                .errors
                .add(at, format!("expected list, got {}", value::display(value))),
            (Shape::Map(_), _) => self
                .errors
                .add(at, format!("expected map, got {}", value::display(value))),
        }
    }

    fn items(&mut self, list: &'a List, items: &[Value], at: Trail<'_>) {
        if list.identity == Identity::Atomic {
            for (index, item) in items.iter().enumerate() {
                let element = crate::PathElement::Index(i64::try_from(index).unwrap_or(i64::MAX));
                self.value(list.element, item, at.item(&element));
            }
            return;
        }
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            let element = match item_element(self.schema, list, item) {
                Ok(element) => element,
                Err(problem) => {
                    self.errors.add(at, format!("element {index}: {problem}"));
                    return;
                }
            };
            self.value(list.element, item, at.item(&element));
            if seen.contains(&element) && self.duplicates == Duplicates::Rejected {
                self.errors
                    .add(at, format!("duplicate entries for key {element}"));
            }
            seen.insert(element);
        }
    }

    fn entries(&mut self, map: &'a MapType, entries: &Map<String, Value>, at: Trail<'_>) {
        for (name, entry) in entries {
            let type_id = map.entry_type(name);
            if type_id == TypeId::NOTHING {
                self.errors.add(at.field(name), "field not declared in schema");
            } else {
                self.value(type_id, entry, at.field(name));
            }
        }
    }
}
