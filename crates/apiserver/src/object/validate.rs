//! Validation of object metadata.
//! Source: apimachinery `pkg/api/validation/objectmeta.go`.

use capstan_base::{
    field::{Error, Kind, Path},
    names,
};
use serde_json::{Value, json};

use super::{metadata::Meta, names::object_name_problems};
use crate::resource::Resource;

/// Keys and values of all annotations together may have so many bytes.
const ANNOTATIONS_LIMIT: usize = 256 * 1024;

/// Validates the metadata of a new object.
pub fn create(resource: &Resource, object: &Value) -> Vec<Error> {
    let path = Path::new("metadata");
    let meta = Meta::of(object);
    let mut errors = Vec::new();
    if meta.name().is_empty() {
        errors.push(Error::required(
            &path.child("name"),
            "name or generateName is required",
        ));
    } else {
        let problems = object_name_problems(&resource.group, &resource.plural, meta.name());
        errors.extend(invalid(&path.child("name"), meta.name(), problems));
    }
    if resource.is_namespaced() {
        let problems = names::dns_label_problems(meta.namespace());
        errors.extend(invalid(&path.child("namespace"), meta.namespace(), problems));
    }
    errors.extend(common(object));
    errors
}

/// Validates the metadata of a changed object.
pub fn update(object: &Value, old: &Value) -> Vec<Error> {
    let path = Path::new("metadata");
    let (meta, old) = (Meta::of(object), Meta::of(old));
    let mut errors = common(object);
    for field in [
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        if meta.field(field) != old.field(field) {
            let shown = meta.field(field).cloned().unwrap_or_default();
            errors.push(Error::invalid(&path.child(field), shown, "field is immutable"));
        }
    }
    if old.deletion_timestamp().is_some() {
        let before = old.finalizers();
        let added: Vec<&str> = meta
            .finalizers()
            .into_iter()
            .filter(|it| !before.contains(it))
            .collect();
        if !added.is_empty() {
            let why = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers {added:?}"
            );
            errors.push(Error::forbidden(&path.child("finalizers"), why));
        }
    }
    errors
}

/// One error for each problem of `text`.
fn invalid(path: &Path, text: &str, problems: Vec<String>) -> impl Iterator<Item = Error> {
    problems.into_iter().map(move |it| Error::invalid(path, text, it))
}

fn common(object: &Value) -> Vec<Error> {
    let path = Path::new("metadata");
    let meta = Meta::of(object);
    let mut errors = Vec::new();
    for (key, value) in meta.labels().into_iter().flatten() {
        let (path, value) = (path.child("labels"), value.as_str().unwrap_or_default());
        errors.extend(invalid(&path, key, names::label_key_problems(key)));
        errors.extend(invalid(&path, value, names::label_value_problems(value)));
    }
    let mut size = 0;
    for (key, value) in meta.annotations().into_iter().flatten() {
        size += key.len() + value.as_str().unwrap_or_default().len();
        let problems = names::label_key_problems(&key.to_ascii_lowercase());
        errors.extend(invalid(&path.child("annotations"), key, problems));
    }
    if size > ANNOTATIONS_LIMIT {
        let detail = format!("may not be more than {ANNOTATIONS_LIMIT} bytes");
        errors.push(Error::new(Kind::TooLong, &path.child("annotations"), "", detail));
    }
    for finalizer in meta.finalizers() {
        let problems = names::label_key_problems(finalizer);
        errors.extend(invalid(&path.child("finalizers"), finalizer, problems));
    }
    if meta.has_finalizer(super::metadata::ORPHAN_FINALIZER)
        && meta.has_finalizer(super::metadata::FOREGROUND_FINALIZER)
    {
        let why = "finalizers orphan and foregroundDeletion cannot be both set";
        errors.push(Error::invalid(
            &path.child("finalizers"),
            json!(meta.finalizers()),
            why,
        ));
    }
    errors.extend(owner_reference_errors(meta, &path.child("ownerReferences")));
    errors
}

fn owner_reference_errors(meta: Meta<'_>, path: &Path) -> Vec<Error> {
    let mut errors = Vec::new();
    let mut controller: Option<String> = None;
    for (index, owner) in meta.owner_references().into_iter().enumerate() {
        let path = path.index(index);
        let version = owner.api_version.rsplit('/').next().unwrap_or_default();
        for (field, text) in [
            ("apiVersion", version),
            ("kind", &*owner.kind),
            ("name", &*owner.name),
            ("uid", &*owner.uid),
        ] {
            if text.is_empty() {
                errors.push(Error::invalid(
                    &path.child(field),
                    text,
                    format!("{field} must not be empty"),
                ));
            }
        }
        if owner.kind == "Event" && matches!(owner.api_version.as_str(), "v1" | "events.k8s.io/v1") {
            errors.push(Error::invalid(
                &path,
                "Event",
                "is disallowed from being an owner",
            ));
        }
        if owner.controller {
            if let Some(first) = &controller {
                let why = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} \
                     and {}",
                    owner.name
                );
                errors.push(Error::invalid(&path, owner.name.as_str(), why));
            } else {
                controller = Some(owner.name);
            }
        }
    }
    errors
}
