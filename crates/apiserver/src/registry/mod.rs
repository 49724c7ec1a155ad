//! The registry: every read and every write of every kind, over the store.
//!
//! ```text
//! decode ─▶ metadata ─▶ kind's own rules ─▶ ownership ─▶ to storage version ─▶ admission ─▶ validation ─▶ commit
//!   ▲                                                                                                     │
//!   └──────────────── again from the newest object, if another write came first ◀─────────────────────────┘
//! ```

mod create;
mod delete;
mod evict;
mod finish;
mod kinds;
mod list;
mod patch;
mod scale;
mod update;
mod watch;

use std::sync::Arc;

use arc_swap::ArcSwap;
use capstan_base::{Clock, Entropy, Timestamp};
use capstan_store::{CommitError, Key, Record, Snapshot, Store};
use serde_json::Value;

pub use delete::Deleted;
pub use list::Page;
pub use patch::PatchFormat;
pub(crate) use patch::taken;
pub use watch::{Event, EventKind, Watch};

use crate::{
    auth::Identity,
    codec::Codec,
    resource::{Resource, ResourceTable, Version},
    seams::Seams,
    wire::{
        options::WriteOptions,
        status::{ApiError, Result},
    },
};

/// The stored state and what is needed to read and write it. Shared by all requests and background loops of a server.
#[derive(Debug)]
pub struct Registry {
    store: Store,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    seams: Seams,
    resources: ArcSwap<ResourceTable>,
    /// Held over a write of a CRD and the change of the table that follows from it.
    definitions: tokio::sync::Mutex<()>,
}

/// Which part of an object a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The object itself.
    Main,
    /// Its status.
    Status,
    /// Its `autoscaling/v1` `Scale`.
    Scale,
    /// The finalizers of a namespace's content.
    Finalize,
}

impl Part {
    /// The subresource's name; empty for the object itself.
    pub fn name(self) -> &'static str {
        match self {
            Self::Main => "",
            Self::Status => "status",
            Self::Scale => "scale",
            Self::Finalize => "finalize",
        }
    }
}

/// What a request is about.
#[derive(Debug, Clone)]
pub struct Target {
    /// The resource, from the table that the request began with.
    pub resource: Arc<Resource>,
    /// Which of its versions, as an index of `resource.versions`.
    version: usize,
    /// Namespace; empty for cluster-scoped resources and for all namespaces.
    pub namespace: String,
    /// Name; empty for a collection.
    pub name: String,
    /// Which part.
    pub part: Part,
}

impl Target {
    /// `name` in `namespace` of a resource in one of its versions.
    pub fn new(resource: &Arc<Resource>, version: &str, namespace: &str, name: &str) -> Option<Self> {
        let version = resource.versions.iter().position(|it| it.name == version)?;
        Some(Self {
            resource: Arc::clone(resource),
            version,
            namespace: if resource.is_namespaced() {
                namespace.to_owned()
            } else {
                String::new()
            },
            name: name.to_owned(),
            part: Part::Main,
        })
    }

    /// The same in the storage version: how the server itself looks at objects.
    pub fn stored(resource: &Arc<Resource>, namespace: &str, name: &str) -> Option<Self> {
        Self::new(resource, &resource.storage.1, namespace, name)
    }

    /// Another part of the same object.
    #[must_use]
    pub fn part(mut self, part: Part) -> Self {
        self.part = part;
        self
    }

    /// Another object of the same collection.
    #[must_use]
    pub fn object(&self, namespace: &str, name: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            ..self.clone()
        }
    }

    /// The version.
    pub fn version(&self) -> &Version {
        &self.resource.versions[self.version]
    }

    /// `apiVersion` of the request.
    pub fn api_version(&self) -> String {
        self.resource.api_version(&self.version().name)
    }

    fn key(&self) -> Key {
        Key::new(
            self.resource.store_name.as_str(),
            self.namespace.as_str(),
            self.name.as_str(),
        )
    }

    fn not_found(&self) -> ApiError {
        ApiError::not_found(&self.resource.group, &self.resource.plural, &self.name)
    }

    fn conflict(&self, why: &str) -> ApiError {
        ApiError::conflict(&self.resource.group, &self.resource.plural, &self.name, why)
    }
}

