//! Errors as Kubernetes' `Status` objects.
//! Source: apimachinery `pkg/api/errors`.

use std::fmt;

use capstan_base::field;
use http::StatusCode;
use serde_json::{Value, json};

/// One cause in `details.causes`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cause {
    /// Machine-readable, for example `FieldValueInvalid`.
    pub reason: String,
    /// For people.
    pub message: String,
    /// Path of the field, may be empty.
    pub field: String,
}

/// What the error is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Details {
    /// Object name.
    pub name: String,
    /// API group.
    pub group: String,
    /// Kind, or plural resource name, depending on the reason.
    pub kind: String,
    /// Object UID.
    pub uid: String,
    /// Causes.
    pub causes: Vec<Cause>,
    /// When to try again; 0 for never.
    pub retry_after_seconds: u32,
}

/// A failed request: an HTTP status code and what the `Status` object says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// HTTP status.
    pub code: StatusCode,
    /// Machine-readable reason, empty for unknown.
    pub reason: &'static str,
    /// For people.
    pub message: String,
    /// What it is about. Boxed to keep results small.
    pub details: Box<Details>,
    /// `metadata.continue`: set only when a list may go on from an expired token.
    pub continue_token: String,
}

/// What most operations return.
pub type Result<T, E = ApiError> = std::result::Result<T, E>;

