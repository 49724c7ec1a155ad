//! The garbage collector: objects whose owners are gone go too, owners that are deleted in the foreground wait for
//! their dependents, orphans lose their owner references.
//! Source: kubernetes `pkg/controller/garbagecollector`.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use capstan_store::{Key, Record};
use serde_json::Value;

use super::{RETRY, resource_of};
use crate::{
    object::{
        Meta, MetaMut, OwnerReference,
        metadata::{FOREGROUND_FINALIZER, ORPHAN_FINALIZER},
    },
    registry::{Registry, Target},
    wire::{
        options::{DeleteOptions, Propagation},
        status::Result,
    },
};

const MANAGER: &str = "garbage-collector";

/// Who depends on whom, by UID of the owner. Follows the store; decisions read the objects again.
#[derive(Debug, Default)]
struct Graph {
    dependents: BTreeMap<String, BTreeSet<Key>>,
    owners: BTreeMap<Key, BTreeSet<String>>,
}

impl Graph {
    fn set(&mut self, key: &Key, owners: BTreeSet<String>) {
        for owner in self.owners.remove(key).into_iter().flatten() {
            if let Some(dependents) = self.dependents.get_mut(&owner) {
                dependents.remove(key);
                if dependents.is_empty() {
                    self.dependents.remove(&owner);
                }
            }
        }
        for owner in &owners {
            self.dependents
                .entry(owner.clone())
                .or_default()
                .insert(key.clone());
        }
        if !owners.is_empty() {
            self.owners.insert(key.clone(), owners);
        }
    }

    fn dependents(&self, uid: &str) -> Vec<Key> {
        self.dependents.get(uid).into_iter().flatten().cloned().collect()
    }
}

/// What the owners of an object are to it.
#[derive(Default)]
struct Owners {
    /// There, and staying.
    solid: Vec<OwnerReference>,
    /// Gone, or another object of the same name.
    dangling: Vec<OwnerReference>,
    /// There, and waiting for this object.
    waiting: Vec<OwnerReference>,
}

struct Collector {
    registry: Arc<Registry>,
    graph: Graph,
    queue: BTreeSet<Key>,
    /// Objects whose owners are of a kind that is not served (yet): never deleted, looked at again when kinds change.
    unknown: BTreeSet<Key>,
}

/// Collects garbage for ever.
pub(super) async fn run(registry: Arc<Registry>) {
    loop {
        let mut collector = Collector {
            registry: Arc::clone(&registry),
            graph: Graph::default(),
            queue: BTreeSet::new(),
            unknown: BTreeSet::new(),
        };
        collector.follow().await;
    }
}

impl Collector {
    /// Reads everything, then follows the store until its history is lost.
    async fn follow(&mut self) {
        let store = self.registry.store().clone();
        let snapshot = store.snapshot();
        let Ok(mut cursor) = store.watch_all(snapshot.revision()) else {
            return;
        };
        let resources: Vec<String> = snapshot
            .counts()
            .map(|(resource, _)| resource.to_owned())
            .collect();
        for resource in &resources {
            for record in snapshot.range(resource, None) {
                self.see(record);
            }
        }
        loop {
            let failed = self.work().await;
            let events = if failed.is_empty() {
                cursor.next().await
            } else {
                tokio::select! {
                    biased;
                    events = cursor.next() => events,
                    () = tokio::time::sleep(RETRY) => Ok(Vec::new()),
                }
            };
            self.queue.extend(failed);
            let Ok(events) = events else { return };
            for event in events {
                match (&event.previous, &event.current) {
                    (_, Some(current)) => self.see(current),
                    (Some(previous), None) => self.gone(previous),
                    (None, None) => {}
                }
                if event.key().resource() == crate::crd::STORE_NAME {
                    self.queue.append(&mut self.unknown);
                }
            }
        }
    }

