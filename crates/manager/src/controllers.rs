//! The list of all controllers of the plane.

use std::sync::Arc;

use capstan_api::core::Cluster;
use capstan_contract::{Providers, secrets::ClusterSecrets};
use capstan_engine::Engine;
use capstan_infra_dev::{backend::Backend, dev_cluster, dev_machine};
use capstan_pki::KeySource;
use capstan_workload::Workloads;
use k8s_openapi::api::core::v1::Secret;

/// Starts every controller, and tells the connections to workload clusters which clusters there are.
pub(crate) fn start(engine: &Engine, workloads: &Workloads, backend: &Backend, keys: &Arc<dyn KeySource>) {
    let providers = Providers::new(engine);
    follow_clusters(engine, workloads);
    capstan_core::cluster::start(engine, &providers, workloads);
    capstan_core::machine::start(engine, &providers, workloads);
    capstan_core::machine_set::start(engine, &providers);
    capstan_core::machine_deployment::start(engine, &providers);
    capstan_core::machine_health_check::start(engine, &providers, workloads);
    capstan_core::cluster_resource_set::start(engine, workloads);
    capstan_core::cluster_resource_set_binding::start(engine);
    let settings = capstan_bootstrap_kubeadm::Settings::default();
    capstan_bootstrap_kubeadm::start(
        engine,
        &providers,
        workloads,
        Arc::clone(keys),
        engine.entropy(),
        settings,
    );
    capstan_controlplane_kubeadm::start(engine, &providers, workloads, Arc::clone(keys));
    dev_cluster::wire(engine, backend);
    dev_machine::wire(engine, backend);
}

fn follow_clusters(engine: &Engine, workloads: &Workloads) {
    workloads.follow(
        &engine.cache::<Cluster>(),
        &engine.cache_of::<Secret>(ClusterSecrets::source()),
        |cluster: &Cluster| {
            let status = cluster.status.as_ref();
            status.is_some_and(|it| it.initialization.infrastructure_provisioned == Some(true))
        },
    );
}
