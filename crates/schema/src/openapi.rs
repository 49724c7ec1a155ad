//! From the tree back to JSON, to publish it in `OpenAPI` documents.

use serde_json::{Map, Number, Value, json};

use crate::structural::{Additional, Constraints, Rule, Structural};

impl Structural {
    /// The schema as `OpenAPI` v3 JSON, with the `x-kubernetes-…` extensions.
    pub fn to_openapi(&self) -> Value {
        let mut out = Map::new();
        put_text(&mut out, "title", self.title.as_deref());
        put_text(&mut out, "description", self.description.as_deref());
        put_text(&mut out, "type", self.kind.map(super::structural::Type::as_str));
        for (keyword, value) in [
            ("default", &self.default),
            ("example", &self.example),
            ("externalDocs", &self.external_docs),
        ] {
            if let Some(value) = value {
                out.insert(keyword.to_owned(), value.clone());
            }
        }
        put_flag(&mut out, "nullable", self.nullable);
        if !self.properties.is_empty() {
            let properties: Map<String, Value> = self
                .properties
                .iter()
                .map(|(name, child)| (name.clone(), child.to_openapi()))
                .collect();
            out.insert("properties".to_owned(), Value::Object(properties));
        }
        match &self.additional {
            Additional::Unspecified => {}
            Additional::Allowed(allowed) => put(&mut out, "additionalProperties", *allowed),
            Additional::Schema(schema) => put(&mut out, "additionalProperties", schema.to_openapi()),
        }
        if let Some(items) = &self.items {
            put(&mut out, "items", items.to_openapi());
        }
        put_constraints(&mut out, &self.constraints);
        self.put_extensions(&mut out);
        Value::Object(out)
    }

    fn put_extensions(&self, out: &mut Map<String, Value>) {
        put_flag(
            out,
            "x-kubernetes-preserve-unknown-fields",
            self.preserve_unknown_fields,
        );
        put_flag(out, "x-kubernetes-embedded-resource", self.embedded_resource);
        put_flag(out, "x-kubernetes-int-or-string", self.int_or_string);
        put_text(
            out,
            "x-kubernetes-list-type",
            self.list_type.map(super::structural::ListType::as_str),
        );
        put_text(
            out,
            "x-kubernetes-map-type",
            self.map_type.map(super::structural::MapType::as_str),
        );
        if !self.list_map_keys.is_empty() {
            put(out, "x-kubernetes-list-map-keys", self.list_map_keys.clone());
        }
        if !self.validations.is_empty() {
            let rules: Vec<Value> = self.validations.iter().map(rule_json).collect();
            put(out, "x-kubernetes-validations", rules);
        }
    }
}

fn put(out: &mut Map<String, Value>, keyword: &str, value: impl Into<Value>) {
    out.insert(keyword.to_owned(), value.into());
}

fn put_text(out: &mut Map<String, Value>, keyword: &str, text: Option<&str>) {
    if let Some(text) = text {
        put(out, keyword, text);
    }
}

fn put_flag(out: &mut Map<String, Value>, keyword: &str, flag: bool) {
    if flag {
        put(out, keyword, true);
    }
}

/// A bound as JSON: whole numbers without a fraction, as they were most likely written.
fn number(value: f64) -> Value {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "checked to be a whole number within range"
    )]
    if value.fract() == 0.0 && value.abs() < 9e15 {
        json!(value as i64)
    } else {
        Number::from_f64(value).map_or(Value::Null, Value::Number)
    }
}

fn put_constraints(out: &mut Map<String, Value>, constraints: &Constraints) {
    put_text(out, "format", constraints.format.as_deref());
    put_text(
        out,
        "pattern",
        constraints.pattern.as_ref().map(crate::pattern::Pattern::source),
    );
    for (keyword, value) in [
        ("maximum", constraints.maximum),
        ("minimum", constraints.minimum),
        ("multipleOf", constraints.multiple_of),
    ] {
        if let Some(value) = value {
            put(out, keyword, number(value));
        }
    }
    for (keyword, value) in [
        ("maxLength", constraints.max_length),
        ("minLength", constraints.min_length),
        ("maxItems", constraints.max_items),
        ("minItems", constraints.min_items),
        ("maxProperties", constraints.max_properties),
        ("minProperties", constraints.min_properties),
    ] {
        if let Some(value) = value {
            put(out, keyword, value);
        }
    }
    put_flag(out, "exclusiveMaximum", constraints.exclusive_maximum);
    put_flag(out, "exclusiveMinimum", constraints.exclusive_minimum);
    put_flag(out, "uniqueItems", constraints.unique_items);
    if !constraints.allowed.is_empty() {
        put(out, "enum", constraints.allowed.clone());
    }
    if !constraints.required.is_empty() {
        put(out, "required", constraints.required.clone());
    }
    for (keyword, nodes) in [
        ("allOf", &constraints.all_of),
        ("anyOf", &constraints.any_of),
        ("oneOf", &constraints.one_of),
    ] {
        if !nodes.is_empty() {
            let list: Vec<Value> = nodes.iter().map(Structural::to_openapi).collect();
            put(out, keyword, list);
        }
    }
    if let Some(not) = &constraints.not {
        put(out, "not", not.to_openapi());
    }
}

fn rule_json(rule: &Rule) -> Value {
    let mut out = Map::new();
    put(&mut out, "rule", rule.rule.clone());
    for (keyword, text) in [
        ("message", rule.message.as_str()),
        ("messageExpression", rule.message_expression.as_str()),
        ("reason", rule.reason.as_deref().unwrap_or_default()),
        ("fieldPath", rule.field_path.as_str()),
    ] {
        put_text(&mut out, keyword, Some(text).filter(|it| !it.is_empty()));
    }
    if let Some(optional) = rule.optional_old_self {
        put(&mut out, "optionalOldSelf", optional);
    }
    Value::Object(out)
}
