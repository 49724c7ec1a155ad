//! The management plane as a whole: store, API server, certificates, kinds, admission, conversion and all controllers,
//! wired together, started and ended in order. It decides nothing.
//!
//! ```text
//!   data folder ─▶ Store ─▶ Server (admission, conversion in process) ─▶ TLS listener ─▶ clients
//!                              ▲
//!                              └── in-process client ── Engine ── controllers ── Workloads ─▶ workload clusters
//! ```

mod admission;
mod controllers;
mod conversion;
mod credentials;
mod definitions;
mod error;
mod files;
mod metrics;
mod plane;
mod serving;

pub use controllers::Controllers;
pub use error::StartError;
pub use metrics::PlaneMetrics;
pub use plane::{Listen, Parts, Plane, Settings, in_process, serve};
