//! Reads what a decision about a cluster in containers needs.

use std::{collections::BTreeMap, sync::Arc};

use capstan_api::{
    core::{Machine, MachineAddressType},
    infrastructure::{DevMachine, DockerMachine, LocalReference, MachineStatus},
    well_known,
};
use capstan_engine::{Cache, Context, Lookup, ObjectKey, ReadFailure};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, ResourceExt};

use super::view::{Found, View};
use crate::{
    docker::{Docker, DockerError},
    haproxy::{self, Backend},
    kinds::{ClusterSubject, ContainerCluster, owner_of},
    naming,
    tasks::Tasks,
};

/// The index of Machines by the Cluster that they belong to.
pub(super) const CLUSTER: &str = "cluster-of-containers";

/// Where views come from.
#[derive(Clone)]
pub(super) struct Sources {
    pub(super) docker: Docker,
    pub(super) tasks: Tasks,
    pub(super) client: Client,
    pub(super) clusters: Cache<capstan_api::core::Cluster>,
    pub(super) machines: Cache<Machine>,
    pub(super) dev_machines: Cache<DevMachine>,
    pub(super) docker_machines: Cache<DockerMachine>,
}

impl Sources {
    pub(super) async fn view<K: ContainerCluster>(&self, object: Arc<K>, context: &Context) -> View {
        self.machines.synced().await;
        self.dev_machines.synced().await;
        self.docker_machines.synced().await;
        let subject = ClusterSubject::of(&*object);
        let owner = owner_of(&*object);
        let template = match &subject.backend.load_balancer.custom_config_template {
            None => Lookup::Absent,
            Some(reference) => self.template(&subject.identity.key.namespace, reference).await,
        };
        let mut view = View {
            now: context.now,
            backends: owner.as_ref().map(|it| self.backends(it)).unwrap_or_default(),
            owner,
            subject,
            found: Ok(Found::default()),
            pull: None,
            template,
            privileges: self.docker.known_privileges(),
        };
        view.found = self.find(&view).await;
        view.pull = self.tasks.get(&view.image());
        view
    }

    async fn find(&self, view: &View) -> Result<Found, DockerError> {
        let name = view.name();
        let container = self.docker.container(&name).await?;
        let is_ours = container
            .as_ref()
            .is_some_and(|it| it.labels.get(naming::OWNER_UID_LABEL) == Some(&view.subject.identity.uid));
        if view.subject.identity.is_deleting || (container.is_some() && !is_ours) {
            return Ok(Found {
                container,
                ..Found::default()
            });
        }
        let path = format!("{}/{}", haproxy::FOLDER, haproxy::LOADED);
        let loaded = match &container {
            Some(_) => self.docker.read_file(&name, &path).await?,
            None => None,
        };
        let last_words = match &container {
            Some(it) if !it.is_running && !it.is_new => self.docker.printed(&name, 5).await?,
            _ => String::new(),
        };
        let has_image = match &container {
            Some(_) => true,
            None => self.docker.has_image(&view.image()).await?,
        };
        Ok(Found {
            container,
            has_image,
            last_words,
            loaded: loaded.and_then(|it| String::from_utf8(it).ok()),
        })
    }

    /// The API servers of a cluster that have an address. One whose Machine goes away gets no new traffic, unless it is
    /// the only one.
    // Parity: upstream dockermachine_backend.go, reconcileLoadBalancerConfiguration
    fn backends(&self, cluster: &ObjectKey) -> BTreeMap<String, Backend> {
        let machines = self.machines.by_index(CLUSTER, &cluster.to_string());
        let members: Vec<_> = machines
            .iter()
            .filter(|it| well_known::is_control_plane(it.metadata.labels.as_ref()))
            .collect();
        let is_alone = members.len() == 1;
        members
            .into_iter()
            .filter_map(|machine| {
                let address = self.address(machine)?;
                let is_leaving = machine.metadata.deletion_timestamp.is_some() && !is_alone;
                let backend = Backend {
                    address,
                    weight: if is_leaving { 0 } else { 100 },
                };
                Some((naming::machine(&cluster.name, &machine.name_any()), backend))
            })
            .collect()
    }

    fn address(&self, machine: &Machine) -> Option<String> {
        let reference = &machine.spec.infrastructure_ref;
        let key = ObjectKey::new(machine.namespace().unwrap_or_default(), reference.name.as_str());
        let address = |status: Option<&MachineStatus>| {
            let addresses = status.map(|it| it.addresses.as_slice()).unwrap_or_default();
            let internal = |it: &&capstan_api::core::MachineAddress| {
                it.type_ == Some(MachineAddressType::InternalIp) && !it.address.is_empty()
            };
            addresses.iter().find(internal).map(|it| it.address.clone())
        };
        match reference.kind.as_str() {
            DevMachine::KIND => self
                .dev_machines
                .get(&key)
                .and_then(|it| address(it.status.as_ref())),
            DockerMachine::KIND => self
                .docker_machines
                .get(&key)
                .and_then(|it| address(it.status.as_ref())),
            _ => None,
        }
    }

    async fn template(&self, namespace: &str, reference: &LocalReference) -> Lookup<String> {
        let unreadable = |why: String| Lookup::Unreadable(ReadFailure(why));
        let name = format!("{namespace}/{}", reference.name);
        let maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), namespace);
        match maps.get_opt(&reference.name).await {
            Err(error) => unreadable(format!("failed to read ConfigMap {name}: {error}")),
            Ok(None) => unreadable(format!(
                "ConfigMap {name} of customHAProxyConfigTemplateRef does not exist"
            )),
            Ok(Some(map)) => match map.data.and_then(|mut it| it.remove("value")) {
                Some(template) => Lookup::Found(template),
                None => unreadable(format!("ConfigMap {name} has no entry \"value\"")),
            },
        }
    }
}
