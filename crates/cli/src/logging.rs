//! Logging: to standard error, for people or as JSON.

use std::io::{IsTerminal as _, stderr};

use anyhow::Context as _;
use tracing_subscriber::EnvFilter;

use crate::arguments::LogFormat;

/// Libraries that say at `info` what only their authors want to know.
const QUIET: &str = "hyper=warn,h2=warn,rustls=warn,tower=warn,kube_client=off,redb=warn";

/// Starts logging. `level` is a level, or levels by module.
pub(crate) fn start(format: LogFormat, level: &str) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(format!("{QUIET},{level}"))
        .with_context(|| format!("failed to read the log level {level:?}"))?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(stderr);
    if is_human(format) {
        builder
            .with_target(false)
            .with_ansi(stderr().is_terminal())
            .compact()
            .init();
    } else {
        builder.json().flatten_event(true).init();
    }
    Ok(())
}

/// Whether people read the log.
pub(crate) fn is_human(format: LogFormat) -> bool {
    match format {
        LogFormat::Human => true,
        LogFormat::Json => false,
        LogFormat::Auto => stderr().is_terminal(),
    }
}
