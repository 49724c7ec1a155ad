//! What all controllers of one process share: client, clock, caches, recorder, metrics, and one end.

use std::{
    any::{Any, TypeId},
    collections::BTreeMap,
    future::Future,
    sync::Arc,
};

use capstan_base::{Clock, Entropy};
use kube::Client;
use parking_lot::Mutex;
use tokio::task::JoinSet;

use crate::{
    barrier::Watched,
    cache::{Cache, Cached, Source},
    chooser::{Chooser, Fifo},
    controller::ControllerBuilder,
    events::Recorder,
    foreign::Foreign,
    metrics::Metrics,
    queue::Queue,
    reconciler::Reconciler,
};

/// What an engine is made of.
#[derive(Clone)]
pub struct Settings {
    /// The management API.
    pub client: Client,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub entropy: Arc<dyn Entropy>,
    /// Which ready object comes next.
    pub chooser: Arc<dyn Chooser>,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings").finish_non_exhaustive()
    }
}

impl Settings {
    /// The settings of a live engine.
    pub fn live(client: Client, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self {
            client,
            clock,
            entropy,
            chooser: Arc::new(Fifo),
        }
    }
}

struct Shared {
    settings: Settings,
    watched: Arc<Watched>,
    foreign: Foreign,
    recorder: Recorder,
    metrics: Metrics,
    caches: Mutex<BTreeMap<(TypeId, Source), Box<dyn Any + Send + Sync>>>,
    tasks: Mutex<JoinSet<()>>,
    queues: Mutex<Vec<Arc<Queue>>>,
}

/// The home of all controllers of one process. Clones share everything.
#[derive(Clone)]
pub struct Engine(Arc<Shared>);

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

impl Engine {
    /// An engine with no controllers yet. Must be made inside a tokio runtime.
    pub fn new(settings: Settings) -> Self {
        let watched: Arc<Watched> = Arc::default();
        let recorder = Recorder::start(settings.client.clone(), Arc::clone(&settings.clock), "capstan");
        Self(Arc::new(Shared {
            foreign: Foreign::new(settings.client.clone(), Arc::clone(&watched)),
            watched,
            recorder,
            metrics: Metrics::default(),
            caches: Mutex::default(),
            tasks: Mutex::default(),
            queues: Mutex::default(),
            settings,
        }))
    }

    /// The shared cache of a kind, started when it is first asked for.
    pub fn cache<K: Cached + kube::Resource<DynamicType = ()>>(&self) -> Cache<K> {
        self.cache_of(Source::default())
    }

    /// The shared cache of those objects of a kind that `source` selects, started when it is first asked for.
    pub fn cache_of<K: Cached + kube::Resource<DynamicType = ()>>(&self, source: Source) -> Cache<K> {
        let mut caches = self.0.caches.lock();
        let id = (TypeId::of::<K>(), source.clone());
        if let Some(cache) = caches.get(&id).and_then(|it| it.downcast_ref::<Cache<K>>()) {
            return cache.clone();
        }
        let cache = Cache::<K>::new((), source);
        cache.index_by_owner();
        self.0.watched.add(
            format!("{}/{}", K::group(&()), K::plural(&())),
            Arc::new(cache.clone()),
        );
        cache.start(&self.0.settings.client);
        caches.insert(id, Box::new(cache.clone()));
        cache
    }

    /// The caches of kinds that are known only at run time.
    pub fn foreign(&self) -> &Foreign {
        &self.0.foreign
    }

    /// Begins to wire a controller.
    pub fn controller<R: Reconciler>(&self, reconciler: R) -> ControllerBuilder<R> {
        ControllerBuilder::new(self.clone(), reconciler)
    }

    /// The management API's client.
    pub fn client(&self) -> &Client {
        &self.0.settings.client
    }

    /// The time.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.0.settings.clock)
    }

    /// Chance.
    pub fn entropy(&self) -> Arc<dyn Entropy> {
        Arc::clone(&self.0.settings.entropy)
    }

    /// The counters of all controllers.
    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// The recorder of events.
    pub fn recorder(&self) -> &Recorder {
        &self.0.recorder
    }

    /// Ends all controllers and caches: running passes finish, nothing new begins.
    pub async fn close(&self) {
        for queue in self.0.queues.lock().drain(..) {
            queue.close();
        }
        let mut tasks = std::mem::take(&mut *self.0.tasks.lock());
        while tasks.join_next().await.is_some() {}
        self.0.watched.stop();
    }

    /// Ends all controllers at once, in the middle of whatever they do, as a crash of the process would.
    pub fn kill(&self) {
        self.0.queues.lock().clear();
        self.0.tasks.lock().abort_all();
    }

    pub(crate) fn chooser(&self) -> Arc<dyn Chooser> {
        Arc::clone(&self.0.settings.chooser)
    }

    pub(crate) fn watched(&self) -> Arc<Watched> {
        Arc::clone(&self.0.watched)
    }

    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.tasks.lock().spawn(task);
    }

    pub(crate) fn on_close(&self, queue: Arc<Queue>) {
        self.0.queues.lock().push(queue);
    }
}
