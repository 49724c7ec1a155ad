//! JSON values as CEL values, by what their schema says they are.
//! Source: apiserver `pkg/cel/common/values.go`, apiextensions-apiserver `pkg/apiserver/schema/cel/model`.

use std::{collections::HashMap, sync::Arc};

use base64::{Engine, engine::general_purpose::STANDARD};
use kube_cel::cel::{
    self,
    objects::{Key, Map, OptionalValue},
};
use serde_json::Value;

use super::{escape::escape, program::string, usage::Usage};
use crate::{
    format::Format,
    structural::{Additional, Level, Structural, Type, is_meta_field},
};

/// What an expression is evaluated on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) value: &'a Value,
    pub(super) old: Option<&'a Value>,
    /// Whether `oldSelf` is an optional.
    pub(super) optional: bool,
    pub(super) schema: &'a Structural,
    pub(super) level: Level,
}

/// The value of `self`.
pub(super) fn value(input: &Input<'_>, usage: &Usage) -> cel::Value {
    convert(
        input.value,
        Some(input.schema),
        input.level,
        Some(usage).filter(|it| !it.whole),
    )
}

/// The value of `oldSelf`, if it has one.
pub(super) fn old_value(input: &Input<'_>, usage: &Usage) -> Option<cel::Value> {
    // An optional may be used whole in ways that the fields under it don't show.
    let partial = Some(usage).filter(|it| !it.whole && !input.optional);
    let old = input
        .old
        .map(|old| convert(old, Some(input.schema), input.level, partial));
    if input.optional {
        let optional = old.map_or_else(OptionalValue::none, OptionalValue::of);
        return Some(cel::Value::Opaque(Arc::new(optional)));
    }
    old
}

/// Converts `value`; of objects only the fields in `usage`, or all that rules can see if that is `None`.
fn convert(value: &Value, schema: Option<&Structural>, level: Level, usage: Option<&Usage>) -> cel::Value {
    let kind = schema.filter(|it| !it.int_or_string).and_then(|it| it.kind);
    match value {
        Value::Null => cel::Value::Null,
        Value::Bool(flag) => cel::Value::Bool(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(whole) if kind != Some(Type::Number) => cel::Value::Int(whole),
            _ => cel::Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => convert_text(text, schema),
        Value::Array(list) => {
            let items = schema.and_then(|it| it.items.as_deref());
            let list = list
                .iter()
                .map(|item| convert(item, items, Level::Part, None))
                .collect();
            cel::Value::List(Arc::new(list))
        }
        Value::Object(map) => {
            let visible = map.iter().filter_map(|(name, child)| {
                let (key, below) = visible_field(name, schema, level)?;
                let used = match usage {
                    None => None,
                    Some(usage) => Some(usage.fields.get(&key)?).filter(|it| !it.whole),
                };
                let child = if below.is_none() && name == "metadata" && level_is_resource(schema, level) {
                    metadata(child)
                } else {
                    convert(child, below, Level::Part, used)
                };
                Some((Key::String(Arc::new(key)), child))
            });
            cel::Value::Map(Map {
                map: Arc::new(visible.collect::<HashMap<_, _>>()),
            })
        }
    }
}

fn level_is_resource(schema: Option<&Structural>, level: Level) -> bool {
    schema.is_some_and(|schema| level.is_resource(schema))
}

/// How rules name a field, and its schema; `None` if they cannot see it. Of metadata, they see the names only.
fn visible_field<'a>(
    name: &str,
    schema: Option<&'a Structural>,
    level: Level,
) -> Option<(String, Option<&'a Structural>)> {
    let Some(schema) = schema else {
        return Some((name.to_owned(), None));
    };
    if level.is_resource(schema) && is_meta_field(name) {
        return Some((
            name.to_owned(),
            schema.properties.get(name).filter(|_| name != "metadata"),
        ));
    }
    if let Some(child) = schema.properties.get(name) {
        return escape(name).map(|key| (key, Some(child)));
    }
    match &schema.additional {
        // The keys of a map are data: they are not escaped.
        Additional::Schema(child) => Some((name.to_owned(), Some(child))),
        Additional::Allowed(true) => Some((name.to_owned(), None)),
        Additional::Allowed(false) | Additional::Unspecified => None,
    }
}

fn metadata(value: &Value) -> cel::Value {
    let names = ["name", "generateName"].into_iter().filter_map(|name| {
        let text = value.get(name)?.as_str()?;
        Some((Key::String(Arc::new(name.to_owned())), string(text)))
    });
    cel::Value::Map(Map {
        map: Arc::new(names.collect::<HashMap<_, _>>()),
    })
}

/// Text in a format that CEL has a type for; text that does not fit its format stays text, for the schema's checks to
/// complain about.
fn convert_text(text: &str, schema: Option<&Structural>) -> cel::Value {
    let format = schema
        .filter(|it| it.kind == Some(Type::String))
        .and_then(|it| it.constraints.enforced_format);
    let converted = match format {
        Some(Format::Byte) => STANDARD
            .decode(text)
            .ok()
            .map(|bytes| cel::Value::Bytes(Arc::new(bytes))),
        Some(Format::Duration) => cel::functions::duration(Arc::new(text.to_owned())).ok(),
        Some(Format::DateTime) => cel::functions::timestamp(Arc::new(text.to_owned())).ok(),
        Some(Format::Date) => cel::functions::timestamp(Arc::new(format!("{text}T00:00:00Z"))).ok(),
        _ => None,
    };
    converted.unwrap_or_else(|| string(text))
}
