//! The answer to "read this in the workload cluster": found, absent, cut off and never asked are four facts.

use std::fmt;

use capstan_base::Timestamp;

/// Why the workload cluster was not asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotTried {
    /// No such cluster is known.
    UnknownCluster,
    /// The cluster's infrastructure is not provisioned yet.
    InfrastructureNotProvisioned,
    /// The cluster's kubeconfig Secret does not exist yet or is empty.
    NoKubeconfig,
    /// The first attempt to connect is still under way.
    Connecting,
}

impl fmt::Display for NotTried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownCluster => "the cluster is not known",
            Self::InfrastructureNotProvisioned => "the cluster's infrastructure is not provisioned",
            Self::NoKubeconfig => "the cluster has no kubeconfig yet",
            Self::Connecting => "the first attempt to connect is under way",
        })
    }
}

/// What asking a workload cluster gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remote<T> {
    /// It is there.
    Found(T),
    /// The cluster was asked and it is not there.
    Absent,
    /// The cluster cannot be reached.
    Disconnected {
        /// Since when: the first failure in a row.
        since: Timestamp,
        /// The newest failure, as a sentence for logs.
        why: String,
    },
    /// The cluster was not asked.
    NotTried(NotTried),
}

impl<T> Remote<T> {
    /// What was found.
    pub fn found(&self) -> Option<&T> {
        match self {
            Self::Found(it) => Some(it),
            Self::Absent | Self::Disconnected { .. } | Self::NotTried(_) => None,
        }
    }

    /// Was the cluster asked, and is it not there?
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Turns what was found into something else; everything else stays.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Remote<U> {
        self.and_then(|it| Remote::Found(f(it)))
    }

    /// Asks on with what was found; everything else stays.
    pub fn and_then<U>(self, f: impl FnOnce(T) -> Remote<U>) -> Remote<U> {
        match self {
            Self::Found(it) => f(it),
            Self::Absent => Remote::Absent,
            Self::Disconnected { since, why } => Remote::Disconnected { since, why },
            Self::NotTried(reason) => Remote::NotTried(reason),
        }
    }

    /// The same answer, with what was found borrowed.
    pub fn as_ref(&self) -> Remote<&T> {
        match self {
            Self::Found(it) => Remote::Found(it),
            Self::Absent => Remote::Absent,
            Self::Disconnected { since, why } => Remote::Disconnected {
                since: *since,
                why: why.clone(),
            },
            Self::NotTried(reason) => Remote::NotTried(*reason),
        }
    }
}

impl<T> From<Option<T>> for Remote<T> {
    fn from(read: Option<T>) -> Self {
        read.map_or(Self::Absent, Self::Found)
    }
}
