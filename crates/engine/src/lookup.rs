//! The answer to "read this object": absent, unreadable and found are three facts.

use std::fmt;

/// What reading one object gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup<T> {
    /// It is there.
    Found(T),
    /// It is not there.
    Absent,
    /// Nobody knows: the read failed.
    Unreadable(ReadFailure),
}

/// Why a read failed, as a sentence for logs and conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFailure(pub String);

impl fmt::Display for ReadFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<T> Lookup<T> {
    /// The object, if it was found.
    pub fn found(&self) -> Option<&T> {
        match self {
            Self::Found(object) => Some(object),
            Self::Absent | Self::Unreadable(_) => None,
        }
    }

    /// Is it known not to be there?
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Turns what was found into something else; absence and failure stay.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Lookup<U> {
        match self {
            Self::Found(object) => Lookup::Found(f(object)),
            Self::Absent => Lookup::Absent,
            Self::Unreadable(why) => Lookup::Unreadable(why),
        }
    }
}

impl<T> From<Option<T>> for Lookup<T> {
    fn from(read: Option<T>) -> Self {
        read.map_or(Self::Absent, Self::Found)
    }
}
