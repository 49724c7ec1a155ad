//! What can go wrong between Capstan and the Engine, said with the fix.

use capstan_engine::{Classified, Retry};

/// What the Engine refused, or that it does not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DockerError {
    /// Nobody answers, or not in time.
    #[error("no Docker Engine answers at {address} ({cause}): {fix}")]
    Unreachable {
        /// Where it was looked for.
        address: String,
        /// What was met instead.
        cause: String,
        /// What helps.
        fix: &'static str,
    },
    /// The Engine answered with an error.
    #[error("failed to {operation} {object}: {message}")]
    Refused {
        /// What was tried, as a verb.
        operation: &'static str,
        /// On what.
        object: String,
        /// What the Engine said.
        message: String,
        /// The HTTP status; 0 if the error came inside of a stream.
        status: u16,
    },
}

impl DockerError {
    /// A refusal that Capstan itself found in what the Engine answered.
    pub(crate) fn refused(
        operation: &'static str,
        object: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self::Refused {
            operation,
            object: object.into(),
            message: message.into(),
            status: 0,
        }
    }

    /// Reads the client library's error.
    pub(crate) fn of(
        address: &str,
        operation: &'static str,
        object: &str,
        error: bollard::errors::Error,
    ) -> Self {
        use bollard::errors::Error;
        let refused = |message: String, status| Self::Refused {
            operation,
            object: object.to_owned(),
            message,
            status,
        };
        match error {
            Error::DockerResponseServerError { status_code, message } => refused(message, status_code),
            Error::DockerStreamError { error } => refused(error, 0),
            error @ (Error::JsonDataError { .. } | Error::APIVersionParseError {}) => {
                refused(error.to_string(), 0)
            }
            other => {
                let cause = chain(&other);
                Self::Unreachable {
                    address: address.to_owned(),
                    fix: fix(&cause),
                    cause,
                }
            }
        }
    }

    /// Is what was named not there?
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { status: 404, .. })
    }

    /// Is the name taken, or is the object in another state than was thought?
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Refused { status: 409, .. })
    }

    /// Does nobody answer?
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }

    /// Does the Engine's message hold `words`?
    pub(crate) fn says(&self, words: &str) -> bool {
        matches!(self, Self::Refused { message, .. } if message.contains(words))
    }
}

impl Classified for DockerError {
    fn retry(&self) -> Retry {
        Retry::Backoff
    }
}

fn fix(cause: &str) -> &'static str {
    let cause = cause.to_lowercase();
    if cause.contains("permission denied") {
        "give this user access to the socket (group docker), or run as root"
    } else if cause.contains("time") && cause.contains("out") {
        "it may be overloaded; Capstan goes on trying"
    } else {
        "start it, or say with DOCKER_HOST where it is"
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut parts = vec![error.to_string()];
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if parts.last() != Some(&text) {
            parts.push(text);
        }
        source = cause.source();
    }
    parts.join(": ")
}
