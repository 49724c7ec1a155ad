//! The `/scale` subresource: replica counts of an object as an `autoscaling/v1` `Scale`.
//! Source: apiextensions-apiserver `pkg/registry/customresource/etcd.go`.

use std::collections::BTreeMap;

use capstan_merge::{PathElement, managed};
use serde_json::{Value, json};

use super::{Registry, Request, Target, Written, finish::Ownership, update::Draft};
use crate::{
    object::{Meta, MetaMut},
    resource::ScalePaths,
    wire::status::{ApiError, Result},
};

/// The `Scale` of an object.
pub(super) fn scale_of(target: &Target, object: &Value) -> Result<Value> {
    let paths = paths(target)?;
    let meta = Meta::of(object);
    let Some(replicas) = at(object, &paths.spec_replicas).and_then(Value::as_i64) else {
        return Err(ApiError::internal(format!(
            "the spec replicas field {:?} does not exist",
            paths.spec_replicas
        )));
    };
    let mut scale = json!({
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {
            "name": meta.name(),
            "uid": meta.uid(),
            "resourceVersion": meta.resource_version(),
            "creationTimestamp": meta.creation_timestamp(),
        },
        "spec": { "replicas": replicas },
        "status": { "replicas": at(object, &paths.status_replicas).and_then(Value::as_i64).unwrap_or(0) },
    });
    if !meta.namespace().is_empty() {
        scale["metadata"]["namespace"] = json!(meta.namespace());
    }
    let selector = match &paths.label_selector {
        Some(path) => at(object, path)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        None => selector_text(&object["spec"]["selector"]),
    };
    if !selector.is_empty() {
        scale["status"]["selector"] = json!(selector);
    }
    if let Ok(Some(fields)) = managed::to_scale(meta.field("managedFields"), &managed_paths(target)) {
        scale["metadata"]["managedFields"] = fields;
    }
    Ok(scale)
}

impl Registry {
    pub(super) async fn update_scale(&self, request: Request<'_>, scale: &Value) -> Result<Written> {
        self.patch_scale(request, &|_| Ok(scale.clone())).await
    }

    /// Changes the replicas by what `change` makes of the current `Scale`.
    pub(super) async fn patch_scale(
        &self,
        request: Request<'_>,
        change: &(dyn Fn(&Value) -> Result<Value> + Send + Sync),
    ) -> Result<Written> {
        let target = request.target;
        let paths = paths(target)?.clone();
        let produce = |old: &Value| {
            let scale = change(&scale_of(target, old)?)?;
            let replicas = &scale["spec"]["replicas"];
            let given = Meta::of(&scale).resource_version();
            if !(replicas.is_null() || replicas.as_i64().is_some_and(|count| count >= 0)) {
                let path = capstan_base::field::Path::new("spec.replicas");
                let why = "must be greater than or equal to 0";
                let error = capstan_base::field::Error::invalid(&path, replicas.clone(), why);
                return Err(ApiError::invalid("autoscaling", "Scale", &target.name, &[error]));
            }
            let mut object = old.clone();
            set_at(
                &mut object,
                &paths.spec_replicas,
                json!(replicas.as_i64().unwrap_or(0)),
            );
            if !given.is_empty() {
                MetaMut::of(&mut object).set("resourceVersion", given);
            }
            Ok(Draft {
                object,
                ownership: Ownership::Track,
                warnings: Vec::new(),
            })
        };
        let mut written = self.modify(request, &produce).await?;
        written.object = scale_of(target, &written.object)?;
        Ok(written)
    }
}

fn paths(target: &Target) -> Result<&ScalePaths> {
    target.version().scale.as_ref().ok_or_else(ApiError::unknown_path)
}

/// Where the replicas are in each version, for ownership.
fn managed_paths(target: &Target) -> managed::ScalePaths {
    let path = |scale: &ScalePaths| parts(&scale.spec_replicas).map(PathElement::field).collect();
    target
        .resource
        .versions
        .iter()
        .map(|version| {
            (
                target.resource.api_version(&version.name),
                version.scale.as_ref().map(path),
            )
        })
        .collect::<BTreeMap<_, _>>()
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('.').filter(|part| !part.is_empty())
}

fn at<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    parts(path).try_fold(object, |value, part| value.get(part))
}

fn set_at(object: &mut Value, path: &str, value: Value) {
    let mut place = object;
    for part in parts(path) {
        if !place.is_object() {
            *place = json!({});
        }
        place = &mut place[part];
    }
    *place = value;
}

/// A label selector object as text.
fn selector_text(selector: &Value) -> String {
    let labels = selector.get("matchLabels").unwrap_or(selector);
    let pairs = labels.as_object().into_iter().flatten();
    let texts: Vec<String> = pairs
        .filter_map(|(key, value)| value.as_str().map(|value| format!("{key}={value}")))
        .collect();
    texts.join(",")
}
