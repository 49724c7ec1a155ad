//! Which old value stands where a new one does.
//! Source: apiserver `pkg/cel/common/{equality,maplist}.go`.

use serde_json::Value;

use crate::structural::{ListType, Structural};

/// A value, the old one of the same place, and the schema of that place.
#[derive(Debug, Clone, Copy)]
pub struct Correlated<'a> {
    /// The new value.
    pub value: &'a Value,
    /// The value that it replaces.
    pub old: &'a Value,
    /// The schema of both.
    pub schema: &'a Structural,
}

impl Correlated<'_> {
    /// The field `name` of both, if both have it and the schema specifies it.
    pub fn key(self, name: &str) -> Option<Self> {
        let value = self.value.as_object()?.get(name)?;
        let old = self.old.as_object()?.get(name)?;
        Some(Self {
            value,
            old,
            schema: self.schema.field(name)?,
        })
    }

    /// The new item at `index` and the old one with the same keys; only in lists of type map.
    pub fn index(self, index: usize) -> Option<Self> {
        let value = self.value.as_array()?.get(index)?;
        let old = same_item(self.schema, self.old.as_array()?, value)?;
        Some(Self {
            value,
            old,
            schema: self.schema.items.as_deref()?,
        })
    }

    /// Whether nothing changed. Fields that the schema does not specify count as changed; the order of items in a list
    /// of type map does not count.
    pub fn is_unchanged(self) -> bool {
        match (self.value, self.old) {
            (Value::Array(new), Value::Array(old)) => {
                if new.len() != old.len() {
                    false
                } else if self.schema.list_type == Some(ListType::Map) {
                    (0..new.len()).all(|index| self.index(index).is_some_and(Self::is_unchanged))
                } else {
                    new == old
                }
            }
            (Value::Object(new), Value::Object(old)) => {
                new.len() == old.len()
                    && new
                        .keys()
                        .all(|name| self.key(name).is_some_and(Self::is_unchanged))
            }
            (new, old) => new == old,
        }
    }
}

/// The item of `old`, a list of type map with this schema, that has the keys of `item`.
pub(crate) fn same_item<'a>(schema: &Structural, old: &'a [Value], item: &Value) -> Option<&'a Value> {
    if schema.list_type != Some(ListType::Map) || schema.list_map_keys.is_empty() {
        return None;
    }
    let wanted = item.as_object()?;
    old.iter().find(|candidate| {
        candidate.as_object().is_some_and(|candidate| {
            schema
                .list_map_keys
                .iter()
                .all(|key| candidate.get(key) == wanted.get(key))
        })
    })
}
