//! The clock of the tokio runtime: wall time in a live runtime, virtual time in one whose clock is paused.

use capstan_base::{Clock, Timestamp};
use tokio::time::Instant;

/// Time that starts at a given moment and passes as tokio's clock does. With a paused runtime it jumps from timer to
/// timer, so a year of waiting takes milliseconds and every run is the same.
#[derive(Debug, Clone, Copy)]
pub struct RuntimeClock {
    start: Timestamp,
    origin: Instant,
}

impl RuntimeClock {
    /// A clock that reads `start` now. Must be made inside a tokio runtime.
    pub fn starting_at(start: Timestamp) -> Self {
        Self {
            start,
            origin: Instant::now(),
        }
    }
}

impl Clock for RuntimeClock {
    fn now(&self) -> Timestamp {
        self.start + self.origin.elapsed()
    }
}
