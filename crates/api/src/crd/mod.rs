//! Custom resource definitions: a compact schema notation, its parser, and the definitions of every core kind.
//!
//! # The notation
//!
//! A kind is described by text files below `schemas/`, in a folder named as its API group:
//!
//! - `PLURAL.kind` has the names, scope, labels and, per version, what is served, subresources and printer columns;
//! - `PLURAL.VERSION.schema` has the fields of one version;
//! - `NAME.types` has types and patterns that several schemas share; a file takes them in with `use NAME`.
//!
//! Nesting is by indentation (two spaces), a line that starts with `#` is a comment, and text after ` -- ` is the
//! description that `kubectl explain` shows. `apiVersion`, `kind` and `metadata` are implied;
//! only a kind that demands metadata says so with `metadata!: object`.
//!
//! ```text
//! use common
//!
//! pattern Range `^\[[0-9]+-[0-9]+\]$`
//!
//! type Arg: object
//!   name!: str len[1..256]
//!   value!: str len[..1024]
//!
//! spec!: object props[1..]
//!   paused: bool -- Stops all reconciliation.
//!   unhealthyInRange: str len[1..32] ~Range
//!   args: list<Arg> items[1..100] @map(name, value)
//!     rule "an argument may be named only once": self.all(x, self.exists_one(y, x.name == y.name))
//! ```
//!
//! | written | means |
//! |---|---|
//! | `name!` | a required field |
//! | `object`, `list<T>`, `map<T>`, `any` | fields below it, items, values by name, no schema at all |
//! | `str`, `time`, `bytes`, `bool`, `i32`, `i64`, `int`, `num`, `int\|str` | scalars; `time` and `bytes` are formatted strings |
//! | `len[a..b]`, `val[a..b]`, `items[a..b]`, `props[a..b]` | bounds of length, value, items, and properties |
//! | `{A\|B}`, `~Pattern` | allowed values, a named pattern |
//! | `@atomic`, `@set`, `@map(key, key)`, `@open` | list and map types for server-side apply; unknown fields are kept |
//! | `= JSON` | the default, last before the description |
//! | `rule "message": CEL` | a validation rule of the line above; `each rule` is for its items |

mod catalogue;
mod check;
mod model;
mod openapi;
mod parse;
mod sources;
#[cfg(test)]
mod tests;

pub use catalogue::{definitions, kinds};
pub use model::{
    Bounds, Column, Definition, Field, IntegerFormat, ListKind, Rule, Scale, Schema, Scope, Shape,
    TextFormat, Version,
};
pub use parse::{ParseError, Source, parse};
