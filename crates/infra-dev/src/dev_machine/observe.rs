//! Reads what a decision about a DevMachine needs.

use std::sync::Arc;

use capstan_api::{
    core::{self, Cluster, Machine},
    infrastructure::{DevCluster, DevMachine},
    owner,
    well_known::label,
};
use capstan_contract::secrets::{ClusterSecrets, key_pair};
use capstan_engine::{Cache, Context, Lookup, ObjectKey, ReadFailure};
use capstan_pki::{KeyPairPem, Purpose};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client, ResourceExt};

use super::view::{BootstrapData, View};
use crate::{
    backend::{Authorities, Backend, MachineFacts},
    bootstrap,
    timeline::Parts,
};

/// Where views come from.
pub(super) struct Sources {
    pub(super) backend: Backend,
    pub(super) clusters: Cache<Cluster>,
    pub(super) machines: Cache<Machine>,
    pub(super) dev_clusters: Cache<DevCluster>,
    pub(super) secrets: ClusterSecrets,
    pub(super) client: Client,
}

impl std::fmt::Debug for Sources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sources")
            .field("backend", &self.backend)
            .finish_non_exhaustive()
    }
}

/// The Cluster whose name a DevMachine carries as a label.
pub(super) fn cluster_of(object: &DevMachine) -> Option<ObjectKey> {
    let name = object.labels().get(label::CLUSTER_NAME)?;
    Some(ObjectKey::new(
        object.namespace().unwrap_or_default(),
        name.as_str(),
    ))
}

impl Sources {
    pub(super) async fn synced(&self) {
        self.clusters.synced().await;
        self.machines.synced().await;
        self.dev_clusters.synced().await;
    }

    pub(super) async fn view(&self, object: Arc<DevMachine>, context: &Context) -> View {
        let machine = self.owner(&object);
        let cluster_key = machine.as_ref().map_or_else(
            || cluster_of(&object),
            |it| {
                Some(ObjectKey::new(
                    it.namespace().unwrap_or_default(),
                    it.spec.cluster_name.as_str(),
                ))
            },
        );
        let cluster = cluster_key.as_ref().and_then(|it| self.clusters.get(it));
        let facts = cluster_key
            .as_ref()
            .map(|it| {
                self.backend
                    .machine(it, &object.name_any(), &object.uid().unwrap_or_default())
            })
            .unwrap_or_default();
        let mut view = View {
            now: context.now,
            is_cluster_open: cluster.as_ref().is_some_and(|it| self.is_open(it)),
            object,
            machine,
            cluster_key,
            cluster,
            bootstrap: Lookup::Absent,
            authorities: Lookup::Absent,
            facts,
        };
        if needs_secrets(&view) {
            view.bootstrap = self.bootstrap(&view).await;
            view.authorities = self.authorities(&view).await;
        }
        view
    }

    fn owner(&self, object: &DevMachine) -> Option<Arc<Machine>> {
        let reference = owner::of_kind(&object.metadata, core::GROUP, Machine::KIND)?;
        let key = ObjectKey::new(object.namespace().unwrap_or_default(), reference.name.as_str());
        self.machines
            .get(&key)
            .filter(|it| it.metadata.uid.as_ref() == Some(&reference.uid))
    }

    /// Is the workload cluster open that belongs to the Cluster's present DevCluster?
    fn is_open(&self, cluster: &Cluster) -> bool {
        let Some(reference) = cluster.spec.infrastructure_ref.as_ref() else {
            return false;
        };
        let key = ObjectKey::of(cluster);
        let dev_cluster = self
            .dev_clusters
            .get(&ObjectKey::new(key.namespace.as_str(), reference.name.as_str()));
        dev_cluster
            .and_then(|it| it.uid())
            .is_some_and(|uid| self.backend.is_open(&key, &uid))
    }

    async fn bootstrap(&self, view: &View) -> Lookup<BootstrapData> {
        let name = view
            .machine
            .as_ref()
            .and_then(|it| it.spec.bootstrap.data_secret_name.clone());
        let Some(name) = name else { return Lookup::Absent };
        let namespace = view.object.namespace().unwrap_or_default();
        self.secret(&ObjectKey::new(namespace, name))
            .await
            .map(|secret| BootstrapData {
                created: secret.metadata.creation_timestamp.as_ref().map(|it| it.0),
                bootstrap: secret
                    .data
                    .as_ref()
                    .and_then(|it| it.get("value"))
                    .map(|it| bootstrap::read(&it.0))
                    .unwrap_or_default(),
            })
    }

    /// A Secret, from the cache of labelled ones or else from the server.
    async fn secret(&self, key: &ObjectKey) -> Lookup<Arc<Secret>> {
        self.secrets.cache().synced().await;
        if let Some(secret) = self.secrets.cache().get(key) {
            return Lookup::Found(secret);
        }
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), &key.namespace);
        match secrets.get_opt(&key.name).await {
            Ok(found) => found.map(Arc::new).into(),
            Err(error) => Lookup::Unreadable(ReadFailure(format!("failed to read Secret {key}: {error}"))),
        }
    }

    async fn authorities(&self, view: &View) -> Lookup<Authorities> {
        let Some(cluster) = &view.cluster_key else {
            return Lookup::Absent;
        };
        let cluster_pair = match self.pair(cluster, Purpose::ClusterAuthority).await {
            Lookup::Found(pair) => pair,
            Lookup::Absent => return Lookup::Absent,
            Lookup::Unreadable(why) => return Lookup::Unreadable(why),
        };
        let etcd_pair = match self.pair(cluster, Purpose::EtcdAuthority).await {
            Lookup::Found(pair) => pair,
            Lookup::Absent => return Lookup::Absent,
            Lookup::Unreadable(why) => return Lookup::Unreadable(why),
        };
        match Authorities::read(&cluster_pair, &etcd_pair) {
            Ok(authorities) => Lookup::Found(authorities),
            Err(error) => Lookup::Unreadable(ReadFailure(format!(
                "the CA Secrets of {cluster} cannot be used: {error}"
            ))),
        }
    }

    async fn pair(&self, cluster: &ObjectKey, purpose: Purpose) -> Lookup<KeyPairPem> {
        match self.secrets.get(cluster, purpose).await {
            Lookup::Found(secret) => key_pair(&secret).into(),
            Lookup::Absent => Lookup::Absent,
            Lookup::Unreadable(why) => Lookup::Unreadable(why),
        }
    }
}

/// Is something left to start for which Secrets are needed?
fn needs_secrets(view: &View) -> bool {
    let MachineFacts { started, running, .. } = view.facts;
    let everything = Parts {
        vm: true,
        node: true,
        etcd: view.is_control_plane(),
        api_server: view.is_control_plane(),
    };
    !view.is_deleting() && view.is_cluster_open && (started.is_none() || running != everything)
}
