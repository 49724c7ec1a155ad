//! Validation of a definition beyond its schema.
//! Source: apiextensions-apiserver `pkg/apis/apiextensions/validation/validation.go`.

use std::collections::BTreeSet;

use capstan_base::{
    field::{Error, Path},
    names,
};
use capstan_schema::{Structural, jsonpath, validate_selectable_fields, validate_structural};
use serde_json::{Value, json};

use super::status::is_true;
use crate::object::Meta;

pub(super) fn validate(definition: &Value, old: Option<&Value>) -> Vec<Error> {
    let spec = &definition["spec"];
    let path = Path::new("spec");
    let mut errors = Vec::new();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (group, plural) = (text(&spec["group"]), text(&spec["names"]["plural"]));
    let expected = format!("{plural}.{group}");
    if Meta::of(definition).name() != expected {
        let why = format!("must be spec.names.plural+\".\"+spec.group: {expected:?}");
        errors.push(Error::invalid(
            &Path::new("metadata.name"),
            Meta::of(definition).name(),
            why,
        ));
    }
    if group.is_empty() {
        errors.push(Error::required(&path.child("group"), ""));
    } else if let Some(problem) = names::dns_subdomain_problems(&group).into_iter().next() {
        errors.push(Error::invalid(&path.child("group"), group.as_str(), problem));
    } else if !group.contains('.') {
        let why = "should be a domain with at least one dot";
        errors.push(Error::invalid(&path.child("group"), group.as_str(), why));
    }
    if !matches!(spec["scope"].as_str(), Some("Cluster" | "Namespaced")) {
        let scope = spec["scope"].clone();
        errors.push(Error::not_supported(
            &path.child("scope"),
            scope,
            &["Cluster", "Namespaced"],
        ));
    }
    errors.extend(name_errors(&spec["names"], &path.child("names")));
    errors.extend(approval_errors(definition, &group));
    errors.extend(version_errors(spec, old, &path.child("versions")));
    errors.extend(conversion_errors(&spec["conversion"], &path.child("conversion")));
    if let Some(old) = old {
        errors.extend(change_errors(definition, old, &path));
    }
    errors
}

fn name_errors(given: &Value, path: &Path) -> Vec<Error> {
    let mut errors = Vec::new();
    let mut check = |field: &str, text: &str, lower: bool| {
        let path = path.child(field);
        if text.is_empty() {
            errors.push(Error::required(&path, ""));
        } else if let Some(problem) = names::dns_1035_label_problems(&text.to_ascii_lowercase())
            .into_iter()
            .next()
        {
            errors.push(Error::invalid(&path, text, problem));
        } else if lower && text.chars().any(char::is_uppercase) {
            errors.push(Error::invalid(&path, text, "must be all lowercase"));
        }
    };
    for (field, lower) in [
        ("plural", true),
        ("singular", true),
        ("kind", false),
        ("listKind", false),
    ] {
        check(field, given[field].as_str().unwrap_or_default(), lower);
    }
    for (index, short) in given["shortNames"].as_array().into_iter().flatten().enumerate() {
        check(
            &format!("shortNames[{index}]"),
            short.as_str().unwrap_or_default(),
            true,
        );
    }
    if given["kind"] == given["listKind"] {
        let kind = given["listKind"].clone();
        errors.push(Error::invalid(
            &path.child("listKind"),
            kind,
            "kind and listKind may not be the same",
        ));
    }
    errors
}

/// Groups of the Kubernetes community need an annotation that says where they were approved.
fn approval_errors(definition: &Value, group: &str) -> Vec<Error> {
    let is_protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|domain| group == *domain || group.ends_with(&format!(".{domain}")));
    let key = "api-approved.kubernetes.io";
    let given = Meta::of(definition)
        .annotations()
        .is_some_and(|annotations| annotations.contains_key(key));
    if !is_protected || given {
        return Vec::new();
    }
    let path = Path::new("metadata.annotations").key(key);
    vec![Error::required(
        &path,
        "protected groups must have approval annotation \"api-approved.kubernetes.io\", see https://github.com/kubernetes/enhancements/pull/1111",
    )]
}

