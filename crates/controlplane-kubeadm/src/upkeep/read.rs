//! Reads one half of the upkeep in the workload cluster.

use std::fmt::Debug;

use capstan_base::{Timestamp, Version};
use capstan_workload::{Connection, Remote};
use k8s_openapi::api::{
    apps::v1::{DaemonSet, Deployment},
    core::v1::ConfigMap,
    rbac::v1::ClusterRoleBinding,
};
use kube::{Api, Client, Resource, core::NamespaceResourceScope};
use serde::de::DeserializeOwned;

use super::{Addons, BINDINGS, COREDNS, Half, KUBE_PROXY, KUBEADM_CONFIG, NAMESPACE, Preparation, Upkeep};

/// From this Kubernetes version on, every cluster was made by a kubeadm that made the bindings itself.
const BINDINGS_UNTIL: (u64, u64) = (1, 38);

/// Reads what is due for a control plane of a version.
pub(crate) async fn read(
    half: Half,
    version: &str,
    connection: &Remote<Connection>,
    now: Timestamp,
) -> Upkeep {
    match half {
        Half::BeforeRollout => Upkeep::BeforeRollout(
            ask(connection, now, async |client| preparation(client, version).await).await,
        ),
        Half::AfterRollout => Upkeep::AfterRollout(ask(connection, now, addons).await),
    }
}

/// Asks a workload cluster that may not be connected, or may not answer.
async fn ask<T>(
    connection: &Remote<Connection>,
    now: Timestamp,
    question: impl AsyncFnOnce(&Client) -> Result<T, kube::Error>,
) -> Remote<T> {
    let connection = match connection {
        Remote::Found(connection) => connection,
        other => return other.as_ref().and_then(|_| Remote::Absent),
    };
    match question(connection.client()).await {
        Ok(found) => Remote::Found(found),
        Err(error) => Remote::Disconnected {
            since: now,
            why: error.to_string(),
        },
    }
}

async fn preparation(client: &Client, version: &str) -> Result<Preparation, kube::Error> {
    let mut missing_bindings = Vec::new();
    let is_needed =
        Version::parse_tolerant(version).is_ok_and(|it| (it.major(), it.minor()) < BINDINGS_UNTIL);
    if is_needed {
        let bindings: Api<ClusterRoleBinding> = Api::all(client.clone());
        for binding in BINDINGS {
            if bindings.get_metadata_opt(binding.name).await?.is_none() {
                missing_bindings.push(binding);
            }
        }
    }
    Ok(Preparation {
        configuration: get::<ConfigMap>(client, KUBEADM_CONFIG).await?,
        missing_bindings,
    })
}

async fn addons(client: &Client) -> Result<Addons, kube::Error> {
    Ok(Addons {
        kube_proxy: get::<DaemonSet>(client, KUBE_PROXY).await?.map(Box::new),
        dns: get::<Deployment>(client, COREDNS).await?.map(Box::new),
        configuration: get::<ConfigMap>(client, KUBEADM_CONFIG).await?,
    })
}

async fn get<K>(client: &Client, name: &str) -> Result<Option<K>, kube::Error>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
{
    Api::namespaced(client.clone(), NAMESPACE).get_opt(name).await
}
