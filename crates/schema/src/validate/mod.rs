//! Values against schemas, with the words of kube-apiserver.
//! Source: kube-openapi `pkg/validation/{validate,errors}`, apiextensions-apiserver `pkg/apiserver/validation`.

mod correlate;
mod list_type;
mod node;
mod number;
mod outcome;

use capstan_base::field;
use serde_json::Value;

pub use correlate::Correlated;
pub(crate) use correlate::same_item;
pub use list_type::validate_list_types;

use crate::structural::Structural;

/// Validates `value`, which is at `path`, against `schema`.
///
/// Errors about one field carry its path; errors about a choice between schemas (`anyOf` and its like) carry `path`
/// itself and name the field in their text, as kube-apiserver's do. Uniqueness in lists is
/// [`validate_list_types`]', rules are [`Validator`](crate::cel::Validator)'s.
pub fn validate(value: &Value, schema: &Structural, path: &field::Path) -> Vec<field::Error> {
    node::validate_node(value, schema, None).into_errors(path)
}

/// Validates `value`, which replaces `old`, against `schema`: what is wrong with a part that did not change is let
/// pass, so that a schema can grow stricter without locking objects that were valid once.
///
/// A node's errors, with all those below it, are dropped when its value equals the old one of the same place. Items
/// have a place only in lists of type map. A changed parent still answers for itself.
/// Source: apiextensions-apiserver `pkg/apiserver/validation/ratcheting.go`.
pub fn validate_update(
    value: &Value,
    old: &Value,
    schema: &Structural,
    path: &field::Path,
) -> Vec<field::Error> {
    node::validate_node(value, schema, Some(Correlated { value, old, schema })).into_errors(path)
}
