//! The version 2 document in protobuf, for clients (kubectl up to 1.28) that take no other form.
//! Source: gnostic `openapiv2/OpenAPIv2.proto`; field numbers below are its.

use serde_json::Value;

use crate::resource::{ResourceTable, version_order};

/// A message under construction.
#[derive(Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        loop {
            let byte = u8::try_from(value & 0x7f).unwrap_or(0);
            value >>= 7;
            if value == 0 {
                self.0.push(byte);
                return;
            }
            self.0.push(byte | 0x80);
        }
    }

    fn bytes(&mut self, number: u64, bytes: &[u8]) {
        self.varint((number << 3) | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// A string field; nothing if it is empty.
    fn text(&mut self, number: u64, text: &str) {
        if !text.is_empty() {
            self.bytes(number, text.as_bytes());
        }
    }

    fn message(&mut self, number: u64, message: &Self) {
        self.bytes(number, &message.0);
    }

    fn flag(&mut self, number: u64, flag: bool) {
        if flag {
            self.varint(number << 3);
            self.varint(1);
        }
    }
}

/// `Any`: a value as YAML, of which JSON is a part.
fn any(value: &Value) -> Message {
    let mut any = Message::default();
    any.text(2, &value.to_string());
    any
}

/// `NamedAny`, `NamedSchema`, `NamedPathItem`: all alike.
fn named(name: &str, value: &Message) -> Message {
    let mut named = Message::default();
    named.text(1, name);
    named.message(2, value);
    named
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The document, from its JSON form and the table that it was made of.
pub(super) fn document(table: &ResourceTable, json: &Value) -> Vec<u8> {
    let mut info = Message::default();
    info.text(1, "Kubernetes");
    info.text(2, "unversioned");
    let mut definitions = Message::default();
    for (name, value) in json["definitions"].as_object().into_iter().flatten() {
        definitions.message(1, &named(name, &schema(value)));
    }
    let mut document = Message::default();
    document.text(1, "2.0");
    document.message(2, &info);
    document.message(8, &paths(table));
    document.message(9, &definitions);
    document.0
}

/// `Schema`.
fn schema(json: &Value) -> Message {
    let mut schema = Message::default();
    for (number, key) in [(1, "$ref"), (2, "format"), (3, "title"), (4, "description")] {
        schema.text(number, text(&json[key]));
    }
    if let Some(default) = json.get("default") {
        schema.message(5, &any(default));
    }
    schema.text(13, text(&json["pattern"]));
    for required in json["required"].as_array().into_iter().flatten() {
        schema.text(19, text(required));
    }
    for value in json["enum"].as_array().into_iter().flatten() {
        schema.message(20, &any(value));
    }
    match &json["additionalProperties"] {
        Value::Bool(flag) => {
            let mut item = Message::default();
            item.flag(2, *flag);
            schema.message(21, &item);
        }
        Value::Object(_) => {
            let mut item = Message::default();
            item.message(1, &self::schema(&json["additionalProperties"]));
            schema.message(21, &item);
        }
        _ => {}
    }
    if let Some(kind) = json["type"].as_str() {
        let mut item = Message::default();
        item.text(1, kind);
        schema.message(22, &item);
    }
    if json["items"].is_object() {
        let mut item = Message::default();
        item.message(1, &self::schema(&json["items"]));
        schema.message(23, &item);
    }
    if let Some(fields) = json["properties"].as_object() {
        let mut properties = Message::default();
        for (name, value) in fields {
            properties.message(1, &named(name, &self::schema(value)));
        }
        schema.message(25, &properties);
    }
    for (name, value) in json
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| name.starts_with("x-"))
    {
        schema.message(31, &named(name, &any(value)));
    }
    schema
}

/// `Paths`: for every kind the one operation that kubectl looks at, with the options that it looks for.
fn paths(table: &ResourceTable) -> Message {
    let mut paths = Message::default();
    for resource in table.all().filter(|resource| resource.verbs().contains(&"patch")) {
        let mut versions: Vec<&str> = resource
            .versions
            .iter()
            .filter(|it| it.served)
            .map(|it| it.name.as_str())
            .collect();
        versions.sort_by(|left, right| version_order(left, right));
        for version in versions {
            let mut operation = Message::default();
            for media_type in crate::registry::taken(resource.strategy.strategic_merge) {
                operation.text(7, media_type);
            }
            for name in ["dryRun", "fieldManager", "fieldValidation", "force"] {
                operation.message(8, &query_parameter(name));
            }
            let kind =
                serde_json::json!({ "group": resource.group, "version": version, "kind": resource.kind });
            operation.message(13, &named("x-kubernetes-group-version-kind", &any(&kind)));
            let mut item = Message::default();
            item.message(8, &operation);
            let root = if resource.group.is_empty() {
                "/api"
            } else {
                "/apis/"
            };
            let path = format!("{root}{}/{version}/{}/{{name}}", resource.group, resource.plural);
            paths.message(2, &named(&path, &item));
        }
    }
    paths
}

/// `ParametersItem` of a parameter in the query.
fn query_parameter(name: &str) -> Message {
    let mut parameter = Message::default();
    parameter.text(2, "query");
    parameter.text(4, name);
    parameter.text(6, if name == "force" { "boolean" } else { "string" });
    let mut message = parameter;
    // QueryParameterSubSchema in NonBodyParameter in Parameter in ParametersItem.
    for number in [3, 2, 1] {
        let mut outer = Message::default();
        outer.message(number, &message);
        message = outer;
    }
    message
}
