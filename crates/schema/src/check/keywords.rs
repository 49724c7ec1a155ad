//! The keywords of a schema, as written: which are supported, and which go together.
//! Source: apiextensions-apiserver `pkg/apis/apiextensions/validation/validation.go`,
//! `ValidateCustomResourceDefinitionOpenAPISchema`.

use std::collections::BTreeSet;

use capstan_base::field;
use serde_json::Value;

use crate::structural::{Type, is_meta_field};

/// Keywords that may stand at the root of a schema with the status subresource.
const ROOT_KEYWORDS: [&str; 22] = [
    "description",
    "type",
    "format",
    "title",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "multipleOf",
    "required",
    "items",
    "properties",
    "externalDocs",
    "example",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];

/// Those keywords as the error names them.
const ROOT_KEYWORDS_SHOWN: &str = "[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum \
     MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs \
     Example XPreserveUnknownFields XValidations]";

pub(super) fn check_root(schema: &Value, path: &field::Path, errors: &mut Vec<field::Error>) {
    let Some(object) = schema.as_object() else { return };
    if let Some(kind) = text(schema, "type").filter(|kind| *kind != "object") {
        errors.push(field::Error::invalid(
            &path.child("type"),
            kind,
            "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled",
        ));
        return;
    }
    let is_said = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
    if object
        .iter()
        .any(|(name, value)| is_said(value) && !ROOT_KEYWORDS.contains(&name.as_str()))
    {
        errors.push(field::Error::invalid(
            path,
            schema.clone(),
            format!(
                "only {ROOT_KEYWORDS_SHOWN} fields are allowed at the root of the schema if the status subresource is \
                 enabled"
            ),
        ));
    }
}

pub(super) fn check(schema: &Value, path: &field::Path) -> Vec<field::Error> {
    let mut errors = Vec::new();
    visit(
        schema,
        path,
        Context {
            is_root: true,
            ..Context::default()
        },
        &mut errors,
    );
    errors
}

#[derive(Clone, Copy, Default)]
struct Context {
    is_root: bool,
    /// Why defaults may not be set here, if they may not.
    no_defaults: Option<&'static str>,
    in_metadata: bool,
}

fn text<'a>(schema: &'a Value, keyword: &str) -> Option<&'a str> {
    schema
        .get(keyword)
        .and_then(Value::as_str)
        .filter(|it| !it.is_empty())
}

fn flag(schema: &Value, keyword: &str) -> bool {
    schema.get(keyword) == Some(&Value::Bool(true))
}

fn given<'a>(schema: &'a Value, keyword: &str) -> Option<&'a Value> {
    schema.get(keyword).filter(|it| !it.is_null())
}

fn visit(schema: &Value, path: &field::Path, context: Context, errors: &mut Vec<field::Error>) {
    if !schema.is_object() {
        return;
    }
    check_supported(schema, path, context, errors);
    check_map_type(schema, path, errors);
    check_list_type(schema, path, errors);
    check_list_items(schema, path, errors);
    visit_children(schema, path, context, errors);
}

fn visit_children(schema: &Value, path: &field::Path, context: Context, errors: &mut Vec<field::Error>) {
    let inner = Context {
        is_root: false,
        ..context
    };
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .filter(|it| !it.is_empty());
    if let Some(additional) = given(schema, "additionalProperties") {
        if properties.is_some() && additional != &Value::Bool(true) {
            errors.push(field::Error::forbidden(
                &path.child("additionalProperties"),
                "additionalProperties and properties are mutual exclusive",
            ));
        }
        let no_defaults = if context.in_metadata {
            Some("inside additionalProperties applying to object metadata")
        } else {
            context.no_defaults
        };
        visit(
            additional,
            &path.child("additionalProperties"),
            Context { no_defaults, ..inner },
            errors,
        );
    }
    for (name, child) in properties.into_iter().flatten() {
        let mut below = inner;
        if is_meta_field(name) && (context.is_root || flag(schema, "x-kubernetes-embedded-resource")) {
            below.in_metadata = true;
            if context.is_root {
                below.no_defaults = Some(match name.as_str() {
                    "metadata" => "in top-level metadata",
                    "kind" => "in top-level kind",
                    _ => "in top-level apiVersion",
                });
            }
        }
        visit(child, &path.child("properties").key(name), below, errors);
    }
    for keyword in ["not", "items"] {
        if let Some(child) = schema.get(keyword) {
            visit(child, &path.child(keyword), inner, errors);
        }
    }
    for keyword in ["allOf", "oneOf", "anyOf"] {
        for (index, child) in schema
            .get(keyword)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .enumerate()
        {
            visit(child, &path.child(keyword).index(index), inner, errors);
        }
    }
}

