//! A shared, indexed cache of one kind, fed by one list and watch, that knows how far it has seen.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::TryStreamExt;
use kube::{
    Client, Resource, ResourceExt,
    api::{ListParams, WatchEvent, WatchParams},
    core::{ObjectList, Request},
};
use parking_lot::{Mutex, RwLock};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::Value;
use tokio::sync::Notify;

use crate::object::ObjectKey;

/// What a kind must be to be cached.
pub trait Cached: Resource + Clone + Debug + DeserializeOwned + Send + Sync + 'static {}
impl<K: Resource + Clone + Debug + DeserializeOwned + Send + Sync + 'static> Cached for K {}

/// One change of a cached object.
#[derive(Debug, Clone)]
pub struct Change<K> {
    /// The object before, none if it is new to the cache.
    pub before: Option<Arc<K>>,
    /// The object after, none if it is gone.
    pub after: Option<Arc<K>>,
}

impl<K> Change<K> {
    /// The newest state that is known: after, or the last one before it went.
    pub fn latest(&self) -> Option<&Arc<K>> {
        self.after.as_ref().or(self.before.as_ref())
    }
}

/// Where a cache reads from.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// Only objects with these labels; everything if none.
    pub label_selector: Option<String>,
    /// Only objects of this namespace; all namespaces if none.
    pub namespace: Option<String>,
}

type Subscriber<K> = Box<dyn Fn(&Change<K>) + Send + Sync>;
type IndexFunction<K> = Arc<dyn Fn(&K) -> Vec<String> + Send + Sync>;

struct Index<K> {
    keys_of: IndexFunction<K>,
    entries: BTreeMap<String, BTreeSet<ObjectKey>>,
}

struct State<K> {
    objects: BTreeMap<ObjectKey, Arc<K>>,
    indexes: BTreeMap<&'static str, Index<K>>,
}

struct Inner<K: Resource> {
    kind: K::DynamicType,
    source: Source,
    state: RwLock<State<K>>,
    subscribers: Mutex<Vec<Subscriber<K>>>,
    /// The newest revision seen; 0 until the first list is in.
    seen: AtomicU64,
    /// Wakes those who wait for a revision, first come first served: a tokio watch channel wakes in a random order,
    /// which a simulation could not repeat.
    moved: Notify,
    task: Mutex<Option<tokio::task::AbortHandle>>,
}

impl<K: Resource> Drop for Inner<K> {
    fn drop(&mut self) {
        if let Some(task) = self.task.lock().take() {
            task.abort();
        }
    }
}

/// A shared view of all objects of one kind. Clones see the same cache.
///
/// # Guarantees
/// Changes reach subscribers in the server's order, after they are readable. A revision counts as seen only when every
/// change up to it is readable. managedFields are dropped on the way in.
pub struct Cache<K: Resource>(Arc<Inner<K>>);

impl<K: Resource> Clone for Cache<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: Resource> Debug for Cache<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache")
            .field("kind", &K::kind(&self.0.kind))
            .finish_non_exhaustive()
    }
}

