//! One workload cluster: its store, its API server, its etcd, its machines, and whether it can be reached.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
};

use capstan_api::core::ApiEndpoint;
use capstan_apiserver::{Identity, Server, VersionInfo};
use capstan_engine::ObjectKey;
use capstan_store::Store;
use kube::Client;
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use super::{
    BackendError, Settings, Shared, forward::Forward, front::Front, identity::Authorities, machine::Vm,
};
use crate::etcd::Etcd;

/// A workload cluster inside this process.
pub(crate) struct Workload {
    pub(super) shared: Weak<Shared>,
    pub(super) cluster: ObjectKey,
    pub(super) settings: Settings,
    pub(super) etcd: Etcd,
    pub(super) vms: Mutex<BTreeMap<String, Vm>>,
    uid: String,
    endpoint: ApiEndpoint,
    store: Store,
    server: OnceCell<Server>,
    pub(super) front: Mutex<Front>,
    authorities: Mutex<Option<Authorities>>,
    /// Held while the front is opened or closed, so that it is not opened twice.
    turn: tokio::sync::Mutex<()>,
}

impl Workload {
    /// Opens the cluster that the store remembers, or a new one, with no machine running.
    pub(super) fn open(
        shared: Weak<Shared>,
        settings: &Settings,
        cluster: &ObjectKey,
        uid: &str,
        endpoint: &ApiEndpoint,
    ) -> Result<Arc<Self>, BackendError> {
        let store = settings.open_store(cluster, uid)?;
        Ok(Arc::new(Self {
            shared,
            cluster: cluster.clone(),
            settings: settings.clone(),
            etcd: Etcd::open(store.clone()),
            vms: Mutex::default(),
            uid: uid.to_owned(),
            endpoint: endpoint.clone(),
            store,
            server: OnceCell::new(),
            front: Mutex::default(),
            authorities: Mutex::default(),
            turn: tokio::sync::Mutex::new(()),
        }))
    }

    /// The UID of its DevCluster.
    pub(super) fn uid(&self) -> &str {
        &self.uid
    }

    /// Where it is reached.
    pub(super) fn endpoint(&self) -> &ApiEndpoint {
        &self.endpoint
    }

    /// The API server, made when it is first needed. It says to be of the version that the first machine has.
    pub(super) async fn server(self: &Arc<Self>, version: &str) -> Result<&Server, BackendError> {
        self.server
            .get_or_try_init(|| async {
                let version = VersionInfo {
                    kubernetes: version.to_owned(),
                    ..VersionInfo::default()
                };
                let settings = &self.settings;
                Server::builder(
                    self.store.clone(),
                    Arc::clone(&settings.clock),
                    Arc::clone(&settings.entropy),
                )
                .port_forward(Arc::new(Forward::new(Arc::downgrade(self))))
                .version(version)
                .build()
                .await
                .map_err(|it| BackendError::StartServer {
                    cluster: self.cluster.clone(),
                    message: it.message,
                })
            })
            .await
    }

    /// The API server, if it was needed already.
    pub(super) fn running_server(&self) -> Option<&Server> {
        self.server.get()
    }

    /// A client that may do everything and that works whether or not the cluster can be reached: for what kubelets and
    /// kubeadm do on the machines themselves.
    pub(super) async fn client(self: &Arc<Self>, version: &str) -> Result<Client, BackendError> {
        let server = self.server(version).await?;
        Ok(Client::new(
            server.service(Identity::internal("system:node")),
            "default",
        ))
    }

    /// Does some API server run, on a machine whose etcd member does, with a quorum of etcd?
    fn can_serve(&self) -> bool {
        let vms = self.vms.lock();
        self.etcd.read(|etcd| {
            etcd.has_quorum()
                && vms.values().any(|it| {
                    it.is_powered
                        && it.parts.api_server
                        && etcd
                            .members
                            .get(&it.etcd_id)
                            .is_some_and(|member| member.is_running)
                })
        })
    }

    /// Is it reachable?
    pub(super) fn is_serving(&self) -> bool {
        self.front.lock().is_open()
    }

    /// Remembers the authorities that its machines were given.
    pub(super) fn trust(&self, authorities: &Authorities) {
        *self.authorities.lock() = Some(authorities.clone());
    }

    /// Opens or closes the front as the machines now allow, and tells who waits.
    pub(super) async fn refresh(self: &Arc<Self>) -> Result<(), BackendError> {
        let _turn = self.turn.lock().await;
        let before = self.is_serving();
        if self.can_serve() {
            let authorities = self.authorities.lock().clone();
            if let Some(authorities) = authorities {
                self.open_front(&authorities).await?;
            }
        } else {
            self.front.lock().close();
        }
        if before != self.is_serving() {
            tracing::info!(Cluster = %self.cluster, serving = !before, "the workload cluster's API server changed");
            if let Some(shared) = self.shared.upgrade() {
                shared.tell(&self.cluster);
            }
        }
        Ok(())
    }

    /// Ends everything and lets go of the store.
    pub(super) async fn close(&self) {
        self.front.lock().close();
        self.vms.lock().clear();
        if let Some(server) = self.server.get() {
            server.shut_down();
        }
        self.store.close().await;
    }
}
