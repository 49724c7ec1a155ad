//! Events on objects: written beside the pass, folded when they repeat, never the reason that a pass fails.

use std::{collections::BTreeMap, sync::Arc};

use capstan_base::{Clock, naming};
use k8s_openapi::{
    api::core::v1::{Event, EventSource, ObjectReference},
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time},
};
use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
};
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::mpsc;

use crate::object::ObjectRef;

/// The two kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// The world changed because of us.
    Normal,
    /// Something is wrong that somebody may have to look at.
    Warning,
}

impl EventKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

struct Note {
    object: ObjectRef,
    kind: EventKind,
    reason: String,
    message: String,
    component: String,
}

/// Publishes events on behalf of one controller.
#[derive(Clone)]
pub struct Recorder {
    notes: mpsc::Sender<Note>,
    component: String,
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder")
            .field("component", &self.component)
            .finish_non_exhaustive()
    }
}

/// How many events may wait to be written; further ones are dropped, as upstream's broadcaster does.
const BACKLOG: usize = 1000;
/// How many distinct events are remembered for folding.
const REMEMBERED: usize = 4096;

impl Recorder {
    /// Starts the writer task and returns a recorder for `component`.
    pub(crate) fn start(client: Client, clock: Arc<dyn Clock>, component: &str) -> Self {
        let (notes, inbox) = mpsc::channel(BACKLOG);
        tokio::spawn(write_all(client, clock, inbox));
        Self {
            notes,
            component: component.to_owned(),
        }
    }

    /// The same recorder under another component name.
    pub(crate) fn for_component(&self, component: &str) -> Self {
        Self {
            notes: self.notes.clone(),
            component: component.to_owned(),
        }
    }

    /// Publishes an event. Never blocks and never fails: an event that cannot be written is logged and dropped.
    pub fn publish(&self, object: &ObjectRef, kind: EventKind, reason: &str, message: impl Into<String>) {
        let note = Note {
            object: object.clone(),
            kind,
            reason: reason.to_owned(),
            message: message.into(),
            component: self.component.clone(),
        };
        if let Err(error) = self.notes.try_send(note) {
            tracing::debug!(error = %error, object = %object, reason, "event dropped");
        }
    }
}

/// An event that was written: its name and how often it happened.
struct Written {
    name: String,
    count: i32,
}

async fn write_all(client: Client, clock: Arc<dyn Clock>, mut inbox: mpsc::Receiver<Note>) {
    let written: Mutex<BTreeMap<String, Written>> = Mutex::default();
    while let Some(note) = inbox.recv().await {
        let id = [
            note.object.uid.as_str(),
            note.kind.as_str(),
            &note.reason,
            &note.message,
            &note.component,
        ]
        .join("\n");
        let known = written.lock().get(&id).map(|it| (it.name.clone(), it.count));
        let outcome = match known {
            Some((name, count)) => repeat(&client, &*clock, &note, &name, count + 1)
                .await
                .map(|()| (name, count + 1)),
            None => first(&client, &*clock, &note, &id).await.map(|name| (name, 1)),
        };
        let mut written = written.lock();
        match outcome {
            Ok((name, count)) => {
                if written.len() >= REMEMBERED {
                    written.pop_first();
                }
                written.insert(id, Written { name, count });
            }
            Err(error) => {
                written.remove(&id);
                tracing::debug!(error = %error, object = %note.object, reason = note.reason, "failed to write event");
            }
        }
    }
}

fn namespace(note: &Note) -> &str {
    if note.object.key.namespace.is_empty() {
        "default"
    } else {
        &note.object.key.namespace
    }
}

async fn first(client: &Client, clock: &dyn Clock, note: &Note, id: &str) -> Result<String, kube::Error> {
    let now = clock.now();
    let suffix = naming::stable_suffix(&[id, &now.to_string()], 10);
    let name = naming::with_suffix(&note.object.key.name, &suffix, 253);
    let event = Event {
        metadata: ObjectMeta {
            name: Some(name.clone()),
            namespace: Some(namespace(note).to_owned()),
            ..ObjectMeta::default()
        },
        involved_object: ObjectReference {
            api_version: Some(note.object.api_version.clone()),
            kind: Some(note.object.kind.clone()),
            name: Some(note.object.key.name.clone()),
            namespace: Some(note.object.key.namespace.clone()).filter(|it| !it.is_empty()),
            uid: Some(note.object.uid.clone()).filter(|it| !it.is_empty()),
            ..ObjectReference::default()
        },
        type_: Some(note.kind.as_str().to_owned()),
        reason: Some(note.reason.clone()),
        message: Some(note.message.clone()),
        count: Some(1),
        first_timestamp: Some(Time(now)),
        last_timestamp: Some(Time(now)),
        source: Some(EventSource {
            component: Some(note.component.clone()),
            host: None,
        }),
        reporting_component: Some(note.component.clone()),
        ..Event::default()
    };
    Api::namespaced(client.clone(), namespace(note))
        .create(&PostParams::default(), &event)
        .await?;
    Ok(name)
}

async fn repeat(
    client: &Client,
    clock: &dyn Clock,
    note: &Note,
    name: &str,
    count: i32,
) -> Result<(), kube::Error> {
    let patch = json!({ "count": count, "lastTimestamp": Time(clock.now()) });
    let events: Api<Event> = Api::namespaced(client.clone(), namespace(note));
    events
        .patch(name, &PatchParams::default(), &Patch::Merge(patch))
        .await?;
    Ok(())
}
