//! The Kubernetes API over a revisioned store: REST, watch, apply, custom resources, admission, conversion, discovery,
//! OpenAPI, tables, garbage collection. It knows no kind beyond Kubernetes' own and what CRDs define.
//!
//! * [`resource`]: what is served, as data;
//! * [`wire`]: URLs, options, selectors, negotiation, Status errors;
//! * [`object`]: objects as JSON and their metadata;
//! * [`codec`]: schemas, decoding, conversion, encoding;
//! * [`auth`]: who asks and whether they may;
//! * [`seams`]: what the server calls out to;
//! * [`table`]: what `kubectl get` prints.

pub mod auth;
pub mod codec;
pub mod object;
pub mod resource;
pub mod seams;
pub mod table;
pub mod wire;

pub use auth::Identity;
pub use seams::{Admission, AdmissionRequest, Converter, Denied, Duplex, Operation, PortForward, Seams};
pub use wire::status::{ApiError, Result};
