//! Merging an applied configuration into a live object.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{
    Errors, INVALID_ATOM, TypeErrors, is_empty_list, is_empty_map, item_element, items_of, scalar_problem,
};
use crate::{
    path::{PathElement, Trail},
    types::{Identity, List, MapType, Schema, Shape, TypeId},
};

/// Everything in `live` and `config`; where both have a leaf, `config`'s value. Nothing is removed. Items of
/// associative lists follow the order of `config` among those both have, and that of `live` otherwise.
///
/// # Errors
/// List items without identity, duplicates in `config`, or parts without a type.
pub fn merge(schema: &Schema, live: &Value, config: &Value) -> Result<Value, TypeErrors> {
    let mut walk = Walk {
        schema,
        errors: Errors::default(),
    };
    let merged = walk.values(schema.root(), Some(live), Some(config), Trail::ROOT);
    walk.errors.finish(merged.unwrap_or(Value::Null))
}

struct Walk<'a> {
    schema: &'a Schema,
    errors: Errors,
}

impl<'a> Walk<'a> {
    /// The merged value; `None` when nothing is left of a container.
    fn values(
        &mut self,
        type_id: TypeId,
        live: Option<&Value>,
        config: Option<&Value>,
        at: Trail<'_>,
    ) -> Option<Value> {
        match self.schema.atom(type_id).shape(config.or(live)) {
            Shape::Nothing => {
                self.errors.add(at, INVALID_ATOM);
                None
            }
            Shape::Scalar(scalar) => {
                if let (Some(live_problem), Some(config_problem)) =
                    (scalar_problem(scalar, live), scalar_problem(scalar, config))
                {
                    self.errors.add(at, format!("lhs: {live_problem}"));
                    self.errors.add(at, format!("rhs: {config_problem}"));
                    return None;
                }
                config.or(live).cloned()
            }
            Shape::List(list) => {
                if list.identity == Identity::Atomic || (is_empty_list(live) && is_empty_list(config)) {
                    return config.or(live).cloned();
                }
                self.lists(list, items_of(live), items_of(config), at)
            }
            Shape::Map(map) => {
                if map.atomic || (is_empty_map(live) && is_empty_map(config)) {
                    return config.or(live).cloned();
                }
                self.maps(
                    map,
                    live.and_then(Value::as_object),
                    config.and_then(Value::as_object),
                    at,
                )
            }
        }
    }

    fn maps(
        &mut self,
        map: &'a MapType,
        live: Option<&Map<String, Value>>,
        config: Option<&Map<String, Value>>,
        at: Trail<'_>,
    ) -> Option<Value> {
        let names: BTreeSet<&String> = [live, config].into_iter().flatten().flat_map(Map::keys).collect();
        let mut merged = Map::new();
        for name in names {
            let live = live.and_then(|entries| entries.get(name));
            let config = config.and_then(|entries| entries.get(name));
            if let Some(entry) = self.values(map.entry_type(name), live, config, at.field(name)) {
                merged.insert(name.clone(), entry);
            }
        }
        (!merged.is_empty()).then_some(Value::Object(merged))
    }

    fn lists(&mut self, list: &'a List, live: &[Value], config: &[Value], at: Trail<'_>) -> Option<Value> {
        let config = self.index(list, config, Duplicates::Reported, at);
        let live = self.index(list, live, Duplicates::Blank, at);
        let items: Vec<Value> = order(&live, &config)
            .into_iter()
            .filter_map(|(element, source)| {
                let (live, config) = match source {
                    Source::Live(position) => (Some(live.items[position].1), None),
                    Source::Config => (
                        live.by_identity.get(element).copied(),
                        config.by_identity.get(element).copied(),
                    ),
                };
                self.values(list.element, live, config, at.item(element))
            })
            .collect();
        (!items.is_empty()).then_some(Value::Array(items))
    }

    fn index<'v>(
        &mut self,
        list: &List,
        items: &'v [Value],
        duplicates: Duplicates,
        at: Trail<'_>,
    ) -> Indexed<'v> {
        let mut indexed = Indexed {
            items: Vec::with_capacity(items.len()),
            by_identity: BTreeMap::new(),
        };
        for (index, item) in items.iter().enumerate() {
            let element = match item_element(self.schema, list, item) {
                Ok(element) => element,
                Err(problem) => {
                    self.errors.add(at, format!("element {index}: {problem}"));
                    continue;
                }
            };
            if let Some(known) = indexed.by_identity.get_mut(&element) {
                if let Duplicates::Reported = duplicates {
                    self.errors
                        .add(at, format!("duplicate entries for key {element}"));
                    continue;
                }
                *known = &Value::Null;
            } else {
                indexed.by_identity.insert(element.clone(), item);
            }
            indexed.items.push((element, item));
        }
        indexed
    }
}

#[derive(Clone, Copy)]
enum Duplicates {
    /// The configuration is ambiguous.
    Reported,
    /// The live items stay as they are, unless the configuration names them: then its item replaces them all.
    Blank,
}

struct Indexed<'v> {
    items: Vec<(PathElement, &'v Value)>,
    by_identity: BTreeMap<PathElement, &'v Value>,
}

/// Where an item of the merged list comes from.
#[derive(Clone, Copy)]
enum Source {
    /// The live item at this position, which the configuration does not mention.
    Live(usize),
    /// The configuration's item, merged with the live one if there is one.
    Config,
}

/// The items of the merged list, in order: walks both lists at once, passing over live items the configuration
/// also has until their turn in its order comes.
fn order<'i>(live: &'i Indexed<'_>, config: &'i Indexed<'_>) -> Vec<(&'i PathElement, Source)> {
    let mut shared = config
        .items
        .iter()
        .map(|(element, _)| element)
        .filter(|element| live.by_identity.contains_key(element));
    let mut next_shared = shared.next();
    let mut taken = BTreeSet::new();
    let mut merged = Vec::new();
    let (mut at_live, mut at_config) = (0, 0);
    loop {
        let config_element = config.items.get(at_config).map(|(element, _)| element);
        if let Some((element, _)) = live.items.get(at_live) {
            if config_element == Some(element) {
                taken.insert(element);
                merged.push((element, Source::Config));
                (at_live, at_config) = (at_live + 1, at_config + 1);
                next_shared = shared.next();
                continue;
            }
            let in_config = config.by_identity.contains_key(element);
            let out_of_turn = next_shared.is_some_and(|next| next != element);
            if in_config && config_element.is_some() && out_of_turn {
                at_live += 1;
                continue;
            }
            if !in_config {
                merged.push((element, Source::Live(at_live)));
                at_live += 1;
                continue;
            }
            if taken.contains(element) {
                at_live += 1;
            }
        }
        let Some(element) = config_element else {
            if at_live < live.items.len() {
                continue;
            }
            return merged;
        };
        taken.insert(element);
        merged.push((element, Source::Config));
        at_config += 1;
        if next_shared == Some(element) {
            next_shared = shared.next();
        }
    }
}
