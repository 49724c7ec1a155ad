//! Content negotiation: which representation a client accepts, which a body is in.
//! Source: apiserver `pkg/endpoints/handlers/negotiation`.

use super::status::{ApiError, Result};

/// How bytes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Syntax {
    /// `application/json`.
    #[default]
    Json,
    /// `application/yaml`.
    Yaml,
    /// `application/vnd.kubernetes.protobuf`; request bodies of built-in kinds only.
    Protobuf,
}

/// Into what an object is transformed before it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Transform {
    /// Nothing.
    #[default]
    None,
    /// `meta.k8s.io` `Table` of this version.
    Table(MetaVersion),
    /// `meta.k8s.io` `PartialObjectMetadata` of this version.
    Metadata(MetaVersion),
}

/// A version of the group `meta.k8s.io`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetaVersion {
    /// `v1`.
    V1,
    /// `v1beta1`.
    V1Beta1,
}

impl MetaVersion {
    /// `meta.k8s.io/…`.
    pub fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1Beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

/// The representation of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Accepted {
    /// JSON or YAML.
    pub syntax: Syntax,
    /// Plain objects, a Table, or metadata alone.
    pub transform: Transform,
    /// Indent the JSON.
    pub pretty: bool,
}

/// One media range of an Accept header.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MediaRange {
    /// Type and subtype, lower case.
    pub media_type: String,
    parameters: Vec<(String, String)>,
}

impl MediaRange {
    /// The ranges of an Accept header, in order.
    pub fn parse_all(header: &str) -> Vec<Self> {
        header
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(Self::parse)
            .collect()
    }

    /// One media type with its parameters.
    pub fn parse(text: &str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let media_type = parts.next().unwrap_or_default().to_ascii_lowercase();
        let parameters = parts
            .filter_map(|part| part.split_once('='))
            .map(|(name, value)| (name.trim().to_owned(), value.trim().trim_matches('"').to_owned()))
            .collect();
        Self {
            media_type,
            parameters,
        }
    }

    /// A parameter's value; empty if absent.
    pub fn parameter(&self, name: &str) -> &str {
        self.parameters
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value.as_str())
    }
}

/// What may be transformed at an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One object: Table and `PartialObjectMetadata`.
    Object,
    /// A list: Table and `PartialObjectMetadataList`.
    List,
    /// A watch: Table and `PartialObjectMetadata`.
    Watch,
    /// Never transformed.
    Fixed,
}

/// Picks the representation of a response: the first acceptable media range in the order listed.
pub fn accepted(header: Option<&str>, pretty: bool, shape: Shape) -> Result<Accepted> {
    let Some(header) = header.filter(|text| !text.trim().is_empty()) else {
        return Ok(Accepted {
            pretty,
            ..Accepted::default()
        });
    };
    for range in MediaRange::parse_all(header) {
        let syntax = match range.media_type.as_str() {
            "application/json" | "*/*" | "application/*" => Syntax::Json,
            "application/yaml" if shape != Shape::Watch => Syntax::Yaml,
            _ => continue,
        };
        let Some(transform) = transform(&range, shape) else {
            continue;
        };
        let pretty = pretty || matches!(range.parameter("pretty"), "1" | "true");
        return Ok(Accepted {
            syntax,
            transform,
            pretty,
        });
    }
    Err(ApiError::not_acceptable(&[
        "application/json",
        "application/yaml",
    ]))
}

/// What the `as` parameter asks for; nothing if that is not to be had here.
fn transform(range: &MediaRange, shape: Shape) -> Option<Transform> {
    let kind = range.parameter("as");
    if kind.is_empty() || shape == Shape::Fixed {
        return Some(Transform::None);
    }
    if range.parameter("g") != "meta.k8s.io" {
        return None;
    }
    let version = match range.parameter("v") {
        "v1" => MetaVersion::V1,
        "v1beta1" => MetaVersion::V1Beta1,
        _ => return None,
    };
    match (kind, shape) {
        ("Table", _) => Some(Transform::Table(version)),
        ("PartialObjectMetadata", Shape::Object | Shape::Watch)
        | ("PartialObjectMetadataList", Shape::List) => Some(Transform::Metadata(version)),
        _ => None,
    }
}

/// The syntax of a request body.
pub fn body_syntax(content_type: Option<&str>) -> Result<Syntax> {
    let text = content_type.unwrap_or("application/json");
    match MediaRange::parse(text).media_type.as_str() {
        "" | "application/json" => Ok(Syntax::Json),
        "application/yaml" => Ok(Syntax::Yaml),
        "application/vnd.kubernetes.protobuf" => Ok(Syntax::Protobuf),
        _ => Err(ApiError::unsupported_media_type(
            text,
            &["application/json", "application/yaml"],
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_acceptable_range_wins() {
        let pick = |header: &str, shape| {
            accepted(Some(header), false, shape)
                .map(|it| (it.syntax, it.transform))
                .map_err(|error| error.reason)
        };
        let kubectl = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        assert_eq!(
            pick(kubectl, Shape::List),
            Ok((Syntax::Json, Transform::Table(MetaVersion::V1)))
        );
        assert_eq!(
            pick("application/cbor,application/json", Shape::List),
            Ok((Syntax::Json, Transform::None))
        );
        assert_eq!(
            pick("application/yaml", Shape::Object),
            Ok((Syntax::Yaml, Transform::None))
        );
        assert_eq!(pick("text/html", Shape::Object), Err("NotAcceptable"));
        assert_eq!(
            pick(
                "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
                Shape::List
            ),
            Err("NotAcceptable")
        );
    }
}