impl<K: Cached> Cache<K>
where
    K::DynamicType: Clone,
{
    /// An empty cache that is not fed yet.
    pub fn new(kind: K::DynamicType, source: Source) -> Self {
        Self(Arc::new(Inner {
            kind,
            source,
            state: RwLock::new(State {
                objects: BTreeMap::new(),
                indexes: BTreeMap::new(),
            }),
            subscribers: Mutex::new(Vec::new()),
            seen: AtomicU64::new(0),
            moved: Notify::new(),
            task: Mutex::new(None),
        }))
    }

    /// Starts to feed the cache through `client`, once; later calls change nothing. The feed ends with the last clone.
    pub fn start(&self, client: &Client) {
        let mut task = self.0.task.lock();
        if task.is_none() {
            let feed = feed(Arc::downgrade(&self.0), client.clone());
            *task = Some(tokio::spawn(feed).abort_handle());
        }
    }

    /// Stops the feed. What is cached stays readable.
    pub fn stop(&self) {
        if let Some(task) = self.0.task.lock().take() {
            task.abort();
        }
    }

    /// Adds an index; an index of the same name stays as it is. May be called at any time.
    pub fn index(
        &self,
        name: &'static str,
        keys_of: impl Fn(&K) -> Vec<String> + Send + Sync + 'static,
    ) -> &Self {
        let mut state = self.0.state.write();
        if !state.indexes.contains_key(name) {
            let mut index = Index {
                keys_of: Arc::new(keys_of),
                entries: BTreeMap::new(),
            };
            for (key, object) in &state.objects {
                index.insert(key, object);
            }
            state.indexes.insert(name, index);
        }
        self
    }

    /// Adds the index [`Cache::OWNER`]: owner UID → objects that name it in their ownerReferences.
    pub fn index_by_owner(&self) -> &Self {
        self.index(Self::OWNER, |object| {
            object
                .owner_references()
                .iter()
                .map(|it| it.uid.clone())
                .collect()
        })
    }

    /// The name of the owner index.
    pub const OWNER: &'static str = "owner";

    /// Calls `subscriber` on every change from now on, and once for each object that is cached already.
    pub fn subscribe(&self, subscriber: impl Fn(&Change<K>) + Send + Sync + 'static) {
        let mut subscribers = self.0.subscribers.lock();
        let present: Vec<Arc<K>> = self.0.state.read().objects.values().cloned().collect();
        for object in present {
            subscriber(&Change {
                before: None,
                after: Some(object),
            });
        }
        subscribers.push(Box::new(subscriber));
    }

    /// One object.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.0.state.read().objects.get(key).cloned()
    }

    /// All objects, by namespace and name.
    pub fn all(&self) -> Vec<Arc<K>> {
        self.0.state.read().objects.values().cloned().collect()
    }

    /// All objects of one namespace, by name.
    pub fn in_namespace(&self, namespace: &str) -> Vec<Arc<K>> {
        let start = ObjectKey::new(namespace, "");
        let state = self.0.state.read();
        let range = state.objects.range(start..);
        range
            .take_while(|(key, _)| key.namespace == namespace)
            .map(|(_, it)| Arc::clone(it))
            .collect()
    }

    /// The objects that an index lists under `value`, by namespace and name. Empty for an index that was never added.
    pub fn by_index(&self, name: &str, value: &str) -> Vec<Arc<K>> {
        let state = self.0.state.read();
        let keys = state.indexes.get(name).and_then(|it| it.entries.get(value));
        keys.into_iter()
            .flatten()
            .filter_map(|key| state.objects.get(key).cloned())
            .collect()
    }

    /// The objects that name `uid` as an owner. Needs [`Cache::index_by_owner`].
    pub fn owned_by(&self, uid: &str) -> Vec<Arc<K>> {
        self.by_index(Self::OWNER, uid)
    }

    /// The newest revision up to which everything is readable here; 0 before the first list.
    pub fn seen(&self) -> u64 {
        self.0.seen.load(Ordering::SeqCst)
    }

    /// Has the first list arrived?
    pub fn is_synced(&self) -> bool {
        self.seen() > 0
    }

    /// Waits until everything up to `revision` is readable here.
    pub async fn reached(&self, revision: u64) {
        loop {
            let mut moved = pin!(self.0.moved.notified());
            moved.as_mut().enable();
            if self.seen() >= revision.max(1) {
                return;
            }
            moved.await;
        }
    }

    /// Waits for the first list.
    pub async fn synced(&self) {
        self.reached(1).await;
    }

    /// The kind's run-time type.
    pub fn kind(&self) -> &K::DynamicType {
        &self.0.kind
    }
}

impl<K> Index<K> {
    fn insert(&mut self, key: &ObjectKey, object: &K) {
        for value in (self.keys_of)(object) {
            self.entries.entry(value).or_default().insert(key.clone());
        }
    }

    fn remove(&mut self, key: &ObjectKey, object: &K) {
        for value in (self.keys_of)(object) {
            if let Some(keys) = self.entries.get_mut(&value) {
                keys.remove(key);
                if keys.is_empty() {
                    self.entries.remove(&value);
                }
            }
        }
    }
}

impl<K> State<K> {
    fn put(&mut self, key: &ObjectKey, object: &Arc<K>) -> Option<Arc<K>> {
        let before = self.objects.insert(key.clone(), Arc::clone(object));
        for index in self.indexes.values_mut() {
            if let Some(before) = &before {
                index.remove(key, before);
            }
            index.insert(key, object);
        }
        before
    }

