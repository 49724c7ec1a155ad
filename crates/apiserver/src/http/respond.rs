//! Responses.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use serde_json::Value;

use super::{
    body::{ResponseBody, full},
    gzip,
};
use crate::{
    codec::encode,
    wire::{
        negotiate::{Accepted, Syntax},
        status::ApiError,
    },
};

/// A response of encoded JSON.
pub(crate) fn json(code: StatusCode, bytes: Bytes) -> Response<ResponseBody> {
    typed(code, "application/json", bytes)
}

/// A response of bytes of a media type.
pub(super) fn typed(
    code: StatusCode,
    media_type: &'static str,
    bytes: impl Into<Bytes>,
) -> Response<ResponseBody> {
    let bytes = bytes.into();
    let mut response = Response::new(full(bytes));
    *response.status_mut() = code;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// A response of a value in the syntax that the client accepts.
pub(super) fn value(code: StatusCode, accepted: Accepted, value: &Value) -> Response<ResponseBody> {
    match accepted.syntax {
        Syntax::Yaml => match serde_saphyr::to_string(value) {
            Ok(text) => typed(code, "application/yaml", text),
            Err(failure) => error(&ApiError::internal(failure)),
        },
        Syntax::Json | Syntax::Protobuf if accepted.pretty => {
            let bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
            typed(code, "application/json", bytes)
        }
        Syntax::Json | Syntax::Protobuf => json(code, encode(value)),
    }
}

/// A response of an object that is encoded already.
pub(super) fn encoded(code: StatusCode, accepted: Accepted, bytes: Bytes) -> Response<ResponseBody> {
    if accepted.syntax == Syntax::Json && !accepted.pretty {
        return json(code, bytes);
    }
    match serde_json::from_slice(&bytes) {
        Ok(object) => value(code, accepted, &object),
        Err(failure) => error(&ApiError::internal(failure)),
    }
}

/// A failed request's response.
pub(crate) fn error(error: &ApiError) -> Response<ResponseBody> {
    let mut response = json(error.code, encode(&error.to_status()));
    let retry = error.details.retry_after_seconds;
    if retry > 0 {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(retry));
    }
    response
}

/// Adds `Warning` headers.
pub(super) fn warn(headers: &mut HeaderMap, warnings: &[String]) {
    for warning in warnings {
        let text: String = warning.chars().filter(|c| !c.is_control()).collect();
        let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{quoted}\"")) {
            headers.append(header::WARNING, value);
        }
    }
}

/// `bytes` as a body, compressed if the client accepts that and it pays.
pub(super) fn compressed(
    request: &HeaderMap,
    mut response: Response<ResponseBody>,
    bytes: &Bytes,
) -> Response<ResponseBody> {
    if gzip::is_wanted(request, bytes.len())
        && let Some(small) = gzip::compress(bytes)
    {
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        headers.append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
        *response.body_mut() = full(small);
    }
    response
}
