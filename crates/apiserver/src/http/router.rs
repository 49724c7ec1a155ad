//! The way of one request: identity, authorisation, answer, bookkeeping.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header, request::Parts};

use super::{body::ResponseBody, health, resource::ResourceRequest, respond};
use crate::{
    auth::{Attributes, Decision, Identity},
    discovery, openapi,
    registry::Caller,
    server::Shared,
    wire::{
        query::Query,
        request::RequestInfo,
        status::{ApiError, Result},
    },
};

/// Answers a request. Never fails: errors are answers too.
pub(super) async fn answer(
    server: &Shared,
    parts: Parts,
    body: Result<Bytes>,
    identity: &Identity,
) -> Response<ResponseBody> {
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    let info = RequestInfo::parse(&parts.method, parts.uri.path(), &query);
    let mut response = match route(server, &parts, &info, &query, body, identity).await {
        Ok(response) => response,
        Err(error) => respond::error(&error),
    };
    if let Some(path) = &info.resource
        && server
            .registry
            .resources()
            .get(&path.group, &path.resource)
            .is_some()
    {
        server.metrics.count(info.verb, path, &query, response.status());
    }
    let headers = response.headers_mut();
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-cache, private"));
    if let Ok(id) = HeaderValue::from_str(&server.registry.entropy().uuid()) {
        headers.insert("audit-id", id);
    }
    if parts.method == Method::HEAD {
        *response.body_mut() = super::body::empty();
    }
    response
}

async fn route(
    server: &Shared,
    parts: &Parts,
    info: &RequestInfo,
    query: &Query,
    body: Result<Bytes>,
    identity: &Identity,
) -> Result<Response<ResponseBody>> {
    authorize(server, info, identity)?;
    if let Some(path) = &info.resource {
        let user_agent = text(&parts.headers, &header::USER_AGENT).unwrap_or_default();
        let caller = Caller { identity, user_agent };
        let request = ResourceRequest {
            server,
            verb: info.verb,
            path,
            query,
            headers: &parts.headers,
            body: body?,
            caller,
        };
        return request.answer().await;
    }
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        let message = "the server does not allow this method on the requested resource";
        return Err(ApiError::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "MethodNotAllowed",
            message,
        ));
    }
    let path = info.path.trim_end_matches('/');
    if let Some(response) = health::answer(server, path, query) {
        return Ok(response);
    }
    match path {
        "/version" => Ok(respond::json(
            StatusCode::OK,
            crate::codec::encode(&server.version()),
        )),
        "/metrics" => {
            let text = server.metrics_text();
            Ok(respond::typed(
                StatusCode::OK,
                "text/plain; version=0.0.4; charset=utf-8",
                text,
            ))
        }
        "" => Ok(respond::json(
            StatusCode::OK,
            crate::codec::encode(&discovery::paths(server)),
        )),
        _ if path == "/api" || path.starts_with("/api/") || path == "/apis" || path.starts_with("/apis/") => {
            discovery::answer(server, path, &parts.headers)
        }
        _ if path.starts_with("/openapi/") || path == "/swagger-2.0.0.pb-v1" => {
            openapi::answer(server, path, query, &parts.headers)
        }
        _ => Err(ApiError::unknown_path()),
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Whether the identity may make this request.
fn authorize(server: &Shared, info: &RequestInfo, identity: &Identity) -> Result<()> {
    let attributes = Attributes::of(info);
    match server
        .authorizer
        .authorize(&server.registry, identity, &attributes)
    {
        Decision::Allow => Ok(()),
        Decision::NoOpinion => Err(attributes.forbidden(identity)),
    }
}
