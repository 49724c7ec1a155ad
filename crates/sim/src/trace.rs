//! Everything that was written to the management plane in one run, in order.

use std::fmt::Write;

use capstan_store::{Event, Store};
use sha2::{Digest, Sha256};

/// The writes of one run: one line each, and a digest over their content too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// `revision verb resource namespace/name`, one per write.
    pub lines: Vec<String>,
    /// SHA-256 over the lines and the written bytes, as hexadecimal digits.
    pub digest: String,
}

impl Trace {
    /// What a store has seen since it was made, as far as its history reaches.
    pub(crate) fn of(store: &Store) -> Self {
        let mut lines = Vec::new();
        let mut hash = Sha256::new();
        each(store, 0, |event| {
            let line = line(event);
            hash.update(line.as_bytes());
            hash.update(&event.record().value);
            lines.push(line);
        });
        let mut digest = String::new();
        for byte in hash.finalize() {
            let _ = write!(digest, "{byte:02x}");
        }
        Self { lines, digest }
    }
}

/// The lines of what a store has seen after a revision.
pub(crate) fn lines_after(store: &Store, revision: u64) -> Vec<String> {
    let mut lines = Vec::new();
    each(store, revision, |event| lines.push(line(event)));
    lines
}

fn each(store: &Store, after: u64, mut see: impl FnMut(&Event)) {
    let Ok(mut cursor) = store.watch_all(after) else {
        return;
    };
    while let Ok(events) = cursor.ready() {
        if events.is_empty() {
            break;
        }
        for event in &events {
            see(event);
        }
    }
}

fn line(event: &Event) -> String {
    let verb = match (&event.previous, &event.current) {
        (None, _) => "create",
        (Some(_), Some(_)) => "update",
        (Some(_), None) => "delete",
    };
    let key = &event.record().key;
    format!(
        "{} {verb} {} {}/{}",
        event.revision,
        key.resource(),
        key.namespace(),
        key.name()
    )
}
