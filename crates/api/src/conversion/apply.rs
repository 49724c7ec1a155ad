//! Applies the rules of a conversion to an object, in either direction.

use std::collections::BTreeMap;

use capstan_base::duration;
use serde_json::{Map, Value, json};

use super::{
    ConversionError, DATA_ANNOTATION, ReferenceVersions,
    finish::{Form, finish},
    paths::{get, get_mut, put, take},
    rules::{Around, Conversion, Object, Rule},
};
use crate::crd::{Definition, Version};

/// Converts an object of a spoke version to the hub.
pub(super) fn up(
    definition: &Definition,
    conversion: &Conversion,
    hub: &Version,
    value: Value,
) -> Result<Value, ConversionError> {
    let (mut object, name) = open(definition, value)?;
    let restored = take_data(&mut object, &name)?;
    Up { object_name: &name }.apply(conversion.rules, &mut object, restored.as_ref())?;
    finish(&mut object, &hub.schema, Form::Hub);
    object.insert(
        "apiVersion".to_owned(),
        json!(format!("{}/{}", definition.group, hub.name)),
    );
    Ok(Value::Object(object))
}

/// Converts an object of the hub version to a spoke.
pub(super) fn down(
    definition: &Definition,
    conversion: &Conversion,
    spoke: &Version,
    value: Value,
    versions: &dyn ReferenceVersions,
) -> Result<Value, ConversionError> {
    let (mut object, name) = open(definition, value)?;
    let data = conversion.keeps_hub.then(|| {
        let kept = object.iter().filter(|(field, _)| *field != "metadata");
        Value::Object(
            kept.map(|(field, value)| (field.clone(), value.clone()))
                .collect(),
        )
        .to_string()
    });
    let namespace = get(&object, "metadata.namespace")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    Down {
        object_name: &name,
        namespace: &namespace,
        versions,
    }
    .apply(conversion.rules, &mut object)?;
    finish(&mut object, &spoke.schema, Form::Spoke);
    if let Some(data) = data {
        let metadata = object
            .entry("metadata")
            .or_insert_with(|| Value::Object(Map::new()));
        if let Some(metadata) = metadata.as_object_mut() {
            let annotations = metadata
                .entry("annotations")
                .or_insert_with(|| Value::Object(Map::new()));
            if annotations.is_null() {
                *annotations = Value::Object(Map::new());
            }
            if let Some(annotations) = annotations.as_object_mut() {
                annotations.insert(DATA_ANNOTATION.to_owned(), Value::String(data));
            }
        }
    }
    object.insert(
        "apiVersion".to_owned(),
        json!(format!("{}/{}", definition.group, spoke.name)),
    );
    Ok(Value::Object(object))
}

/// The fields of the object, and what errors call it.
fn open(definition: &Definition, value: Value) -> Result<(Object, String), ConversionError> {
    let Value::Object(object) = value else {
        return Err(ConversionError::NotAnObject {
            kind: definition.kind.clone(),
        });
    };
    let part = |path| get(&object, path).and_then(Value::as_str);
    let name = match (part("metadata.namespace"), part("metadata.name")) {
        (Some(namespace), Some(name)) => format!("{} {namespace}/{name}", definition.kind),
        (None, Some(name)) => format!("{} {name}", definition.kind),
        (_, None) => format!("{} without a name", definition.kind),
    };
    Ok((object, name))
}

/// Takes the hub object out of the annotation.
fn take_data(object: &mut Object, name: &str) -> Result<Option<Value>, ConversionError> {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return Ok(None);
    };
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else {
        return Ok(None);
    };
    let Some(data) = annotations.remove(DATA_ANNOTATION) else {
        return Ok(None);
    };
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
    let text = data.as_str().unwrap_or_default();
    let restored: Map<String, Value> =
        serde_json::from_str(text).map_err(|source| ConversionError::Data {
            object: name.to_owned(),
            source,
        })?;
    Ok(Some(Value::Object(restored)))
}

/// What is restored at a path.
fn restored_at<'a>(restored: Option<&'a Value>, path: &str) -> Option<&'a Value> {
    get(restored?.as_object()?, path)
}

/// The way to the hub.
struct Up<'a> {
    object_name: &'a str,
}

