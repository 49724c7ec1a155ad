//! Events are kept for an hour.

use std::{sync::Arc, time::Duration};

use super::built_in;
use crate::{object::Meta, registry::Registry, wire::options::DeleteOptions};

const KEEP: Duration = Duration::from_secs(3600);
const EVERY: Duration = Duration::from_secs(300);

/// Removes old events for ever.
pub(super) async fn run(registry: Arc<Registry>) {
    loop {
        tokio::time::sleep(EVERY).await;
        let snapshot = registry.store().snapshot();
        let now = registry.now().as_second();
        for record in snapshot.range("core/events", None) {
            let event: serde_json::Value = serde_json::from_slice(&record.value).unwrap_or_default();
            let times = [
                event["series"]["lastObservedTime"].as_str(),
                event["lastTimestamp"].as_str(),
                event["eventTime"].as_str(),
                Some(Meta::of(&event).creation_timestamp()),
            ];
            let last = times
                .into_iter()
                .flatten()
                .filter_map(|text| text.parse::<jiff::Timestamp>().ok())
                .max();
            let keep = i64::try_from(KEEP.as_secs()).unwrap_or(i64::MAX);
            if last.is_some_and(|last| now - last.as_second() < keep) {
                continue;
            }
            let target = built_in(&registry, "", "events", record.key.namespace(), record.key.name());
            if let Some(target) = target
                && let Err(error) = registry
                    .remove(&target, "event-ttl", &DeleteOptions::default())
                    .await
            {
                tracing::debug!(%error, "failed to remove an old event");
            }
        }
    }
}