/// Who asks, as far as writes are concerned.
#[derive(Debug, Clone, Copy)]
pub struct Caller<'a> {
    /// The user.
    pub identity: &'a Identity,
    /// The `User-Agent` header; names the field manager if the request does not.
    pub user_agent: &'a str,
}

/// A write request.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What about.
    pub target: &'a Target,
    /// Who.
    pub caller: Caller<'a>,
    /// How.
    pub options: &'a WriteOptions,
}

impl Request<'_> {
    /// The field manager.
    fn manager(&self) -> String {
        if !self.options.field_manager.is_empty() {
            return self.options.field_manager.clone();
        }
        let manager = capstan_merge::managed::manager_from_user_agent(self.caller.user_agent);
        if manager.is_empty() {
            "unknown".to_owned()
        } else {
            manager
        }
    }
}

/// The answer to a write.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// The object as it is now, in the version of the request.
    pub object: Value,
    /// Whether it is new.
    pub created: bool,
    /// What the client should know.
    pub warnings: Vec<String>,
}

/// The error for a write that lost a race.
const CONFLICT: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

/// How often a write is done again because another came first. Each loss means that another write won, so that a
/// server under load still makes progress.
const ATTEMPTS: usize = 100;

impl Registry {
    pub(crate) fn new(store: Store, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>, seams: Seams) -> Self {
        let resources = ArcSwap::from_pointee(ResourceTable::built_in());
        Self {
            store,
            clock,
            entropy,
            seams,
            resources,
            definitions: tokio::sync::Mutex::new(()),
        }
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The current time.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The source of chance.
    pub fn entropy(&self) -> &dyn Entropy {
        &*self.entropy
    }

    /// What the server calls out to.
    pub fn seams(&self) -> &Seams {
        &self.seams
    }

    /// The resource table of this moment.
    pub fn resources(&self) -> Arc<ResourceTable> {
        self.resources.load_full()
    }

    pub(crate) fn definitions(&self) -> &tokio::sync::Mutex<()> {
        &self.definitions
    }

    pub(crate) fn change_resources(&self, change: impl Fn(&ResourceTable) -> ResourceTable) {
        self.resources.rcu(|table| Arc::new(change(table)));
    }

    pub(crate) fn codec<'a>(&'a self, resource: &'a Resource) -> Codec<'a> {
        Codec {
            resource,
            converter: &*self.seams.converter,
        }
    }

    /// The record of an object.
    fn record(snapshot: &Snapshot, target: &Target) -> Result<Arc<Record>> {
        snapshot
            .get(&target.key())
            .cloned()
            .ok_or_else(|| target.not_found())
    }

    /// The object, in the version of the target, with its resourceVersion.
    ///
    /// # Errors
    /// 404, or a failed conversion.
    pub fn get(&self, target: &Target) -> Result<Value> {
        let record = Self::record(&self.store.snapshot(), target)?;
        let object = self.codec(&target.resource).read(&record, target.version())?;
        if target.part == Part::Scale {
            scale::scale_of(target, &object)
        } else {
            Ok(object)
        }
    }

    /// The encoded object, in the version of the target, with its resourceVersion.
    ///
    /// # Errors
    /// 404, or a failed conversion.
    pub fn get_encoded(&self, target: &Target) -> Result<bytes::Bytes> {
        if target.part == Part::Scale {
            return self.get(target).map(|scale| crate::codec::encode(&scale));
        }
        let record = Self::record(&self.store.snapshot(), target)?;
        self.codec(&target.resource).served(&record, target.version())
    }

    /// Whether the object is stored.
    pub fn exists(&self, target: &Target) -> bool {
        self.store.snapshot().get(&target.key()).is_some()
    }
}

/// A commit's failure as an API error; a lost race is told apart by [`lost_race`].
fn commit_error(target: &Target, error: &CommitError) -> ApiError {
    match error {
        CommitError::Exists { .. } => {
            ApiError::already_exists(&target.resource.group, &target.resource.plural, &target.name)
        }
        CommitError::Absent { .. } => target.not_found(),
        CommitError::Conflict { .. } => target.conflict(CONFLICT),
        CommitError::Durable { .. } | CommitError::Closed => {
            tracing::error!(error = %error, "commit failed");
            ApiError::internal(error)
        }
    }
}

/// Whether a commit failed because another write to the same object came first.
fn lost_race(error: &CommitError) -> bool {
    matches!(error, CommitError::Conflict { .. } | CommitError::Absent { .. })
}
