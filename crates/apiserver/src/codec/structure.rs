//! Structural schemas of the built-in kinds, from their OpenAPI definitions: references are replaced by what they
//! refer to, and the types that JSON Schema cannot say become what the structural schema has for them.

use serde_json::{Map, Value, json};

use crate::resource::{REFERENCE_PREFIX, definitions};

/// The definition `name` as an `openAPIV3Schema` without references.
pub(super) fn without_references(name: &str) -> Value {
    let mut open = Vec::new();
    let mut schema = definition(name, &mut open);
    // The server validates the metadata of whole objects itself.
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("metadata".to_owned(), json!({ "type": "object" }));
    }
    schema
}

fn anything() -> Value {
    json!({ "x-kubernetes-preserve-unknown-fields": true })
}

fn definition(name: &str, open: &mut Vec<String>) -> Value {
    let short = name.rsplit('.').next().unwrap_or_default();
    match short {
        "IntOrString" => return json!({ "x-kubernetes-int-or-string": true }),
        "Quantity"
        | "JSON"
        | "JSONSchemaPropsOrArray"
        | "JSONSchemaPropsOrBool"
        | "JSONSchemaPropsOrStringArray" => {
            return anything();
        }
        "RawExtension" | "FieldsV1" => {
            return json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
        }
        _ => {}
    }
    // A recursive kind is checked to its first repetition.
    if open.iter().any(|it| it == name) {
        return json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    }
    let Some(found) = definitions().get(name) else {
        return anything();
    };
    open.push(name.to_owned());
    let node = node(found, open);
    open.pop();
    node
}

fn node(schema: &Value, open: &mut Vec<String>) -> Value {
    let target = schema["$ref"]
        .as_str()
        .or_else(|| schema["allOf"][0]["$ref"].as_str());
    if let Some(name) = target.and_then(|target| target.strip_prefix(REFERENCE_PREFIX)) {
        let mut node = definition(name, open);
        for key in ["default", "x-kubernetes-map-type"] {
            if let Some(value) = schema.get(key) {
                node[key] = value.clone();
            }
        }
        return node;
    }
    let mut result = Map::new();
    for (key, value) in schema.as_object().into_iter().flatten() {
        let value = match key.as_str() {
            "description" | "x-kubernetes-group-version-kind" | "x-kubernetes-unions" | "oneOf" => continue,
            "properties" => {
                let fields = value.as_object().into_iter().flatten();
                Value::Object(
                    fields
                        .map(|(name, field)| (name.clone(), node(field, open)))
                        .collect(),
                )
            }
            "items" | "additionalProperties" => node(value, open),
            // Go's zero values: a required list or map may be null or missing on the wire.
            _ => value.clone(),
        };
        result.insert(key.clone(), value);
    }
    if result.is_empty() {
        anything()
    } else {
        Value::Object(result)
    }
}
