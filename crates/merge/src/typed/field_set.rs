//! Which fields a value mentions: what its applier will own.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Errors, INVALID_ATOM, TypeErrors, item_element};
use crate::{
    path::{PathElement, Trail},
    set::Set,
    types::{Identity, List, MapType, Schema, Shape, TypeId},
};

/// The set of the leaves of `value`, the items of its associative lists, the entries of its maps, and its fields that
/// are null or empty maps. Items with the same identity count once, as a whole.
///
/// # Errors
/// A part of the value has no type in the schema.
pub fn field_set(schema: &Schema, value: &Value) -> Result<Set, TypeErrors> {
    let mut walk = Walk {
        schema,
        set: Set::new(),
        errors: Errors::default(),
    };
    walk.value(schema.root(), value, Trail::ROOT);
    let Walk { set, errors, .. } = walk;
    errors.finish(set)
}

struct Walk<'a> {
    schema: &'a Schema,
    set: Set,
    errors: Errors,
}

impl<'a> Walk<'a> {
    fn value(&mut self, type_id: TypeId, value: &Value, at: Trail<'_>) {
        match (self.schema.atom(type_id).shape(Some(value)), value) {
            (Shape::Nothing, _) => self.errors.add(at, INVALID_ATOM),
            (Shape::Scalar(_), _) => self.set.insert(&at.path()),
            (Shape::List(list), _) if list.identity == Identity::Atomic => self.set.insert(&at.path()),
            (Shape::Map(map), _) if map.atomic => self.set.insert(&at.path()),
            (Shape::List(list), Value::Array(items)) => self.items(list, items, at),
            (Shape::Map(map), Value::Object(entries)) => self.entries(map, entries, at),
            (Shape::List(_) | Shape::Map(_), _) => {}
        }
    }

    fn items(&mut self, list: &'a List, items: &[Value], at: Trail<'_>) {
        let mut by_identity: BTreeMap<PathElement, Vec<&Value>> = BTreeMap::new();
        for item in items {
            if let Ok(element) = item_element(self.schema, list, item) {
                by_identity.entry(element).or_default().push(item);
            }
        }
        for (element, items) in by_identity {
            let at = at.item(&element);
            if let [only] = items.as_slice() {
                self.value(list.element, only, at);
            }
            self.set.insert(&at.path());
        }
    }

    fn entries(&mut self, map: &'a MapType, entries: &Map<String, Value>, at: Trail<'_>) {
        for (name, entry) in entries {
            let at = at.field(name);
            self.value(map.entry_type(name), entry, at);
            let is_hollow = entry.is_null() || entry.as_object().is_some_and(Map::is_empty);
            if is_hollow || !map.fields.contains_key(name.as_str()) {
                self.set.insert(&at.path());
            }
        }
    }
}