    fn see(&mut self, record: &Record) {
        let object: Value = serde_json::from_slice(&record.value).unwrap_or_default();
        let meta = Meta::of(&object);
        let owners: BTreeSet<String> = meta
            .owner_references()
            .into_iter()
            .map(|owner| owner.uid)
            .collect();
        let is_owned = !owners.is_empty();
        self.graph.set(&record.key, owners);
        let has_work = meta.has_finalizer(FOREGROUND_FINALIZER) || meta.has_finalizer(ORPHAN_FINALIZER);
        if is_owned || (has_work && meta.deletion_timestamp().is_some()) {
            self.queue.insert(record.key.clone());
        }
    }

    fn gone(&mut self, record: &Record) {
        let object: Value = serde_json::from_slice(&record.value).unwrap_or_default();
        let meta = Meta::of(&object);
        self.unknown.remove(&record.key);
        self.queue.extend(self.graph.dependents(meta.uid()));
        self.graph.set(&record.key, BTreeSet::new());
        // Owners that wait for this object may go now.
        for owner in meta.owner_references() {
            if let Some(key) = self.owner_key(&record.key, &owner) {
                self.queue.insert(key);
            }
        }
    }

    /// Works the queue off. Returns what has to be tried again.
    async fn work(&mut self) -> BTreeSet<Key> {
        let mut failed = BTreeSet::new();
        while let Some(key) = self.queue.pop_first() {
            match self.process(&key).await {
                Ok(()) => {}
                Err(error) if error.is_not_found() => {}
                Err(error) if error.is_conflict() => {
                    // Someone wrote the object meanwhile; that write is an event of its own.
                    failed.insert(key);
                }
                Err(error) => {
                    tracing::warn!(%error, object = %key, "garbage collection of an object failed");
                    failed.insert(key);
                }
            }
        }
        failed
    }

    async fn process(&mut self, key: &Key) -> Result<()> {
        let snapshot = self.registry.store().snapshot();
        let Some(record) = snapshot.get(key) else {
            return Ok(());
        };
        let object: Value = serde_json::from_slice(&record.value).unwrap_or_default();
        let meta = Meta::of(&object);
        let Some(target) = self.target(key) else {
            return Ok(());
        };
        if meta.deletion_timestamp().is_some() {
            if meta.has_finalizer(ORPHAN_FINALIZER) {
                return self.orphan(&target, meta.uid()).await;
            }
            if meta.has_finalizer(FOREGROUND_FINALIZER) {
                return self.foreground(&target, meta.uid()).await;
            }
            return Ok(());
        }
        let Some(owners) = self.classify(key, meta) else {
            self.unknown.insert(key.clone());
            return Ok(());
        };
        let Owners {
            solid,
            dangling,
            waiting,
        } = owners;
        if dangling.is_empty() && waiting.is_empty() {
            return Ok(());
        }
        if !solid.is_empty() {
            let lost: Vec<String> = dangling
                .into_iter()
                .chain(waiting)
                .map(|owner| owner.uid)
                .collect();
            return self.drop_owners(&target, &lost).await;
        }
        let has_dependents = !self.graph.dependents(meta.uid()).is_empty();
        let propagation = if !waiting.is_empty() && has_dependents {
            Propagation::Foreground
        } else if meta.has_finalizer(ORPHAN_FINALIZER) {
            Propagation::Orphan
        } else if meta.has_finalizer(FOREGROUND_FINALIZER) {
            Propagation::Foreground
        } else {
            Propagation::Background
        };
        let options = DeleteOptions {
            propagation: Some(propagation),
            uid: Some(meta.uid().to_owned()),
            resource_version: Some(record.revision.to_string()),
            ..DeleteOptions::default()
        };
        self.registry.remove(&target, MANAGER, &options).await.map(|_| ())
    }

    /// The target of a stored object; nothing if its kind is not served any more.
    fn target(&self, key: &Key) -> Option<Target> {
        let resource = resource_of(&self.registry, key.resource())?;
        Target::stored(&resource, key.namespace(), key.name())
    }

