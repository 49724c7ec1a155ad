//! Whether the schema of a custom resource definition is one that can be served.
//! Source: apiextensions-apiserver `pkg/apis/apiextensions/validation`, `pkg/apiserver/schema/{validation,complete}.go`.

mod defaults;
mod invariants;
mod keywords;
mod rules;

use capstan_base::field;
use serde_json::Value;

use crate::{
    cel::valid_field_path,
    structural::{Structural, Type},
};

/// The most selectable fields that a version may have.
const MAX_SELECTABLE_FIELDS: usize = 8;

/// Checks `schema`, the `openAPIV3Schema` at `path` of a version of a custom resource definition: supported keywords,
/// list and map types, structure, defaults, and that its rules compile. `has_status` says whether the version has the
/// status subresource, which limits what may stand at the root.
pub fn validate_structural(schema: &Value, has_status: bool, path: &field::Path) -> Vec<field::Error> {
    let mut errors = Vec::new();
    if has_status {
        keywords::check_root(schema, path, &mut errors);
    }
    if schema.get("nullable") == Some(&Value::Bool(true)) {
        errors.push(field::Error::forbidden(
            &path.child("nullable"),
            "nullable cannot be true at the root",
        ));
    }
    let keyword_errors = keywords::check(schema, path);
    let parsed = Structural::parse(schema);
    if let Ok(structural) = &parsed {
        let before = errors.len();
        invariants::check(structural, path, &mut errors);
        if errors.len() == before {
            defaults::check(structural, path, &mut errors);
        }
        let is_sound = errors.len() == before && keyword_errors.is_empty();
        errors.extend(keyword_errors);
        if is_sound {
            rules::check(structural, path, &mut errors);
        }
    } else {
        errors.extend(keyword_errors);
    }
    if let (Err(error), true) = (parsed, errors.is_empty()) {
        errors.push(field::Error::invalid(path, "", error.to_string()));
    }
    errors
}

/// Checks the JSON paths of `selectableFields`, a list at `path`: each leads to a scalar outside metadata, once.
pub fn validate_selectable_fields(
    json_paths: &[&str],
    schema: &Structural,
    path: &field::Path,
) -> Vec<field::Error> {
    let mut errors = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for (index, text) in json_paths.iter().enumerate() {
        let at = path.index(index).child("jsonPath");
        if text.is_empty() {
            errors.push(field::Error::required(&at, ""));
            continue;
        }
        let found = match valid_field_path(text, schema, false) {
            Ok(found) => found,
            Err(problem) => {
                errors.push(field::Error::invalid(
                    &at,
                    *text,
                    format!("is an invalid path: {problem}"),
                ));
                continue;
            }
        };
        if found.path.split('.').next() == Some("metadata") {
            errors.push(field::Error::invalid(
                &at,
                *text,
                "must not point to fields in metadata",
            ));
        }
        if !matches!(
            found.schema.kind,
            Some(Type::String | Type::Boolean | Type::Integer)
        ) {
            errors.push(field::Error::invalid(
                &at,
                *text,
                "must point to a field of type string, boolean or integer. Enum string fields and strings with formats \
                 are allowed.",
            ));
        }
        if seen.contains(&found.path) {
            errors.push(field::Error::duplicate(&at, *text));
        } else {
            seen.push(found.path);
        }
    }
    if seen.len() > MAX_SELECTABLE_FIELDS {
        let detail = format!("must have at most {MAX_SELECTABLE_FIELDS} items");
        errors.push(field::Error::new(field::Kind::TooMany, path, seen.len(), detail));
    }
    errors
}
