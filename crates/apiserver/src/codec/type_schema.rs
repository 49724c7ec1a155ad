//! The schema of one kind in one version, compiled for pruning, defaulting, validation and merging.

use serde_json::Value;

use crate::resource::definitions;

/// A compiled schema.
#[derive(Debug)]
pub struct TypeSchema {
    raw: Value,
}

impl TypeSchema {
    /// The schema of a built-in kind.
    pub fn built_in(definition: &str) -> Self {
        Self {
            raw: definitions().get(definition).cloned().unwrap_or_default(),
        }
    }

    /// The schema as JSON.
    pub fn raw(&self) -> &Value {
        &self.raw
    }
}