fn check_supported(schema: &Value, path: &field::Path, context: Context, errors: &mut Vec<field::Error>) {
    match text(schema, "type") {
        Some("null") => {
            errors.push(field::Error::not_supported(
                &path.child("type"),
                "null",
                &Type::ALL.map(Type::as_str),
            ));
            errors.push(field::Error::forbidden(
                &path.child("type"),
                "type cannot be set to null, use nullable as an alternative",
            ));
        }
        Some(kind) if Type::parse(kind).is_none() => {
            errors.push(field::Error::not_supported(
                &path.child("type"),
                kind,
                &Type::ALL.map(Type::as_str),
            ));
        }
        _ => {}
    }
    if let (Some(_), Some(reason)) = (given(schema, "default"), context.no_defaults) {
        errors.push(field::Error::forbidden(
            &path.child("default"),
            format!("must not be set {reason}"),
        ));
    }
    for keyword in [
        "id",
        "additionalItems",
        "patternProperties",
        "definitions",
        "dependencies",
        "$ref",
    ] {
        let is_empty = given(schema, keyword)
            .is_none_or(|it| it == "" || it.as_object().is_some_and(serde_json::Map::is_empty));
        if !is_empty {
            errors.push(field::Error::forbidden(
                &path.child(keyword),
                format!("{keyword} is not supported"),
            ));
        }
    }
    if schema.get("items").is_some_and(Value::is_array) {
        errors.push(field::Error::forbidden(
            &path.child("items"),
            "items must be a schema object and not an array",
        ));
    }
    if context.in_metadata && flag(schema, "x-kubernetes-embedded-resource") {
        errors.push(field::Error::forbidden(
            &path.child("x-kubernetes-embedded-resource"),
            "must not be used inside of resource meta",
        ));
    }
    if flag(schema, "uniqueItems") {
        errors.push(field::Error::forbidden(
            &path.child("uniqueItems"),
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
        ));
    }
    if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        errors.push(field::Error::invalid(
            &path.child("x-kubernetes-preserve-unknown-fields"),
            false,
            "must be true or undefined",
        ));
    }
}

/// That the node has the type which the extension `keyword` is about.
fn check_type_for(
    schema: &Value,
    wanted: &str,
    keyword: &str,
    path: &field::Path,
    errors: &mut Vec<field::Error>,
) {
    let detail = format!("must be {wanted} if {keyword} is specified");
    match text(schema, "type") {
        None => errors.push(field::Error::required(&path.child("type"), detail)),
        Some(kind) if kind != wanted => errors.push(field::Error::invalid(&path.child("type"), kind, detail)),
        Some(_) => {}
    }
}

fn check_map_type(schema: &Value, path: &field::Path, errors: &mut Vec<field::Error>) {
    let keyword = "x-kubernetes-map-type";
    let Some(map_type) = schema.get(keyword).and_then(Value::as_str) else {
        return;
    };
    check_type_for(schema, "object", keyword, path, errors);
    if !matches!(map_type, "atomic" | "granular") {
        errors.push(field::Error::not_supported(
            &path.child(keyword),
            map_type,
            &["atomic", "granular"],
        ));
    }
}

