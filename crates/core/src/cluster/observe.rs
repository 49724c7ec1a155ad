//! Reads the snapshot of one Cluster.

use std::sync::Arc;

use capstan_api::core::{Cluster, ContractReference, Machine, MachineDeployment, MachineSet};
use capstan_contract::{External, Providers};
use capstan_engine::{Cache, Context, Lookup, ObjectKey};
use capstan_workload::Workloads;
use kube::ResourceExt;

use super::view::View;
use crate::index;

/// What the Cluster controller reads from.
#[derive(Debug, Clone)]
pub(super) struct Sources {
    pub machines: Cache<Machine>,
    pub machine_sets: Cache<MachineSet>,
    pub machine_deployments: Cache<MachineDeployment>,
    pub providers: Providers,
    pub workloads: Workloads,
}

impl Sources {
    pub(super) async fn view(&self, cluster: Arc<Cluster>, context: &Context) -> View {
        let key = ObjectKey::of(&*cluster);
        let namespace = cluster.namespace().unwrap_or_default();
        self.machines.synced().await;
        self.machine_sets.synced().await;
        self.machine_deployments.synced().await;
        let name = key.name.as_str();
        let mut machine_sets = self.machine_sets.in_namespace(&namespace);
        machine_sets.retain(|it| it.spec.cluster_name == name);
        let mut machine_deployments = self.machine_deployments.in_namespace(&namespace);
        machine_deployments.retain(|it| it.spec.cluster_name == name);
        View {
            now: context.now,
            infrastructure: self
                .external(&cluster, cluster.spec.infrastructure_ref.as_ref())
                .await,
            control_plane: self
                .external(&cluster, cluster.spec.control_plane_ref.as_ref())
                .await,
            machines: index::machines_in_cluster(&self.machines, &key),
            machine_sets,
            machine_deployments,
            health: self.workloads.health(&key),
            cluster,
        }
    }

    async fn external(
        &self,
        cluster: &Cluster,
        reference: Option<&ContractReference>,
    ) -> Option<Lookup<External>> {
        let reference = reference.filter(|it| it.is_defined())?;
        let namespace = cluster.namespace().unwrap_or_default();
        Some(if cluster.metadata.deletion_timestamp.is_some() {
            self.providers.get_left(reference, &namespace).await
        } else {
            self.providers.get(reference, &namespace).await
        })
    }
}
