//! Reads the snapshot of one MachineDeployment.

use std::sync::Arc;

use capstan_api::core::{Cluster, Machine, MachineDeployment, MachineSet};
use capstan_contract::Providers;
use capstan_engine::{Cache, Context, ObjectKey};
use kube::ResourceExt;

use super::view::View;
use crate::selector;

/// What the MachineDeployment controller reads from.
#[derive(Debug, Clone)]
pub(super) struct Sources {
    pub clusters: Cache<Cluster>,
    pub machines: Cache<Machine>,
    pub machine_sets: Cache<MachineSet>,
    pub providers: Providers,
}

impl Sources {
    pub(super) async fn view(&self, deployment: Arc<MachineDeployment>, context: &Context) -> View {
        self.clusters.synced().await;
        self.machines.synced().await;
        self.machine_sets.synced().await;
        let namespace = deployment.namespace().unwrap_or_default();
        let machine_sets = self.machine_sets.owned_by(&deployment.uid().unwrap_or_default());
        let mut machines: Vec<Arc<Machine>> = machine_sets
            .iter()
            .flat_map(|it| self.machines.owned_by(&it.uid().unwrap_or_default()))
            .collect();
        machines.sort_by_key(|it| it.name_any());
        let template = &deployment.spec.template.spec;
        let bootstrap_template = match &template.bootstrap.config_ref {
            Some(reference) if reference.is_defined() => {
                Some(self.providers.get(reference, &namespace).await)
            }
            _ => None,
        };
        View {
            now: context.now,
            cluster: self
                .clusters
                .get(&ObjectKey::new(&namespace, &deployment.spec.cluster_name))
                .into(),
            orphans: self.orphans(&deployment, &namespace),
            machine_sets,
            machines,
            bootstrap_template,
            infrastructure_template: self.providers.get(&template.infrastructure_ref, &namespace).await,
            machine_deployment: deployment,
        }
    }

    /// MachineSets of the cluster that match the selector and that nobody controls.
    ///
    /// Two pools whose only selector is the cluster's label both match each other's sets; what keeps them apart is that
    /// a set that has a controller is never adopted, and every set is born with one.
    fn orphans(&self, deployment: &MachineDeployment, namespace: &str) -> Vec<Arc<MachineSet>> {
        let Some(selector) = selector::parse(&deployment.spec.selector) else {
            return Vec::new();
        };
        let mut found = self.machine_sets.in_namespace(namespace);
        found.retain(|it| {
            it.spec.cluster_name == deployment.spec.cluster_name
                && it.metadata.deletion_timestamp.is_none()
                && it.owner_references().iter().all(|it| it.controller != Some(true))
                && selector.matches(it.labels())
        });
        found
    }
}