fn check_list_type(schema: &Value, path: &field::Path, errors: &mut Vec<field::Error>) {
    let keyword = "x-kubernetes-list-type";
    let list_type = schema.get(keyword).and_then(Value::as_str);
    if list_type.is_some() {
        check_type_for(schema, "array", keyword, path, errors);
    }
    if let Some(other) = list_type.filter(|it| !matches!(*it, "atomic" | "set" | "map")) {
        errors.push(field::Error::not_supported(
            &path.child(keyword),
            other,
            &["atomic", "set", "map"],
        ));
    }
    if list_type == Some("set")
        && text(schema, "type") == Some("array")
        && let Some(items) = schema.get("items")
    {
        let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
        let nested = |keyword: &str| items.get(keyword).and_then(Value::as_str);
        match text(items, "type") {
            Some("array") => {
                if let Some(other) = nested(keyword).filter(|it| *it != "atomic") {
                    errors.push(field::Error::invalid(
                        &path.child("items").child(keyword),
                        other,
                        detail,
                    ));
                }
            }
            Some("object") if nested("x-kubernetes-map-type") != Some("atomic") => {
                let found = nested("x-kubernetes-map-type").map_or(Value::Null, Value::from);
                errors.push(field::Error::invalid(
                    &path.child("items").child("x-kubernetes-map-type"),
                    found,
                    detail,
                ));
            }
            _ => {}
        }
    }
    let has_keys = schema
        .get("x-kubernetes-list-map-keys")
        .and_then(Value::as_array)
        .is_some_and(|it| !it.is_empty());
    if has_keys && list_type != Some("map") {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        errors.push(match list_type {
            None => field::Error::required(&path.child(keyword), detail),
            Some(other) => field::Error::invalid(&path.child(keyword), other, detail),
        });
    }
}

/// What holds for the items of lists of type set and map.
fn check_list_items(schema: &Value, path: &field::Path, errors: &mut Vec<field::Error>) {
    let list_type = schema.get("x-kubernetes-list-type").and_then(Value::as_str);
    let Some(list_type @ ("set" | "map")) = list_type else {
        return;
    };
    let items = given(schema, "items").filter(|it| it.is_object());
    let at_items = path.child("items");
    if list_type == "map" {
        check_list_map(schema, items, path, errors);
    }
    let Some(items) = items else { return };
    if flag(items, "nullable") {
        errors.push(field::Error::forbidden(
            &at_items.child("nullable"),
            format!("cannot be nullable when x-kubernetes-list-type is {list_type}"),
        ));
    }
    if list_type != "map" {
        return;
    }
    let required = items.get("required").and_then(Value::as_array);
    for key in keys_of(schema) {
        let Some(property) = items.get("properties").and_then(|it| it.get(key)) else {
            continue;
        };
        let at = at_items.child("properties").key(key);
        let is_required = required.is_some_and(|list| list.iter().any(|it| it == key));
        if !is_required && given(property, "default").is_none() {
            errors.push(field::Error::required(
                &at.child("default"),
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
            ));
        }
        if flag(property, "nullable") {
            errors.push(field::Error::forbidden(
                &at.child("nullable"),
                "this property is in x-kubernetes-list-map-keys, so it cannot be nullable",
            ));
        }
    }
}

fn keys_of(schema: &Value) -> Vec<&str> {
    let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
    keys.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn check_list_map(schema: &Value, items: Option<&Value>, path: &field::Path, errors: &mut Vec<field::Error>) {
    let keyword = "x-kubernetes-list-map-keys";
    let keys = keys_of(schema);
    if keys.is_empty() {
        let detail = "must not be empty if x-kubernetes-list-type is map";
        errors.push(field::Error::required(&path.child(keyword), detail));
    }
    let Some(items) = items else {
        let detail = "must have a schema if x-kubernetes-list-type is map";
        errors.push(field::Error::required(&path.child("items"), detail));
        return;
    };
    let at_items = path.child("items");
    let kind = text(items, "type").unwrap_or_default();
    if kind != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        errors.push(field::Error::invalid(&at_items.child("type"), kind, detail));
        return;
    }
    let mut seen = BTreeSet::new();
    for key in &keys {
        match items.get("properties").and_then(|it| it.get(*key)) {
            None => errors.push(field::Error::invalid(
                &path.child(keyword),
                keys.clone(),
                "entries must all be names of item properties",
            )),
            Some(property) if matches!(text(property, "type"), Some("array" | "object")) => {
                let at = at_items.child("properties").key(key).child("type");
                let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                errors.push(field::Error::invalid(&at, kind, detail));
            }
            Some(_) => {}
        }
        if !seen.insert(*key) {
            errors.push(field::Error::invalid(
                &path.child(keyword),
                keys.clone(),
                "must not contain duplicate entries",
            ));
        }
    }
}
