//! A controller: a reconciler, its queue, its watches and its workers.

use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet},
    panic::AssertUnwindSafe,
    sync::Arc,
    time::Duration,
};

use capstan_base::Clock;
use futures::FutureExt as _;
use kube::{
    Client, ResourceExt,
    core::{ApiResource, DynamicObject},
};
use parking_lot::Mutex;
use tracing::Instrument;

use crate::{
    barrier::{Ledger, Watched},
    cache::{Cache, Cached, Change},
    engine::Engine,
    events::Recorder,
    foreign::Foreign,
    metrics::{Ending, Metrics},
    object::ObjectKey,
    pass::{Verdict, chain},
    queue::{Queue, Urgency},
    reconciler::{Context, Reconciler},
    writer::Writer,
};

/// The longest that one pass may take before it is given up and tried again.
const PASS_LIMIT: Duration = Duration::from_secs(60);

pub(crate) struct Controller<R: Reconciler> {
    pub(crate) reconciler: R,
    pub(crate) metrics: Metrics,
    cache: Cache<R::Object>,
    queue: Arc<Queue>,
    client: Client,
    clock: Arc<dyn Clock>,
    watched: Arc<Watched>,
    events: Recorder,
    ledgers: Mutex<BTreeMap<ObjectKey, Arc<Ledger>>>,
    parked: Mutex<BTreeSet<ObjectKey>>,
}

/// Puts objects into a controller's queue from outside of its watches.
#[derive(Clone, Debug)]
pub struct Trigger(Arc<Queue>);

impl Trigger {
    /// Asks for a pass over an object.
    pub fn wake(&self, key: ObjectKey) {
        self.0.add(key, Urgency::Change, Duration::ZERO);
    }
}

/// A controller that is being wired: its watches are added before it starts.
pub struct ControllerBuilder<R: Reconciler> {
    engine: Engine,
    controller: Arc<Controller<R>>,
}

impl<R: Reconciler> std::fmt::Debug for ControllerBuilder<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ControllerBuilder")
            .field("name", &R::NAME)
            .finish_non_exhaustive()
    }
}

impl<R: Reconciler> ControllerBuilder<R> {
    pub(crate) fn new(engine: Engine, reconciler: R) -> Self {
        let cache = engine.cache::<R::Object>();
        let queue = Arc::new(Queue::new(reconciler.settings().spacing, engine.chooser()));
        engine.metrics().add_queue(R::NAME, Arc::clone(&queue));
        let controller = Arc::new(Controller {
            reconciler,
            metrics: engine.metrics().clone(),
            cache: cache.clone(),
            queue: Arc::clone(&queue),
            client: engine.client().clone(),
            clock: engine.clock(),
            watched: engine.watched(),
            events: engine.recorder().for_component(R::NAME),
            ledgers: Mutex::default(),
            parked: Mutex::default(),
        });
        let source = cache.clone();
        cache.subscribe(move |change| {
            if let Some(object) = change.latest() {
                queue.add(ObjectKey::of(&**object), urgency(&source, change), Duration::ZERO);
            }
        });
        Self { engine, controller }
    }

    /// Wakes the objects that `owners` names when an object of `cache` changes.
    #[must_use]
    pub fn watch<K: Cached>(
        self,
        cache: &Cache<K>,
        owners: impl Fn(&Change<K>) -> Vec<ObjectKey> + Send + Sync + 'static,
    ) -> Self
    where
        K::DynamicType: Clone,
    {
        let queue = Arc::clone(&self.controller.queue);
        cache.subscribe(move |change| {
            for key in owners(change) {
                queue.add(key, Urgency::Change, Duration::ZERO);
            }
        });
        self
    }

    /// Wakes the owners of this controller's kind when any cached foreign object that names them changes.
    #[must_use]
    pub fn watch_owned(self, foreign: &Foreign) -> Self {
        let queue = Arc::clone(&self.controller.queue);
        foreign.subscribe(move |_kind: &ApiResource, change: &Change<DynamicObject>| {
            for key in owners_of_kind::<R::Object>(change) {
                queue.add(key, Urgency::Change, Duration::ZERO);
            }
        });
        self
    }

    /// Wakes the objects that `concerned` names when an object of any cached foreign kind changes.
    #[must_use]
    pub fn watch_foreign(
        self,
        foreign: &Foreign,
        concerned: impl Fn(&ApiResource, &Change<DynamicObject>) -> Vec<ObjectKey> + Send + Sync + 'static,
    ) -> Self {
        let queue = Arc::clone(&self.controller.queue);
        foreign.subscribe(move |kind, change| {
            for key in concerned(kind, change) {
                queue.add(key, Urgency::Change, Duration::ZERO);
            }
        });
        self
    }

    /// Wakes the owners of this controller's kind when an object of a cached kind that names them changes.
    #[must_use]
    pub fn watch_children<K: Cached>(self, cache: &Cache<K>) -> Self
    where
        K::DynamicType: Clone,
    {
        self.watch(cache, |change| owners_of_kind_typed::<R::Object, K>(change))
    }

