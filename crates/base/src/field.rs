//! Field paths and field errors, in the words and shapes of Kubernetes' API validation.
//! Source: apimachinery `util/validation/field`.

use std::fmt;

use serde_json::Value;

/// Where in an object something is: `spec.template.spec.taints[0].key`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Path(String);

impl Path {
    /// The path of the object itself, printed as nothing.
    pub fn root() -> Self {
        Self::default()
    }

    /// A path of one field, or of several written with dots.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// This path's field `name`.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        if self.0.is_empty() {
            Self(name.to_owned())
        } else {
            Self(format!("{}.{name}", self.0))
        }
    }

    /// This path's list item `index`.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// This path's map entry `key`.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        Self(format!("{}[{key}]", self.0))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "<nil>" } else { &self.0 })
    }
}

/// What is wrong with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A reference to something that is not there.
    NotFound,
    /// A value that must be given is missing.
    Required,
    /// The same value twice where it must be unique.
    Duplicate,
    /// A malformed value.
    Invalid,
    /// A value outside a fixed set.
    NotSupported,
    /// A value that may not be set or changed here.
    Forbidden,
    /// A string or list that is too long.
    TooLong,
    /// A list or map with too many entries.
    TooMany,
    /// A failure of the validation itself.
    Internal,
    /// A value of the wrong JSON type.
    TypeInvalid,
}

impl Kind {
    /// The `reason` of a Status cause.
    pub fn cause(self) -> &'static str {
        match self {
            Self::NotFound => "FieldValueNotFound",
            Self::Required => "FieldValueRequired",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::Internal => "InternalError",
            Self::TypeInvalid => "FieldValueTypeInvalid",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::NotFound => "Not found",
            Self::Required => "Required value",
            Self::Duplicate => "Duplicate value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::Internal => "Internal error",
        }
    }
}

/// One thing wrong with one field.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    /// What is wrong.
    pub kind: Kind,
    /// Where.
    pub path: Path,
    /// The value found there, where the kind shows one; none where it would drown the message.
    pub value: Option<Value>,
    /// The rest of the sentence, may be empty.
    pub detail: String,
}

impl Error {
    /// An error of any kind.
    pub fn new(kind: Kind, path: &Path, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self {
            kind,
            path: path.clone(),
            value: Some(value.into()),
            detail: detail.into(),
        }
    }

    /// A malformed value.
    pub fn invalid(path: &Path, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, path, value, detail)
    }

    /// This error without the value: objects and lists are shown by their path alone.
    #[must_use]
    pub fn without_value(self) -> Self {
        Self { value: None, ..self }
    }

    /// A missing value.
    pub fn required(path: &Path, detail: impl Into<String>) -> Self {
        Self::new(Kind::Required, path, "", detail)
    }

    /// A value that may not be set or changed here.
    pub fn forbidden(path: &Path, detail: impl Into<String>) -> Self {
        Self::new(Kind::Forbidden, path, "", detail)
    }

    /// The same value twice.
    pub fn duplicate(path: &Path, value: impl Into<Value>) -> Self {
        Self::new(Kind::Duplicate, path, value, "")
    }

    /// A value outside `supported`.
    pub fn not_supported(path: &Path, value: impl Into<Value>, supported: &[&str]) -> Self {
        let quoted: Vec<String> = supported.iter().map(|it| format!("{it:?}")).collect();
        let detail = if quoted.is_empty() {
            String::new()
        } else {
            format!("supported values: {}", quoted.join(", "))
        };
        Self::new(Kind::NotSupported, path, value, detail)
    }

    /// The message without the path, as a Status cause carries it.
    pub fn body(&self) -> String {
        let words = self.kind.words();
        let head = match self.kind {
            Kind::Required | Kind::Forbidden | Kind::TooLong | Kind::Internal => words.to_owned(),
            _ => match &self.value {
                Some(value) => format!("{words}: {}", shown(value)),
                None => words.to_owned(),
            },
        };
        if self.detail.is_empty() {
            head
        } else {
            format!("{head}: {}", self.detail)
        }
    }
}

/// A value as Go prints it in such a message: strings quoted, scalars plain, the rest as JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Null => "null".to_owned(),
        other => other.to_string(),
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.body())
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_read_like_kubernetes() {
        let path = Path::new("spec").child("taints").index(0).child("effect");
        assert_eq!(
            Error::not_supported(&path, "x", &["NoSchedule", "NoExecute"]).to_string(),
            "spec.taints[0].effect: Unsupported value: \"x\": supported values: \"NoSchedule\", \"NoExecute\""
        );
        assert_eq!(
            Error::required(&Path::new("spec.version"), "").to_string(),
            "spec.version: Required value"
        );
        assert_eq!(
            Error::invalid(
                &Path::new("spec.replicas"),
                -1,
                "must be greater than or equal to 0"
            )
            .to_string(),
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0"
        );
        assert_eq!(
            Error::invalid(&Path::new("spec.taints"), "array", "taints must be unique")
                .without_value()
                .to_string(),
            "spec.taints: Invalid value: taints must be unique"
        );
    }
}
