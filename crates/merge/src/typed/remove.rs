//! Taking fields and items out of a value, or keeping only them.

use serde_json::{Map, Value};

use super::item_element;
use crate::{
    path::PathElement,
    set::Set,
    types::{Identity, List, MapType, Schema, Shape, TypeId},
};

/// The value without the members of `items`; a container of which nothing is left becomes null.
pub fn remove(schema: &Schema, value: &Value, items: &Set) -> Value {
    Walk {
        schema,
        extract: false,
    }
    .value(schema.root(), value, items)
}

/// Only those parts of the value that are members of `items` or on the way to one.
pub fn extract(schema: &Schema, value: &Value, items: &Set) -> Value {
    Walk {
        schema,
        extract: true,
    }
    .value(schema.root(), value, items)
}

struct Walk<'a> {
    schema: &'a Schema,
    extract: bool,
}

impl Walk<'_> {
    fn value(&self, type_id: TypeId, value: &Value, items: &Set) -> Value {
        let whole = || if self.extract { value.clone() } else { Value::Null };
        match (self.schema.atom(type_id).shape(Some(value)), value) {
            (Shape::Scalar(_), _) => value.clone(),
            // An empty container that is owned must come back as such: applying null would mean something else.
            (_, Value::Array(list)) if list.is_empty() => whole(),
            (_, Value::Object(map)) if map.is_empty() => whole(),
            (
                Shape::List(List {
                    identity: Identity::Atomic,
                    ..
                }),
                Value::Array(_),
            )
            | (Shape::Map(MapType { atomic: true, .. }), Value::Object(_)) => whole(),
            (Shape::List(list), Value::Array(values)) => self.list(list, values, items),
            (Shape::Map(map), Value::Object(entries)) => self.map(map, entries, items),
            _ => Value::Null,
        }
    }

    fn list(&self, list: &List, values: &[Value], items: &Set) -> Value {
        let kept: Vec<_> = values
            .iter()
            .filter_map(|item| {
                let Ok(element) = item_element(self.schema, list, item) else {
                    return (!self.extract).then(|| item.clone());
                };
                if self.extract && items.has_element(&element) && items.beneath(&element).is_none() {
                    return Some(item.clone());
                }
                self.part(list.element, item, &element, items)
            })
            .collect();
        if kept.is_empty() {
            Value::Null
        } else {
            Value::Array(kept)
        }
    }

    fn map(&self, map: &MapType, entries: &Map<String, Value>, items: &Set) -> Value {
        let kept: Map<_, _> = entries
            .iter()
            .filter_map(|(name, entry)| {
                let element = PathElement::field(name.as_str());
                Some((
                    name.clone(),
                    self.part(map.entry_type(name), entry, &element, items)?,
                ))
            })
            .collect();
        if kept.is_empty() {
            Value::Null
        } else {
            Value::Object(kept)
        }
    }

    fn part(&self, type_id: TypeId, value: &Value, element: &PathElement, items: &Set) -> Option<Value> {
        let beneath = items.beneath(element);
        match (items.has_element(element), self.extract) {
            (true, false) => None,
            (true, true) => Some(self.value(type_id, value, beneath.unwrap_or(&Set::new()))),
            (false, extract) => match beneath {
                Some(beneath) => Some(self.value(type_id, value, beneath)),
                None => (!extract).then(|| value.clone()),
            },
        }
    }
}
