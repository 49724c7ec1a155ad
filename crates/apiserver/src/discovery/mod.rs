//! Discovery: which groups, versions and resources are served. The old documents, one per group version, and the
//! aggregated one.
//! Source: apiserver `pkg/endpoints/discovery`, kube-aggregator `pkg/apiserver/handler_discovery.go`.

mod aggregated;
mod legacy;

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};
use sha2::{Digest, Sha512};

use crate::{
    codec::encode,
    http::{ResponseBody, empty_body, json_response},
    resource::{Resource, Version},
    server::Shared,
    wire::{
        negotiate::MediaRange,
        status::{ApiError, Result},
    },
};

const AGGREGATED_TYPE: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Answers a request under `/api` or `/apis`.
pub(crate) fn answer(server: &Shared, path: &str, headers: &HeaderMap) -> Result<Response<ResponseBody>> {
    let table = server.registry.resources();
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    let document = match segments.as_slice() {
        ["api" | "apis"] if wants_aggregated(headers) => {
            let document = aggregated::document(&table, segments[0] == "api");
            return Ok(cacheable(headers, AGGREGATED_TYPE, &document));
        }
        ["api"] => legacy::versions(),
        ["apis"] => legacy::groups(&table),
        ["apis", group] => legacy::group(&table, group).ok_or_else(ApiError::unknown_path)?,
        ["api", version] => legacy::resources(&table, "", version).ok_or_else(ApiError::unknown_path)?,
        ["apis", group, version] => {
            legacy::resources(&table, group, version).ok_or_else(ApiError::unknown_path)?
        }
        _ => return Err(ApiError::unknown_path()),
    };
    let mut response = json_response(StatusCode::OK, encode(&document));
    response
        .headers_mut()
        .insert(header::VARY, HeaderValue::from_static("Accept"));
    Ok(response)
}

/// Whether the client takes the aggregated document before the old one.
fn wants_aggregated(headers: &HeaderMap) -> bool {
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    for range in MediaRange::parse_all(accept) {
        let kind = range.parameter("as");
        if range.media_type == "application/json" && kind == "APIGroupDiscoveryList" {
            if range.parameter("g") == "apidiscovery.k8s.io" && range.parameter("v") == "v2" {
                return true;
            }
        } else if kind.is_empty()
            && matches!(
                range.media_type.as_str(),
                "application/json" | "*/*" | "application/*"
            )
        {
            return false;
        }
    }
    false
}

/// A document that clients may keep as long as it does not change.
fn cacheable(headers: &HeaderMap, media_type: &'static str, document: &Value) -> Response<ResponseBody> {
    let bytes = encode(document);
    let tag = format!("\"{}\"", hash(&bytes));
    let is_known = headers
        .get(header::IF_NONE_MATCH)
        .is_some_and(|value| value.as_bytes() == tag.as_bytes());
    let mut response = if is_known {
        let mut response = Response::new(empty_body());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        json_response(StatusCode::OK, bytes)
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::VARY, HeaderValue::from_static("Accept"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}

/// Upper-case hex SHA-512, as upstream tags its documents.
pub(crate) fn hash(bytes: &[u8]) -> String {
    use std::fmt::Write;
    Sha512::digest(bytes)
        .iter()
        .fold(String::with_capacity(128), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02X}");
            text
        })
}

/// The index of paths.
pub(crate) fn paths(server: &Shared) -> Value {
    let mut paths = vec!["/api".to_owned(), "/api/v1".to_owned(), "/apis".to_owned()];
    for (group, versions) in server
        .registry
        .resources()
        .groups()
        .into_iter()
        .filter(|(group, _)| !group.is_empty())
    {
        paths.push(format!("/apis/{group}"));
        paths.extend(versions.iter().map(|version| format!("/apis/{group}/{version}")));
    }
    let plain = [
        "/healthz",
        "/livez",
        "/metrics",
        "/openapi/v2",
        "/openapi/v3",
        "/readyz",
        "/version",
    ];
    paths.extend(plain.map(str::to_owned));
    paths.sort();
    json!({ "paths": paths })
}

/// One subresource, as both forms of discovery describe it.
struct Subresource {
    name: &'static str,
    kind: (String, String, String),
    verbs: Vec<&'static str>,
}

fn subresources(resource: &Resource, version: &Version) -> Vec<Subresource> {
    let mut found = Vec::new();
    let own = (
        resource.group.clone(),
        version.name.clone(),
        resource.kind.clone(),
    );
    for extra in resource.extra_subresources {
        let (group, version, kind) = extra.kind;
        let kind = (group.to_owned(), version.to_owned(), kind.to_owned());
        found.push(Subresource {
            name: extra.name,
            kind,
            verbs: extra.verbs.to_vec(),
        });
    }
    if version.scale.is_some() {
        let kind = ("autoscaling".to_owned(), "v1".to_owned(), "Scale".to_owned());
        found.push(Subresource {
            name: "scale",
            kind,
            verbs: vec!["get", "patch", "update"],
        });
    }
    if version.status {
        found.push(Subresource {
            name: "status",
            kind: own,
            verbs: vec!["get", "patch", "update"],
        });
    }
    found.sort_by_key(|it| it.name);
    found
}
