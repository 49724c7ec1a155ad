//! One simulated world: an API server over a store in memory, sets of controllers that come and go, the dev provider's
//! machines, and the means to act on it as a user does.

use std::{
    fmt,
    sync::{Arc, Weak},
    time::Duration,
};

use capstan_apiserver::{Identity, Server};
use capstan_base::{Entropy, SeededEntropy, Timestamp};
use capstan_engine::{RuntimeClock, Seeded};
use capstan_infra_dev::backend::Backend;
use capstan_manager::{Controllers, Parts};
use capstan_pki::UniformKeys;
use capstan_store::{HistoryLimits, Options, Store};
use capstan_workload::{PipeConnector, Remote};
use kube::{
    Api, Client,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    core::{ApiResource, DynamicObject},
};
use parking_lot::Mutex;
use serde_json::Value;

use crate::{
    Planted,
    fault::{CloudGate, Door, Fault, Faults, Life},
    manifests::documents,
    oracle,
    trace::Trace,
};

/// When every simulated life begins.
const BEGINNING: &str = "2026-01-01T00:00:00Z";

/// How often a wait looks.
const LOOK: Duration = Duration::from_secs(1);

/// How long a process that died takes to come back.
const RESTART: Duration = Duration::from_secs(1);

/// A wait that did not end in the virtual time it was given.
#[derive(Debug)]
pub struct Stuck {
    waited_for: String,
    last: String,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "waited in vain for {:?}; last seen: {:?}",
            self.waited_for, self.last
        )
    }
}

impl std::error::Error for Stuck {}

/// What befalls a world besides its life.
#[derive(Debug, Clone, Default)]
pub struct Fate {
    /// The faults.
    pub faults: Vec<Fault>,
    /// A bug that is planted on purpose.
    pub planted: Option<Planted>,
}

/// A running world.
pub struct World {
    parts: Parts,
    store: Store,
    server: Mutex<Server>,
    backend: Backend,
    faults: Arc<Faults>,
    running: Mutex<Vec<(Arc<Life>, Arc<Controllers>)>>,
    draws: SeededEntropy,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").finish_non_exhaustive()
    }
}

/// Runs a life in a world of `seed` in which nothing goes wrong, and returns what it gave and the trace of the
/// management plane.
///
/// # Panics
/// If the world cannot be made.
pub fn run<T, F>(seed: u64, life: impl FnOnce(Arc<World>) -> F) -> (T, Trace)
where
    F: Future<Output = T>,
{
    run_with(seed, Fate::default(), life)
}

/// Runs a life that has to reach its end, and returns the trace of the management plane.
///
/// # Panics
/// With the life's error and the last writes, if it does not.
pub fn lived<F>(seed: u64, life: impl FnOnce(Arc<World>) -> F) -> Trace
where
    F: Future<Output = Result<(), Box<dyn std::error::Error>>>,
{
    let (outcome, trace) = run(seed, life);
    if let Err(error) = outcome {
        let last: Vec<&String> = trace.lines.iter().rev().take(40).collect();
        panic!("seed {seed}: {error}\n{last:#?}");
    }
    trace
}

/// As [`run`], in a world that a fate befalls.
///
/// # Panics
/// If the world cannot be made.
pub fn run_with<T, F>(seed: u64, fate: Fate, life: impl FnOnce(Arc<World>) -> F) -> (T, Trace)
where
    F: Future<Output = T>,
{
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("invariant: a runtime without I/O can be made");
    runtime.block_on(async {
        let world = World::new(seed, fate).await;
        let outcome = life(Arc::clone(&world)).await;
        let trace = Trace::of(&world.store);
        (outcome, trace)
    })
}

