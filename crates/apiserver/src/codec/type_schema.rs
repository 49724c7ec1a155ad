//! The schema of one kind in one version, compiled for pruning, defaulting, validation and merging.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering},
};

use capstan_schema::{Schema, Structural};
use serde_json::{Value, json};
use thiserror::Error;

use super::structure::without_references;
use crate::resource::{REFERENCE_PREFIX, definitions};

/// A compiled schema.
#[derive(Debug)]
pub struct TypeSchema {
    /// Unlike that of any other schema of the process: keys of caches.
    id: u64,
    schema: Schema,
    source: Source,
    merge: OnceLock<Arc<capstan_merge::Schema>>,
}

#[derive(Debug)]
enum Source {
    BuiltIn(String),
    Custom(Arc<Value>),
}

/// A schema that cannot be compiled.
#[derive(Debug, Error)]
#[error("failed to compile schema")]
pub struct CompileError(#[from] capstan_schema::ParseError);

fn next_id() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}

impl TypeSchema {
    /// The schema of a built-in kind, from its definition.
    pub fn built_in(definition: &str) -> Self {
        let schema = Schema::new(&without_references(definition))
            .expect("invariant: the compiled-in definitions are structural");
        Self {
            id: next_id(),
            schema,
            source: Source::BuiltIn(definition.to_owned()),
            merge: OnceLock::new(),
        }
    }

    /// The schema of a version of a custom resource.
    ///
    /// # Errors
    /// If it is not structural.
    pub fn custom(published: Arc<Value>) -> Result<Self, CompileError> {
        let schema = Schema::new(&published)?;
        Ok(Self {
            id: next_id(),
            schema,
            source: Source::Custom(published),
            merge: OnceLock::new(),
        })
    }

    /// A number that no other schema of the process has.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// For pruning, defaulting and validation.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The tree of the schema.
    pub fn structural(&self) -> &Structural {
        self.schema.structural()
    }

    /// Whether it describes a built-in kind.
    pub fn is_built_in(&self) -> bool {
        matches!(self.source, Source::BuiltIn(_))
    }

    /// For merging and ownership. A schema that the merge compiler refuses is deduced from the values.
    pub fn merge(&self) -> &Arc<capstan_merge::Schema> {
        self.merge.get_or_init(|| {
            let compiled = match &self.source {
                Source::BuiltIn(name) => {
                    let root = json!({ "$ref": format!("{REFERENCE_PREFIX}{name}") });
                    capstan_merge::Schema::for_object(&root, &|name| definitions().get(name))
                }
                Source::Custom(schema) => capstan_merge::Schema::for_object(schema, &|_| None),
            };
            compiled.unwrap_or_else(|error| {
                tracing::warn!(%error, "merge schema is deduced");
                capstan_merge::Schema::deduced()
            })
        })
    }
}
