//! Objects as JSON values: access to their metadata, and its validation.

pub mod metadata;
pub mod names;
pub mod validate;

pub use metadata::{Meta, MetaMut, OwnerReference};
