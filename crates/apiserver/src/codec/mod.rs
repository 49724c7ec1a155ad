//! Between requests and storage: schemas of kinds, decoding, defaulting, conversion, encoding.

mod body;
mod convert;
mod decode;
mod protobuf;
mod stored;
mod structure;
mod type_schema;

pub use body::{Body, parse_body};
pub(crate) use convert::{Codec, encode};
pub(crate) use stored::Stored;
pub use type_schema::{CompileError, TypeSchema};
