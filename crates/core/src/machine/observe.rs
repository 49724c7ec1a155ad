//! Reads the snapshot of one Machine.

use std::{sync::Arc, time::Duration};

use capstan_api::{
    ObjectMeta,
    core::{Cluster, ContractReference, Machine, MachineDeployment, MachineDrainRule, MachineSet},
    owner, well_known,
};
use capstan_contract::{External, Providers};
use capstan_engine::{Cache, Context, Lookup, ObjectKey};
use capstan_workload::{Remote, Workloads};
use k8s_openapi::api::core::v1::Node;
use kube::ResourceExt;

use super::{
    decide::{hooks, is_detach_allowed, is_drain_allowed},
    drain::{Drain, inspect, is_for_machine},
    view::{NodeDeletion, View},
};

/// How long a workload cluster may take to tell what is on a Node.
const DRAIN_LIMIT: Duration = Duration::from_secs(20);

/// What the Machine controller reads from.
#[derive(Debug, Clone)]
pub(super) struct Sources {
    pub clusters: Cache<Cluster>,
    pub machines: Cache<Machine>,
    pub machine_sets: Cache<MachineSet>,
    pub machine_deployments: Cache<MachineDeployment>,
    pub providers: Providers,
    pub workloads: Workloads,
    pub rules: Cache<MachineDrainRule>,
}

impl Sources {
    pub(super) async fn view(&self, machine: Arc<Machine>, context: &Context) -> View {
        let namespace = machine.namespace().unwrap_or_default();
        let cluster_key = ObjectKey::new(&namespace, &machine.spec.cluster_name);
        self.clusters.synced().await;
        let cluster: Lookup<Arc<Cluster>> = self.clusters.get(&cluster_key).into();
        let bootstrap = match &machine.spec.bootstrap.config_ref {
            Some(reference) if reference.is_defined() => Some(self.external(&machine, reference).await),
            _ => None,
        };
        let infrastructure = self.external(&machine, &machine.spec.infrastructure_ref).await;
        let machine_set = self.machine_set_of(&machine, &namespace).await;
        let machine_deployment = match &machine_set {
            Some(set) => self.machine_deployment_of(set, &namespace).await,
            None => None,
        };
        let control_plane = match cluster.found().and_then(|it| it.spec.control_plane_ref.as_ref()) {
            Some(reference) if machine.metadata.deletion_timestamp.is_some() => {
                self.providers.get(reference, &namespace).await.found().cloned()
            }
            _ => None,
        };
        let mut view = View {
            now: context.now,
            node: Remote::Absent,
            node_rivals: Vec::new(),
            health: self.workloads.health(&cluster_key),
            node_deletion: NodeDeletion::Allowed,
            drain: Drain::NotAsked,
            machine,
            cluster,
            bootstrap,
            infrastructure,
            machine_set,
            machine_deployment,
        };
        self.find_node(&mut view, &cluster_key);
        view.node_deletion = self.node_deletion(&view, control_plane.as_ref()).await;
        view.drain = self.drain(&view, &cluster_key).await;
        view
    }

    /// What is on the Node, if the Machine's deletion is at the point where that matters.
    async fn drain(&self, view: &View, cluster: &ObjectKey) -> Drain {
        let is_held = !hooks(view, well_known::annotation::PRE_DRAIN_HOOK_PREFIX).is_empty();
        let is_wanted = is_drain_allowed(view) || is_detach_allowed(view);
        if !view.is_deleting() || view.node_deletion != NodeDeletion::Allowed || is_held || !is_wanted {
            return Drain::NotAsked;
        }
        let node = match &view.node {
            Remote::Found(node) => node,
            Remote::Absent => return Drain::NodeGone,
            Remote::Disconnected { why, .. } => return Drain::Failed(why.clone()),
            Remote::NotTried(_) => {
                return Drain::Failed("the workload cluster is not connected yet".to_owned());
            }
        };
        let Remote::Found(connection) = self.workloads.connection(cluster) else {
            return Drain::Failed("the workload cluster is not connected".to_owned());
        };
        let rules = match view.cluster.found() {
            Some(cluster) => self.rules(&view.machine, cluster).await,
            None => Vec::new(),
        };
        let asked = inspect::inspect(
            connection.client(),
            node,
            rules,
            is_detach_allowed(view),
            view.now,
        );
        match tokio::time::timeout(DRAIN_LIMIT, asked).await {
            Ok(Ok(found)) => Drain::Found(Box::new(found)),
            Ok(Err(error)) => Drain::Failed(format!("failed to look at Node {}: {error}", node.name_any())),
            Err(_) => Drain::Failed(format!("looking at Node {} took too long", node.name_any())),
        }
    }

