//! Validation of whole objects inside objects.
//! Source: apiextensions-apiserver `pkg/apiserver/schema/objectmeta/validation.go`, apimachinery
//! `pkg/api/validation/objectmeta.go` and `pkg/util/validation`.

use capstan_base::{field, names};
use serde_json::{Map, Value};

use crate::structural::{Level, Structural};

/// The most bytes that the annotations of an object may take.
const ANNOTATIONS_LIMIT: usize = 256 * 1024;

/// Validates apiVersion, kind and metadata of the objects that are embedded in `value`, and of `value` itself if `level`
/// says that it is a whole one. Metadata is expected in the form that [`coerce`](super::coerce) leaves it in.
pub fn validate_embedded(
    value: &Value,
    schema: &Structural,
    level: Level,
    path: &field::Path,
) -> Vec<field::Error> {
    let mut errors = Vec::new();
    visit(value, schema, level, path, &mut errors);
    errors
}

fn visit(
    value: &Value,
    schema: &Structural,
    level: Level,
    path: &field::Path,
    errors: &mut Vec<field::Error>,
) {
    match value {
        Value::Object(map) => {
            if level.is_resource(schema) {
                validate_object(map, path, errors);
            }
            for (name, child) in map {
                if !matches!(child, Value::Object(_) | Value::Array(_)) {
                    continue;
                }
                if let Some(below) = schema.properties.get(name) {
                    visit(child, below, Level::Part, &path.child(name), errors);
                } else if let Some(below) = schema.additional.schema() {
                    visit(child, below, Level::Part, &path.key(name), errors);
                }
            }
        }
        Value::Array(list) => {
            let Some(items) = schema.items.as_deref() else {
                return;
            };
            for (index, item) in list.iter().enumerate() {
                visit(item, items, Level::Part, &path.index(index), errors);
            }
        }
        _ => {}
    }
}

fn validate_object(map: &Map<String, Value>, path: &field::Path, errors: &mut Vec<field::Error>) {
    let at = path.child("apiVersion");
    match map.get("apiVersion") {
        None => errors.push(field::Error::required(&at, "")),
        Some(Value::String(text)) if text.is_empty() => {
            errors.push(field::Error::invalid(&at, "", "must not be empty"));
        }
        Some(Value::String(text)) => {
            if text.matches('/').count() > 1 {
                let problem = format!("unexpected GroupVersion string: {text}");
                errors.push(field::Error::invalid(&at, text.as_str(), problem));
            }
        }
        Some(other) => errors.push(field::Error::invalid(&at, other.clone(), "must be a string")),
    }
    let at = path.child("kind");
    match map.get("kind") {
        None => errors.push(field::Error::required(&at, "")),
        Some(Value::String(text)) if text.is_empty() => {
            errors.push(field::Error::invalid(&at, "", "must not be empty"));
        }
        Some(Value::String(text)) => {
            for problem in names::dns_1035_label_problems(&text.to_lowercase()) {
                let detail = format!("may have mixed case, but should otherwise match: {problem}");
                errors.push(field::Error::invalid(&at, text.as_str(), detail));
            }
        }
        Some(other) => errors.push(field::Error::invalid(&at, other.clone(), "must be a string")),
    }
    if let Some(Value::Object(metadata)) = map.get("metadata") {
        validate_metadata(metadata, &path.child("metadata"), errors);
    }
}

fn validate_metadata(metadata: &Map<String, Value>, path: &field::Path, errors: &mut Vec<field::Error>) {
    let checks: [(&str, fn(&str) -> Vec<String>); 3] = [
        ("generateName", names::path_segment_prefix_problems),
        ("name", names::path_segment_problems),
        ("namespace", names::dns_label_problems),
    ];
    for (name, problems) in checks {
        if let Some(text) = metadata.get(name).and_then(Value::as_str) {
            invalid(errors, &path.child(name), text, problems(text));
        }
    }
    if let Some(Value::Object(labels)) = metadata.get("labels") {
        let path = path.child("labels");
        for (key, value) in labels {
            invalid(errors, &path, key, names::label_key_problems(key));
            let value = value.as_str().unwrap_or_default();
            invalid(errors, &path, value, names::label_value_problems(value));
        }
    }
    if let Some(Value::Object(annotations)) = metadata.get("annotations") {
        let path = path.child("annotations");
        let mut size = 0;
        for (key, value) in annotations {
            invalid(errors, &path, key, names::label_key_problems(&key.to_lowercase()));
            size += key.len() + value.as_str().map_or(0, str::len);
        }
        if size > ANNOTATIONS_LIMIT {
            let detail = format!("may not be more than {ANNOTATIONS_LIMIT} bytes");
            errors.push(field::Error::new(
                field::Kind::TooLong,
                &path,
                "<value omitted>",
                detail,
            ));
        }
    }
    validate_owners(
        metadata.get("ownerReferences"),
        &path.child("ownerReferences"),
        errors,
    );
    for finalizer in metadata
        .get("finalizers")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let text = finalizer.as_str().unwrap_or_default();
        invalid(
            errors,
            &path.child("finalizers"),
            text,
            names::label_key_problems(text),
        );
    }
}

/// One error for each problem of `text`.
fn invalid(errors: &mut Vec<field::Error>, path: &field::Path, text: &str, problems: Vec<String>) {
    let each = problems
        .into_iter()
        .map(|it| field::Error::invalid(path, text, it));
    errors.extend(each);
}

fn validate_owners(owners: Option<&Value>, path: &field::Path, errors: &mut Vec<field::Error>) {
    let mut controller: Option<&str> = None;
    for (index, owner) in owners.and_then(Value::as_array).into_iter().flatten().enumerate() {
        let path = path.index(index);
        let text = |name: &str| owner.get(name).and_then(Value::as_str).unwrap_or_default();
        for (name, problem) in [
            ("apiVersion", "version must not be empty"),
            ("kind", "must not be empty"),
            ("name", "must not be empty"),
            ("uid", "must not be empty"),
        ] {
            if text(name).is_empty() {
                errors.push(field::Error::invalid(&path.child(name), "", problem));
            }
        }
        if owner.get("controller") == Some(&Value::Bool(true)) {
            match controller {
                None => controller = Some(text("name")),
                Some(first) => {
                    let detail = format!(
                        "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {}",
                        text("name")
                    );
                    errors.push(field::Error::invalid(&path.child("controller"), true, detail));
                }
            }
        }
    }
}
