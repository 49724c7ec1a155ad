//! What a request wants to do, as authorisation sees it.

use serde_json::Value;

use super::Identity;
use crate::wire::{request::RequestInfo, status::ApiError};

/// A request, or a question about one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Attributes {
    /// Verb.
    pub verb: String,
    /// Whether it is about a resource; else `path` counts.
    pub is_resource: bool,
    /// API group.
    pub group: String,
    /// Plural resource name.
    pub resource: String,
    /// Subresource; empty for none.
    pub subresource: String,
    /// Namespace; empty for cluster scope and all namespaces.
    pub namespace: String,
    /// Object name; empty for collections.
    pub name: String,
    /// Path of a request that is not about a resource.
    pub path: String,
}

impl Attributes {
    /// Of a parsed request line.
    pub fn of(info: &RequestInfo) -> Self {
        match &info.resource {
            None => Self {
                verb: info.verb.to_owned(),
                path: info.path.clone(),
                ..Self::default()
            },
            Some(path) => Self {
                verb: info.verb.to_owned(),
                is_resource: true,
                group: path.group.clone(),
                resource: path.resource.clone(),
                subresource: path.subresource.clone(),
                namespace: path.namespace.clone(),
                name: path.name.clone(),
                path: String::new(),
            },
        }
    }

    /// Of the `spec` of an access review.
    pub fn of_review(spec: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let resource = &spec["resourceAttributes"];
        if resource.is_object() {
            return Self {
                verb: text(&resource["verb"]),
                is_resource: true,
                group: text(&resource["group"]),
                resource: text(&resource["resource"]),
                subresource: text(&resource["subresource"]),
                namespace: text(&resource["namespace"]),
                name: text(&resource["name"]),
                path: String::new(),
            };
        }
        let plain = &spec["nonResourceAttributes"];
        Self {
            verb: text(&plain["verb"]),
            path: text(&plain["path"]),
            ..Self::default()
        }
    }

    /// The error for a request that is not allowed.
    /// Source: apiserver `pkg/endpoints/handlers/responsewriters/errors.go`.
    pub fn forbidden(&self, identity: &Identity) -> ApiError {
        let user = &identity.name;
        if !self.is_resource {
            let why = format!("User {user:?} cannot {} path {:?}", self.verb, self.path);
            return ApiError::forbidden("", "", "", &why);
        }
        let resource = if self.subresource.is_empty() {
            self.resource.clone()
        } else {
            format!("{}/{}", self.resource, self.subresource)
        };
        let scope = if self.namespace.is_empty() {
            "at the cluster scope".to_owned()
        } else {
            format!("in the namespace {:?}", self.namespace)
        };
        let why = format!(
            "User {user:?} cannot {} resource {resource:?} in API group {:?} {scope}",
            self.verb, self.group
        );
        ApiError::forbidden(&self.group, &self.resource, &self.name, &why)
    }
}
