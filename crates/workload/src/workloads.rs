//! All workload clusters of one management plane: who is connected, who is not and why, and who wants to know.

use std::{collections::BTreeMap, fmt, sync::Arc};

use capstan_base::{Clock, Timestamp};
use capstan_engine::{Cache, Cached, Change, ObjectKey};
use k8s_openapi::api::core::v1::{Node, Pod, Secret};
use parking_lot::Mutex;
use tokio::{sync::watch, task::AbortHandle};

use crate::{
    connect::Connector,
    connection::Connection,
    life::{self, Failure, Schedule, Target},
    remote::{NotTried, Remote},
};

/// Something that happened to a connection or in its caches.
#[derive(Debug, Clone)]
pub enum News {
    /// The cluster is connected, caches filled.
    Connected,
    /// A probe succeeded after others had failed.
    ProbeRecovered,
    /// A probe failed, the connection still stands.
    ProbeFailed,
    /// The cluster cannot be reached: connecting failed, or too many probes did.
    Disconnected,
    /// The cluster was forgotten or its kubeconfig changed.
    Dropped,
    /// A node changed.
    Node(Change<Node>),
    /// A static pod of the control plane changed.
    StaticPod(Change<Pod>),
}

/// News of one cluster.
#[derive(Debug, Clone)]
pub struct Notice {
    /// The cluster.
    pub cluster: ObjectKey,
    /// What happened.
    pub news: News,
}

/// What the probes of a cluster say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Health {
    /// The newest probe that succeeded; none if none ever did.
    pub last_probe_success: Option<Timestamp>,
    /// How many probes failed in a row since.
    pub failures: u32,
}

type Subscriber = Box<dyn Fn(&Notice) + Send + Sync>;

struct Entry {
    target: watch::Sender<Target>,
    task: AbortHandle,
    remote: Remote<Connection>,
    health: Health,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) struct Shared {
    pub(crate) connector: Arc<dyn Connector>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) schedule: Schedule,
    entries: Mutex<BTreeMap<ObjectKey, Entry>>,
    subscribers: Mutex<Vec<Arc<Subscriber>>>,
}

/// The connections to all workload clusters, by the namespace and name of their Cluster. Clones share everything.
#[derive(Clone)]
pub struct Workloads(Arc<Shared>);

impl fmt::Debug for Workloads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workloads")
            .field("clusters", &self.0.entries.lock().len())
            .finish_non_exhaustive()
    }
}

impl Workloads {
    /// No clusters yet. Connections are made through `connector` at the pace of `schedule`.
    pub fn new(connector: Arc<dyn Connector>, clock: Arc<dyn Clock>, schedule: Schedule) -> Self {
        Self(Arc::new(Shared {
            connector,
            clock,
            schedule,
            entries: Mutex::default(),
            subscribers: Mutex::default(),
        }))
    }

    /// Keeps the targets in step with the management plane: a cluster is connected to once `is_provisioned` says so and
    /// its Secret `<name>-kubeconfig` holds something under `value`, and forgotten when the Cluster is gone.
    pub fn follow<K: Cached>(
        &self,
        clusters: &Cache<K>,
        secrets: &Cache<Secret>,
        is_provisioned: impl Fn(&K) -> bool + Send + Sync + 'static,
    ) where
        K::DynamicType: Clone,
    {
        let is_provisioned = Arc::new(is_provisioned);
        let (weak, its_secrets, check) = (
            Arc::downgrade(&self.0),
            secrets.clone(),
            Arc::clone(&is_provisioned),
        );
        clusters.subscribe(move |change| {
            let (Some(shared), Some(latest)) = (weak.upgrade(), change.latest()) else {
                return;
            };
            let key = ObjectKey::of(&**latest);
            match &change.after {
                Some(cluster) => Self(shared).set_target(&key, target(check(cluster), &its_secrets, &key)),
                None => Self(shared).forget(&key),
            }
        });
        let (weak, its_clusters, its_secrets) = (Arc::downgrade(&self.0), clusters.clone(), secrets.clone());
        secrets.subscribe(move |change| {
            let Some(shared) = weak.upgrade() else { return };
            let Some(key) = change.latest().and_then(|it| cluster_of(it)) else {
                return;
            };
            if let Some(cluster) = its_clusters.get(&key) {
                Self(shared).set_target(&key, target(is_provisioned(&cluster), &its_secrets, &key));
            }
        });
    }

    /// Says how a cluster may be connected to. The same target again changes nothing; another one drops the connection.
    pub fn set_target(&self, key: &ObjectKey, target: Target) {
        let mut entries = self.0.entries.lock();
        if let Some(entry) = entries.get_mut(key) {
            let changed = entry.target.send_if_modified(|current| {
                let changed = *current != target;
                *current = target;
                changed
            });
            // The connection is dropped at once, not when its task gets to run: nobody may use an old kubeconfig.
            if changed && matches!(entry.remote, Remote::Found(_)) {
                entry.remote = Remote::NotTried(NotTried::Connecting);
                drop(entries);
                self.0.tell(key, News::Dropped);
            }
            return;
        }
        let (target, receiver) = watch::channel(target);
        let task = tokio::spawn(life::live(Arc::downgrade(&self.0), key.clone(), receiver)).abort_handle();
        let remote = Remote::NotTried(NotTried::Connecting);
        entries.insert(
            key.clone(),
            Entry {
                target,
                task,
                remote,
                health: Health::default(),
            },
        );
    }

