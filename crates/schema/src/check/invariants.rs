//! Structure: each field has a type outside of value validations, and those say nothing about shape.
//! Source: apiextensions-apiserver `pkg/apiserver/schema/{validation,complete}.go`.

use capstan_base::field;

use crate::structural::{Additional, Constraints, Structural, Type};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Root,
    Item,
    Field,
}

/// Adds what makes `schema` not structural, in the order of the messages.
pub(super) fn check(schema: &Structural, path: &field::Path, errors: &mut Vec<field::Error>) {
    let mut found = Vec::new();
    node(schema, Depth::Root, path, &mut found);
    completeness(&schema.constraints, schema, path, path, &mut found);
    found.sort_by_key(ToString::to_string);
    errors.extend(found);
}

fn node(schema: &Structural, depth: Depth, path: &field::Path, errors: &mut Vec<field::Error>) {
    if schema.kind == Some(Type::Array) && schema.items.is_none() {
        errors.push(field::Error::required(&path.child("items"), "must be specified"));
    }
    if let Some(items) = &schema.items {
        node(items, Depth::Item, &path.child("items"), errors);
    }
    for (name, child) in &schema.properties {
        node(child, Depth::Field, &path.child("properties").key(name), errors);
    }
    let at_additional = path.child("additionalProperties");
    if schema.additional.is_specified() && depth == Depth::Root {
        errors.push(field::Error::forbidden(
            &at_additional,
            "must not be used at the root",
        ));
    }
    if let Additional::Schema(child) = &schema.additional {
        node(child, Depth::Field, &at_additional, errors);
    }
    for (is_set, keyword) in [
        (
            schema.preserve_unknown_fields,
            "x-kubernetes-preserve-unknown-fields",
        ),
        (schema.embedded_resource, "x-kubernetes-embedded-resource"),
    ] {
        if schema.int_or_string && is_set {
            let detail = "must be false if x-kubernetes-int-or-string is true";
            errors.push(field::Error::invalid(&path.child(keyword), true, detail));
        }
    }
    value_validation(&schema.constraints, Skip::of(&schema.constraints), path, errors);
    node_type(schema, depth, path, errors);
    if schema.embedded_resource && schema.additional.is_specified() {
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        errors.push(field::Error::forbidden(&at_additional, detail));
    }
    metadata(schema, depth, path, errors);
    if schema.embedded_resource && !schema.preserve_unknown_fields && schema.properties.is_empty() {
        errors.push(field::Error::required(
            &path.child("properties"),
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
        ));
    }
}

fn node_type(schema: &Structural, depth: Depth, path: &field::Path, errors: &mut Vec<field::Error>) {
    let at = path.child("type");
    let embedded = "must be object if x-kubernetes-embedded-resource is true";
    match schema.kind {
        None if schema.embedded_resource => errors.push(field::Error::required(&at, embedded)),
        Some(kind) if schema.embedded_resource && kind != Type::Object => {
            errors.push(field::Error::invalid(&at, kind.as_str(), embedded));
        }
        None if !schema.int_or_string && !schema.preserve_unknown_fields => {
            let detail = match depth {
                Depth::Root => "must not be empty at the root",
                Depth::Item => "must not be empty for specified array items",
                Depth::Field => "must not be empty for specified object fields",
            };
            errors.push(field::Error::required(&at, detail));
        }
        _ => {}
    }
    if let (Depth::Root, Some(kind)) = (depth, schema.kind.filter(|kind| *kind != Type::Object)) {
        errors.push(field::Error::invalid(
            &at,
            kind.as_str(),
            "must be object at the root",
        ));
    }
}

/// What may be said about apiVersion, kind and metadata.
fn metadata(schema: &Structural, depth: Depth, path: &field::Path, errors: &mut Vec<field::Error>) {
    let is_resource = depth == Depth::Root || schema.embedded_resource;
    let type_name = |child: &Structural| child.kind.map_or("", Type::as_str);
    for name in ["kind", "apiVersion"] {
        if let Some(child) = schema
            .properties
            .get(name)
            .filter(|it| is_resource && it.kind != Some(Type::String))
        {
            let at = path.child("properties").key(name).child("type");
            errors.push(field::Error::invalid(&at, type_name(child), "must be string"));
        }
    }
    let Some(child) = schema.properties.get("metadata") else {
        return;
    };
    let at = path.child("properties").key("metadata");
    if is_resource && child.kind != Some(Type::Object) {
        errors.push(field::Error::invalid(
            &at.child("type"),
            type_name(child),
            "must be object",
        ));
    }
    if depth == Depth::Root {
        let only_names = child
            .properties
            .keys()
            .all(|name| matches!(name.as_str(), "name" | "generateName"));
        let bare = Structural {
            kind: None,
            default: None,
            properties: std::collections::BTreeMap::new(),
            ..child.clone()
        };
        let says_nothing_else = bare
            .to_openapi()
            .as_object()
            .is_some_and(serde_json::Map::is_empty);
        if !only_names || !says_nothing_else {
            errors.push(field::Error::forbidden(
                &at,
                "must not specify anything other than name and generateName, but metadata is implicitly specified",
            ));
        }
    }
}

/// The two places in which types may stand in value validations: the spelling-out of int-or-string.
#[derive(Clone, Copy, Default)]
struct Skip {
    any_of: bool,
    first_all_of: bool,
}

