//! Renders definitions as `CustomResourceDefinition` objects with structural schemas of `OpenAPI` v3.

use serde_json::{Map, Value, json};

use super::model::{
    Bounds, Column, Definition, Field, IntegerFormat, ListKind, Schema, Scope, Shape, TextFormat, Version,
};

impl Definition {
    /// The `CustomResourceDefinition` (`apiextensions.k8s.io/v1`) without a conversion section.
    ///
    /// Versions are converted by whoever serves them; a real API server needs a webhook spliced in at
    /// `spec.conversion`.
    pub fn to_value(&self) -> Value {
        let mut metadata = json!({ "name": self.name() });
        if !self.labels.is_empty() {
            metadata["labels"] = self
                .labels
                .iter()
                .map(|(k, v)| (k.clone(), json!(v)))
                .collect::<Map<_, _>>()
                .into();
        }
        let mut names = json!({
            "kind": self.kind,
            "listKind": format!("{}List", self.kind),
            "plural": self.plural,
            "singular": self.kind.to_lowercase(),
        });
        if !self.short_names.is_empty() {
            names["shortNames"] = json!(self.short_names);
        }
        if !self.categories.is_empty() {
            names["categories"] = json!(self.categories);
        }
        let scope = match self.scope {
            Scope::Namespaced => "Namespaced",
            Scope::Cluster => "Cluster",
        };
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": metadata,
            "spec": {
                "group": self.group,
                "names": names,
                "scope": scope,
                "versions": self.versions.iter().map(|v| v.to_value(&self.description)).collect::<Vec<_>>(),
            },
        })
    }
}

impl Version {
    fn to_value(&self, description: &str) -> Value {
        let mut version = json!({
            "name": self.name,
            "served": self.served,
            "storage": self.storage,
            "schema": { "openAPIV3Schema": self.root_schema(description) },
        });
        if self.deprecated {
            version["deprecated"] = json!(true);
        }
        if !self.columns.is_empty() {
            version["additionalPrinterColumns"] = self.columns.iter().map(Column::to_value).collect();
        }
        if !self.selectable.is_empty() {
            version["selectableFields"] = self
                .selectable
                .iter()
                .map(|path| json!({ "jsonPath": path }))
                .collect();
        }
        let mut subresources = Map::new();
        if self.status {
            subresources.insert("status".into(), json!({}));
        }
        if let Some(scale) = &self.scale {
            let mut value = json!({
                "specReplicasPath": scale.spec_replicas,
                "statusReplicasPath": scale.status_replicas,
            });
            if let Some(selector) = &scale.selector {
                value["labelSelectorPath"] = json!(selector);
            }
            subresources.insert("scale".into(), value);
        }
        if !subresources.is_empty() {
            version["subresources"] = subresources.into();
        }
        version
    }

    /// The schema of whole objects: the fields of the version and those that every object has.
    fn root_schema(&self, description: &str) -> Value {
        let mut root = self.schema.to_value(Some(description));
        root["properties"]["apiVersion"] = json!({ "type": "string" });
        root["properties"]["kind"] = json!({ "type": "string" });
        if self.schema.field("metadata").is_none() {
            root["properties"]["metadata"] = json!({ "type": "object" });
        }
        root
    }
}

impl Column {
    fn to_value(&self) -> Value {
        let mut column = json!({ "name": self.name, "type": self.kind, "jsonPath": self.json_path });
        if self.priority != 0 {
            column["priority"] = json!(self.priority);
        }
        column
    }
}

impl Schema {
    /// The structural schema of `OpenAPI` v3; `description` goes before that of the type.
    pub fn to_value(&self, description: Option<&str>) -> Value {
        let mut out = Map::new();
        self.shape.write(&mut out);
        if let Some(text) = description.or(self.description.as_deref()) {
            out.insert("description".into(), json!(text));
        }
        if let Some(default) = &self.default {
            out.insert("default".into(), default.clone());
        }
        if !self.rules.is_empty() {
            let rules: Vec<Value> = self
                .rules
                .iter()
                .map(|rule| json!({ "rule": rule.expression, "message": rule.message }))
                .collect();
            out.insert("x-kubernetes-validations".into(), rules.into());
        }
        Value::Object(out)
    }
}

