//! Request bodies: bytes to JSON.

use capstan_schema::decode::decode;
use serde_json::Value;

use super::protobuf::DecodeError;

use crate::wire::{
    negotiate::Syntax,
    status::{ApiError, Result},
};

/// A parsed body.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Body {
    /// The document.
    pub value: Value,
    /// Paths of fields that occur twice.
    pub duplicates: Vec<String>,
}

impl From<Value> for Body {
    fn from(value: Value) -> Self {
        Self {
            value,
            duplicates: Vec::new(),
        }
    }
}

/// Parses a body.
///
/// # Errors
/// 400 if it is not one document of that syntax.
pub fn parse_body(bytes: &[u8], syntax: Syntax) -> Result<Body> {
    let malformed = |error: &dyn std::error::Error| {
        let cause = error
            .source()
            .map_or_else(|| error.to_string(), ToString::to_string);
        ApiError::bad_request(format!("couldn't parse the body of the request: {cause}"))
    };
    match syntax {
        Syntax::Protobuf => match super::protobuf::decode(bytes) {
            Ok(value) => Ok(Body::from(value)),
            Err(error @ DecodeError::UnknownKind { .. }) => {
                tracing::debug!(%error, "protobuf body of a kind without protobuf form");
                let taken = ["application/json", "application/yaml"];
                Err(ApiError::unsupported_media_type(
                    "application/vnd.kubernetes.protobuf",
                    &taken,
                ))
            }
            Err(error) => Err(malformed(&error)),
        },
        Syntax::Json => {
            let decoded = decode(bytes).map_err(|error| malformed(&error))?;
            Ok(Body {
                value: decoded.value,
                duplicates: decoded.duplicates,
            })
        }
        Syntax::Yaml => {
            let text = std::str::from_utf8(bytes).map_err(|error| malformed(&error))?;
            let value: Value = serde_saphyr::from_str(text).map_err(|error| malformed(&error))?;
            Ok(Body::from(value))
        }
    }
}
