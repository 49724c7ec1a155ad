//! Structural schemas: what custom resource definitions, and built-in kinds described the same way, mean for objects.
//! Pure: no I/O, no clock, no API kinds.

pub mod cel;
pub mod check;
pub mod decode;
pub mod defaults;
pub mod format;
pub mod jsonpath;
pub mod metadata;
mod openapi;
pub mod parse;
pub mod pattern;
pub mod prune;
mod schema;
pub mod structural;
pub mod validate;

pub use check::{validate_selectable_fields, validate_structural};
pub use defaults::default;
pub use parse::ParseError;
pub use prune::prune;
pub use schema::Schema;
pub use structural::{Additional, Constraints, Level, ListType, MapType, Rule, Step, Structural, Type};
pub use validate::{validate, validate_list_types, validate_update};
