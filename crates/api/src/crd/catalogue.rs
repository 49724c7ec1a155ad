//! The kinds of this crate, parsed once.

use std::sync::LazyLock;

use serde_json::Value;

use super::{model::Definition, parse, sources};

#[expect(
    clippy::expect_used,
    reason = "the texts are compiled in and a test parses them"
)]
static KINDS: LazyLock<Vec<Definition>> =
    LazyLock::new(|| parse(sources::ALL).expect("invariant: the schemas of the crate parse"));

/// The core kinds in all their versions, ordered by group and plural.
pub fn kinds() -> &'static [Definition] {
    &KINDS
}

/// The `CustomResourceDefinition` objects of the core kinds, ordered by group and plural.
pub fn definitions() -> Vec<Value> {
    kinds().iter().map(Definition::to_value).collect()
}
