//! Brings a converted object into the form that the schema of its version wants.

use serde_json::{Map, Value};

use super::rules::Object;
use crate::crd::{Bounds, Field, Schema, Shape, TextFormat};

/// Fields that every object has and that no schema describes.
const COMMON: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Which form the target has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The hub leaves out what is empty.
    Hub,
    /// The spokes spell out the zero values of required fields.
    Spoke,
}

/// Drops what the schema does not know, and for the hub what is empty; for spokes adds missing required fields.
pub(super) fn finish(object: &mut Object, schema: &Schema, form: Form) {
    if let Shape::Object { fields, .. } = &schema.shape {
        object.retain(|name, _| {
            COMMON.contains(&name.as_str()) || fields.iter().any(|field| &field.name == name)
        });
        for field in fields
            .iter()
            .filter(|field| !COMMON.contains(&field.name.as_str()))
        {
            finish_field(object, field, form);
        }
    }
}

fn finish_field(object: &mut Object, field: &Field, form: Form) {
    if let Some(value) = object.get_mut(&field.name) {
        finish_value(value, &field.schema, form);
        if value.is_null() || form == Form::Hub && !field.required && is_empty(value, &field.schema) {
            object.remove(&field.name);
        }
    }
}

fn finish_value(value: &mut Value, schema: &Schema, form: Form) {
    match (&schema.shape, value) {
        (Shape::Object { fields, open, .. }, Value::Object(object)) => {
            if !open && !fields.is_empty() {
                object.retain(|name, _| fields.iter().any(|field| &field.name == name));
            }
            for field in fields {
                if form == Form::Spoke
                    && field.required
                    && object.get(&field.name).is_none_or(Value::is_null)
                    && let Some(zero) = zero(&field.schema)
                {
                    object.insert(field.name.clone(), zero);
                }
                finish_field(object, field, form);
            }
        }
        (Shape::Map { values, .. }, Value::Object(object)) => {
            for value in object.values_mut() {
                finish_value(value, values, form);
            }
        }
        (Shape::List { items, .. }, Value::Array(list)) => {
            for item in list.iter_mut() {
                finish_value(item, items, form);
            }
        }
        _ => {}
    }
}

/// Whether a value can only stand for an absent one.
fn is_empty(value: &Value, schema: &Schema) -> bool {
    let demands = |bounds: &Bounds| bounds.low.is_some_and(|low| low > 0);
    match (&schema.shape, value) {
        (
            Shape::Text {
                length,
                values,
                format,
                ..
            },
            Value::String(text),
        ) => text.is_empty() && (demands(length) || !values.is_empty() || *format != TextFormat::Plain),
        (
            Shape::Object {
                fields, properties, ..
            },
            Value::Object(object),
        ) => object.is_empty() && (demands(properties) || fields.iter().any(|field| field.required)),
        (Shape::Map { properties, .. }, Value::Object(object)) => object.is_empty() && demands(properties),
        (Shape::List { count, .. }, Value::Array(list)) => list.is_empty() && demands(count),
        (Shape::Integer { value: bounds, .. }, Value::Number(number)) => {
            number.as_i64() == Some(0) && demands(bounds)
        }
        _ => false,
    }
}

/// What a required field of the older versions looks like when nobody set it.
fn zero(schema: &Schema) -> Option<Value> {
    match &schema.shape {
        Shape::Object { .. } | Shape::Map { .. } => Some(Value::Object(Map::new())),
        Shape::List { .. } => Some(Value::Array(Vec::new())),
        Shape::Text {
            format: TextFormat::Plain,
            values,
            ..
        } if values.is_empty() => Some("".into()),
        Shape::Integer { .. } => Some(0.into()),
        Shape::Boolean => Some(false.into()),
        Shape::Text { .. } | Shape::Number | Shape::IntOrText { .. } | Shape::Any => None,
    }
}
