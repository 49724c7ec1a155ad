//! Reads the snapshot of one MachineSet.

use std::sync::Arc;

use capstan_api::core::{Cluster, ContractReference, Machine, MachineDeployment, MachineSet};
use capstan_api::owner;
use capstan_contract::Providers;
use capstan_engine::{Cache, Context, Lookup, ObjectKey};
use kube::ResourceExt;

use super::view::View;
use crate::{index, selector};

/// What the MachineSet controller reads from.
#[derive(Debug, Clone)]
pub(super) struct Sources {
    pub clusters: Cache<Cluster>,
    pub machines: Cache<Machine>,
    pub machine_deployments: Cache<MachineDeployment>,
    pub providers: Providers,
}

impl Sources {
    pub(super) async fn view(&self, set: Arc<MachineSet>, context: &Context) -> View {
        self.clusters.synced().await;
        self.machines.synced().await;
        self.machine_deployments.synced().await;
        let namespace = set.namespace().unwrap_or_default();
        let cluster_key = ObjectKey::new(&namespace, &set.spec.cluster_name);
        let cluster = self.clusters.get(&cluster_key);
        let control_plane = match cluster.as_ref().and_then(|it| it.spec.control_plane_ref.as_ref()) {
            Some(reference) if reference.is_defined() => {
                Some(self.providers.get(reference, &namespace).await)
            }
            _ => None,
        };
        let template = &set.spec.template.spec;
        let bootstrap_template = match &template.bootstrap.config_ref {
            Some(reference) if reference.is_defined() => Some(self.template(reference, &namespace).await),
            _ => None,
        };
        View {
            now: context.now,
            failures: context.failures,
            machine_deployment: self.machine_deployment(&set, &namespace),
            machines: self.machines.owned_by(&set.uid().unwrap_or_default()),
            orphans: self.orphans(&set, &cluster_key),
            unclaimed: self.unclaimed(&set, &namespace).await,
            bootstrap_template,
            infrastructure_template: self.template(&template.infrastructure_ref, &namespace).await,
            control_plane,
            cluster: cluster.into(),
            machine_set: set,
        }
    }

    async fn template(
        &self,
        reference: &ContractReference,
        namespace: &str,
    ) -> Lookup<capstan_contract::External> {
        self.providers.get(reference, namespace).await
    }

    /// What earlier attempts to make a Machine have left behind.
    async fn unclaimed(&self, set: &MachineSet, namespace: &str) -> Vec<String> {
        let template = &set.spec.template.spec;
        let mut templates = vec![&template.infrastructure_ref];
        templates.extend(
            template
                .bootstrap
                .config_ref
                .as_ref()
                .filter(|it| it.is_defined()),
        );
        let uid = set.uid().unwrap_or_default();
        self.providers
            .unclaimed(&templates, namespace, &uid, &self.machines)
            .await
    }

    fn machine_deployment(&self, set: &MachineSet, namespace: &str) -> Option<Arc<MachineDeployment>> {
        let owner = owner::of_kind(&set.metadata, capstan_api::core::GROUP, MachineDeployment::KIND)?;
        self.machine_deployments
            .get(&ObjectKey::new(namespace, &owner.name))
    }

    /// Machines of the cluster that match the selector and that nobody controls. An empty selector matches nothing.
    fn orphans(&self, set: &MachineSet, cluster: &ObjectKey) -> Vec<Arc<Machine>> {
        let Some(selector) = selector::parse(&set.spec.selector) else {
            return Vec::new();
        };
        let mut found = index::machines_in_cluster(&self.machines, cluster);
        found.retain(|it| {
            selector.matches(it.labels())
                && it.metadata.deletion_timestamp.is_none()
                && it.owner_references().iter().all(|it| it.controller != Some(true))
        });
        found
    }
}
