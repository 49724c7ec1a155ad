//! What the Dev kinds and the Docker kinds have in common: a cluster or machine in containers, however it is written.

use std::sync::Arc;

use capstan_api::{
    core::{ApiEndpoint, Cluster, Machine},
    infrastructure::{
        ClusterStatus, DevCluster, DevMachine, DockerCluster, DockerClusterBackend, DockerMachine,
        DockerMachineBackend, MachineStatus,
    },
    owner,
    well_known::label,
};
use capstan_engine::{Cached, ObjectKey};
use kube::ResourceExt;
use serde::Serialize;

/// What is known of any object of ours.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Identity {
    /// The kind.
    pub kind: &'static str,
    /// Namespace and name.
    pub key: ObjectKey,
    /// The UID.
    pub uid: String,
    /// The generation of the spec.
    pub generation: Option<i64>,
    /// It is being deleted.
    pub is_deleting: bool,
}

impl Identity {
    fn of<K: kube::Resource<DynamicType = ()>>(object: &K, kind: &'static str) -> Self {
        let meta = object.meta();
        Self {
            kind,
            key: ObjectKey::new(
                meta.namespace.clone().unwrap_or_default(),
                meta.name.clone().unwrap_or_default(),
            ),
            uid: meta.uid.clone().unwrap_or_default(),
            generation: meta.generation,
            is_deleting: meta.deletion_timestamp.is_some(),
        }
    }

    /// As containers say it in their owner label: `Kind/namespace/name`.
    pub(crate) fn label(&self) -> String {
        format!("{}/{}/{}", self.kind, self.key.namespace, self.key.name)
    }
}

/// The object that an owner label names, if it is of this kind.
pub(crate) fn labelled(label: &str, kind: &str) -> Option<ObjectKey> {
    let (found, rest) = label.split_once('/')?;
    let (namespace, name) = rest.split_once('/')?;
    (found == kind).then(|| ObjectKey::new(namespace, name))
}

/// A kind of cluster that may live in containers.
pub(crate) trait ContainerCluster:
    Cached + kube::Resource<DynamicType = ()> + Serialize + Sized
{
    /// The kind.
    const KIND: &'static str;
    /// The controller's name.
    const CONTROLLER: &'static str;

    /// How its containers are made; none if it lives elsewhere.
    fn backend(&self) -> Option<&DockerClusterBackend>;
    /// Where the API server is reached.
    fn endpoint(&self) -> &ApiEndpoint;
    /// The status.
    fn status(&self) -> Option<&ClusterStatus>;
}

/// A kind of machine that may live in a container.
pub(crate) trait ContainerMachine:
    Cached + kube::Resource<DynamicType = ()> + Serialize + Sized
{
    /// The kind.
    const KIND: &'static str;
    /// The controller's name.
    const CONTROLLER: &'static str;
    /// Whether the status says that the load balancer knows the machine.
    const TELLS_LOAD_BALANCER: bool;

    /// How its container is made; none if it lives elsewhere.
    fn backend(&self) -> Option<&DockerMachineBackend>;
    /// The recorded identity.
    fn provider_id(&self) -> Option<&str>;
    /// The status.
    fn status(&self) -> Option<&MachineStatus>;
}

macro_rules! cluster {
    ($kind:ty, $controller:literal, |$it:ident| $backend:expr) => {
        impl ContainerCluster for $kind {
            const KIND: &'static str = <$kind>::KIND;
            const CONTROLLER: &'static str = $controller;

            fn backend(&self) -> Option<&DockerClusterBackend> {
                let $it = self;
                $backend
            }

            fn endpoint(&self) -> &ApiEndpoint {
                &self.spec.control_plane_endpoint
            }

            fn status(&self) -> Option<&ClusterStatus> {
                self.status.as_ref()
            }
        }
    };
}