    /// The drain rules that are about a Machine, by name.
    async fn rules(&self, machine: &Machine, cluster: &Cluster) -> Vec<Arc<MachineDrainRule>> {
        self.rules.synced().await;
        let mut rules = self.rules.in_namespace(&machine.namespace().unwrap_or_default());
        rules.retain(|it| is_for_machine(it, machine, cluster));
        rules
    }

    async fn external(&self, machine: &Machine, reference: &ContractReference) -> Lookup<External> {
        let namespace = machine.namespace().unwrap_or_default();
        if machine.metadata.deletion_timestamp.is_some() {
            self.providers.get_left(reference, &namespace).await
        } else {
            self.providers.get(reference, &namespace).await
        }
    }

    /// Finds the Node by provider ID, and by name where the Machine already knows its Node.
    fn find_node(&self, view: &mut View, cluster: &ObjectKey) {
        let connection = self.workloads.connection(cluster);
        let provider_id = view.provider_id();
        let known = view
            .machine
            .status
            .as_ref()
            .and_then(|it| it.node_ref.clone())
            .map(|it| it.name);
        view.node = connection.and_then(|connection| {
            let mut found: Vec<Arc<Node>> = provider_id
                .as_deref()
                .map(|it| connection.nodes_by_provider_id(it))
                .unwrap_or_default();
            if found.len() > 1 {
                view.node_rivals = found.iter().map(|it| it.name_any()).collect();
                found.retain(|it| Some(it.name_any()) == known);
            }
            found.pop().into()
        });
    }

    async fn machine_set_of(&self, machine: &Machine, namespace: &str) -> Option<Arc<MachineSet>> {
        self.machine_sets.synced().await;
        let owner = controller(&machine.metadata, MachineSet::KIND)?;
        self.machine_sets.get(&ObjectKey::new(namespace, owner))
    }

    async fn machine_deployment_of(
        &self,
        set: &MachineSet,
        namespace: &str,
    ) -> Option<Arc<MachineDeployment>> {
        self.machine_deployments.synced().await;
        let owner = controller(&set.metadata, MachineDeployment::KIND)?;
        self.machine_deployments.get(&ObjectKey::new(namespace, owner))
    }

    // Parity: upstream core/reconcilers/machine/machine_controller.go:isDeleteNodeAllowed
    async fn node_deletion(&self, view: &View, control_plane: Option<&External>) -> NodeDeletion {
        if !view.is_deleting() {
            return NodeDeletion::Allowed;
        }
        if view
            .cluster
            .found()
            .is_none_or(|it| it.metadata.deletion_timestamp.is_some())
        {
            return NodeDeletion::ClusterDeleting;
        }
        let known = view
            .machine
            .status
            .as_ref()
            .is_some_and(|it| it.node_ref.is_some());
        if !known && view.node.found().is_none() {
            return NodeDeletion::NoNode;
        }
        if let Some(control_plane) = control_plane {
            if control_plane.object.metadata.deletion_timestamp.is_some() {
                return NodeDeletion::ControlPlaneDeleting;
            }
            if control_plane
                .control_plane()
                .externally_managed()
                .unwrap_or(false)
            {
                return NodeDeletion::Allowed;
            }
        }
        self.machines.synced().await;
        let members = self
            .machines
            .in_namespace(&view.machine.namespace().unwrap_or_default());
        let left = members.iter().any(|it| {
            it.spec.cluster_name == view.machine.spec.cluster_name
                && it
                    .labels()
                    .contains_key(capstan_api::well_known::label::CONTROL_PLANE)
                && it.metadata.deletion_timestamp.is_none()
        });
        if left {
            NodeDeletion::Allowed
        } else {
            NodeDeletion::NoControlPlaneMembers
        }
    }
}

/// The name of an object's controller, if that is of this kind.
fn controller(metadata: &ObjectMeta, kind: &str) -> Option<String> {
    let reference = owner::of_kind(metadata, capstan_api::core::GROUP, kind)?;
    (reference.controller == Some(true)).then(|| reference.name.clone())
}
