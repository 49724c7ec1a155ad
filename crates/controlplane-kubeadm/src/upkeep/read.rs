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
    let down = |error: kube::Error| Disconnected {
        since: now,
        why: error.to_string(),
    };
    match half {
        Half::BeforeRollout => Upkeep::BeforeRollout(match connection {
            Remote::Found(connection) => match preparation(connection.client(), version).await {
                Ok(found) => Remote::Found(found),
                Err(error) => down(error).into(),
            },
            other => other.as_ref().and_then(|_| Remote::Absent),
        }),
        Half::AfterRollout => Upkeep::AfterRollout(match connection {
            Remote::Found(connection) => match addons(connection.client()).await {
                Ok(found) => Remote::Found(found),
                Err(error) => down(error).into(),
            },
            other => other.as_ref().and_then(|_| Remote::Absent),
        }),
    }
}

struct Disconnected {
    since: Timestamp,
    why: String,
}

impl<T> From<Disconnected> for Remote<T> {
    fn from(it: Disconnected) -> Self {
        Self::Disconnected {
            since: it.since,
            why: it.why,
        }
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