impl World {
    async fn new(seed: u64, fate: Fate) -> Arc<Self> {
        let start: Timestamp = BEGINNING.parse().expect("invariant: the beginning is a time");
        let entropy = Arc::new(SeededEntropy::new(seed));
        let parts = Parts {
            clock: Arc::new(RuntimeClock::starting_at(start)),
            entropy: entropy.clone(),
            // Cheap keys of one algorithm: what they are made of decides nothing.
            keys: Arc::new(UniformKeys::new(entropy)),
            chooser: Arc::new(Seeded::new(seed)),
            docker: None,
        };
        // All of history is kept: oracles read it.
        let history = HistoryLimits {
            events: 10_000_000,
            age: Duration::from_secs(365 * 24 * 3600),
        };
        let store = Store::memory(Options::new(Arc::clone(&parts.clock)).with_history(history));
        let server = capstan_manager::serve(&store, &parts, None)
            .await
            .expect("invariant: our own definitions are accepted");
        let world = Arc::new(Self {
            backend: Backend::new(capstan_manager::in_process(&parts)),
            parts,
            store,
            server: Mutex::new(server),
            faults: Faults::new(fate.faults, fate.planted),
            running: Mutex::default(),
            draws: SeededEntropy::new(seed ^ 0x5eed_11fe),
        });
        world.begin(true);
        for fault in world.faults.schedule() {
            if let Fault::SecondLeader { from, lasts } = *fault {
                tokio::spawn(second_leader(Arc::downgrade(&world), from, lasts));
            }
        }
        world
    }

    /// Starts a set of controllers. One that comes back is started again whenever it dies.
    fn begin(self: &Arc<Self>, comes_back: bool) -> Arc<Life> {
        let life: Arc<Life> = Arc::default();
        let weak = Arc::downgrade(self);
        let door = Door {
            inner: self
                .server
                .lock()
                .service(Identity::internal("system:capstan:controllers")),
            life: Arc::clone(&life),
            faults: Arc::clone(&self.faults),
            audit: crate::fault::Audit(Arc::new(move || {
                if let Some(world) = weak.upgrade() {
                    oracle::at_every_write(&world);
                }
            })),
        };
        let gate = CloudGate {
            life: Arc::clone(&life),
            faults: Arc::clone(&self.faults),
        };
        let backend = self.backend.behind(Arc::new(gate));
        let connector = Arc::new(PipeConnector::new(Arc::new(backend.clone())));
        let controllers = Controllers::start(Client::new(door, "default"), &self.parts, &backend, connector);
        self.running
            .lock()
            .push((Arc::clone(&life), Arc::new(controllers)));
        tokio::spawn(watch_over(Arc::downgrade(self), Arc::clone(&life), comes_back));
        life
    }

    /// Ends the controllers and the API server in order and starts both again on the same store, as a new version of
    /// the manager would.
    pub async fn upgrade_manager(self: &Arc<Self>) {
        let running = std::mem::take(&mut *self.running.lock());
        for (_, controllers) in &running {
            controllers.close().await;
        }
        let old = self.server.lock().clone();
        old.shut_down();
        let server = capstan_manager::serve(&self.store, &self.parts, None)
            .await
            .expect("invariant: our own definitions are accepted");
        *self.server.lock() = server;
        self.begin(true);
    }

    /// A number below `bound` that belongs to the user, not to the plane.
    pub fn draw(&self, bound: u64) -> u64 {
        self.draws.number() % bound.max(1)
    }

