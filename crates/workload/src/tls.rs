//! Certificate validity by the clock that is handed in, so that TLS works under virtual time.

use std::sync::Arc;

use capstan_base::Clock;
use rustls::{pki_types::UnixTime, time_provider::TimeProvider};

/// The clock as rustls wants it.
#[derive(Debug, Clone)]
pub struct ClockTime(pub Arc<dyn Clock>);

impl TimeProvider for ClockTime {
    fn current_time(&self) -> Option<UnixTime> {
        let seconds = u64::try_from(self.0.now().as_second()).ok()?;
        Some(UnixTime::since_unix_epoch(std::time::Duration::from_secs(
            seconds,
        )))
    }
}