fn version_errors(spec: &Value, old: Option<&Value>, path: &Path) -> Vec<Error> {
    let versions = spec["versions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut errors = Vec::new();
    if versions.is_empty() {
        errors.push(Error::required(path, "must have at least one version"));
    }
    let mut seen = BTreeSet::new();
    for (index, version) in versions.iter().enumerate() {
        let path = path.index(index);
        let name = version["name"].as_str().unwrap_or_default();
        if !seen.insert(name) {
            errors.push(Error::duplicate(&path.child("name"), name));
        }
        for problem in names::dns_1035_label_problems(name) {
            errors.push(Error::invalid(&path.child("name"), name, problem));
        }
        let unchanged = old.is_some_and(|old| {
            let before = old["spec"]["versions"]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default();
            before
                .iter()
                .any(|it| it["name"] == name && it["schema"] == version["schema"])
        });
        if !unchanged {
            errors.extend(schema_errors(version, &path.child("schema")));
        }
        errors.extend(column_errors(version, &path.child("additionalPrinterColumns")));
    }
    let stored = versions.iter().filter(|it| it["storage"] == json!(true)).count();
    if stored != 1 && !versions.is_empty() {
        let why = "must have exactly one version marked as storage version";
        errors.push(Error::invalid(path, json!(seen.iter().collect::<Vec<_>>()), why));
    }
    errors
}

fn schema_errors(version: &Value, path: &Path) -> Vec<Error> {
    let schema = &version["schema"]["openAPIV3Schema"];
    let path = path.child("openAPIV3Schema");
    if schema.is_null() {
        return vec![Error::required(&path, "schemas are required")];
    }
    if schema["type"] != "object" {
        return vec![Error::invalid(
            &path.child("type"),
            schema["type"].clone(),
            "must be object at the root",
        )];
    }
    let has_status = version["subresources"]["status"].is_object();
    let mut errors = validate_structural(schema, has_status, &path);
    let fields = version["selectableFields"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    if let (true, false, Ok(structural)) = (errors.is_empty(), fields.is_empty(), Structural::parse(schema)) {
        let paths: Vec<&str> = fields
            .iter()
            .map(|it| it["jsonPath"].as_str().unwrap_or_default())
            .collect();
        errors.extend(validate_selectable_fields(
            &paths,
            &structural,
            &Path::new("spec.versions.selectableFields"),
        ));
    }
    errors
}

fn column_errors(version: &Value, path: &Path) -> Vec<Error> {
    let mut errors = Vec::new();
    for (index, column) in version["additionalPrinterColumns"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let path = path.index(index);
        let text = |field: &str| column[field].as_str().unwrap_or_default();
        for field in ["name", "type", "jsonPath"] {
            if text(field).is_empty() {
                errors.push(Error::required(&path.child(field), ""));
            }
        }
        if !text("type").is_empty() && jsonpath::ColumnType::parse(text("type")).is_none() {
            let known = ["boolean", "date", "integer", "number", "string"];
            errors.push(Error::not_supported(&path.child("type"), text("type"), &known));
        }
        if !text("jsonPath").is_empty()
            && let Err(error) = jsonpath::JsonPath::parse(text("jsonPath"))
        {
            errors.push(Error::invalid(
                &path.child("jsonPath"),
                text("jsonPath"),
                error.to_string(),
            ));
        }
    }
    errors
}

fn conversion_errors(conversion: &Value, path: &Path) -> Vec<Error> {
    match conversion["strategy"].as_str() {
        Some("None") if conversion["webhook"].is_object() => {
            vec![Error::forbidden(
                &path.child("webhook"),
                "should not be set when strategy is not set to Webhook",
            )]
        }
        Some("None") => Vec::new(),
        Some("Webhook") if conversion["webhook"].is_object() => {
            let known = conversion["webhook"]["conversionReviewVersions"].as_array();
            let supported = known.is_some_and(|list| list.iter().any(|it| it == "v1" || it == "v1beta1"));
            if supported {
                return Vec::new();
            }
            let path = path.child("webhook").child("conversionReviewVersions");
            let given = conversion["webhook"]["conversionReviewVersions"].clone();
            vec![Error::invalid(
                &path,
                given,
                "must include at least one of v1, v1beta1",
            )]
        }
        Some("Webhook") => {
            vec![Error::required(
                &path.child("webhook"),
                "required when strategy is set to Webhook",
            )]
        }
        _ => {
            let strategy = conversion["strategy"].clone();
            vec![Error::not_supported(
                &path.child("strategy"),
                strategy,
                &["None", "Webhook"],
            )]
        }
    }
}

fn change_errors(definition: &Value, old: &Value, path: &Path) -> Vec<Error> {
    let mut errors = Vec::new();
    let (spec, before) = (&definition["spec"], &old["spec"]);
    if is_true(old, "Established") {
        for field in ["group", "scope"] {
            if spec[field] != before[field] {
                errors.push(Error::invalid(
                    &path.child(field),
                    spec[field].clone(),
                    "field is immutable",
                ));
            }
        }
        for field in ["kind", "plural"] {
            let path = path.child("names").child(field);
            let (new, old) = (&spec["names"][field], &before["names"][field]);
            if new != old {
                errors.push(Error::invalid(&path, new.clone(), "field is immutable"));
            }
        }
    }
    let stored = definition["status"]["storedVersions"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let versions = spec["versions"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (index, name) in stored.iter().enumerate() {
        if !versions.iter().any(|version| version["name"] == *name) {
            let path = Path::new("status.storedVersions").index(index);
            let why = "missing from spec.versions; existing objects may be stored in this version; removing it from \
                       spec.versions would make them unreadable";
            errors.push(Error::invalid(&path, name.clone(), why));
        }
    }
    errors
}