impl Up<'_> {
    fn apply(
        &self,
        rules: &[Rule],
        object: &mut Object,
        restored: Option<&Value>,
    ) -> Result<(), ConversionError> {
        rules
            .iter()
            .try_for_each(|rule| self.rule(rule, object, restored))
    }

    fn rule(
        &self,
        rule: &Rule,
        object: &mut Object,
        restored: Option<&Value>,
    ) -> Result<(), ConversionError> {
        match *rule {
            Rule::All(rules) => self.apply(rules, object, restored)?,
            Rule::Move { old, new } => {
                if let Some(value) = take(object, old) {
                    put(object, new, value);
                }
            }
            Rule::Seconds { old, new } => {
                if let Some(value) = take(object, old) {
                    put(object, new, self.seconds(value, old)?);
                }
            }
            Rule::SecondsIfMeant { old, new } => {
                let seconds = match take(object, old) {
                    Some(value) => self.seconds(value, old)?,
                    None => json!(0),
                };
                put_if_meant(object, new, Some(seconds), restored);
            }
            Rule::IfMeant { old, new } => {
                let value = take(object, old);
                put_if_meant(object, new, value, restored);
            }
            Rule::Inside { at, rules } => {
                if let Some(inner) = get_mut(object, at).and_then(Value::as_object_mut) {
                    self.apply(rules, inner, restored_at(restored, at))?;
                }
            }
            Rule::Each { at, key, rules } => self.each(at, key, rules, object, restored)?,
            Rule::ContractReference { at } => {
                if let Some(reference) = get_mut(object, at).and_then(Value::as_object_mut) {
                    keep_group(reference);
                }
            }
            Rule::NamedItems { at } => named_items_up(object, at, restored),
            Rule::Arguments { at } => arguments_up(object, at, restored),
            Rule::Restored { at } | Rule::NotWritable { at } => {
                if restored.is_some() {
                    take(object, at);
                    if let Some(value) = restored_at(restored, at) {
                        put(object, at, value.clone());
                    }
                }
            }
            Rule::LocalReference { .. } => {}
            Rule::Custom { up, .. } => up(object, Around { restored }),
        }
        Ok(())
    }

    fn each(
        &self,
        at: &str,
        key: Option<&str>,
        rules: &[Rule],
        object: &mut Object,
        restored: Option<&Value>,
    ) -> Result<(), ConversionError> {
        let kept = restored_at(restored, at)
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        let Some(list) = get_mut(object, at).and_then(Value::as_array_mut) else {
            return Ok(());
        };
        let count = list.len();
        for (index, item) in list.iter_mut().enumerate() {
            let Some(item) = item.as_object_mut() else {
                continue;
            };
            let counterpart = match key {
                Some(key) => same_key(kept, index, key, item),
                None if kept.len() == count => kept.get(index),
                None => None,
            };
            self.apply(rules, item, counterpart)?;
        }
        Ok(())
    }

    fn seconds(&self, value: Value, path: &str) -> Result<Value, ConversionError> {
        let Value::String(text) = value else {
            return Ok(Value::Null);
        };
        duration::parse_seconds(&text)
            .map(|seconds| json!(seconds.min(i64::from(i32::MAX))))
            .map_err(|source| ConversionError::Duration {
                object: self.object_name.to_owned(),
                path: path.to_owned(),
                source,
            })
    }
}

/// Of the version of a reference only the group stays.
fn keep_group(reference: &mut Object) {
    let api_version = reference.remove("apiVersion");
    let api_version = api_version.as_ref().and_then(Value::as_str).unwrap_or_default();
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    if !group.is_empty() {
        reference.insert("apiGroup".to_owned(), json!(group));
    }
}

/// The restored item with the same key, first of all the one at the same position.
fn same_key<'a>(kept: &'a [Value], index: usize, key: &str, item: &Object) -> Option<&'a Value> {
    let same = |kept: &&Value| kept.get(key) == item.get(key);
    kept.get(index).filter(same).or_else(|| kept.iter().find(same))
}

/// Puts a value unless it is a false or a zero that the restored object does not have too.
fn put_if_meant(object: &mut Object, path: &str, value: Option<Value>, restored: Option<&Value>) {
    let is_zero =
        |value: &Value| value.as_bool() == Some(false) || value.as_i64() == Some(0) || value.is_null();
    match value {
        Some(value) if !is_zero(&value) => put(object, path, value),
        _ => {
            if let Some(kept) = restored_at(restored, path).filter(|kept| is_zero(kept)) {
                put(object, path, kept.clone());
            }
        }
    }
}

fn named_items_up(object: &mut Object, at: &str, restored: Option<&Value>) {
    if let Some(value) = get_mut(object, at)
        && let Value::Object(by_name) = value
    {
        let by_name: BTreeMap<String, Value> = std::mem::take(by_name).into_iter().collect();
        let items = by_name.into_iter().map(|(name, mut item)| {
            if let Some(item) = item.as_object_mut() {
                item.insert("name".to_owned(), json!(name));
            }
            item
        });
        *value = in_restored_order(items.collect(), restored_at(restored, at));
    }
}

