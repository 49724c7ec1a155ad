//! Changes one thing in the workload cluster.

use std::fmt::Debug;

use k8s_openapi::api::{
    apps::v1::{DaemonSet, Deployment},
    core::v1::ConfigMap,
    rbac::v1::{ClusterRoleBinding, RoleRef, Subject},
};
use kube::{
    Api, Client, Resource,
    api::{Patch, PatchParams, PostParams},
    core::NamespaceResourceScope,
};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::{Binding, COREDNS, KUBE_PROXY, KUBEADM_CONFIG, NAMESPACE, configuration::ENTRY};

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Makes a cluster role binding.
    CreateBinding(Binding),
    /// Writes kubeadm's configuration.
    WriteConfiguration {
        /// The revision that was read: somebody else's change in between is not overwritten.
        resource_version: Option<String>,
        /// The new `ClusterConfiguration`.
        text: String,
    },
    /// Sets the image of kube-proxy.
    SetKubeProxyImage {
        /// The revision that was read.
        resource_version: Option<String>,
        /// The image.
        image: String,
    },
    /// Sets the image of CoreDNS.
    SetDnsImage {
        /// The revision that was read.
        resource_version: Option<String>,
        /// The image.
        image: String,
    },
}

/// A change that was not made.
#[derive(Debug, thiserror::Error)]
#[error("failed to {what} in the workload cluster")]
pub struct ChangeError {
    what: String,
    /// Why.
    #[source]
    source: kube::Error,
}

/// Makes a change.
pub(crate) async fn perform(client: &Client, change: &Change) -> Result<(), ChangeError> {
    let (what, done) = match change {
        Change::CreateBinding(binding) => (
            format!("create ClusterRoleBinding {}", binding.name),
            create_binding(client, *binding).await,
        ),
        Change::WriteConfiguration {
            resource_version,
            text,
        } => (
            format!("write ConfigMap {NAMESPACE}/{KUBEADM_CONFIG}"),
            write_configuration(client, resource_version.as_deref(), text).await,
        ),
        Change::SetKubeProxyImage {
            resource_version,
            image,
        } => (
            format!("set the image of DaemonSet {NAMESPACE}/{KUBE_PROXY}"),
            set_image::<DaemonSet>(client, KUBE_PROXY, resource_version.as_deref(), image).await,
        ),
        Change::SetDnsImage {
            resource_version,
            image,
        } => (
            format!("set the image of Deployment {NAMESPACE}/{COREDNS}"),
            set_image::<Deployment>(client, COREDNS, resource_version.as_deref(), image).await,
        ),
    };
    done.map_err(|source| ChangeError { what, source })
}

async fn create_binding(client: &Client, binding: Binding) -> Result<(), kube::Error> {
    const GROUP: &str = "rbac.authorization.k8s.io";
    let object = ClusterRoleBinding {
        metadata: kube::core::ObjectMeta {
            name: Some(binding.name.to_owned()),
            ..Default::default()
        },
        role_ref: RoleRef {
            api_group: GROUP.to_owned(),
            kind: "ClusterRole".to_owned(),
            name: binding.role.to_owned(),
        },
        subjects: Some(vec![Subject {
            api_group: Some(GROUP.to_owned()),
            kind: binding.subject_kind.to_owned(),
            name: binding.subject.to_owned(),
            namespace: None,
        }]),
    };
    match Api::all(client.clone())
        .create(&PostParams::default(), &object)
        .await
    {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
        Err(error) => Err(error),
    }
}

async fn write_configuration(
    client: &Client,
    resource_version: Option<&str>,
    text: &str,
) -> Result<(), kube::Error> {
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let patch = json!({ "metadata": { "resourceVersion": resource_version }, "data": { ENTRY: text } });
    api.patch(KUBEADM_CONFIG, &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .map(drop)
}

/// Sets the image of the container that is named like its workload: nothing else of it is touched, and only what was
/// read is.
async fn set_image<K>(
    client: &Client,
    name: &str,
    resource_version: Option<&str>,
    image: &str,
) -> Result<(), kube::Error>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
{
    let patch = Patch::Strategic(json!({
        "metadata": { "resourceVersion": resource_version },
        "spec": { "template": { "spec": { "containers": [{ "name": name, "image": image }] } } },
    }));
    let api: Api<K> = Api::namespaced(client.clone(), NAMESPACE);
    api.patch(name, &PatchParams::default(), &patch).await.map(drop)
}
