//! The Docker provider: clusters whose machines are containers, in which a real kubeadm brings up a real Kubernetes.
//!
//! It serves the Dev kinds with `backend.docker`, and the Docker kinds. What it makes carries the UID of the object it
//! belongs to, so whatever it was doing when it ended, it finds and adopts.
//!
//! ```text
//!   DevCluster, DockerCluster ──► cluster ──► network, load balancer (haproxy)
//!   DevMachine, DockerMachine ──► machine ──► node container ──► cloud_config: the bootstrap, run inside
//!                                   ▲
//!   Engine ── events ───────────────┘
//! ```

mod cloud_config;
mod cluster;
mod create;
pub mod docker;
mod haproxy;
mod kinds;
mod machine;
pub mod naming;
mod specification;
mod tasks;

use capstan_api::infrastructure::{DevCluster, DevMachine, DockerCluster, DockerMachine};
use capstan_engine::{Cached, Engine, ObjectKey, Trigger};
use capstan_workload::Workloads;

use docker::{Docker, Incident};
use tasks::Tasks;

/// What the provider is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Where the Engine is: `unix:///…`, `tcp://…` or `npipe://…`.
    pub engine: String,
    /// The repository of node images, whose tags are versions of Kubernetes.
    pub node_image_repository: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            engine: "unix:///var/run/docker.sock".to_owned(),
            node_image_repository: "kindest/node".to_owned(),
        }
    }
}

/// The provider's controllers, and the ear at the Engine that wakes them.
#[derive(Debug)]
pub struct Provider {
    docker: Docker,
    ear: tokio::task::JoinHandle<()>,
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.ear.abort();
    }
}

impl Provider {
    /// Starts the provider. An Engine that is not there is waited for, and said on every object that needs it.
    pub fn start(engine: &Engine, workloads: &Workloads, settings: &Settings) -> Self {
        let docker = Docker::at(settings.engine.as_str());
        let tasks = Tasks::new(engine.clock());
        let machines = machine::MachineSettings {
            docker: docker.clone(),
            tasks: tasks.clone(),
            workloads: workloads.clone(),
            repository: settings.node_image_repository.clone(),
        };
        let wakers: Vec<Box<dyn Fn(&Incident) + Send + Sync>> = vec![
            waker::<DevCluster>(
                engine,
                DevCluster::KIND,
                cluster::wire::<DevCluster>(engine, &docker, &tasks),
            ),
            waker::<DockerCluster>(
                engine,
                DockerCluster::KIND,
                cluster::wire::<DockerCluster>(engine, &docker, &tasks),
            ),
            waker::<DevMachine>(
                engine,
                DevMachine::KIND,
                machine::wire::<DevMachine>(engine, &machines),
            ),
            waker::<DockerMachine>(
                engine,
                DockerMachine::KIND,
                machine::wire::<DockerMachine>(engine, &machines),
            ),
        ];
        let listener = move |incident: Incident| {
            for wake in &wakers {
                wake(&incident);
            }
        };
        // Nobody listens where nobody uses the provider.
        let is_used = used(engine);
        let ear = tokio::spawn({
            let docker = docker.clone();
            async move {
                is_used.await;
                docker::follow(docker, listener).await;
            }
        });
        Self { docker, ear }
    }

    /// The Engine.
    pub fn docker(&self) -> &Docker {
        &self.docker
    }
}

/// Ends when there is the first object that lives in containers.
fn used(engine: &Engine) -> impl Future<Output = ()> + use<> {
    let notify = std::sync::Arc::new(tokio::sync::Notify::new());
    tell::<DevCluster>(engine, &notify, |it| it.spec.backend.docker.is_some());
    tell::<DockerCluster>(engine, &notify, |_| true);
    tell::<DevMachine>(engine, &notify, |it| it.spec.backend.docker.is_some());
    tell::<DockerMachine>(engine, &notify, |_| true);
    async move { notify.notified().await }
}

fn tell<K: Cached + kube::Resource<DynamicType = ()>>(
    engine: &Engine,
    notify: &std::sync::Arc<tokio::sync::Notify>,
    is_ours: impl Fn(&K) -> bool + Send + Sync + 'static,
) {
    let notify = std::sync::Arc::clone(notify);
    engine.cache::<K>().subscribe(move |change| {
        if change.after.as_ref().is_some_and(|it| is_ours(it)) {
            notify.notify_one();
        }
    });
}

/// What wakes the objects of a kind that an incident is about.
fn waker<K: Cached + kube::Resource<DynamicType = ()>>(
    engine: &Engine,
    kind: &'static str,
    trigger: Trigger,
) -> Box<dyn Fn(&Incident) + Send + Sync> {
    let objects = engine.cache::<K>();
    Box::new(move |incident| match incident {
        Incident::Container(owner) => {
            if let Some(key) = kinds::labelled(owner, kind) {
                trigger.wake(key);
            }
        }
        Incident::Heard | Incident::Lost => {
            for object in objects.all() {
                trigger.wake(ObjectKey::of(&*object));
            }
        }
    })
}
