//! Validation of whole objects inside objects.
//! Source: apiextensions-apiserver `pkg/apiserver/schema/objectmeta/validation.go`, apimachinery
//! `pkg/api/validation/objectmeta.go` and `pkg/util/validation`.

use capstan_base::field;
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
            if let Some(problem) = dns_1035_label(&text.to_lowercase()) {
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
    for (name, prefix) in [("generateName", true), ("name", false)] {
        if let Some(text) = metadata.get(name).and_then(Value::as_str) {
            for problem in path_segment_problems(text, prefix) {
                errors.push(field::Error::invalid(&path.child(name), text, problem));
            }
        }
    }
    if let Some(text) = metadata.get("namespace").and_then(Value::as_str)
        && let Some(problem) = dns_1123_label(text)
    {
        errors.push(field::Error::invalid(&path.child("namespace"), text, problem));
    }
    if let Some(Value::Object(labels)) = metadata.get("labels") {
        let path = path.child("labels");
        for (key, value) in labels {
            errors.extend(
                qualified_name(key).map(|problem| field::Error::invalid(&path, key.as_str(), problem)),
            );
            let value = value.as_str().unwrap_or_default();
            errors.extend(label_value(value).map(|problem| field::Error::invalid(&path, value, problem)));
        }
    }
    if let Some(Value::Object(annotations)) = metadata.get("annotations") {
        let path = path.child("annotations");
        let mut size = 0;
        for (key, value) in annotations {
            let problem = qualified_name(&key.to_lowercase());
            errors.extend(problem.map(|problem| field::Error::invalid(&path, key.as_str(), problem)));
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
        if let Some(problem) = qualified_name(text) {
            errors.push(field::Error::invalid(&path.child("finalizers"), text, problem));
        }
    }
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

fn path_segment_problems(text: &str, prefix: bool) -> Vec<String> {
    if !prefix && matches!(text, "." | "..") {
        return vec![format!("may not be '{text}'")];
    }
    ["/", "%"]
        .iter()
        .filter(|it| text.contains(**it))
        .map(|it| format!("may not contain '{it}'"))
        .collect()
}

fn is_label(text: &str, first: fn(&u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    let inner = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    bytes.first().is_some_and(first)
        && bytes.last().is_some_and(inner)
        && bytes.iter().all(|byte| inner(byte) || *byte == b'-')
}

fn dns_1035_label(text: &str) -> Option<String> {
    if text.len() > 63 {
        return Some("must be no more than 63 characters".to_owned());
    }
    (!is_label(text, u8::is_ascii_lowercase)).then(|| {
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
         character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation \
         is '[a-z]([-a-z0-9]*[a-z0-9])?')"
            .to_owned()
    })
}

fn dns_1123_label(text: &str) -> Option<String> {
    if text.len() > 63 {
        return Some("must be no more than 63 characters".to_owned());
    }
    (!is_label(text, |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())).then(|| {
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end \
         with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
         '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
            .to_owned()
    })
}

fn is_name_part(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// What is wrong with a label's key, an annotation's key or a finalizer: `[prefix/]name`.
fn qualified_name(text: &str) -> Option<String> {
    let mut parts = text.split('/');
    let (prefix, name) = match (parts.next(), parts.next(), parts.next()) {
        (Some(name), None, _) => (None, name),
        (Some(prefix), Some(name), None) => (Some(prefix), name),
        _ => {
            return Some(
                "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end \
                 with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for \
                 validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and \
                 '/' (e.g. 'example.com/MyName')"
                    .to_owned(),
            );
        }
    };
    if let Some(prefix) = prefix {
        if prefix.is_empty() {
            return Some("prefix part must be non-empty".to_owned());
        }
        let lower = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        if prefix.len() > 253 || !prefix.split('.').all(|part| is_label(part, lower)) {
            return Some(
                "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
                 '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for \
                 validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
                    .to_owned(),
            );
        }
    }
    if name.is_empty() {
        return Some("name part must be non-empty".to_owned());
    }
    if name.len() > 63 {
        return Some("name part must be no more than 63 characters".to_owned());
    }
    (!is_name_part(name)).then(|| {
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
         alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
         '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
            .to_owned()
    })
}

fn label_value(text: &str) -> Option<String> {
    if text.len() > 63 {
        return Some("must be no more than 63 characters".to_owned());
    }
    (!text.is_empty() && !is_name_part(text)).then(|| {
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start \
         and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
         validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
            .to_owned()
    })
}
