//! What is memoised with every stored record: its labels, and its encodings in the versions that were asked for.

use std::sync::Arc;

use bytes::Bytes;
use capstan_store::Record;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The memo of one record.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    labels: Option<Map<String, Value>>,
    /// By the id of the schema of the version.
    served: Mutex<Vec<(u64, Bytes)>>,
}

#[derive(Deserialize, Default)]
struct Envelope {
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize, Default)]
struct Metadata {
    #[serde(default)]
    labels: Option<Map<String, Value>>,
}

impl Stored {
    /// The memo of `record`.
    pub(crate) fn of(record: &Record) -> Arc<Self> {
        record.cached(|bytes| {
            let envelope: Envelope = serde_json::from_slice(bytes).unwrap_or_default();
            Self {
                labels: envelope.metadata.labels,
                served: Mutex::default(),
            }
        })
    }

    /// The labels.
    pub(crate) fn labels(&self) -> Option<&Map<String, Value>> {
        self.labels.as_ref()
    }

    /// The encoding under the schema of that id.
    pub(crate) fn served(&self, id: u64) -> Option<Bytes> {
        self.served
            .lock()
            .iter()
            .find(|(it, _)| *it == id)
            .map(|(_, bytes)| bytes.clone())
    }

    /// Keeps an encoding. A few are enough: one per version, and per change of its schema.
    pub(crate) fn keep(&self, id: u64, bytes: Bytes) {
        let mut served = self.served.lock();
        if served.len() >= 4 {
            served.remove(0);
        }
        served.push((id, bytes));
    }
}