impl Shape {
    fn write(&self, out: &mut Map<String, Value>) {
        match self {
            Self::Object {
                fields,
                properties,
                atomic,
                open,
            } => {
                out.insert("type".into(), json!("object"));
                write_fields(out, fields);
                write_bounds(out, *properties, "minProperties", "maxProperties");
                write_map_type(out, *atomic);
                if *open {
                    out.insert("x-kubernetes-preserve-unknown-fields".into(), json!(true));
                }
            }
            Self::Map {
                values,
                properties,
                atomic,
            } => {
                out.insert("type".into(), json!("object"));
                out.insert("additionalProperties".into(), values.to_value(None));
                write_bounds(out, *properties, "minProperties", "maxProperties");
                write_map_type(out, *atomic);
            }
            Self::List { items, count, kind } => {
                out.insert("type".into(), json!("array"));
                out.insert("items".into(), items.to_value(None));
                write_bounds(out, *count, "minItems", "maxItems");
                write_list_kind(out, kind);
            }
            Self::Text {
                format,
                length,
                pattern,
                values,
            } => {
                out.insert("type".into(), json!("string"));
                match format {
                    TextFormat::Plain => None,
                    TextFormat::Time => out.insert("format".into(), json!("date-time")),
                    TextFormat::Bytes => out.insert("format".into(), json!("byte")),
                };
                write_bounds(out, *length, "minLength", "maxLength");
                write_pattern(out, pattern.as_ref());
                if !values.is_empty() {
                    out.insert("enum".into(), json!(values));
                }
            }
            Self::Integer { format, value } => {
                out.insert("type".into(), json!("integer"));
                match format {
                    IntegerFormat::Plain => None,
                    IntegerFormat::I32 => out.insert("format".into(), json!("int32")),
                    IntegerFormat::I64 => out.insert("format".into(), json!("int64")),
                };
                write_bounds(out, *value, "minimum", "maximum");
            }
            Self::Number => drop(out.insert("type".into(), json!("number"))),
            Self::Boolean => drop(out.insert("type".into(), json!("boolean"))),
            Self::IntOrText { pattern } => {
                out.insert(
                    "anyOf".into(),
                    json!([{ "type": "integer" }, { "type": "string" }]),
                );
                out.insert("x-kubernetes-int-or-string".into(), json!(true));
                write_pattern(out, pattern.as_ref());
            }
            Self::Any => drop(out.insert("x-kubernetes-preserve-unknown-fields".into(), json!(true))),
        }
    }
}

fn write_fields(out: &mut Map<String, Value>, fields: &[Field]) {
    if fields.is_empty() {
        return;
    }
    let properties: Map<String, Value> = fields
        .iter()
        .map(|field| {
            (
                field.name.clone(),
                field.schema.to_value(field.description.as_deref()),
            )
        })
        .collect();
    out.insert("properties".into(), properties.into());
    let required: Vec<&str> = fields
        .iter()
        .filter(|field| field.required)
        .map(|field| field.name.as_str())
        .collect();
    if !required.is_empty() {
        out.insert("required".into(), json!(required));
    }
}

fn write_bounds(out: &mut Map<String, Value>, bounds: Bounds, low: &str, high: &str) {
    if let Some(value) = bounds.low {
        out.insert(low.into(), json!(value));
    }
    if let Some(value) = bounds.high {
        out.insert(high.into(), json!(value));
    }
}

fn write_pattern(out: &mut Map<String, Value>, pattern: Option<&String>) {
    if let Some(pattern) = pattern {
        out.insert("pattern".into(), json!(pattern));
    }
}

fn write_map_type(out: &mut Map<String, Value>, atomic: bool) {
    if atomic {
        out.insert("x-kubernetes-map-type".into(), json!("atomic"));
    }
}

fn write_list_kind(out: &mut Map<String, Value>, kind: &ListKind) {
    let name = match kind {
        ListKind::Unset => return,
        ListKind::Atomic => "atomic",
        ListKind::Set => "set",
        ListKind::Map(keys) => {
            out.insert("x-kubernetes-list-map-keys".into(), json!(keys));
            "map"
        }
    };
    out.insert("x-kubernetes-list-type".into(), json!(name));
}
