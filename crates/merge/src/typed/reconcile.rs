//! Adapting stored ownership to a schema that has changed since it was written.

use crate::{
    path::{PathElement, Trail},
    set::Set,
    types::{Identity, MapType, Schema, Shape, TypeId},
};

/// The set after lists and maps it holds parts of have become atomic: their path replaces the parts. What became
/// granular stays as it is. `None` when nothing changes.
pub fn reconcile(schema: &Schema, set: &Set) -> Option<Set> {
    let mut walk = Walk {
        schema,
        now_atomic: Set::new(),
    };
    walk.place(schema.root(), set, false, Trail::ROOT);
    if walk.now_atomic.is_empty() {
        return None;
    }
    Some(set.recursive_difference(&walk.now_atomic).union(&walk.now_atomic))
}

struct Walk<'a> {
    schema: &'a Schema,
    now_atomic: Set,
}

impl Walk<'_> {
    /// `is_leaf`: the set holds the place itself and nothing beneath it.
    fn place(&mut self, type_id: TypeId, set: &Set, is_leaf: bool, at: Trail<'_>) {
        match self.schema.atom(type_id).shape(None) {
            Shape::Scalar(_) | Shape::Nothing => {}
            Shape::List(list) if !is_leaf && list.identity == Identity::Atomic => {
                self.now_atomic.insert(&at.path());
            }
            Shape::List(list) => {
                for (element, is_member, children) in set.steps() {
                    self.place(
                        list.element,
                        children,
                        is_member && children.is_empty(),
                        at.item(element),
                    );
                }
            }
            Shape::Map(map) if map.untyped => {}
            Shape::Map(map) if !is_leaf && map.atomic => self.now_atomic.insert(&at.path()),
            Shape::Map(map) => self.entries(map, set, at),
        }
    }

    fn entries(&mut self, map: &MapType, set: &Set, at: Trail<'_>) {
        for (element, is_member, children) in set.steps() {
            let type_id = match element {
                PathElement::Field(name) => map.entry_type(name),
                _ => map.element,
            };
            if type_id != TypeId::NOTHING {
                self.place(
                    type_id,
                    children,
                    is_member && children.is_empty(),
                    at.item(element),
                );
            }
        }
    }
}
