//! The algebra of conditions: setting one, summing up several of one object, aggregating one of several objects, and
//! mirroring one of a foreign object. Everything here is pure; the time is an argument.
//!
//! Upstream's rules are followed to the letter, texts included, since people and tools read them.
//! Source: cluster-api `util/conditions`.

mod aggregate;
mod foreign;
mod indent;
mod merge;
mod mirror;
mod reason;
mod set;
mod summary;
mod types;
pub mod v1beta1;

pub use aggregate::{Aggregate, Member, named};
pub use foreign::{MalformedCondition, foreign_conditions};
pub use merge::{Priority, Reasons};
pub use mirror::{Fallback, Mirror};
pub use reason::Reason;
pub use set::{find, is_false, is_true, is_unknown, remove, set, set_in, sort};
pub use summary::{Judge, Summary, SummaryError, group_control_plane_components};
pub use types::{Status, Type};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use capstan_base::Timestamp;

/// What controllers say when something failed inside: details are in the logs.
pub const INTERNAL_ERROR_MESSAGE: &str = "Please check controller logs for errors";

/// A condition before it is set: what it says, but not yet since when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The type.
    pub type_: String,
    /// The status.
    pub status: Status,
    /// Why, in one word.
    pub reason: String,
    /// Why, in sentences; may be empty.
    pub message: String,
    /// When the status changed, if that is known better than by when it is set.
    pub since: Option<Timestamp>,
}

impl Draft {
    /// A condition of `type_`.
    pub fn new(
        type_: impl Into<String>,
        status: Status,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            type_: type_.into(),
            status,
            reason: reason.into(),
            message: message.into(),
            since: None,
        }
    }

    /// This condition, with the time its status changed.
    #[must_use]
    pub fn since(self, since: Timestamp) -> Self {
        Self {
            since: Some(since),
            ..self
        }
    }

    /// The condition that says that something failed inside.
    pub fn internal_error(type_: impl Into<String>) -> Self {
        Self::new(
            type_,
            Status::Unknown,
            Reason::InternalError,
            INTERNAL_ERROR_MESSAGE,
        )
    }
}

impl From<&Condition> for Draft {
    /// A stored condition, to be merged or mirrored. A status that is none of the three counts as `Unknown`.
    fn from(condition: &Condition) -> Self {
        Self {
            type_: condition.type_.clone(),
            status: condition.status.parse().unwrap_or(Status::Unknown),
            reason: condition.reason.clone(),
            message: condition.message.clone(),
            since: Some(condition.last_transition_time.0),
        }
    }
}