    /// Where an owner is; nothing if its kind is not served, or if it cannot be an owner of this object.
    fn owner_key(&self, key: &Key, owner: &OwnerReference) -> Option<Key> {
        let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
        let table = self.registry.resources();
        let resource = table
            .all()
            .find(|it| it.group == group && it.kind == owner.kind)?;
        let namespace = if resource.is_namespaced() {
            key.namespace()
        } else {
            ""
        };
        if resource.is_namespaced() && namespace.is_empty() {
            return None;
        }
        Some(Key::new(
            resource.store_name.as_str(),
            namespace,
            owner.name.as_str(),
        ))
    }

    /// What the owners of an object are to it; nothing if that cannot be told of one of them.
    fn classify(&self, key: &Key, meta: Meta<'_>) -> Option<Owners> {
        let snapshot = self.registry.store().snapshot();
        let mut owners = Owners::default();
        for owner in meta.owner_references() {
            let owner_key = self.owner_key(key, &owner)?;
            let found: Option<Value> = snapshot
                .get(&owner_key)
                .and_then(|record| serde_json::from_slice(&record.value).ok());
            match found {
                Some(found) if Meta::of(&found).uid() == owner.uid => {
                    let found = Meta::of(&found);
                    let waits =
                        found.deletion_timestamp().is_some() && found.has_finalizer(FOREGROUND_FINALIZER);
                    if waits {
                        owners.waiting.push(owner)
                    } else {
                        owners.solid.push(owner)
                    }
                }
                _ => owners.dangling.push(owner),
            }
        }
        Some(owners)
    }

    /// Deletes the dependents that are left; releases the owner when none of them blocks it any more.
    async fn foreground(&mut self, target: &Target, uid: &str) -> Result<()> {
        let mut is_blocked = false;
        let snapshot = self.registry.store().snapshot();
        for key in self.graph.dependents(uid) {
            let Some(record) = snapshot.get(&key) else {
                continue;
            };
            let object: Value = serde_json::from_slice(&record.value).unwrap_or_default();
            let meta = Meta::of(&object);
            let reference = meta.owner_references().into_iter().find(|owner| owner.uid == uid);
            is_blocked |= reference.is_some_and(|owner| owner.block_owner_deletion);
            if meta.deletion_timestamp().is_none() {
                self.queue.insert(key);
            }
        }
        if is_blocked {
            Ok(())
        } else {
            self.release(target, FOREGROUND_FINALIZER).await
        }
    }

    /// Takes the owner out of its dependents, then releases it.
    async fn orphan(&mut self, target: &Target, uid: &str) -> Result<()> {
        for key in self.graph.dependents(uid) {
            if let Some(dependent) = self.target(&key) {
                self.drop_owners(&dependent, &[uid.to_owned()]).await?;
            }
        }
        self.release(target, ORPHAN_FINALIZER).await
    }

    async fn drop_owners(&self, target: &Target, uids: &[String]) -> Result<()> {
        let change = |object: &mut Value| {
            let Some(Value::Array(mut list)) = MetaMut::of(object).remove("ownerReferences") else {
                return false;
            };
            list.retain(|owner| !uids.iter().any(|uid| owner["uid"] == uid.as_str()));
            if !list.is_empty() {
                MetaMut::of(object).set("ownerReferences", list);
            }
            true
        };
        self.registry.change(target, MANAGER, &change).await.map(|_| ())
    }

    async fn release(&self, target: &Target, finalizer: &str) -> Result<()> {
        let change = |object: &mut Value| {
            let kept: Vec<String> = Meta::of(object)
                .finalizers()
                .into_iter()
                .filter(|it| *it != finalizer)
                .map(str::to_owned)
                .collect();
            let kept: Vec<&str> = kept.iter().map(String::as_str).collect();
            MetaMut::of(object).set_finalizers(&kept);
            true
        };
        self.registry.change(target, MANAGER, &change).await.map(|_| ())
    }
}