    fn take(&mut self, key: &ObjectKey) -> Option<Arc<K>> {
        let before = self.objects.remove(key)?;
        for index in self.indexes.values_mut() {
            index.remove(key, &before);
        }
        Some(before)
    }
}

impl<K: Cached> Inner<K> {
    fn apply(&self, mut object: K) -> Change<K> {
        object.meta_mut().managed_fields = None;
        let key = ObjectKey::of(&object);
        let after = Arc::new(object);
        let before = self.state.write().put(&key, &after);
        Change {
            before,
            after: Some(after),
        }
    }

    fn remove(&self, key: &ObjectKey) -> Option<Change<K>> {
        let before = self.state.write().take(key)?;
        Some(Change {
            before: Some(before),
            after: None,
        })
    }

    fn publish(&self, change: &Change<K>) {
        for subscriber in self.subscribers.lock().iter() {
            subscriber(change);
        }
    }

    /// Replaces everything by a fresh list and publishes what differs.
    fn replace(&self, items: Vec<K>) {
        let listed: BTreeSet<ObjectKey> = items.iter().map(ObjectKey::of).collect();
        let gone: Vec<ObjectKey> = self
            .state
            .read()
            .objects
            .keys()
            .filter(|key| !listed.contains(key))
            .cloned()
            .collect();
        let mut changes: Vec<Change<K>> = gone.iter().filter_map(|key| self.remove(key)).collect();
        for item in items {
            let change = self.apply(item);
            let same = |before: &Arc<K>, after: &Arc<K>| {
                before.resource_version() == after.resource_version() && before.uid() == after.uid()
            };
            let unchanged =
                matches!((&change.before, &change.after), (Some(before), Some(after)) if same(before, after));
            if !unchanged {
                changes.push(change);
            }
        }
        for change in &changes {
            self.publish(change);
        }
    }

    fn saw(&self, revision: Option<String>) {
        let Some(revision) = revision.and_then(|it| it.parse::<u64>().ok()) else {
            return;
        };
        if self.seen.fetch_max(revision, Ordering::SeqCst) < revision {
            self.moved.notify_waiters();
        }
    }

    fn request(&self) -> Request {
        Request::new(K::url_path(&self.kind, self.source.namespace.as_deref()))
    }
}

/// Why the watch has to be started anew.
enum Broken {
    /// The server no longer holds the revision: list again.
    Expired,
    /// The connection ended: watch again from the last revision.
    Ended,
    /// A failure: wait, then watch again.
    Failed(kube::Error),
}

/// The pause before the feed tries again after a failure.
const RETRY: Duration = Duration::from_millis(500);

async fn feed<K: Cached>(cache: std::sync::Weak<Inner<K>>, client: Client)
where
    K::DynamicType: Clone,
{
    let mut revision: Option<String> = None;
    loop {
        let Some(inner) = cache.upgrade() else { return };
        let kind = K::kind(&inner.kind).into_owned();
        let from = match revision.take() {
            Some(revision) => revision,
            None => match list(&inner, &client).await {
                Ok(listed) => listed,
                Err(error) => {
                    drop(inner);
                    tracing::warn!(kind, error = %error, "failed to list, will try again");
                    tokio::time::sleep(RETRY).await;
                    continue;
                }
            },
        };
        let request = inner.request();
        let selector = inner.source.label_selector.clone();
        drop(inner);
        let mut last = from.clone();
        match follow::<K>(&cache, &client, &request, selector, &mut last).await {
            Broken::Expired => {}
            Broken::Ended => revision = Some(last),
            Broken::Failed(error) => {
                tracing::warn!(kind, error = %error, "watch broke, will resume");
                tokio::time::sleep(RETRY).await;
                revision = Some(last);
            }
        }
    }
}