    /// A handle that wakes objects of this controller from elsewhere.
    pub fn trigger(&self) -> Trigger {
        Trigger(Arc::clone(&self.controller.queue))
    }

    /// Starts the workers. They end with the engine.
    pub fn start(self) {
        let workers = self.controller.reconciler.settings().workers;
        for _ in 0..workers {
            self.engine.spawn(work(Arc::clone(&self.controller)));
        }
        self.engine.on_close(Arc::clone(&self.controller.queue));
    }
}

fn urgency<K: Cached>(cache: &Cache<K>, change: &Change<K>) -> Urgency
where
    K::DynamicType: Clone,
{
    if !cache.is_synced() {
        return Urgency::Start;
    }
    let asked = |it: &K| (it.meta().generation, it.meta().deletion_timestamp.is_some());
    match (&change.before, &change.after) {
        (Some(before), Some(after)) if asked(before) == asked(after) => Urgency::Change,
        _ => Urgency::User,
    }
}

/// The keys of the owners of kind `O` that a changed object names, before or after the change.
fn owners_of_kind_typed<O: kube::Resource<DynamicType = ()>, K: Cached>(change: &Change<K>) -> Vec<ObjectKey>
where
    K::DynamicType: Clone,
{
    let (kind, group) = (O::kind(&()), O::group(&()));
    let mut keys = BTreeSet::new();
    for object in change.before.iter().chain(&change.after) {
        for owner in object.owner_references() {
            let owner_group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
            if owner.kind == kind && owner_group == group {
                keys.insert(ObjectKey::new(
                    object.namespace().unwrap_or_default(),
                    owner.name.clone(),
                ));
            }
        }
    }
    keys.into_iter().collect()
}

fn owners_of_kind<O: kube::Resource<DynamicType = ()>>(change: &Change<DynamicObject>) -> Vec<ObjectKey> {
    owners_of_kind_typed::<O, DynamicObject>(change)
}

async fn work<R: Reconciler>(controller: Arc<Controller<R>>) {
    controller.cache.synced().await;
    while let Some((key, urgency, failures)) = controller.queue.next().await {
        let span = tracing::info_span!("pass", controller = R::NAME, object = %key);
        let verdict = run(&controller, &key, urgency, failures).instrument(span).await;
        controller.metrics.passed(R::NAME, verdict.ending);
        controller.queue.done(&key, verdict.failed);
        if let Some(delay) = verdict.again {
            controller.queue.add(key, Urgency::Timer, delay);
        }
    }
}

async fn run<R: Reconciler>(
    controller: &Arc<Controller<R>>,
    key: &ObjectKey,
    urgency: Urgency,
    failures: u32,
) -> Verdict {
    let ledger = Arc::clone(controller.ledgers.lock().entry(key.clone()).or_default());
    let behind = ledger.behind(&controller.watched);
    if !behind.is_empty() {
        park(controller, key, urgency, behind);
        return Verdict {
            ending: Ending::Stale,
            failed: false,
            again: None,
        };
    }
    let found = controller.cache.get(key);
    let Some(object) = found.filter(|it| controller.reconciler.concerns(it)) else {
        controller.ledgers.lock().remove(key);
        controller.queue.forget(key);
        return Verdict {
            ending: Ending::Success,
            failed: false,
            again: None,
        };
    };
    let context = Context {
        now: controller.clock.now(),
        failures,
        writer: Writer::new(controller.client.clone(), ledger, format!("capstan-{}", R::NAME)),
        events: controller.events.clone(),
    };
    // A panic costs this pass, not the worker: the other objects go on.
    let pass = AssertUnwindSafe(controller.pass(key, object, &context)).catch_unwind();
    match tokio::time::timeout(PASS_LIMIT, pass).await {
        Ok(Ok(verdict)) => return verdict,
        Ok(Err(panic)) => tracing::error!(
            error = panic_message(&*panic),
            "pass panicked, will try again; please report this"
        ),
        Err(elapsed) => tracing::warn!(error = chain(&elapsed), "pass took too long and was given up"),
    }
    Verdict {
        ending: Ending::Error,
        failed: true,
        again: Some(Duration::ZERO),
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

/// Puts an object aside until the caches show what its earlier passes wrote. There is no time-out that lets it through.
fn park<R: Reconciler>(
    controller: &Arc<Controller<R>>,
    key: &ObjectKey,
    urgency: Urgency,
    behind: Vec<crate::barrier::Behind>,
) {
    if !controller.parked.lock().insert(key.clone()) {
        return;
    }
    let (controller, key) = (Arc::clone(controller), key.clone());
    tokio::spawn(async move {
        for (cache, revision) in behind {
            cache.reached(revision).await;
        }
        controller.parked.lock().remove(&key);
        controller.queue.add(key, urgency, Duration::ZERO);
    });
}
