//! What the server calls out to: traits that its owner implements. All are synchronous and pure but the streams.

use std::sync::Arc;

use http::StatusCode;
use serde_json::Value;

use crate::{
    auth::Identity,
    resource::{GroupVersionKind, GroupVersionResource},
    wire::status::{ApiError, Cause},
};

/// What is being done to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A new object.
    Create,
    /// A changed object.
    Update,
    /// An object that goes.
    Delete,
}

/// A write that admission judges. Objects are in the storage version of their resource.
#[derive(Debug, Clone, Copy)]
pub struct AdmissionRequest<'a> {
    /// What is done.
    pub operation: Operation,
    /// The resource, in its storage version.
    pub resource: &'a GroupVersionResource,
    /// The kind, in its storage version.
    pub kind: &'a GroupVersionKind,
    /// `status`, `scale`, … or nothing.
    pub subresource: &'a str,
    /// Namespace; empty for cluster-scoped objects.
    pub namespace: &'a str,
    /// Name.
    pub name: &'a str,
    /// The object before; absent on create.
    pub old: Option<&'a Value>,
    /// Who asks.
    pub user: &'a Identity,
    /// Whether nothing will be stored.
    pub dry_run: bool,
}

/// A refusal by admission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// HTTP status; 403 where nothing else fits, 422 for invalid objects.
    pub code: StatusCode,
    /// Machine-readable reason of the Status.
    pub reason: &'static str,
    /// For people.
    pub message: String,
    /// Which fields are to blame.
    pub causes: Vec<Cause>,
}

impl Denied {
    /// The object is invalid: the same error as if the schema had found it.
    pub fn invalid(kind: &GroupVersionKind, name: &str, errors: &[capstan_base::field::Error]) -> Self {
        let error = ApiError::invalid(&kind.group, &kind.kind, name, errors);
        Self {
            code: error.code,
            reason: error.reason,
            message: error.message,
            causes: error.details.causes,
        }
    }

    /// The write is not allowed.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self {
            code: StatusCode::FORBIDDEN,
            reason: "Forbidden",
            message: message.into(),
            causes: Vec::new(),
        }
    }
}

/// Judges and completes writes: what webhooks do, in process.
pub trait Admission: Send + Sync + 'static {
    /// Completes `object`. Called for creates and updates of every resource.
    ///
    /// # Errors
    /// A refusal ends the request.
    fn mutate(
        &self,
        request: &AdmissionRequest<'_>,
        object: &mut Value,
        warnings: &mut Vec<String>,
    ) -> Result<(), Denied>;

    /// Judges a write after all changes. `object` is absent on delete.
    ///
    /// # Errors
    /// A refusal ends the request.
    fn validate(
        &self,
        request: &AdmissionRequest<'_>,
        object: Option<&Value>,
        warnings: &mut Vec<String>,
    ) -> Result<(), Denied>;
}

/// Converts objects of custom kinds between their versions, in process.
pub trait Converter: Send + Sync + 'static {
    /// Whether this converter knows the kind. Kinds that no converter knows only change their `apiVersion`.
    fn handles(&self, group: &str, kind: &str) -> bool;

    /// `object` in `version` of its group. The server restores all metadata but labels and annotations.
    ///
    /// # Errors
    /// What is wrong with the object, in one line.
    fn convert(&self, object: Value, version: &str) -> Result<Value, String>;
}

/// Admission that lets everything pass unchanged.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoAdmission;

impl Admission for NoAdmission {
    fn mutate(&self, _: &AdmissionRequest<'_>, _: &mut Value, _: &mut Vec<String>) -> Result<(), Denied> {
        Ok(())
    }

    fn validate(
        &self,
        _: &AdmissionRequest<'_>,
        _: Option<&Value>,
        _: &mut Vec<String>,
    ) -> Result<(), Denied> {
        Ok(())
    }
}

/// Converts nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoConverter;

impl Converter for NoConverter {
    fn handles(&self, _: &str, _: &str) -> bool {
        false
    }

    fn convert(&self, object: Value, _: &str) -> Result<Value, String> {
        Ok(object)
    }
}

/// A byte stream in both directions.
pub trait Duplex: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static {}

impl<T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static> Duplex for T {}

/// Connects `pods/NAME/portforward` with something that answers.
pub trait PortForward: Send + Sync + 'static {
    /// Opens a stream to `port` of a pod that exists. Must not block: the stream may connect later.
    ///
    /// # Errors
    /// Why the port cannot be reached, for the client's error channel.
    fn open(&self, namespace: &str, pod: &str, port: u16) -> Result<Box<dyn Duplex>, String>;
}

/// The seams of a server, shared by its requests.
#[derive(Clone)]
pub struct Seams {
    /// In-process webhooks.
    pub admission: Arc<dyn Admission>,
    /// In-process conversion.
    pub converter: Arc<dyn Converter>,
    /// Port forwarding; absent where pods are only data.
    pub port_forward: Option<Arc<dyn PortForward>>,
}

impl std::fmt::Debug for Seams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seams")
            .field("port_forward", &self.port_forward.is_some())
            .finish_non_exhaustive()
    }
}

impl Default for Seams {
    fn default() -> Self {
        Self {
            admission: Arc::new(NoAdmission),
            converter: Arc::new(NoConverter),
            port_forward: None,
        }
    }
}