    /// The store of the management plane.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The dev provider's world, without any gate.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    pub(crate) fn faults(&self) -> &Faults {
        &self.faults
    }

    /// The controllers' connection to a workload cluster.
    pub fn connection(&self, cluster: &capstan_engine::ObjectKey) -> Remote<capstan_workload::Connection> {
        let running = self.running.lock();
        running
            .last()
            .map_or(Remote::Absent, |(_, it)| it.workloads().connection(cluster))
    }

    /// A user's client.
    pub fn client(&self) -> Client {
        Client::new(self.server.lock().service(Identity::internal("user")), "default")
    }

    /// A kind of our APIs at run time, in v1beta2.
    pub fn kind(group: &str, kind: &str) -> ApiResource {
        ApiResource {
            group: group.to_owned(),
            version: capstan_api::VERSION.to_owned(),
            api_version: format!("{group}/{}", capstan_api::VERSION),
            kind: kind.to_owned(),
            plural: capstan_api::contract::plural(kind),
        }
    }

    /// The objects of a kind in namespace `default`.
    pub fn api(&self, group: &str, kind: &str) -> Api<DynamicObject> {
        Api::namespaced_with(self.client(), "default", &Self::kind(group, kind))
    }

    /// Creates every object of a text of manifests, in its order.
    pub async fn create(&self, manifests: &str) -> Result<(), kube::Error> {
        for value in documents(manifests).unwrap_or_default() {
            let object: DynamicObject = serde_json::from_value(value).map_err(kube::Error::SerdeError)?;
            let types = object.types.clone().unwrap_or_default();
            let (group, version) = types
                .api_version
                .split_once('/')
                .unwrap_or(("", &types.api_version));
            let kind = ApiResource {
                group: group.to_owned(),
                version: version.to_owned(),
                api_version: types.api_version.clone(),
                plural: capstan_api::contract::plural(&types.kind),
                kind: types.kind.clone(),
            };
            let api: Api<DynamicObject> = Api::namespaced_with(self.client(), "default", &kind);
            api.create(&PostParams::default(), &object).await?;
        }
        Ok(())
    }

    /// Merges a patch into an object.
    pub async fn patch(&self, group: &str, kind: &str, name: &str, patch: &Value) -> Result<(), kube::Error> {
        self.api(group, kind)
            .patch(name, &PatchParams::default(), &Patch::Merge(patch))
            .await?;
        Ok(())
    }

    /// Deletes an object in the background; one that is gone is gone.
    pub async fn delete(&self, group: &str, kind: &str, name: &str) -> Result<(), kube::Error> {
        match self
            .api(group, kind)
            .delete(name, &DeleteParams::background())
            .await
        {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            done => done.map(drop),
        }
    }

    /// All objects of a kind, by name.
    pub async fn list(&self, group: &str, kind: &str) -> Vec<DynamicObject> {
        let found = self
            .api(group, kind)
            .list(&kube::api::ListParams::default())
            .await;
        found.map(|it| it.items).unwrap_or_default()
    }

    /// Waits until `told` says `wanted`, for at most `limit` of virtual time.
    pub async fn until<F>(&self, wanted: &str, limit: Duration, told: impl Fn() -> F) -> Result<(), Stuck>
    where
        F: Future<Output = String>,
    {
        let mut last = told().await;
        let mut waited = Duration::ZERO;
        while last != wanted {
            if waited >= limit {
                return Err(Stuck {
                    waited_for: wanted.to_owned(),
                    last,
                });
            }
            tokio::time::sleep(LOOK).await;
            waited += LOOK;
            last = told().await;
        }
        Ok(())
    }

    /// One condition of an object; null if the object or the condition is not there.
    pub async fn condition_of(&self, group: &str, kind: &str, name: &str, condition: &str) -> Value {
        let object = self.api(group, kind).get_opt(name).await.ok().flatten();
        let conditions = object.and_then(|it| it.data.pointer("/status/conditions")?.as_array().cloned());
        let mut conditions = conditions.into_iter().flatten();
        conditions.find(|it| it["type"] == condition).unwrap_or_default()
    }

    /// The status of one condition of an object; empty if the object or the condition is not there.
    pub async fn condition(&self, group: &str, kind: &str, name: &str, condition: &str) -> String {
        let found = self.condition_of(group, kind, name, condition).await;
        found["status"].as_str().unwrap_or_default().to_owned()
    }
}

/// Buries a set of controllers when it dies, and starts the next one.
async fn watch_over(world: Weak<World>, life: Arc<Life>, comes_back: bool) {
    life.ended().await;
    {
        let Some(world) = world.upgrade() else { return };
        world.running.lock().retain(|(it, controllers)| {
            let is_it = Arc::ptr_eq(it, &life);
            if is_it {
                controllers.kill();
            }
            !is_it
        });
    }
    if comes_back {
        tokio::time::sleep(RESTART).await;
        if let Some(world) = world.upgrade() {
            world.begin(true);
        }
    }
}

async fn second_leader(world: Weak<World>, from: Duration, lasts: Duration) {
    tokio::time::sleep(from).await;
    let life = match world.upgrade() {
        Some(world) => world.begin(false),
        None => return,
    };
    tokio::time::sleep(lasts).await;
    life.end();
}
