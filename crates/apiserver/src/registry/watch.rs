//! Watches: cursors over the store's history, as events in the version of the request.
//! Source: apiserver `pkg/storage/cacher`, `pkg/endpoints/handlers/watch.go`.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::Bytes;
use capstan_store::{Cursor, Record};
use serde_json::{Value, json};
use tokio::time::{Instant, Interval, MissedTickBehavior, Sleep};

use super::{Registry, Target};
use crate::{
    codec::encode,
    object::MetaMut,
    wire::{
        options::ListOptions,
        status::{ApiError, Result},
    },
};

/// How often a quiet watch tells its position.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);
/// The shortest life of a watch whose client names none; twice this is the longest.
const MIN_TIMEOUT: u64 = 1800;
/// Marks the end of the initial events.
const INITIAL_END: &str = "k8s.io/initial-events-end";

/// What happened to an object, from the point of view of a selector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// It came into view.
    Added,
    /// It changed.
    Modified,
    /// It went out of view.
    Deleted,
    /// Nothing: how far the watch is.
    Bookmark,
    /// The watch is over; the object is a Status.
    Error,
}

impl EventKind {
    /// As on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
            Self::Bookmark => "BOOKMARK",
            Self::Error => "ERROR",
        }
    }
}

/// One event of a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// The encoded object, in the version of the request.
    pub object: Bytes,
}

/// A running watch. It is pulled: a client that does not read costs nothing but its place in the history.
#[derive(Debug)]
pub struct Watch {
    registry: Arc<Registry>,
    target: Target,
    options: ListOptions,
    pending: VecDeque<Event>,
    cursor: Option<Cursor>,
    deadline: std::pin::Pin<Box<Sleep>>,
    bookmarks: Option<Interval>,
}

impl Registry {
    /// Starts a watch.
    ///
    /// # Errors
    /// A revision that has not happened yet. A revision that is too old is told by the first event.
    pub fn watch(self: &Arc<Self>, target: &Target, options: ListOptions) -> Result<Watch> {
        let snapshot = self.store.snapshot();
        let asked = options.resource_version.unwrap_or(0);
        if asked > snapshot.revision() {
            return Err(ApiError::resource_version_too_large(asked, snapshot.revision()));
        }
        let seconds = options.timeout_seconds.filter(|seconds| *seconds > 0);
        let seconds = seconds.unwrap_or_else(|| MIN_TIMEOUT + self.entropy.number() % MIN_TIMEOUT);
        let deadline = Instant::now() + Duration::from_secs(seconds);
        let bookmarks = options.allow_bookmarks.then(|| {
            let mut interval = tokio::time::interval_at(Instant::now() + BOOKMARK_EVERY, BOOKMARK_EVERY);
            interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
            interval
        });
        let mut watch = Watch {
            registry: Arc::clone(self),
            target: target.clone(),
            options,
            pending: VecDeque::new(),
            cursor: None,
            deadline: Box::pin(tokio::time::sleep_until(deadline)),
            bookmarks,
        };
        let namespace = (!target.namespace.is_empty()).then_some(target.namespace.as_str());
        let resource = target.resource.store_name.as_str();
        let initial = watch.options.send_initial_events.unwrap_or(false);
        let from = if initial { snapshot.revision() } else { asked };
        match self.store.watch(resource, namespace, from) {
            Ok(cursor) => watch.cursor = Some(cursor),
            Err(_) => watch.fail(&too_old(asked)),
        }
        if initial {
            for record in snapshot.range(resource, namespace) {
                if self.selects(target, &watch.options, record) {
                    watch.push(
                        EventKind::Added,
                        self.codec(&target.resource).served(record, target.version()),
                    );
                }
            }
            if watch.options.allow_bookmarks {
                watch.pending.push_back(watch.bookmark(snapshot.revision(), true));
            }
        }
        Ok(watch)
    }
}

fn too_old(asked: u64) -> ApiError {
    ApiError::expired(format!("too old resource version: {asked}"))
}

impl Watch {
    /// What is watched.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The current time.
    pub fn now(&self) -> capstan_base::Timestamp {
        self.registry.now()
    }

    /// The next events, at least one; nothing when the watch is over.
    pub async fn next(&mut self) -> Option<Vec<Event>> {
        loop {
            if !self.pending.is_empty() {
                return Some(self.pending.drain(..).collect());
            }
            let cursor = self.cursor.as_mut()?;
            let bookmarks = &mut self.bookmarks;
            let tick = async {
                match bookmarks {
                    Some(interval) => {
                        interval.tick().await;
                    }
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                events = cursor.next() => match events {
                    Ok(events) => events.iter().for_each(|event| self.translate(event)),
                    Err(error) => self.fail(&too_old(error.requested)),
                },
                () = &mut self.deadline => {
                    let position = cursor.position();
                    self.cursor = None;
                    if self.options.allow_bookmarks {
                        self.pending.push_back(self.bookmark(position, false));
                    }
                }
                () = tick => {
                    let position = cursor.position();
                    self.pending.push_back(self.bookmark(position, false));
                }
            }
        }
    }

    /// What a write means to this watch.
    fn translate(&mut self, event: &capstan_store::Event) {
        let selects = |record: &Option<Arc<Record>>| {
            record
                .clone()
                .filter(|record| self.registry.selects(&self.target, &self.options, record))
        };
        let (old, new) = (selects(&event.previous), selects(&event.current));
        let codec = self.registry.codec(&self.target.resource);
        let version = self.target.version();
        match (old, new) {
            (None, None) => {}
            (None, Some(new)) => {
                let object = codec.served(&new, version);
                self.push(EventKind::Added, object);
            }
            (Some(_), Some(new)) => {
                let object = codec.served(&new, version);
                self.push(EventKind::Modified, object);
            }
            (Some(old), None) => {
                // The last state that was seen, at the revision at which it went.
                let object = codec.read(&old, version).map(|mut object| {
                    MetaMut::of(&mut object).set("resourceVersion", event.revision.to_string());
                    encode(&object)
                });
                self.push(EventKind::Deleted, object);
            }
        }
    }

    fn push(&mut self, kind: EventKind, object: Result<Bytes>) {
        match object {
            Ok(object) => self.pending.push_back(Event { kind, object }),
            Err(error) => self.fail(&error),
        }
    }

    /// Ends the watch with an error event.
    fn fail(&mut self, error: &ApiError) {
        self.cursor = None;
        self.pending.push_back(Event {
            kind: EventKind::Error,
            object: encode(&error.to_status()),
        });
    }

    fn bookmark(&self, revision: u64, initial_end: bool) -> Event {
        let mut object: Value = json!({
            "apiVersion": self.target.api_version(),
            "kind": self.target.resource.kind,
            "metadata": { "resourceVersion": revision.to_string(), "creationTimestamp": null },
        });
        if initial_end {
            object["metadata"]["annotations"] = json!({ INITIAL_END: "true" });
        }
        Event {
            kind: EventKind::Bookmark,
            object: encode(&object),
        }
    }
}
