//! The controllers of clusters in containers as the engine runs them.

use std::{marker::PhantomData, sync::Arc, time::Duration};

use capstan_api::{
    core::{Cluster, Machine},
    infrastructure::{ClusterStatus, DevMachine, DockerMachine, words::CLUSTER_FINALIZER},
};
use capstan_contract::pause;
use capstan_engine::{
    Cache, Cached, Change, ConditionList, Context, Engine, ObjectKey, Pause, Plan, Reconciler, Settings,
    Trail, Trigger,
};
use kube::ResourceExt;
use serde::de::DeserializeOwned;

use super::{
    act::{ActError, act},
    decide::{Action, decide},
    observe::{CLUSTER, Sources},
    report::{OWNED, report},
    view::View,
};
use crate::{
    docker::Docker,
    kinds::{ContainerCluster, cluster_of, owner_of},
    tasks::Tasks,
};

/// The controller of one kind of cluster.
pub(crate) struct ClusterReconciler<K> {
    sources: Sources,
    kind: PhantomData<K>,
}

impl<K: ContainerCluster + Clone + DeserializeOwned> Reconciler for ClusterReconciler<K> {
    const NAME: &'static str = K::CONTROLLER;
    type Object = K;
    type View = View;
    type Action = Action;
    type Status = ClusterStatus;
    type Error = ActError;

    fn settings(&self) -> Settings {
        Settings {
            finalizer: Some(CLUSTER_FINALIZER),
            conditions: &[ConditionList {
                pointer: "/status/conditions",
                owned: OWNED,
            }],
            observed_generation: false,
            workers: 4,
            spacing: Duration::from_millis(200),
        }
    }

    fn concerns(&self, object: &K) -> bool {
        object.backend().is_some()
    }

    fn pause(&self, object: &K) -> Pause {
        let cluster = owner_of(object).and_then(|it| self.sources.clusters.get(&it));
        pause(cluster.as_deref(), object)
    }

    async fn observe(&self, object: Arc<K>, context: &Context) -> Result<View, ActError> {
        self.sources.clusters.synced().await;
        Ok(self.sources.view(object, context).await)
    }

    fn decide(view: &View) -> Plan<Action> {
        decide(view)
    }

    async fn act(&self, view: &View, action: &Action, context: &Context) -> Result<(), ActError> {
        act::<K>(&self.sources, view, action, context).await
    }

    fn report(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> ClusterStatus {
        report(view, plan, trail)
    }
}

/// Starts the controller of a kind, and says how to wake it.
pub(crate) fn wire<K: ContainerCluster + Clone + DeserializeOwned>(
    engine: &Engine,
    docker: &Docker,
    tasks: &Tasks,
) -> Trigger {
    let sources = Sources {
        docker: docker.clone(),
        tasks: tasks.clone(),
        client: engine.client().clone(),
        clusters: engine.cache::<Cluster>(),
        machines: engine.cache::<Machine>(),
        dev_machines: engine.cache::<DevMachine>(),
        docker_machines: engine.cache::<DockerMachine>(),
    };
    let clusters = sources.clusters.clone();
    sources.machines.index(CLUSTER, |it: &Machine| {
        let key = ObjectKey::new(it.namespace().unwrap_or_default(), it.spec.cluster_name.as_str());
        vec![key.to_string()]
    });
    let (of_dev, of_docker, of_machine) = (clusters.clone(), clusters.clone(), clusters.clone());
    let controller = engine
        .controller(ClusterReconciler::<K> {
            sources: sources.clone(),
            kind: PhantomData,
        })
        .watch(&clusters, |change: &Change<Cluster>| {
            change
                .latest()
                .and_then(|it| infrastructure::<K>(it))
                .into_iter()
                .collect()
        })
        .watch(&sources.machines, move |change| {
            by_key::<K>(
                &of_machine,
                change
                    .latest()
                    .and_then(|it| Some(ObjectKey::new(it.namespace()?, it.spec.cluster_name.as_str()))),
            )
        })
        .watch(&sources.dev_machines, move |change| {
            by_member::<K, _>(&of_dev, change)
        })
        .watch(&sources.docker_machines, move |change| {
            by_member::<K, _>(&of_docker, change)
        });
    let trigger = controller.trigger();
    controller.start();
    trigger
}

/// The infrastructure cluster of a Cluster, if it is of this kind.
fn infrastructure<K: ContainerCluster>(cluster: &Cluster) -> Option<ObjectKey> {
    let reference = cluster.spec.infrastructure_ref.as_ref()?;
    (reference.kind == K::KIND)
        .then(|| ObjectKey::new(cluster.namespace().unwrap_or_default(), reference.name.as_str()))
}

fn by_key<K: ContainerCluster>(clusters: &Cache<Cluster>, key: Option<ObjectKey>) -> Vec<ObjectKey> {
    let cluster = key.and_then(|it| clusters.get(&it));
    cluster
        .and_then(|it| infrastructure::<K>(&it))
        .into_iter()
        .collect()
}

/// The infrastructure cluster that an infrastructure machine belongs to.
fn by_member<K: ContainerCluster, M: Cached + kube::Resource<DynamicType = ()>>(
    clusters: &Cache<Cluster>,
    change: &Change<M>,
) -> Vec<ObjectKey> {
    by_key::<K>(clusters, change.latest().and_then(|it| cluster_of(&**it)))
}
