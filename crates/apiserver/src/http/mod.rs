//! HTTP: from requests to the registry and back.

mod body;
mod gzip;
mod health;
mod resource;
mod respond;
mod router;
mod serve;
mod service;
pub mod tls;
mod watch;

pub(crate) use body::empty as empty_body;
pub use body::{BoxError, ResponseBody};
pub(crate) use respond::{error as error_response, json as json_response};
pub(crate) use serve::{serve_io, serve_tls};
pub use service::InProcess;