/// Lists everything in pages and returns the list's revision. An object that the kind's type cannot hold is left out
/// and told: the others go on.
async fn list<K: Cached>(inner: &Inner<K>, client: &Client) -> Result<String, kube::Error> {
    let mut items = Vec::new();
    let mut page = ListParams {
        label_selector: inner.source.label_selector.clone(),
        ..ListParams::default()
    }
    .limit(500);
    loop {
        let request = inner.request();
        let request = if K::metadata_api() {
            request.list_metadata(&page)
        } else {
            request.list(&page)
        };
        let request = request.map_err(kube::Error::BuildRequest)?;
        let listed: ObjectList<Readable<K>> = client.request(request).await?;
        items.extend(listed.items.into_iter().filter_map(|it| it.told(&inner.kind)));
        if let Some(token) = listed.metadata.continue_.filter(|it| !it.is_empty()) {
            page = page.continue_token(&token);
            continue;
        }
        inner.replace(items);
        inner.saw(listed.metadata.resource_version.clone());
        return Ok(listed.metadata.resource_version.unwrap_or_default());
    }
}

/// An object of a list, or which one it is and why it cannot be read.
#[derive(Clone)]
enum Readable<K> {
    Yes(Box<K>),
    No { key: ObjectKey, problem: String },
}

impl<'de, K: DeserializeOwned> Deserialize<'de> for Readable<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Ok(match K::deserialize(&value) {
            Ok(object) => Self::Yes(Box::new(object)),
            Err(error) => {
                let name = |field: &str| value["metadata"][field].as_str().unwrap_or_default().to_owned();
                Self::No {
                    key: ObjectKey::new(name("namespace"), name("name")),
                    problem: error.to_string(),
                }
            }
        })
    }
}

impl<K: Resource> Readable<K> {
    /// The object; if it cannot be read, that is told.
    fn told(self, kind: &K::DynamicType) -> Option<K> {
        match self {
            Self::Yes(object) => Some(*object),
            Self::No { key, problem } => {
                let kind = K::kind(kind).into_owned();
                tracing::error!(kind, object = %key, problem, "object cannot be read and is left alone; correct or delete it");
                None
            }
        }
    }
}

/// Follows the watch until it breaks; `last` is the revision to resume from.
async fn follow<K: Cached>(
    cache: &std::sync::Weak<Inner<K>>,
    client: &Client,
    request: &Request,
    label_selector: Option<String>,
    last: &mut String,
) -> Broken {
    let params = WatchParams {
        label_selector,
        bookmarks: true,
        ..WatchParams::default()
    };
    let built = if K::metadata_api() {
        request.watch_metadata(&params, last)
    } else {
        request.watch(&params, last)
    };
    let request = match built {
        Ok(request) => request,
        Err(error) => return Broken::Failed(kube::Error::BuildRequest(error)),
    };
    let stream = match client.request_events::<K>(request).await {
        Ok(stream) => stream,
        Err(kube::Error::Api(status)) if status.code == 410 => return Broken::Expired,
        Err(error) => return Broken::Failed(error),
    };
    let mut stream = pin!(stream);
    loop {
        let event = match stream.try_next().await {
            Ok(Some(event)) => event,
            Ok(None) => return Broken::Ended,
            // An object that cannot be read: the list leaves it out. The client may take such an event for a Status that
            // says nothing.
            Err(kube::Error::SerdeError(_)) => return Broken::Expired,
            Err(kube::Error::Api(status)) if status.code == 0 => return Broken::Expired,
            Err(error) => return Broken::Failed(error),
        };
        let Some(inner) = cache.upgrade() else {
            return Broken::Ended;
        };
        let (change, revision) = match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                let revision = object.resource_version();
                (Some(inner.apply(object)), revision)
            }
            WatchEvent::Deleted(object) => (inner.remove(&ObjectKey::of(&object)), object.resource_version()),
            WatchEvent::Bookmark(bookmark) => (None, Some(bookmark.metadata.resource_version)),
            WatchEvent::Error(status) if status.code == 410 => return Broken::Expired,
            WatchEvent::Error(status) => return Broken::Failed(kube::Error::Api(status)),
        };
        if let Some(revision) = &revision {
            last.clone_from(revision);
        }
        // Subscribers hear of the change after it is readable and before it counts as seen, so that a pass
        // waiting at the barrier finds its queue entry already made.
        if let Some(change) = &change {
            inner.publish(change);
        }
        inner.saw(revision);
    }
}
