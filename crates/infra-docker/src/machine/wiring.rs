//! The controllers of machines in containers as the engine runs them.

use std::{marker::PhantomData, sync::Arc, time::Duration};

use capstan_api::{
    core::{Cluster, Machine},
    infrastructure::{MachineStatus, words::MACHINE_FINALIZER},
};
use capstan_contract::{pause, secrets::ClusterSecrets};
use capstan_engine::{
    Cache, Change, ConditionList, Context, Engine, ObjectKey, Pause, Plan, Reconciler, Settings, Trail,
    Trigger,
};
use capstan_workload::{News, Workloads};
use kube::ResourceExt;
use serde::de::DeserializeOwned;

use super::{
    act::{ActError, act},
    decide::{Action, decide},
    observe::{Sources, is_complete},
    report::{OWNED, report},
    view::View,
};
use crate::{
    docker::Docker,
    kinds::{ContainerMachine, cluster_of},
    tasks::Tasks,
};

/// The index of infrastructure machines by the Cluster that they belong to.
const CLUSTER: &str = "cluster-of-containers";

/// What the controllers of machines need beside the engine.
#[derive(Clone)]
pub(crate) struct MachineSettings {
    pub(crate) docker: Docker,
    pub(crate) tasks: Tasks,
    pub(crate) workloads: Workloads,
    /// Where node images come from.
    pub(crate) repository: String,
}

/// The controller of one kind of machine.
pub(crate) struct MachineReconciler<K> {
    sources: Sources,
    kind: PhantomData<K>,
}

impl<K: ContainerMachine + Clone + DeserializeOwned> Reconciler for MachineReconciler<K> {
    const NAME: &'static str = K::CONTROLLER;
    type Object = K;
    type View = View;
    type Action = Action;
    type Status = MachineStatus;
    type Error = ActError;

    fn settings(&self) -> Settings {
        Settings {
            finalizer: Some(MACHINE_FINALIZER),
            conditions: &[ConditionList {
                pointer: "/status/conditions",
                owned: OWNED,
            }],
            observed_generation: false,
            workers: 10,
            spacing: Duration::from_millis(200),
        }
    }

    fn concerns(&self, object: &K) -> bool {
        object.backend().is_some()
    }

    fn pause(&self, object: &K) -> Pause {
        let cluster = cluster_of(object).and_then(|it| self.sources.clusters.get(&it));
        pause(cluster.as_deref(), object)
    }

    async fn observe(&self, object: Arc<K>, context: &Context) -> Result<View, ActError> {
        Ok(self.sources.view(object, context).await)
    }

    fn decide(view: &View) -> Plan<Action> {
        decide(view)
    }

    async fn act(&self, view: &View, action: &Action, context: &Context) -> Result<(), ActError> {
        act::<K>(&self.sources, view, action, context).await
    }

    fn report(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> MachineStatus {
        report(view, plan, trail)
    }
}

/// Starts the controller of a kind, and says how to wake it.
pub(crate) fn wire<K: ContainerMachine + Clone + DeserializeOwned>(
    engine: &Engine,
    settings: &MachineSettings,
) -> Trigger {
    let objects = engine.cache::<K>();
    objects.index(CLUSTER, |it: &K| {
        cluster_of(it).iter().map(ToString::to_string).collect()
    });
    let sources = Sources {
        docker: settings.docker.clone(),
        tasks: settings.tasks.clone(),
        client: engine.client().clone(),
        repository: settings.repository.clone(),
        clusters: engine.cache::<Cluster>(),
        machines: engine.cache::<Machine>(),
        secrets: ClusterSecrets::new(engine),
        workloads: settings.workloads.clone(),
    };
    let (clusters, machines) = (sources.clusters.clone(), sources.machines.clone());
    let of_cluster = objects.clone();
    let controller = engine
        .controller(MachineReconciler::<K> {
            sources,
            kind: PhantomData,
        })
        .watch(&machines, of_machine::<K>)
        .watch(&clusters, move |change: &Change<Cluster>| match change.latest() {
            Some(cluster) => members(&of_cluster, &ObjectKey::of(&**cluster)),
            None => Vec::new(),
        });
    let trigger = controller.trigger();
    let of_node = trigger.clone();
    settings.workloads.subscribe(move |notice| {
        let is_news = match &notice.news {
            News::Node(change) => change.after.as_ref().is_some_and(|it| !is_complete(it)),
            _ => false,
        };
        if is_news {
            for key in members(&objects, &notice.cluster) {
                of_node.wake(key);
            }
        }
    });
    controller.start();
    trigger
}

/// The infrastructure machine that a changed Machine refers to.
fn of_machine<K: ContainerMachine>(change: &Change<Machine>) -> Vec<ObjectKey> {
    let reference = |machine: &Arc<Machine>| {
        let reference = &machine.spec.infrastructure_ref;
        (reference.kind == K::KIND)
            .then(|| ObjectKey::new(machine.namespace().unwrap_or_default(), reference.name.as_str()))
    };
    change.latest().and_then(reference).into_iter().collect()
}

/// The infrastructure machines of a Cluster.
fn members<K: ContainerMachine>(objects: &Cache<K>, cluster: &ObjectKey) -> Vec<ObjectKey> {
    objects
        .by_index(CLUSTER, &cluster.to_string())
        .iter()
        .map(|it| ObjectKey::of(&**it))
        .collect()
}
