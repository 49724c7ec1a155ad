//! The list of all controllers, and their life apart from the server's.

use std::sync::Arc;

use capstan_api::core::Cluster;
use capstan_contract::{Providers, secrets::ClusterSecrets};
use capstan_engine::{Engine, EngineSettings};
use capstan_infra_dev::{backend::Backend, dev_cluster, dev_machine};
use capstan_workload::{Connector, Schedule, Workloads};
use k8s_openapi::api::core::v1::Secret;
use kube::Client;

use crate::Parts;

/// All running controllers of one process. They know the management API by a client only, so they may end and others
/// begin while the server goes on.
#[derive(Debug)]
pub struct Controllers {
    engine: Engine,
    workloads: Workloads,
    docker: Option<capstan_infra_docker::Provider>,
}

impl Controllers {
    /// Starts every controller, and tells the connections to workload clusters which clusters there are.
    pub fn start(client: Client, parts: &Parts, backend: &Backend, connector: Arc<dyn Connector>) -> Self {
        let engine = Engine::new(EngineSettings {
            client,
            clock: Arc::clone(&parts.clock),
            entropy: Arc::clone(&parts.entropy),
            chooser: Arc::clone(&parts.chooser),
        });
        let workloads = Workloads::new(connector, Arc::clone(&parts.clock), Schedule::default());
        let providers = Providers::new(&engine);
        follow_clusters(&engine, &workloads);
        capstan_core::cluster::start(&engine, &providers, &workloads);
        capstan_core::machine::start(&engine, &providers, &workloads);
        capstan_core::machine_set::start(&engine, &providers);
        capstan_core::machine_deployment::start(&engine, &providers);
        capstan_core::machine_health_check::start(&engine, &providers, &workloads);
        capstan_core::cluster_resource_set::start(&engine, &workloads);
        capstan_core::cluster_resource_set_binding::start(&engine);
        capstan_bootstrap_kubeadm::start(
            &engine,
            &providers,
            &workloads,
            Arc::clone(&parts.keys),
            engine.entropy(),
            capstan_bootstrap_kubeadm::Settings::default(),
        );
        capstan_controlplane_kubeadm::start(&engine, &providers, &workloads, Arc::clone(&parts.keys));
        dev_cluster::wire(&engine, backend);
        dev_machine::wire(&engine, backend);
        let settings = parts.docker.as_ref();
        let docker = settings.map(|it| capstan_infra_docker::Provider::start(&engine, &workloads, it));
        Self {
            engine,
            workloads,
            docker,
        }
    }

    /// The home of the controllers.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The connections to workload clusters.
    pub fn workloads(&self) -> &Workloads {
        &self.workloads
    }

    /// The provider of machines in containers, where there is one.
    pub fn docker(&self) -> Option<&capstan_infra_docker::Provider> {
        self.docker.as_ref()
    }

    /// Ends in order: running passes finish, nothing new begins.
    pub async fn close(&self) {
        self.engine.close().await;
    }

    /// Ends at once, in the middle of whatever is done, as a crash does.
    pub fn kill(&self) {
        self.engine.kill();
    }
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