impl ApiError {
    /// An error with no details.
    pub fn new(code: StatusCode, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason,
            message: message.into(),
            details: Box::default(),
            continue_token: String::new(),
        }
    }

    /// 400: malformed request.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    /// 401: no valid identity.
    pub fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized")
    }

    /// 403 about an object.
    pub fn forbidden(group: &str, plural: &str, name: &str, why: &str) -> Self {
        let qualified = qualified(plural, group);
        let message = match (qualified.is_empty(), name.is_empty()) {
            (true, _) => format!("forbidden: {why}"),
            (false, true) => format!("{qualified} is forbidden: {why}"),
            (false, false) => format!("{qualified} {name:?} is forbidden: {why}"),
        };
        Self::new(StatusCode::FORBIDDEN, "Forbidden", message).about(group, plural, name)
    }

    /// 404 for an object.
    pub fn not_found(group: &str, plural: &str, name: &str) -> Self {
        let message = format!("{} {name:?} not found", qualified(plural, group));
        Self::new(StatusCode::NOT_FOUND, "NotFound", message).about(group, plural, name)
    }

    /// 404 for a URL that no resource answers.
    pub fn unknown_path() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "NotFound",
            "the server could not find the requested resource",
        )
    }

    /// 405 for a verb that the resource does not answer.
    pub fn method_not_allowed(group: &str, plural: &str, verb: &str) -> Self {
        let message = format!(
            "{verb} is not supported on resources of kind {:?}",
            qualified(plural, group)
        );
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message).about(group, plural, "")
    }

    /// 406: no representation that the client accepts.
    pub fn not_acceptable(offered: &[&str]) -> Self {
        let message = format!(
            "only the following media types are accepted: {}",
            offered.join(", ")
        );
        Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message)
    }

    /// 409: the name is taken.
    pub fn already_exists(group: &str, plural: &str, name: &str) -> Self {
        let message = format!("{} {name:?} already exists", qualified(plural, group));
        Self::new(StatusCode::CONFLICT, "AlreadyExists", message).about(group, plural, name)
    }

    /// 409: another write came first.
    pub fn conflict(group: &str, plural: &str, name: &str, why: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} {name:?}: {why}",
            qualified(plural, group)
        );
        Self::new(StatusCode::CONFLICT, "Conflict", message).about(group, plural, name)
    }

    /// 410: the requested revision is gone.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, "Expired", message)
    }

    /// 413: too much.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", message)
    }

    /// 415: a body of a type that is not taken here.
    pub fn unsupported_media_type(given: &str, taken: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {} (given: {given:?})",
            taken.join(", ")
        );
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "UnsupportedMediaType",
            message,
        )
    }

    /// 422: the object is invalid.
    pub fn invalid(group: &str, kind: &str, name: &str, errors: &[field::Error]) -> Self {
        let list = match errors {
            [only] => only.to_string(),
            several => {
                let texts: Vec<String> = several.iter().map(ToString::to_string).collect();
                format!("[{}]", texts.join(", "))
            }
        };
        let message = format!("{} {name:?} is invalid: {list}", qualified(kind, group));
        let mut error =
            Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message).about(group, kind, name);
        error.details.causes = errors
            .iter()
            .map(|it| Cause {
                reason: it.kind.cause().to_owned(),
                message: it.body(),
                field: it.path.to_string(),
            })
            .collect();
        error
    }

    /// 500: a failure of the server.
    pub fn internal(message: impl fmt::Display) -> Self {
        let text = message.to_string();
        let mut error = Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "InternalError",
            format!("Internal error occurred: {text}"),
        );
        error.details.causes = vec![Cause {
            message: text,
            ..Cause::default()
        }];
        error
    }

    /// 504: the client knows a revision that this server has not reached.
    pub fn resource_version_too_large(asked: u64, current: u64) -> Self {
        let message = format!("Too large resource version: {asked}, current: {current}");
        let mut error = Self::new(StatusCode::GATEWAY_TIMEOUT, "Timeout", message);
        error.details.causes = vec![Cause {
            reason: "ResourceVersionTooLarge".into(),
            message: "Too large resource version".into(),
            field: String::new(),
        }];
        error.details.retry_after_seconds = 1;
        error
    }

    /// 504: the request took too long.
    pub fn timeout(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GATEWAY_TIMEOUT, "Timeout", message)
    }

    /// This error, said to be about an object.
    #[must_use]
    pub fn about(mut self, group: &str, kind: &str, name: &str) -> Self {
        group.clone_into(&mut self.details.group);
        kind.clone_into(&mut self.details.kind);
        name.clone_into(&mut self.details.name);
        self
    }

    /// This error with one more cause.
    #[must_use]
    pub fn caused_by(mut self, reason: &str, message: &str, field: &str) -> Self {
        self.details.causes.push(Cause {
            reason: reason.to_owned(),
            message: message.to_owned(),
            field: field.to_owned(),
        });
        self
    }

    /// Whether the object was not there.
    pub fn is_not_found(&self) -> bool {
        self.reason == "NotFound"
    }

    /// Whether another write came first.
    pub fn is_conflict(&self) -> bool {
        self.reason == "Conflict"
    }

    /// The `Status` object.
    pub fn to_status(&self) -> Value {
        let Details {
            name,
            group,
            kind,
            uid,
            causes,
            retry_after_seconds,
        } = self.details.as_ref();
        let mut details = serde_json::Map::new();
        for (key, text) in [("name", name), ("group", group), ("kind", kind), ("uid", uid)] {
            if !text.is_empty() {
                details.insert(key.to_owned(), json!(text));
            }
        }
        if !causes.is_empty() {
            details.insert("causes".to_owned(), causes.iter().map(Cause::to_json).collect());
        }
        if *retry_after_seconds > 0 {
            details.insert("retryAfterSeconds".to_owned(), json!(retry_after_seconds));
        }
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "code": self.code.as_u16(),
        });
        if !self.continue_token.is_empty() {
            status["metadata"]["continue"] = json!(self.continue_token);
        }
        if !self.reason.is_empty() {
            status["reason"] = json!(self.reason);
        }
        if !details.is_empty() {
            status["details"] = Value::Object(details);
        }
        status
    }
}

impl Cause {
    fn to_json(&self) -> Value {
        let mut cause = serde_json::Map::new();
        for (key, text) in [
            ("reason", &self.reason),
            ("message", &self.message),
            ("field", &self.field),
        ] {
            if !text.is_empty() {
                cause.insert(key.to_owned(), json!(text));
            }
        }
        Value::Object(cause)
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}

/// The `Status` that a finished delete answers with.
pub fn deleted(group: &str, plural: &str, name: &str, uid: &str) -> Value {
    let mut details = json!({ "name": name, "kind": plural, "uid": uid });
    if !group.is_empty() {
        details["group"] = json!(group);
    }
    json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details })
}

fn qualified(name: &str, group: &str) -> String {
    if group.is_empty() {
        name.to_owned()
    } else {
        format!("{name}.{group}")
    }
}