macro_rules! machine {
    ($kind:ty, $controller:literal, $tells:literal, |$it:ident| $backend:expr) => {
        impl ContainerMachine for $kind {
            const KIND: &'static str = <$kind>::KIND;
            const CONTROLLER: &'static str = $controller;
            const TELLS_LOAD_BALANCER: bool = $tells;

            fn backend(&self) -> Option<&DockerMachineBackend> {
                let $it = self;
                $backend
            }

            fn provider_id(&self) -> Option<&str> {
                self.spec.provider_id.as_deref()
            }

            fn status(&self) -> Option<&MachineStatus> {
                self.status.as_ref()
            }
        }
    };
}

cluster!(DevCluster, "devcluster-docker", |it| it
    .spec
    .backend
    .docker
    .as_ref());
cluster!(DockerCluster, "dockercluster", |it| Some(&it.spec.backend));
machine!(DevMachine, "devmachine-docker", false, |it| it
    .spec
    .backend
    .docker
    .as_ref());
machine!(DockerMachine, "dockermachine", true, |it| Some(&it.spec.backend));

/// A cluster of either kind, as decisions see it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ClusterSubject {
    /// Which object it is.
    pub identity: Identity,
    /// How its containers are made.
    pub backend: DockerClusterBackend,
    /// Where the API server is reached.
    pub endpoint: ApiEndpoint,
    /// The stored status.
    pub status: ClusterStatus,
    /// Somebody else manages it.
    pub is_externally_managed: bool,
}

impl ClusterSubject {
    pub(crate) fn of<K: ContainerCluster>(object: &K) -> Self {
        let annotations = object.meta().annotations.as_ref();
        Self {
            identity: Identity::of(object, K::KIND),
            backend: object.backend().cloned().unwrap_or_default(),
            endpoint: object.endpoint().clone(),
            status: object.status().cloned().unwrap_or_default(),
            is_externally_managed: annotations
                .is_some_and(|it| it.contains_key(capstan_api::well_known::annotation::MANAGED_BY)),
        }
    }
}

/// A machine of either kind, as decisions see it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct MachineSubject {
    /// Which object it is.
    pub identity: Identity,
    /// How its container is made.
    pub backend: DockerMachineBackend,
    /// The recorded identity with the provider.
    pub provider_id: Option<String>,
    /// The stored status.
    pub status: MachineStatus,
    /// The status says whether the load balancer knows the machine.
    pub tells_load_balancer: bool,
}

impl MachineSubject {
    pub(crate) fn of<K: ContainerMachine>(object: &K) -> Self {
        Self {
            identity: Identity::of(object, K::KIND),
            backend: object.backend().cloned().unwrap_or_default(),
            provider_id: object.provider_id().map(str::to_owned),
            status: object.status().cloned().unwrap_or_default(),
            tells_load_balancer: K::TELLS_LOAD_BALANCER,
        }
    }
}

/// The Cluster that owns an infrastructure cluster.
pub(crate) fn owner_of<K: kube::Resource<DynamicType = ()>>(object: &K) -> Option<ObjectKey> {
    let reference = owner::of_kind(object.meta(), capstan_api::core::GROUP, Cluster::KIND)?;
    Some(ObjectKey::new(
        object.namespace().unwrap_or_default(),
        reference.name.as_str(),
    ))
}

/// The Machine that owns an infrastructure machine: its key and its UID.
pub(crate) fn machine_of<K: kube::Resource<DynamicType = ()>>(object: &K) -> Option<(ObjectKey, String)> {
    let reference = owner::of_kind(object.meta(), capstan_api::core::GROUP, Machine::KIND)?;
    let key = ObjectKey::new(object.namespace().unwrap_or_default(), reference.name.as_str());
    Some((key, reference.uid.clone()))
}

/// The Cluster whose name an object carries as a label.
pub(crate) fn cluster_of<K: kube::Resource<DynamicType = ()>>(object: &K) -> Option<ObjectKey> {
    let name = object.labels().get(label::CLUSTER_NAME)?;
    Some(ObjectKey::new(
        object.namespace().unwrap_or_default(),
        name.as_str(),
    ))
}

/// The Machine of a key, if it is still the one that is meant.
pub(crate) fn same_machine(found: Option<Arc<Machine>>, uid: &str) -> Option<Arc<Machine>> {
    found.filter(|it| it.metadata.uid.as_deref() == Some(uid))
}