fn arguments_up(object: &mut Object, at: &str, restored: Option<&Value>) {
    if let Some(value) = get_mut(object, at)
        && let Value::Object(by_name) = value
    {
        let by_name: BTreeMap<String, Value> = std::mem::take(by_name).into_iter().collect();
        let items = by_name
            .into_iter()
            .map(|(name, value)| json!({ "name": name, "value": value }));
        *value = in_restored_order(items.collect(), restored_at(restored, at));
    }
}

/// The items, which are sorted by name, in the order that they have in the restored list.
///
/// Differs: upstream loses the order. It is restored because a changed order of arguments would look like a change
/// of the machines. Items with names that the restored list does not have come last.
fn in_restored_order(mut items: Vec<Value>, restored: Option<&Value>) -> Value {
    if let Some(restored) = restored.and_then(Value::as_array) {
        items.sort_by_key(|item| {
            restored
                .iter()
                .position(|kept| kept.get("name") == item.get("name"))
                .unwrap_or(usize::MAX)
        });
    }
    Value::Array(items)
}

/// The way from the hub.
struct Down<'a> {
    object_name: &'a str,
    namespace: &'a str,
    versions: &'a dyn ReferenceVersions,
}

impl Down<'_> {
    fn apply(&self, rules: &[Rule], object: &mut Object) -> Result<(), ConversionError> {
        rules.iter().rev().try_for_each(|rule| self.rule(rule, object))
    }

    fn rule(&self, rule: &Rule, object: &mut Object) -> Result<(), ConversionError> {
        match *rule {
            Rule::All(rules) => self.apply(rules, object)?,
            Rule::Move { old, new } | Rule::IfMeant { old, new } => {
                if let Some(value) = take(object, new) {
                    put(object, old, value);
                }
            }
            Rule::Seconds { old, new } | Rule::SecondsIfMeant { old, new } => {
                if let Some(seconds) = take(object, new).and_then(|value| value.as_i64()) {
                    put(object, old, json!(duration::format_seconds(seconds)));
                }
            }
            Rule::Inside { at, rules } => {
                if let Some(inner) = get_mut(object, at).and_then(Value::as_object_mut) {
                    self.apply(rules, inner)?;
                }
            }
            Rule::Each { at, rules, .. } => {
                if let Some(list) = get_mut(object, at).and_then(Value::as_array_mut) {
                    for item in list.iter_mut().filter_map(Value::as_object_mut) {
                        self.apply(rules, item)?;
                    }
                }
            }
            Rule::ContractReference { at } => {
                if let Some(reference) = get_mut(object, at).and_then(Value::as_object_mut) {
                    self.look_up(reference)?;
                    self.add_namespace(reference);
                }
            }
            Rule::LocalReference { at } => {
                if let Some(reference) = get_mut(object, at).and_then(Value::as_object_mut) {
                    self.add_namespace(reference);
                }
            }
            Rule::NamedItems { at } => list_to_map(object, at, |mut item| {
                item.remove("name");
                Value::Object(item)
            }),
            Rule::Arguments { at } => {
                list_to_map(object, at, |mut item| {
                    item.remove("value").unwrap_or_else(|| json!(""))
                });
            }
            Rule::Restored { at } => drop(take(object, at)),
            Rule::NotWritable { .. } => {}
            Rule::Custom { down, .. } => down(object, Around { restored: None }),
        }
        Ok(())
    }

    fn look_up(&self, reference: &mut Object) -> Result<(), ConversionError> {
        let group = reference.remove("apiGroup");
        let group = group.as_ref().and_then(Value::as_str).unwrap_or_default();
        let kind = reference.get("kind").and_then(Value::as_str).unwrap_or_default();
        if group.is_empty() {
            return Ok(());
        }
        let api_version =
            self.versions
                .api_version(group, kind)
                .ok_or_else(|| ConversionError::Reference {
                    object: self.object_name.to_owned(),
                    group: group.to_owned(),
                    kind: kind.to_owned(),
                })?;
        reference.insert("apiVersion".to_owned(), json!(api_version));
        Ok(())
    }

    fn add_namespace(&self, reference: &mut Object) {
        if !self.namespace.is_empty() && !reference.is_empty() {
            reference.insert("namespace".to_owned(), json!(self.namespace));
        }
    }
}

/// Turns a list of objects with names into a map; of items with the same name the last one stays.
fn list_to_map(object: &mut Object, at: &str, value_of: impl Fn(Object) -> Value) {
    if let Some(value) = get_mut(object, at)
        && let Value::Array(items) = value
    {
        let by_name: Map<String, Value> = std::mem::take(items)
            .into_iter()
            .filter_map(|item| {
                let Value::Object(item) = item else { return None };
                let name = item.get("name")?.as_str()?.to_owned();
                Some((name, value_of(item)))
            })
            .collect();
        *value = Value::Object(by_name);
    }
}
