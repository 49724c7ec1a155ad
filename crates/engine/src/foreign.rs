//! Caches of kinds that are known only at run time: providers' objects, found by contract.

use std::{collections::BTreeMap, sync::Arc};

use kube::{
    Client,
    core::{ApiResource, DynamicObject},
};
use parking_lot::Mutex;

use crate::{
    barrier::Watched,
    cache::{Cache, Change, Source},
    lookup::Lookup,
    object::ObjectKey,
};

type Subscriber = Arc<dyn Fn(&ApiResource, &Change<DynamicObject>) + Send + Sync>;

#[derive(Default)]
struct State {
    caches: BTreeMap<String, Cache<DynamicObject>>,
    subscribers: Vec<Subscriber>,
}

/// All caches of run-time kinds. A cache begins when its kind is first asked for and stays.
#[derive(Clone)]
pub struct Foreign {
    client: Client,
    watched: Arc<Watched>,
    state: Arc<Mutex<State>>,
}

impl std::fmt::Debug for Foreign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Foreign").finish_non_exhaustive()
    }
}

impl Foreign {
    pub(crate) fn new(client: Client, watched: Arc<Watched>) -> Self {
        Self {
            client,
            watched,
            state: Arc::default(),
        }
    }

    /// Calls `subscriber` on every change of every foreign kind, those that are first asked for later included.
    pub fn subscribe(
        &self,
        subscriber: impl Fn(&ApiResource, &Change<DynamicObject>) + Send + Sync + 'static,
    ) {
        let subscriber: Subscriber = Arc::new(subscriber);
        let mut state = self.state.lock();
        for cache in state.caches.values() {
            attach(cache, Arc::clone(&subscriber));
        }
        state.subscribers.push(subscriber);
    }

    /// The cache of a kind, started now if it was not.
    pub fn cache(&self, kind: &ApiResource) -> Cache<DynamicObject> {
        let mut state = self.state.lock();
        let id = format!("{}/{}", kind.api_version, kind.plural);
        if let Some(cache) = state.caches.get(&id) {
            return cache.clone();
        }
        let cache = Cache::new(kind.clone(), Source::default());
        cache.index_by_owner();
        for subscriber in &state.subscribers {
            attach(&cache, Arc::clone(subscriber));
        }
        self.watched
            .add(format!("{}/{}", kind.group, kind.plural), Arc::new(cache.clone()));
        cache.start(&self.client);
        state.caches.insert(id, cache.clone());
        cache
    }

    /// One object of a kind; waits for the kind's first list.
    pub async fn get(&self, kind: &ApiResource, key: &ObjectKey) -> Lookup<Arc<DynamicObject>> {
        let cache = self.cache(kind);
        cache.synced().await;
        cache.get(key).into()
    }
}

fn attach(cache: &Cache<DynamicObject>, subscriber: Subscriber) {
    let kind = cache.kind().clone();
    cache.subscribe(move |change| subscriber(&kind, change));
}
