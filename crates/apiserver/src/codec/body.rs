//! Request bodies: bytes to JSON.

use capstan_schema::decode::{Decoded, decode, decode_from};
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

impl From<Decoded> for Body {
    fn from(decoded: Decoded) -> Self {
        Self {
            value: decoded.value,
            duplicates: decoded.duplicates,
        }
    }
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
        unparsable(&cause)
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
        Syntax::Json => decode(bytes).map(Body::from).map_err(|error| malformed(&error)),
        Syntax::Yaml => decode_yaml(bytes).map(Body::from),
    }
}

/// Decodes one YAML document. The library bounds what aliases may multiply to.
fn decode_yaml(bytes: &[u8]) -> Result<Decoded> {
    let options = serde_saphyr::options! {
        with_snippet: false,
        duplicate_keys: serde_saphyr::DuplicateKeyPolicy::PassThrough,
    };
    serde_saphyr::with_deserializer_from_slice_with_options(bytes, options, |it| decode_from(it))
        .map_err(|error| unparsable(&error.render_with_formatter(&serde_saphyr::UserMessageFormatter)))
}

fn unparsable(cause: &str) -> ApiError {
    ApiError::bad_request(format!("couldn't parse the body of the request: {cause}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(text: &str) -> String {
        parse_body(text.as_bytes(), Syntax::Yaml).unwrap_err().message
    }

    #[test]
    fn yaml_is_read_as_json_is() {
        let text = "a: &a {n: 1.0, m: 9223372036854775808}\nb: *a\nc: [yes, ~, 0x1f]\n1: x\n";
        let body = parse_body(text.as_bytes(), Syntax::Yaml).unwrap();
        let inner = json!({ "n": 1, "m": 9_223_372_036_854_775_808.0 });
        let expected = json!({ "a": inner, "b": inner, "c": [true, null, 31], "1": "x" });
        assert_eq!(body.value.to_string(), expected.to_string());
    }

    #[test]
    fn the_last_of_duplicate_fields_counts_and_they_are_told() {
        for syntax in [Syntax::Json, Syntax::Yaml] {
            let text = r#"{"a": {"b": 1, "b": 2}}"#;
            let expected = Body {
                value: json!({ "a": { "b": 2 } }),
                duplicates: vec!["a.b".to_owned()],
            };
            assert_eq!(parse_body(text.as_bytes(), syntax).unwrap(), expected);
        }
    }

    #[test]
    fn what_is_not_one_document_of_bounded_size_is_refused() {
        let laughs = (0..9).fold("l0: &l0 [lol]\n".to_owned(), |text, it| {
            format!(
                "{text}l{}: &l{} [{}]\n",
                it + 1,
                it + 1,
                vec![format!("*l{it}"); 9].join(",")
            )
        });
        let deep = "[".repeat(1000);
        for (text, expected) in [
            ("a: [", "line 1"),
            ("a: 1\n---\nb: 1\n", "line 3"),
            ("a: &a [*a]\n", "line 1"),
            ("a: .nan\n", "line 1"),
            (deep.as_str(), "line 1"),
            (laughs.as_str(), "line"),
        ] {
            let message = refusal(text);
            assert!(
                message.starts_with("couldn't parse the body of the request: "),
                "{message}"
            );
            assert!(message.contains(expected), "{message}");
            assert!(
                !message.contains("Options") && !message.contains("from_"),
                "{message}"
            );
        }
        assert!(parse_body(b"a: \"\xff\"", Syntax::Yaml).is_err());
    }
}