    /// Drops a cluster and everything known of it.
    pub fn forget(&self, key: &ObjectKey) {
        let forgotten = self.0.entries.lock().remove(key);
        if forgotten.is_some() {
            self.0.tell(key, News::Dropped);
        }
    }

    /// The connection to a cluster, or why there is none.
    pub fn connection(&self, key: &ObjectKey) -> Remote<Connection> {
        let entries = self.0.entries.lock();
        entries
            .get(key)
            .map_or(Remote::NotTried(NotTried::UnknownCluster), |it| it.remote.clone())
    }

    /// What the probes of a cluster say. Nothing is known of a cluster that was never connected to.
    pub fn health(&self, key: &ObjectKey) -> Health {
        self.0
            .entries
            .lock()
            .get(key)
            .map(|it| it.health)
            .unwrap_or_default()
    }

    /// Calls `subscriber` with all news from now on. It must be quick and must not call back into this type's setters.
    pub fn subscribe(&self, subscriber: impl Fn(&Notice) + Send + Sync + 'static) {
        self.0.subscribers.lock().push(Arc::new(Box::new(subscriber)));
    }
}

impl Shared {
    fn tell(&self, key: &ObjectKey, news: News) {
        let notice = Notice {
            cluster: key.clone(),
            news,
        };
        let subscribers = self.subscribers.lock().clone();
        for subscriber in subscribers {
            subscriber(&notice);
        }
    }

    fn update<R>(&self, key: &ObjectKey, change: impl FnOnce(&mut Entry) -> R) -> Option<R> {
        self.entries.lock().get_mut(key).map(change)
    }

    pub(crate) fn not_tried(&self, key: &ObjectKey, reason: NotTried) {
        self.update(key, |entry| entry.remote = Remote::NotTried(reason));
    }

    pub(crate) fn connected(self: &Arc<Self>, key: &ObjectKey, connection: &Connection) {
        let now = self.clock.now();
        self.update(key, |entry| {
            entry.remote = Remote::Found(connection.clone());
            entry.health = Health {
                last_probe_success: Some(now),
                failures: 0,
            };
        });
        tracing::info!(Cluster = %key, "connected to the workload cluster");
        self.tell(key, News::Connected);
        let (weak, cluster) = (Arc::downgrade(self), key.clone());
        connection.nodes().subscribe(move |change| {
            if let Some(shared) = weak.upgrade() {
                shared.tell(&cluster, News::Node(change.clone()));
            }
        });
        let (weak, cluster) = (Arc::downgrade(self), key.clone());
        connection.static_pods().subscribe(move |change| {
            if let Some(shared) = weak.upgrade() {
                shared.tell(&cluster, News::StaticPod(change.clone()));
            }
        });
    }

    pub(crate) fn unreachable(&self, key: &ObjectKey, Failure(why): Failure) {
        let now = self.clock.now();
        let was_connected = self.update(key, |entry| {
            let was_connected = matches!(entry.remote, Remote::Found(_));
            let since = match &entry.remote {
                Remote::Disconnected { since, .. } => *since,
                Remote::Found(_) | Remote::Absent | Remote::NotTried(_) => now,
            };
            entry.remote = Remote::Disconnected {
                since,
                why: why.clone(),
            };
            entry.health.failures += 1;
            was_connected
        });
        match was_connected {
            Some(true) => tracing::warn!(Cluster = %key, why, "lost the workload cluster"),
            Some(false) => tracing::debug!(Cluster = %key, why, "workload cluster cannot be reached"),
            None => return,
        }
        self.tell(key, News::Disconnected);
    }

    pub(crate) fn probed(&self, key: &ObjectKey) {
        let now = self.clock.now();
        let before = self.update(key, |entry| {
            std::mem::replace(
                &mut entry.health,
                Health {
                    last_probe_success: Some(now),
                    failures: 0,
                },
            )
        });
        if before.is_some_and(|it| it.failures > 0) {
            self.tell(key, News::ProbeRecovered);
        }
    }

    pub(crate) fn probe_failed(&self, key: &ObjectKey, failures: u32, Failure(why): &Failure) {
        self.update(key, |entry| entry.health.failures = failures);
        tracing::debug!(Cluster = %key, failures, why, "probe of the workload cluster failed");
        self.tell(key, News::ProbeFailed);
    }
}

/// The suffix of the Secret that holds a cluster's kubeconfig.
const KUBECONFIG_SUFFIX: &str = "-kubeconfig";

fn cluster_of(secret: &Secret) -> Option<ObjectKey> {
    let key = ObjectKey::of(secret);
    let name = key.name.strip_suffix(KUBECONFIG_SUFFIX)?;
    Some(ObjectKey::new(key.namespace.as_str(), name))
}

fn target(is_provisioned: bool, secrets: &Cache<Secret>, key: &ObjectKey) -> Target {
    if !is_provisioned {
        return Target::NotYet(NotTried::InfrastructureNotProvisioned);
    }
    let secret = secrets.get(&ObjectKey::new(
        key.namespace.as_str(),
        format!("{}{KUBECONFIG_SUFFIX}", key.name),
    ));
    let value = secret
        .as_ref()
        .and_then(|it| it.data.as_ref()?.get("value"))
        .filter(|it| !it.0.is_empty());
    value.map_or(Target::NotYet(NotTried::NoKubeconfig), |it| {
        Target::Connect(it.0.clone().into())
    })
}
