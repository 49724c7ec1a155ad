//! Between requests and storage: schemas of kinds, decoding, defaulting, conversion, encoding.

mod type_schema;

pub use type_schema::TypeSchema;
