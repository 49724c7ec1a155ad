//! The wish to stop: SIGINT or SIGTERM.

use anyhow::Context as _;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Waits for the wish to stop.
#[derive(Debug)]
pub(crate) struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    /// Catches the signals from now on.
    pub(crate) fn catch() -> anyhow::Result<Self> {
        let catch = |kind| signal(kind).context("failed to catch signals");
        Ok(Self {
            interrupt: catch(SignalKind::interrupt())?,
            terminate: catch(SignalKind::terminate())?,
        })
    }

    /// Returns when the process shall stop.
    pub(crate) async fn wait(&mut self) {
        tokio::select! {
            biased;
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
