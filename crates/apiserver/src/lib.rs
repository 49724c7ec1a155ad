//! The Kubernetes API over a revisioned store: REST, watch, apply, custom resources, admission, conversion, discovery,
//! OpenAPI, tables, garbage collection. It knows no kind beyond Kubernetes' own and what CRDs define.
//!
//! ```text
//!  TLS or any byte stream ─▶ http ──┐                      ┌─▶ codec ─▶ schema, merge
//!  in-process service ──────────────┴▶ registry ───────────┼─▶ seams (admission, conversion)
//!  loops (garbage, namespaces, …) ────▶    │               └─▶ store
//!                                          └ resource table ◀─ built-in rows, custom resource definitions
//! ```
//!
//! * [`resource`]: what is served, as data;
//! * [`wire`]: URLs, options, selectors, negotiation, Status errors;
//! * [`object`]: objects as JSON and their metadata;
//! * [`codec`]: schemas, decoding, conversion, encoding;
//! * [`registry`]: every read and every write;
//! * [`crd`]: custom resource definitions;
//! * [`auth`]: who asks and whether they may;
//! * [`seams`]: what the server calls out to;
//! * [`table`]: what `kubectl get` prints;
//! * [`http`]: the ways in.

pub mod auth;
pub mod codec;
pub mod crd;
mod discovery;
pub mod http;
mod loops;
mod metrics;
pub mod object;
mod openapi;
mod portforward;
pub mod registry;
pub mod resource;
pub mod seams;
mod server;
pub mod table;
pub mod wire;

pub use auth::{Authenticator, Authorizer, DefaultAuthorizer, Identity, TlsAuthenticator, TokenIssuer};
pub use http::InProcess;
pub use metrics::MetricSource;
pub use registry::Registry;
pub use seams::{Admission, AdmissionRequest, Converter, Denied, Duplex, Operation, PortForward, Seams};
pub use server::{Builder, Server, VersionInfo};
pub use wire::status::{ApiError, Result};
