//! Reads what a decision about a machine in a container needs.

use std::sync::Arc;

use capstan_api::core::{Cluster, Machine};
use capstan_contract::secrets::ClusterSecrets;
use capstan_engine::{Cache, Context, Lookup, ObjectKey, ReadFailure};
use capstan_workload::Workloads;
use k8s_openapi::api::core::v1::{Node, Secret};
use kube::{Api, Client, ResourceExt};

use super::{
    stage::is_settled,
    view::{BootstrapData, Found, NodeState, View},
};
use crate::{
    cloud_config::{self, Probe},
    docker::{Docker, DockerError},
    kinds::{ContainerMachine, MachineSubject, cluster_of, machine_of, same_machine},
    tasks::Tasks,
};

/// The taint of a node that waits for a cloud's controller.
pub(super) const UNINITIALIZED: &str = "node.cloudprovider.kubernetes.io/uninitialized";

/// Where views come from.
#[derive(Clone)]
pub(super) struct Sources {
    pub(super) docker: Docker,
    pub(super) tasks: Tasks,
    pub(super) client: Client,
    pub(super) repository: String,
    pub(super) clusters: Cache<Cluster>,
    pub(super) machines: Cache<Machine>,
    pub(super) secrets: ClusterSecrets,
    pub(super) workloads: Workloads,
}

impl Sources {
    pub(super) async fn view<K: ContainerMachine>(&self, object: Arc<K>, context: &Context) -> View {
        self.clusters.synced().await;
        self.machines.synced().await;
        let machine = machine_of(&*object).and_then(|(key, uid)| same_machine(self.machines.get(&key), &uid));
        let cluster_key = match &machine {
            Some(it) => Some(ObjectKey::new(
                it.namespace().unwrap_or_default(),
                it.spec.cluster_name.as_str(),
            )),
            None => cluster_of(&*object),
        };
        let mut view = View {
            now: context.now,
            subject: MachineSubject::of(&*object),
            cluster: cluster_key.as_ref().and_then(|it| self.clusters.get(it)),
            machine,
            cluster_key,
            found: Ok(Found::default()),
            repository: self.repository.clone(),
            pull: None,
            images: None,
            data: Lookup::Absent,
            node: NodeState::Unknown,
        };
        view.pull = self.tasks.get(&view.image());
        view.images = self.tasks.get(&images_task(&view));
        view.node = self.node(&view);
        view.found = self.find(&view).await;
        if needs_data(&view) {
            view.data = self.data(&view).await;
        }
        view
    }

    async fn find(&self, view: &View) -> Result<Found, DockerError> {
        let name = view.name();
        let mut found = Found {
            container: self.docker.container(&name).await?,
            ..Found::default()
        };
        if view.subject.identity.is_deleting {
            return Ok(found);
        }
        let Some(container) = &found.container else {
            let is_wanted = view.subject.provider_id.is_none() && view.machine.is_some();
            found.has_image = is_wanted && self.docker.has_image(&view.image()).await?;
            return Ok(found);
        };
        if !view.is_ours(container) {
            return Ok(found);
        }
        if container.is_running && !is_settled(view) {
            let look = self.docker.run(&name, &cloud_config::probe_command()).await?;
            let look = cloud_config::read_probe(&look.text);
            if look.1 == Probe::NotStarted {
                found.has_cgroup_v1 = self.docker.has_cgroup_v1().await?;
            }
            found.look = Some(look);
        } else if !container.is_running && !container.is_new {
            found.last_words = self.docker.printed(&name, 10).await?;
        }
        Ok(found)
    }

    async fn data(&self, view: &View) -> Lookup<BootstrapData> {
        let name = view
            .machine
            .as_ref()
            .and_then(|it| it.spec.bootstrap.data_secret_name.clone());
        let Some(name) = name else { return Lookup::Absent };
        let key = ObjectKey::new(view.subject.identity.key.namespace.as_str(), name);
        self.secrets.cache().synced().await;
        if let Some(secret) = self.secrets.cache().get(&key) {
            return Lookup::Found(read(&secret));
        }
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), &key.namespace);
        match secrets.get_opt(&key.name).await {
            Ok(found) => found.map(|it| read(&it)).into(),
            Err(error) => Lookup::Unreadable(ReadFailure(format!("failed to read Secret {key}: {error}"))),
        }
    }

    fn node(&self, view: &View) -> NodeState {
        let Some(cluster) = &view.cluster_key else {
            return NodeState::Unknown;
        };
        let node = self
            .workloads
            .connection(cluster)
            .and_then(|it| it.node(&view.name()));
        match node.found() {
            None => NodeState::Unknown,
            Some(node) if is_complete(node) => NodeState::Complete,
            Some(_) => NodeState::Incomplete,
        }
    }
}

/// Has a node its identity, and does it wait for no cloud's controller?
pub(super) fn is_complete(node: &Node) -> bool {
    let spec = node.spec.as_ref();
    let has_id = spec.is_some_and(|it| it.provider_id.as_ref().is_some_and(|it| !it.is_empty()));
    let taints = spec.and_then(|it| it.taints.as_ref());
    has_id && !taints.into_iter().flatten().any(|it| it.key == UNINITIALIZED)
}

/// Is a bootstrap to be started?
fn needs_data(view: &View) -> bool {
    let look = view.found.as_ref().ok().and_then(|it| it.look.as_ref());
    look.is_some_and(|(_, bootstrap)| *bootstrap == Probe::NotStarted)
}

fn read(secret: &Secret) -> BootstrapData {
    let value = |name: &str| {
        let data = secret.data.as_ref().and_then(|it| it.get(name));
        data.map(|it| it.0.clone()).unwrap_or_default()
    };
    BootstrapData {
        format: String::from_utf8_lossy(&value("format")).into_owned(),
        value: value("value"),
    }
}

/// The name of the task that loads images into a machine.
pub(super) fn images_task(view: &View) -> String {
    format!("images/{}", view.subject.identity.uid)
}
