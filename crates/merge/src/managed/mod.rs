//! `metadata.managedFields`: who owns which field, through updates and server-side apply.
//! Upstream: apimachinery `util/managedfields` around structured-merge-diff `merge.Updater`.
//!
//! ```text
//! update: managers of the request, or of the live object ── compare live and new ── others lose what changed,
//!         the writer gains it ── entries capped
//! apply:  managers of the live object ── merge the configuration in ── remove what the manager applied before, no
//!         longer applies and nobody else owns ── conflict where others own what changed, or take it by force
//! ```

mod apply;
mod conflict;
mod entries;
mod last_applied;
mod ownership;
mod prune;
mod scale;
mod update;

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;
use serde_json::Value;

use crate::{set::Set, typed::TypeErrors, types::Schema};

pub use apply::{ApplyError, apply};
pub use conflict::{Cause, Conflict, Conflicts};
pub use entries::{ManagedFieldsError, ManagerId, Verb, validate};
pub use scale::{ScalePaths, from_scale, to_scale};
pub use update::{Updated, revert_timestamps, update};

/// The versions a kind is served in. Managers keep the version they wrote with, so a write may have to be looked at in
/// several versions.
pub trait Versions {
    /// The merge schema of the kind in `api_version`; `None` when that version is not served (any more).
    fn schema(&self, api_version: &str) -> Option<Arc<Schema>>;

    /// The object in `api_version`, which is served.
    ///
    /// # Errors
    /// The object cannot be converted.
    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, ConversionError>;
}

/// Why an object cannot be converted to another version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConversionError(pub String);

/// A kind that is served in one version only.
#[derive(Debug, Clone)]
pub struct SingleVersion {
    /// `group/version`.
    pub api_version: String,
    /// The merge schema.
    pub schema: Arc<Schema>,
}

impl Versions for SingleVersion {
    fn schema(&self, api_version: &str) -> Option<Arc<Schema>> {
        (api_version == self.api_version).then(|| Arc::clone(&self.schema))
    }

    fn convert(&self, object: &Value, _: &str) -> Result<Value, ConversionError> {
        Ok(object.clone())
    }
}

/// A write, as far as ownership is concerned.
#[derive(Clone, Copy)]
pub struct Operation<'a> {
    /// The field manager; empty is recorded as `unknown`.
    pub manager: &'a str,
    /// The subresource written through; empty for the object itself.
    pub subresource: &'a str,
    /// The `group/version` of the request.
    pub api_version: &'a str,
    /// The kind of the object.
    pub kind: &'a str,
    /// An object of the kind with nothing set: what a create is compared with. For custom resources only `apiVersion`
    /// and `kind`; for built-in kinds also the fields their encoding never omits.
    pub empty: &'a Value,
    /// The versions of the kind.
    pub versions: &'a dyn Versions,
    /// Per `group/version`, the fields the endpoint resets to the live object's: writing them owns nothing.
    pub reset_fields: &'a BTreeMap<String, Set>,
    /// When the write happens; recorded to the second.
    pub now: Timestamp,
}

/// Why ownership could not be computed. The text is the message the API answers with, hence with its cause.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The object that is written does not conform to the merge schema.
    #[error("failed to create typed {role} object ({object}): {errors}")]
    Typed {
        /// `patch`, `live` or `new`.
        role: &'static str,
        /// `namespace/name; group/version, Kind=kind`.
        object: String,
        /// What does not conform.
        errors: TypeErrors,
    },
    /// A step of the computation found an object it cannot work with.
    #[error("failed to {step}: {errors}")]
    Step {
        /// The step.
        step: &'static str,
        /// What was found.
        errors: TypeErrors,
    },
    /// An object cannot be converted to a version a manager wrote with.
    #[error("failed to convert object to {api_version}: {error}")]
    Convert {
        /// The version.
        api_version: String,
        /// Why.
        error: ConversionError,
    },
    /// The request's own version is not served.
    #[error("no corresponding type for {0}")]
    NoType(String),
    /// The live object's managed fields are malformed.
    #[error("failed to decode managed fields: {0}")]
    Decode(ManagedFieldsError),
    /// A JSON document inside an annotation cannot be written.
    #[error("failed to build last-applied annotation: {0}")]
    LastApplied(String),
}

/// The longest field manager name, in bytes.
pub const MANAGER_MAX_LENGTH: usize = 128;

/// The field manager of a client that names none: its user agent up to the first slash, without control characters.
/// Upstream: the API server's `prefixFromUserAgent`.
pub fn manager_from_user_agent(user_agent: &str) -> String {
    let product = user_agent.split('/').next().unwrap_or_default();
    let mut manager = String::new();
    for character in product
        .chars()
        .filter(|character| *character == ' ' || !character.is_whitespace())
    {
        if character.is_control() {
            continue;
        }
        if manager.len() + character.len_utf8() > MANAGER_MAX_LENGTH {
            break;
        }
        manager.push(character);
    }
    manager
}
