//! Reads the snapshot of one MachineHealthCheck.

use std::sync::Arc;

use capstan_api::{
    condition::{self, Type},
    core::{Cluster, Conditioned, Machine, MachineHealthCheck},
    well_known::annotation,
};
use capstan_contract::Providers;
use capstan_engine::{Cache, Context, Lookup, ObjectKey};
use capstan_workload::{Connection, Remote, Workloads};
use kube::ResourceExt;

use super::view::{Target, View};
use crate::{index, selector};

/// What the MachineHealthCheck controller reads from.
#[derive(Debug, Clone)]
pub(super) struct Sources {
    pub clusters: Cache<Cluster>,
    pub machines: Cache<Machine>,
    pub providers: Providers,
    pub workloads: Workloads,
}

impl Sources {
    pub(super) async fn view(&self, check: Arc<MachineHealthCheck>, context: &Context) -> View {
        let key = index::cluster_of(&*check, &check.spec.cluster_name);
        self.clusters.synced().await;
        self.machines.synced().await;
        let cluster: Lookup<Arc<Cluster>> = self.clusters.get(&key).into();
        let is_initialized = cluster
            .found()
            .is_some_and(|it| condition::is_true(it.conditions(), Type::ControlPlaneInitialized.as_str()));
        let connection = is_initialized.then(|| self.workloads.connection(&key));
        let mut targets = Vec::new();
        for machine in index::machines_in_cluster(&self.machines, &key) {
            if is_target(&check, &machine) {
                targets.push(Target {
                    node: node(connection.as_ref(), &machine),
                    request: self.request(&check, &machine).await,
                    machine,
                });
            }
        }
        View {
            now: context.now,
            template: self.template(&check).await,
            health_check: check,
            cluster,
            targets,
        }
    }

    async fn template(&self, check: &MachineHealthCheck) -> Option<Lookup<Arc<kube::core::DynamicObject>>> {
        let reference = check.spec.remediation.template_ref.as_ref()?;
        let key = ObjectKey::new(check.namespace().unwrap_or_default(), &reference.name);
        let found = self
            .providers
            .get_at(&reference.api_version, &reference.kind, &key)
            .await;
        Some(found.1)
    }

    /// The repair request of a Machine has its name.
    async fn request(
        &self,
        check: &MachineHealthCheck,
        machine: &Machine,
    ) -> Option<(kube::core::ApiResource, Lookup<Arc<kube::core::DynamicObject>>)> {
        let reference = check.spec.remediation.template_ref.as_ref()?;
        let kind = reference.kind.strip_suffix("Template").unwrap_or(&reference.kind);
        Some(
            self.providers
                .get_at(&reference.api_version, kind, &ObjectKey::of(machine))
                .await,
        )
    }
}

/// Is this a Machine that the health check selects and nobody took out?
pub(super) fn is_target(check: &MachineHealthCheck, machine: &Machine) -> bool {
    let is_taken_out = [annotation::PAUSED, annotation::SKIP_REMEDIATION]
        .iter()
        .any(|it| machine.annotations().contains_key(*it));
    !is_taken_out && selects(check, machine)
}

/// Does the health check select the Machine?
pub(super) fn selects(check: &MachineHealthCheck, machine: &Machine) -> bool {
    check.spec.cluster_name == machine.spec.cluster_name
        && selector::parse(&check.spec.selector).is_some_and(|it| it.matches(machine.labels()))
}

fn node(
    connection: Option<&Remote<Connection>>,
    machine: &Machine,
) -> Option<Remote<Arc<k8s_openapi::api::core::v1::Node>>> {
    let name = &machine.status.as_ref()?.node_ref.as_ref()?.name;
    Some(connection?.clone().and_then(|it| it.node(name)))
}