impl Skip {
    fn of(constraints: &Constraints) -> Self {
        Self {
            any_of: is_int_or_string(&constraints.any_of),
            first_all_of: constraints
                .all_of
                .first()
                .is_some_and(|it| is_int_or_string(&it.constraints.any_of)),
        }
    }
}

fn is_int_or_string(branches: &[Structural]) -> bool {
    let only = |branch: &Structural, kind: Type| {
        branch.kind == Some(kind) && branch.to_openapi().as_object().is_some_and(|it| it.len() == 1)
    };
    matches!(branches, [first, second] if only(first, Type::Integer) && only(second, Type::String))
}

fn value_validation(
    constraints: &Constraints,
    skip: Skip,
    path: &field::Path,
    errors: &mut Vec<field::Error>,
) {
    if !skip.any_of {
        for (index, branch) in constraints.any_of.iter().enumerate() {
            nested(branch, Skip::default(), &path.child("anyOf").index(index), errors);
        }
    }
    for (index, branch) in constraints.all_of.iter().enumerate() {
        let below = Skip {
            any_of: skip.first_all_of && index == 0,
            first_all_of: false,
        };
        nested(branch, below, &path.child("allOf").index(index), errors);
    }
    for (index, branch) in constraints.one_of.iter().enumerate() {
        nested(branch, Skip::default(), &path.child("oneOf").index(index), errors);
    }
    if let Some(not) = &constraints.not {
        nested(not, Skip::default(), &path.child("not"), errors);
    }
    if let Some(pattern) = &constraints.pattern
        && let Err(problem) = pattern.regex()
    {
        let detail = format!("must be a valid regular expression, but isn't: {problem}");
        errors.push(field::Error::invalid(
            &path.child("pattern"),
            pattern.source(),
            detail,
        ));
    }
}

fn nested(schema: &Structural, skip: Skip, path: &field::Path, errors: &mut Vec<field::Error>) {
    value_validation(&schema.constraints, skip, path, errors);
    if let Some(items) = &schema.items {
        nested(items, Skip::default(), &path.child("items"), errors);
    }
    for (name, child) in &schema.properties {
        nested(
            child,
            Skip::default(),
            &path.child("properties").key(name),
            errors,
        );
    }
    let adds = matches!(
        schema.additional,
        Additional::Allowed(true) | Additional::Schema(_)
    );
    let empty = "must be empty to be structural";
    let undefined = "must be undefined to be structural";
    let unset = "must be false to be structural";
    for (is_set, keyword, detail) in [
        (schema.kind.is_some(), "type", empty),
        (adds, "additionalProperties", undefined),
        (schema.default.is_some(), "default", undefined),
        (schema.title.is_some(), "title", empty),
        (schema.description.is_some(), "description", empty),
        (schema.nullable, "nullable", unset),
        (
            schema.preserve_unknown_fields,
            "x-kubernetes-preserve-unknown-fields",
            unset,
        ),
        (schema.embedded_resource, "x-kubernetes-embedded-resource", unset),
        (schema.int_or_string, "x-kubernetes-int-or-string", unset),
        (
            !schema.list_map_keys.is_empty(),
            "x-kubernetes-list-map-keys",
            empty,
        ),
        (schema.list_type.is_some(), "x-kubernetes-list-type", undefined),
        (schema.map_type.is_some(), "x-kubernetes-map-type", undefined),
        (!schema.validations.is_empty(), "x-kubernetes-validations", empty),
    ] {
        if is_set {
            errors.push(field::Error::forbidden(&path.child(keyword), detail));
        }
    }
    if schema.properties.contains_key("metadata") {
        let at = path.child("properties").key("metadata");
        errors.push(field::Error::forbidden(
            &at,
            "must not be specified in a nested context",
        ));
    }
}

/// That each field which value validations speak of is also specified outside of them.
fn completeness(
    constraints: &Constraints,
    schema: &Structural,
    at: &field::Path,
    nested_at: &field::Path,
    errors: &mut Vec<field::Error>,
) {
    if let Some(not) = &constraints.not {
        nested_completeness(not, Some(schema), at, &nested_at.child("not"), errors);
    }
    for (keyword, branches) in [
        ("allOf", &constraints.all_of),
        ("anyOf", &constraints.any_of),
        ("oneOf", &constraints.one_of),
    ] {
        for (index, branch) in branches.iter().enumerate() {
            nested_completeness(
                branch,
                Some(schema),
                at,
                &nested_at.child(keyword).index(index),
                errors,
            );
        }
    }
}

fn nested_completeness(
    nested: &Structural,
    schema: Option<&Structural>,
    at: &field::Path,
    nested_at: &field::Path,
    errors: &mut Vec<field::Error>,
) {
    let Some(schema) = schema else {
        errors.push(field::Error::required(
            at,
            format!("because it is defined in {nested_at}"),
        ));
        return;
    };
    completeness(&nested.constraints, schema, at, nested_at, errors);
    if let Some(items) = &nested.items {
        nested_completeness(
            items,
            schema.items.as_deref(),
            &at.child("items"),
            &nested_at.child("items"),
            errors,
        );
    }
    for (name, child) in &nested.properties {
        let nested_at = nested_at.child("properties").key(name);
        let at = at.child("properties").key(name);
        nested_completeness(child, schema.properties.get(name), &at, &nested_at, errors);
    }
}
