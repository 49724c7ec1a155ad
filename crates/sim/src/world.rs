//! One simulated world: a management plane in memory, and the means to act on it as a user does.

use std::{fmt, future::Future, sync::Arc, time::Duration};

use capstan_base::{SeededEntropy, Timestamp};
use capstan_engine::{RuntimeClock, Seeded};
use capstan_manager::{Parts, Plane};
use capstan_pki::UniformKeys;
use kube::{
    Api, Client,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    core::{ApiResource, DynamicObject},
};
use serde_json::Value;

use crate::{manifests::documents, trace::Trace};

/// When every simulated life begins.
const BEGINNING: &str = "2026-01-01T00:00:00Z";

/// How often a wait looks.
const LOOK: Duration = Duration::from_secs(1);

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
            "waited in vain for {}; last seen: {}",
            self.waited_for, self.last
        )
    }
}

impl std::error::Error for Stuck {}

/// A running world.
#[derive(Debug)]
pub struct World {
    plane: Plane,
}

/// Runs a life in a world of `seed` and returns what it gave and the trace of the management plane.
///
/// # Panics
/// If the world cannot be made.
pub fn run<T, F>(seed: u64, life: impl FnOnce(Arc<World>) -> F) -> (T, Trace)
where
    F: Future<Output = T>,
{
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("invariant: a runtime without I/O can be made");
    runtime.block_on(async {
        let world = Arc::new(World::new(seed).await);
        let outcome = life(Arc::clone(&world)).await;
        let trace = Trace::of(world.plane.store());
        (outcome, trace)
    })
}

impl World {
    async fn new(seed: u64) -> Self {
        let start: Timestamp = BEGINNING.parse().expect("invariant: the beginning is a time");
        let entropy = Arc::new(SeededEntropy::new(seed));
        let parts = Parts {
            clock: Arc::new(RuntimeClock::starting_at(start)),
            entropy: entropy.clone(),
            // Cheap keys of one algorithm: what they are made of decides nothing.
            keys: Arc::new(UniformKeys::new(entropy)),
            chooser: Arc::new(Seeded::new(seed)),
        };
        let plane = Plane::in_memory(&parts)
            .await
            .expect("invariant: our own definitions are accepted");
        Self { plane }
    }

    /// The plane.
    pub fn plane(&self) -> &Plane {
        &self.plane
    }

    /// A user's client.
    pub fn client(&self) -> Client {
        self.plane.client("user")
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

    /// Deletes an object in the background.
    pub async fn delete(&self, group: &str, kind: &str, name: &str) -> Result<(), kube::Error> {
        self.api(group, kind)
            .delete(name, &DeleteParams::background())
            .await?;
        Ok(())
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

    /// The status of one condition of an object; empty if the object or the condition is not there.
    pub async fn condition(&self, group: &str, kind: &str, name: &str, condition: &str) -> String {
        let Ok(Some(object)) = self.api(group, kind).get_opt(name).await else {
            return String::new();
        };
        let conditions = object
            .data
            .pointer("/status/conditions")
            .and_then(Value::as_array)
            .cloned();
        let found = conditions
            .into_iter()
            .flatten()
            .find(|it| it["type"] == condition);
        found
            .and_then(|it| it["status"].as_str().map(str::to_owned))
            .unwrap_or_default()
    }
}
