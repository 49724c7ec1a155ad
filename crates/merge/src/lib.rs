//! Field ownership and patches of Kubernetes objects, as pure functions on JSON values.
//!
//! * [`set`], [`path`]: sets of field paths and their `FieldsV1` wire form.
//! * [`types`]: the merge schema of a kind, compiled from `OpenAPI` or structural JSON.
//! * [`typed`]: field sets, validation, merging, comparing and removing under a merge schema.
//! * [`managed`]: `metadata.managedFields`: what create, update and server-side apply do to it.
//! * [`json_patch`], [`merge_patch`], [`strategic`]: the three other patch formats of the API.
//! * [`diff`]: the smallest JSON merge patch between two objects.
//!
//! Nothing here reads a clock or does I/O. The behaviour followed is that of `structured-merge-diff` v6 and of
//! apimachinery's `util/managedfields`, `util/strategicpatch` and the patch handlers of the generic API server.

pub mod diff;
pub mod json_patch;
pub mod managed;
pub mod merge_patch;
pub mod path;
pub mod set;
pub mod strategic;
pub mod typed;
pub mod types;
mod value;

pub use path::{Path, PathElement};
pub use set::Set;
pub use types::Schema;

/// Why a patch could not be applied. The text is the message of the Status the API answers with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The patch is not of its format (400 `BadRequest`).
    #[error("{0}")]
    Malformed(String),
    /// The patch is well formed but does not apply to this object (422).
    #[error("{0}")]
    Failed(String),
    /// The patch contradicts the type of the object in a way the API reports as its own failure (500).
    #[error("{0}")]
    Internal(String),
}
