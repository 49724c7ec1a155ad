//! The rules that a few built-in kinds have beyond their schema.
//! Source: kubernetes `pkg/registry/*/strategy.go`, `pkg/apis/*/validation`, `pkg/apis/*/v1/defaults.go`.

use base64::{Engine, engine::general_purpose::STANDARD};
use capstan_base::field::{Error, Path};
use serde_json::{Map, Value, json};

use crate::{
    object::{Meta, MetaMut},
    resource::Resource,
};

/// The finalizer in `spec.finalizers` of every namespace.
pub(crate) const NAMESPACE_FINALIZER: &str = "kubernetes";
/// Namespaces that cannot be deleted.
const PERMANENT_NAMESPACES: [&str; 3] = ["default", "kube-system", "kube-public"];

/// Whether a create may carry a status, although it is a subresource: nodes register with it.
pub(super) fn keeps_status_on_create(resource: &Resource) -> bool {
    !resource.is_custom() && matches!(resource.plural.as_str(), "nodes")
}

/// Completes a new object.
pub(super) fn prepare_create(resource: &Resource, object: &mut Value) {
    if resource.is_custom() {
        return;
    }
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "namespaces") => {
            let name = Meta::of(object).name().to_owned();
            MetaMut::of(object).set_label("kubernetes.io/metadata.name", &name);
            object["spec"] = json!({ "finalizers": [NAMESPACE_FINALIZER] });
            object["status"] = json!({ "phase": "Active" });
        }
        ("", "pods") => {
            object["status"] = json!({ "phase": "Pending", "qosClass": "BestEffort" });
            default_to(&mut object["spec"], "restartPolicy", json!("Always"));
        }
        ("", "persistentvolumes" | "persistentvolumeclaims") => {
            object["status"] = json!({ "phase": "Pending" })
        }
        ("", "services") => object["status"] = json!({ "loadBalancer": {} }),
        ("apps", "deployments" | "statefulsets" | "replicasets") => {
            default_to(&mut object["spec"], "replicas", json!(1));
        }
        _ => {}
    }
    prepare_any(resource, object);
}

/// Completes a changed object.
pub(super) fn prepare_update(resource: &Resource, object: &mut Value, old: &Value) {
    if resource.is_custom() {
        return;
    }
    if resource.plural == "namespaces" {
        let name = Meta::of(object).name().to_owned();
        MetaMut::of(object).set_label("kubernetes.io/metadata.name", &name);
        // The content's finalizers change through /finalize only.
        object["spec"]["finalizers"] = old["spec"]["finalizers"].clone();
    }
    prepare_any(resource, object);
}

fn prepare_any(resource: &Resource, object: &mut Value) {
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "secrets") => {
            default_to(object, "type", json!("Opaque"));
            if let Some(Value::Object(plain)) =
                object.as_object_mut().and_then(|map| map.remove("stringData"))
            {
                let data = &mut object["data"];
                if !data.is_object() {
                    *data = json!({});
                }
                for (key, text) in plain {
                    data[key] = json!(STANDARD.encode(text.as_str().unwrap_or_default()));
                }
            }
        }
        ("", "services") => {
            let spec = &mut object["spec"];
            default_to(spec, "type", json!("ClusterIP"));
            default_to(spec, "sessionAffinity", json!("None"));
        }
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => {
            default_to(
                &mut object["roleRef"],
                "apiGroup",
                json!("rbac.authorization.k8s.io"),
            );
            for subject in object["subjects"].as_array_mut().into_iter().flatten() {
                let group = if subject["kind"] == "ServiceAccount" {
                    ""
                } else {
                    "rbac.authorization.k8s.io"
                };
                if !group.is_empty() {
                    default_to(subject, "apiGroup", json!(group));
                }
            }
        }
        ("apiextensions.k8s.io", "customresourcedefinitions") => crate::crd::complete_spec(object),
        _ => {}
    }
}

fn default_to(object: &mut Value, field: &str, value: Value) {
    if let Some(map) = object.as_object_mut() {
        map.entry(field).or_insert(value);
    }
}

/// What is wrong with an object beyond its schema.
pub(super) fn validate(resource: &Resource, object: &Value, old: Option<&Value>) -> Vec<Error> {
    if resource.is_custom() {
        return Vec::new();
    }
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "secrets") => data_errors(object, old, &["data"]),
        ("", "configmaps") => data_errors(object, old, &["data", "binaryData"]),
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => match old {
            Some(old) if object["roleRef"] != old["roleRef"] => {
                let path = Path::new("roleRef");
                vec![Error::invalid(
                    &path,
                    object["roleRef"].clone(),
                    "cannot change roleRef",
                )]
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn data_errors(object: &Value, old: Option<&Value>, fields: &[&str]) -> Vec<Error> {
    let mut errors = Vec::new();
    let mut size = 0;
    for field in fields {
        let entries: Option<&Map<String, Value>> = object[field].as_object();
        for (key, value) in entries.into_iter().flatten() {
            size += value.as_str().map_or(0, str::len);
            let good = !key.is_empty()
                && key.len() <= 253
                && !matches!(key.as_str(), "." | "..")
                && key
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
            if !good {
                let why = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. \
                           'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is \
                           '[-._a-zA-Z0-9]+')";
                errors.push(Error::invalid(&Path::new(*field).key(key), key.as_str(), why));
            }
        }
    }
    if size > 4 * 1024 * 1024 / 3 {
        let kind = capstan_base::field::Kind::TooLong;
        let path = Path::new("data");
        errors.push(Error::new(kind, &path, "", "may not be more than 1048576 bytes"));
    }
    let Some(old) = old else { return errors };
    if old["type"] != object["type"] {
        errors.push(Error::invalid(
            &Path::new("type"),
            object["type"].clone(),
            "field is immutable",
        ));
    }
    if old["immutable"] == json!(true) {
        if object["immutable"] != json!(true) {
            let why = "field is immutable when `immutable` is set";
            errors.push(Error::forbidden(&Path::new("immutable"), why));
        }
        for field in fields {
            if old[field] != object[field] {
                let why = "field is immutable when `immutable` is set";
                errors.push(Error::forbidden(&Path::new(*field), why));
            }
        }
    }
    errors
}

/// Why an object may not be deleted at all.
pub(super) fn undeletable(resource: &Resource, name: &str) -> Option<&'static str> {
    let permanent =
        !resource.is_custom() && resource.plural == "namespaces" && PERMANENT_NAMESPACES.contains(&name);
    permanent.then_some("this namespace may not be deleted")
}

/// Whether an object that is to go waits for something beside `metadata.finalizers`.
pub(super) fn has_content(resource: &Resource, object: &Value) -> bool {
    !resource.is_custom()
        && resource.plural == "namespaces"
        && object["spec"]["finalizers"]
            .as_array()
            .is_some_and(|list| !list.is_empty())
}

/// Marks an object that waits to go.
pub(super) fn mark_deleted(resource: &Resource, object: &mut Value) {
    if !resource.is_custom() && resource.plural == "namespaces" {
        object["status"]["phase"] = json!("Terminating");
    }
}
