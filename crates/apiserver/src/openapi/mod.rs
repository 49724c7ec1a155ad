//! OpenAPI documents: version 3 per group version, and version 2 whole. Made from the resource table on request.
//! Source: kube-openapi `pkg/handler3`, apiextensions-apiserver `pkg/controller/openapi/builder`.

mod document;
mod gnostic;

use std::{collections::BTreeMap, sync::Arc};

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use crate::{
    codec::encode,
    discovery::hash,
    http::{ResponseBody, empty_body, json_response},
    resource::ResourceTable,
    server::Shared,
    wire::{
        negotiate::MediaRange,
        query::Query,
        status::{ApiError, Result},
    },
};

/// Answers a request under `/openapi`.
pub(crate) fn answer(
    server: &Shared,
    path: &str,
    query: &Query,
    headers: &HeaderMap,
) -> Result<Response<ResponseBody>> {
    let table = server.registry.resources();
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    match segments.as_slice() {
        ["openapi", "v3"] => {
            let paths: Map<String, Value> = server
                .openapi_hashes
                .of(&table)
                .iter()
                .map(|(root, hash)| {
                    let url = format!("/openapi/v3/{root}?hash={hash}");
                    (root.clone(), json!({ "serverRelativeURL": url }))
                })
                .collect();
            Ok(json_response(StatusCode::OK, encode(&json!({ "paths": paths }))))
        }
        ["openapi", "v3", "api", version] => v3(server, "", version, query, headers),
        ["openapi", "v3", "apis", group, version] => v3(server, group, version, query, headers),
        ["openapi", "v2"] | ["swagger-2.0.0.pb-v1"] => Ok(v2(&table, segments[0] != "openapi", headers)),
        _ => Err(ApiError::unknown_path()),
    }
}

/// The hashes of all documents, kept until the resource table changes: clients ask for them far more often than for the
/// documents.
#[derive(Debug, Default)]
pub(crate) struct Hashes(Mutex<(u64, Arc<BTreeMap<String, String>>)>);

impl Hashes {
    /// By root, such as `apis/apps/v1`.
    fn of(&self, table: &ResourceTable) -> Arc<BTreeMap<String, String>> {
        let mut cached = self.0.lock();
        if cached.0 != table.generation() {
            let mut hashes = BTreeMap::new();
            for (group, versions) in table.groups() {
                for version in versions {
                    let hash = hash(&encode(&document::v3(table, &group, &version)));
                    hashes.insert(root(&group, &version), hash);
                }
            }
            *cached = (table.generation(), Arc::new(hashes));
        }
        Arc::clone(&cached.1)
    }
}

fn root(group: &str, version: &str) -> String {
    if group.is_empty() {
        format!("api/{version}")
    } else {
        format!("apis/{group}/{version}")
    }
}

fn v3(
    server: &Shared,
    group: &str,
    version: &str,
    query: &Query,
    headers: &HeaderMap,
) -> Result<Response<ResponseBody>> {
    let table = server.registry.resources();
    if table.in_version(group, version).next().is_none() {
        return Err(ApiError::unknown_path());
    }
    let bytes = encode(&document::v3(&table, group, version));
    let asked = query.get("hash");
    let current = hash(&bytes);
    if asked.is_some_and(|asked| asked != current) {
        let mut response = Response::new(empty_body());
        *response.status_mut() = StatusCode::MOVED_PERMANENTLY;
        let location = format!("/openapi/v3/{}?hash={current}", root(group, version));
        if let Ok(value) = HeaderValue::from_str(&location) {
            response.headers_mut().insert(header::LOCATION, value);
        }
        return Ok(response);
    }
    let mut response = cached(headers, bytes);
    if asked.is_some() {
        // The URL names the content, so it never changes.
        let immutable = HeaderValue::from_static("public, immutable, max-age=31536000");
        response.headers_mut().insert(header::CACHE_CONTROL, immutable);
    }
    Ok(response)
}

/// The version 2 document: in protobuf for clients that name it first, in JSON for all others.
fn v2(table: &ResourceTable, only_protobuf: bool, headers: &HeaderMap) -> Response<ResponseBody> {
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let first = MediaRange::parse_all(accept)
        .into_iter()
        .next()
        .unwrap_or_default()
        .media_type;
    let document = document::v2(table);
    if !only_protobuf && !V2_PROTOBUF_REQUESTS.contains(&first.as_str()) {
        return cached(headers, encode(&document));
    }
    let mut response = cached(headers, gnostic::document(table, &document).into());
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(V2_PROTOBUF));
    response
}

const V2_PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/// What clients ask for it by; the first is an older name with a character that media types may not have.
const V2_PROTOBUF_REQUESTS: [&str; 2] = [
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    V2_PROTOBUF,
];

fn cached(headers: &HeaderMap, bytes: bytes::Bytes) -> Response<ResponseBody> {
    let tag = format!("\"{}\"", hash(&bytes));
    if headers
        .get(header::IF_NONE_MATCH)
        .is_some_and(|value| value.as_bytes() == tag.as_bytes())
    {
        let mut response = Response::new(empty_body());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    let mut response = json_response(StatusCode::OK, bytes);
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
        .headers_mut()
        .insert(header::VARY, HeaderValue::from_static("Accept"));
    response
}

/// The name of a custom kind's schema: the group with its parts reversed, version, kind.
fn schema_name(group: &str, version: &str, kind: &str) -> String {
    let reversed: Vec<&str> = group.split('.').rev().collect();
    format!("{}.{version}.{kind}", reversed.join("."))
}

/// `schema` as a whole object: with apiVersion, kind and metadata, and marked with its kind.
fn as_object(schema: &Value, group: &str, version: &str, kind: &str) -> Value {
    let mut object = schema.clone();
    if !object["properties"].is_object() {
        object["properties"] = json!({});
    }
    let properties = &mut object["properties"];
    properties["apiVersion"] = json!({
        "type": "string",
        "description": "APIVersion defines the versioned schema of this representation of an object.",
    });
    properties["kind"] = json!({
        "type": "string",
        "description": "Kind is a string value representing the REST resource this object represents.",
    });
    properties["metadata"] = json!({
        "description": "Standard object's metadata.",
        "allOf": [{ "$ref": format!("{}{META}ObjectMeta", crate::resource::REFERENCE_PREFIX) }],
    });
    object["x-kubernetes-group-version-kind"] = json!([{ "group": group, "version": version, "kind": kind }]);
    object
}

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.";
