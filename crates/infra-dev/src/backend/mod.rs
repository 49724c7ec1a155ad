//! The world that the dev provider's controllers act on: workload clusters and VMs inside this process.

mod error;
mod fault;
mod forward;
mod front;
mod gate;
mod identity;
mod ledger;
mod machine;
mod objects;
mod settings;
mod store;
mod token;
mod workload;

use std::{collections::BTreeMap, fmt, sync::Arc};

use capstan_api::core::ApiEndpoint;
use capstan_base::naming;
use capstan_engine::ObjectKey;
use parking_lot::Mutex;

pub use error::BackendError;
pub use fault::Quorum;
pub use gate::{Effect, Gate, Passage};
pub use identity::Authorities;
pub use ledger::{Ledger, VirtualMachine};
pub(crate) use machine::address;
pub use machine::{MachineFacts, NodeIntent, VmIntent};
pub use settings::{Exposure, Settings};
pub(crate) use workload::Workload;

/// Something that changed in a workload cluster and that its machines may wait for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The Cluster.
    pub cluster: ObjectKey,
}

type Subscriber = Box<dyn Fn(&Notice) + Send + Sync>;

pub(crate) struct Shared {
    pub(crate) settings: Settings,
    clusters: Mutex<BTreeMap<ObjectKey, Arc<Workload>>>,
    /// Ports that were handed out, and to which DevCluster's UID.
    ports: Mutex<BTreeMap<u16, String>>,
    pub(crate) ledger: Ledger,
    subscribers: Mutex<Vec<Arc<Subscriber>>>,
}

/// The dev provider's world. Clones share everything.
#[derive(Clone)]
pub struct Backend {
    world: Arc<Shared>,
    gate: Option<Arc<dyn Gate>>,
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backend")
            .field("clusters", &self.world.clusters.lock().len())
            .finish_non_exhaustive()
    }
}

impl Backend {
    /// An empty world. What exists is brought back by the first passes over the stored DevClusters and DevMachines.
    pub fn new(settings: Settings) -> Self {
        let world = Shared {
            settings,
            clusters: Mutex::default(),
            ports: Mutex::default(),
            ledger: Ledger::default(),
            subscribers: Mutex::default(),
        };
        Self {
            world: Arc::new(world),
            gate: None,
        }
    }

    /// All VMs that exist.
    pub fn ledger(&self) -> &Ledger {
        &self.world.ledger
    }

    /// Calls `subscriber` whenever a cluster opens, begins or ceases to serve, or closes.
    pub fn subscribe(&self, subscriber: impl Fn(&Notice) + Send + Sync + 'static) {
        self.world.subscribers.lock().push(Arc::new(Box::new(subscriber)));
    }

    /// Hands out an endpoint for the DevCluster of that UID: the same one if it is asked again, and one that nobody
    /// else has. `taken` are the ports that other DevClusters have recorded.
    pub async fn claim_endpoint(&self, uid: &str, taken: &[u16]) -> Result<ApiEndpoint, BackendError> {
        let settings = &self.world.settings;
        let (first, last) = (*settings.ports.start(), *settings.ports.end());
        let count = u32::from(last.saturating_sub(first)) + 1;
        let offset = naming::fnv32a(uid.as_bytes()) % count;
        for step in 0..count {
            let port = first + u16::try_from((offset + step) % count).unwrap_or_default();
            let claimed_by_other = self.world.ports.lock().get(&port).is_some_and(|it| it != uid);
            if claimed_by_other || taken.contains(&port) || !settings.exposure.is_free(port).await {
                continue;
            }
            self.world.ports.lock().insert(port, uid.to_owned());
            return Ok(ApiEndpoint {
                host: settings.advertise.clone(),
                port: i32::from(port),
            });
        }
        Err(BackendError::NoFreePort { first, last })
    }

    /// The host that endpoints name.
    pub fn advertised_host(&self) -> &str {
        &self.world.settings.advertise
    }

    /// Makes the workload cluster of a DevCluster, or takes up the one that its store remembers. Does nothing if it is
    /// there.
    pub fn open_cluster(
        &self,
        cluster: &ObjectKey,
        uid: &str,
        endpoint: &ApiEndpoint,
    ) -> Result<(), BackendError> {
        if let Some(open) = self.cluster(cluster) {
            return if open.uid() == uid {
                Ok(())
            } else {
                Err(BackendError::StillClosing {
                    cluster: cluster.clone(),
                })
            };
        }
        let workload = Workload::open(
            Arc::downgrade(&self.world),
            &self.world.settings,
            cluster,
            uid,
            endpoint,
        )?;
        self.world
            .clusters
            .lock()
            .entry(cluster.clone())
            .or_insert(workload);
        self.world.tell(cluster);
        Ok(())
    }

    /// Is the workload cluster of that DevCluster open?
    pub fn is_open(&self, cluster: &ObjectKey, uid: &str) -> bool {
        self.cluster(cluster).is_some_and(|it| it.uid() == uid)
    }

    /// Ends a workload cluster, its VMs included, and forgets all of it. Does nothing if it is gone.
    pub async fn close_cluster(&self, cluster: &ObjectKey, uid: &str) -> Result<(), BackendError> {
        let open = self.cluster(cluster).filter(|it| it.uid() == uid);
        if let Some(workload) = open {
            workload.close().await;
            self.world.clusters.lock().remove(cluster);
            self.world.ledger.close(cluster);
        }
        self.world.settings.forget_store(cluster, uid)?;
        self.world.ports.lock().retain(|_, it| it != uid);
        self.world.tell(cluster);
        Ok(())
    }

    pub(crate) fn cluster(&self, cluster: &ObjectKey) -> Option<Arc<Workload>> {
        self.world.clusters.lock().get(cluster).cloned()
    }

    fn open(&self, cluster: &ObjectKey) -> Result<Arc<Workload>, BackendError> {
        self.cluster(cluster).ok_or_else(|| BackendError::NotOpen {
            cluster: cluster.clone(),
        })
    }

    /// The workload cluster that serves `endpoint`, written `host:port`.
    pub(crate) fn at(&self, endpoint: &str) -> Option<Arc<Workload>> {
        self.world
            .clusters
            .lock()
            .values()
            .find(|it| it.endpoint().to_string() == endpoint)
            .cloned()
    }
}

impl Shared {
    pub(crate) fn tell(&self, cluster: &ObjectKey) {
        let notice = Notice {
            cluster: cluster.clone(),
        };
        let subscribers = self.subscribers.lock().clone();
        for subscriber in subscribers {
            subscriber(&notice);
        }
    }
}
