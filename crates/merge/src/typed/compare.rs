//! What changed between two values, at the granularity of ownership.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    Errors, INVALID_ATOM, TypeErrors, is_empty_list, is_empty_map, item_element, items_of, scalar_problem,
};
use crate::{
    path::{PathElement, Trail},
    set::Set,
    types::{Identity, List, MapType, Scalar, Schema, Shape, TypeId},
    value,
};

/// The difference between an old and a new value. No path is in two of the sets; all are empty for equal values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Fields and items only the old value has.
    pub removed: Set,
    /// Leaves both have, with different values.
    pub modified: Set,
    /// Fields and items only the new value has.
    pub added: Set,
}

impl Comparison {
    /// Whether nothing changed.
    pub fn is_same(&self) -> bool {
        self.removed.is_empty() && self.modified.is_empty() && self.added.is_empty()
    }

    /// The comparison without these paths and everything beneath them.
    #[must_use]
    pub fn without(&self, fields: &Set) -> Self {
        Self {
            removed: self.removed.recursive_difference(fields),
            modified: self.modified.recursive_difference(fields),
            added: self.added.recursive_difference(fields),
        }
    }

    /// Modified and added paths: what the writer of the new value claims.
    #[must_use]
    pub fn written(&self) -> Set {
        self.modified.union(&self.added)
    }
}

/// Compares two values of the same type.
///
/// # Errors
/// List items without identity, or parts without a type.
pub fn compare(schema: &Schema, old: &Value, new: &Value) -> Result<Comparison, TypeErrors> {
    let mut walk = Walk {
        schema,
        result: Comparison::default(),
        errors: Errors::default(),
    };
    walk.values(schema.root(), Some(old), Some(new), Trail::ROOT);
    let Walk { result, errors, .. } = walk;
    errors.finish(result)
}

struct Walk<'a> {
    schema: &'a Schema,
    result: Comparison,
    errors: Errors,
}

impl<'a> Walk<'a> {
    /// At least one side is present.
    fn values(&mut self, type_id: TypeId, old: Option<&Value>, new: Option<&Value>, at: Trail<'_>) {
        if let (Some(old), Some(new)) = (old, new)
            && old == new
        {
            return;
        }
        let atom = self.schema.atom(type_id);
        let (old_shape, new_shape) = (atom.shape(old), atom.shape(new));
        let is_leaf = match (old, new) {
            (_, None) => self.shaped(old_shape, old, new, at),
            (None, _) => self.shaped(new_shape, old, new, at),
            _ if std::mem::discriminant(&old_shape) == std::mem::discriminant(&new_shape) => {
                self.shaped(new_shape, old, new, at)
            }
            // The value changed its JSON type: the old shape is removed and the new one added.
            _ => {
                self.shaped(old_shape, old, new, at);
                self.shaped(new_shape, old, new, at)
            }
        };
        if !is_leaf {
            match (old, new) {
                (None, _) => self.result.added.insert(&at.path()),
                (_, None) => self.result.removed.insert(&at.path()),
                _ => {}
            }
        }
    }

    /// Compares as one shape; whether the place was recorded as a leaf.
    fn shaped(&mut self, shape: Shape<'a>, old: Option<&Value>, new: Option<&Value>, at: Trail<'_>) -> bool {
        match shape {
            Shape::Nothing => {
                self.errors.add(at, INVALID_ATOM);
                false
            }
            Shape::Scalar(scalar) => self.scalars(scalar, old, new, at),
            Shape::List(list) => {
                if list.identity == Identity::Atomic || (is_empty_list(old) && is_empty_list(new)) {
                    self.leaf(old, new, at);
                    return true;
                }
                self.lists(list, items_of(old), items_of(new), at);
                false
            }
            Shape::Map(map) => {
                if map.atomic || (is_empty_map(old) && is_empty_map(new)) {
                    self.leaf(old, new, at);
                    return true;
                }
                self.maps(
                    map,
                    old.and_then(Value::as_object),
                    new.and_then(Value::as_object),
                    at,
                );
                false
            }
        }
    }

    fn scalars(&mut self, scalar: Scalar, old: Option<&Value>, new: Option<&Value>, at: Trail<'_>) -> bool {
        if let (Some(old_problem), Some(new_problem)) =
            (scalar_problem(scalar, old), scalar_problem(scalar, new))
        {
            self.errors.add(at, format!("lhs: {old_problem}"));
            self.errors.add(at, format!("rhs: {new_problem}"));
            return false;
        }
        self.leaf(old, new, at);
        true
    }

    fn leaf(&mut self, old: Option<&Value>, new: Option<&Value>, at: Trail<'_>) {
        match (old, new) {
            (None, _) => self.result.added.insert(&at.path()),
            (_, None) => self.result.removed.insert(&at.path()),
            (Some(old), Some(new)) if !value::equal(old, new) => self.result.modified.insert(&at.path()),
            _ => {}
        }
    }

    fn maps(
        &mut self,
        map: &'a MapType,
        old: Option<&Map<String, Value>>,
        new: Option<&Map<String, Value>>,
        at: Trail<'_>,
    ) {
        for (name, old_entry) in old.into_iter().flatten() {
            let new_entry = new.and_then(|new| new.get(name));
            self.values(map.entry_type(name), Some(old_entry), new_entry, at.field(name));
        }
        for (name, new_entry) in new.into_iter().flatten() {
            if old.is_none_or(|old| !old.contains_key(name)) {
                self.values(map.entry_type(name), None, Some(new_entry), at.field(name));
            }
        }
    }

    fn lists(&mut self, list: &'a List, old: &[Value], new: &[Value], at: Trail<'_>) {
        let mut by_identity: BTreeMap<PathElement, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
        for (items, is_old) in [(old, true), (new, false)] {
            for (index, item) in items.iter().enumerate() {
                match item_element(self.schema, list, item) {
                    Ok(element) => {
                        let (old, new) = by_identity.entry(element).or_default();
                        if is_old { old.push(item) } else { new.push(item) }
                    }
                    Err(problem) => self.errors.add(at, format!("element {index}: {problem}")),
                }
            }
        }
        for (element, (old, new)) in by_identity {
            self.items(list, &old, &new, at.item(&element));
        }
    }

    /// Compares the items of one identity. Several of them on one side are owned as a whole.
    fn items(&mut self, list: &'a List, old: &[&Value], new: &[&Value], at: Trail<'_>) {
        match (old, new) {
            ([] | [_], [] | [_]) => self.values(list.element, old.first().copied(), new.first().copied(), at),
            ([_, _, ..], [_, _, ..]) => {
                let same =
                    old.len() == new.len() && old.iter().zip(new).all(|(old, new)| value::equal(old, new));
                if !same {
                    self.result.modified.insert(&at.path());
                }
            }
            ([_, _, ..], _) => {
                if let [only] = new {
                    self.values(list.element, None, Some(only), at);
                }
                self.result.removed.insert(&at.path());
            }
            (_, [_, _, ..]) => {
                if let [only] = old {
                    self.values(list.element, Some(only), None, at);
                }
                self.result.added.insert(&at.path());
            }
        }
    }
}
