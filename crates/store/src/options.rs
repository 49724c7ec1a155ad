//! What a store is opened with.

use std::{fmt, sync::Arc, time::Duration};

use capstan_base::Clock;

use crate::record::{IndexEntry, Record};

/// Gives the secondary index entries of a record. It must be pure: the same value always gives the same entries. It
/// may use [`Record::cached`], so that the value is decoded once.
pub type Indexer = Arc<dyn Fn(&Record) -> Vec<IndexEntry> + Send + Sync>;

/// How much history is kept for watches and exact reads. An event goes when either limit is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryLimits {
    /// Most events kept.
    pub events: usize,
    /// Longest time an event is kept.
    pub age: Duration,
}

impl Default for HistoryLimits {
    /// 100,000 events and 10 minutes: twice the compaction interval of a kube-apiserver on etcd, since clients that
    /// come back after a restart within that time can go on where they were.
    fn default() -> Self {
        Self {
            events: 100_000,
            age: Duration::from_secs(600),
        }
    }
}

/// What a store is opened with.
#[derive(Clone)]
pub struct Options {
    /// Tells the age of events.
    pub clock: Arc<dyn Clock>,
    /// How much history is kept.
    pub history: HistoryLimits,
    /// Maintains the secondary indexes, if any.
    pub indexer: Option<Indexer>,
}

impl Options {
    /// The default limits, no index.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            history: HistoryLimits::default(),
            indexer: None,
        }
    }

    /// The same with an indexer.
    #[must_use]
    pub fn with_indexer(
        mut self,
        indexer: impl Fn(&Record) -> Vec<IndexEntry> + Send + Sync + 'static,
    ) -> Self {
        self.indexer = Some(Arc::new(indexer));
        self
    }

    /// The same with other history limits.
    #[must_use]
    pub fn with_history(mut self, history: HistoryLimits) -> Self {
        self.history = history;
        self
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("clock", &self.clock)
            .field("history", &self.history)
            .field("indexer", &self.indexer.is_some())
            .finish()
    }
}
