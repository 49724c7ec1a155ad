//! Manifests as users write them: several YAML documents in one text.

use serde_json::Value;

/// A text that is no list of objects.
#[derive(Debug)]
pub struct ManifestError(String);

impl std::fmt::Display for ManifestError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "failed to read the manifests: {}", self.0)
    }
}

impl std::error::Error for ManifestError {}

/// The objects of a text, in its order.
pub fn documents(text: &str) -> Result<Vec<Value>, ManifestError> {
    let documents: Vec<Value> =
        serde_saphyr::from_multiple(text).map_err(|it| ManifestError(it.to_string()))?;
    Ok(documents.into_iter().filter(|it| !it.is_null()).collect())
}
