//! What crosses the wire around objects: URLs, query options, selectors, content negotiation, Status errors.

pub mod negotiate;
pub mod options;
pub mod query;
pub mod request;
pub mod selector;
pub mod status;
