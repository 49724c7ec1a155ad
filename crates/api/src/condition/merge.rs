//! What summing up and aggregating share: how bad a condition is, and what status and reason follow for the whole.

use super::{Draft, Reason, Status};

/// How bad a condition is when conditions are merged. The worst comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Something is wrong.
    Issue,
    /// Nobody knows.
    Unknown,
    /// All is well.
    Info,
}

impl Priority {
    /// How bad `condition` is by its status, if `False` is the good one for its type (`negative`) or `True` is.
    pub fn of(condition: &Draft, negative: bool) -> Self {
        match (condition.status, negative) {
            (Status::True, false) | (Status::False, true) => Self::Info,
            (Status::False, false) | (Status::True, true) => Self::Issue,
            (Status::Unknown, _) => Self::Unknown,
        }
    }

    /// The status of a condition that says so about the whole.
    pub(super) fn status(self, negative: bool) -> Status {
        match (self, negative) {
            (Self::Issue, false) | (Self::Info, true) => Status::False,
            (Self::Issue, true) | (Self::Info, false) => Status::True,
            (Self::Unknown, _) => Status::Unknown,
        }
    }
}

/// The reasons of a merged condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reasons {
    /// If something is wrong.
    pub issue: Reason,
    /// If nothing is wrong but something is not known.
    pub unknown: Reason,
    /// If all is well.
    pub info: Reason,
}

impl Default for Reasons {
    fn default() -> Self {
        Self {
            issue: Reason::IssuesReported,
            unknown: Reason::UnknownReported,
            info: Reason::InfoReported,
        }
    }
}

impl Reasons {
    pub(super) fn of(self, priority: Priority) -> Reason {
        match priority {
            Priority::Issue => self.issue,
            Priority::Unknown => self.unknown,
            Priority::Info => self.info,
        }
    }
}
