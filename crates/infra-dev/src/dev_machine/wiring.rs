//! The DevMachine controller as the engine runs it.

use std::{sync::Arc, time::Duration};

use capstan_api::{
    core::{Cluster, Machine},
    infrastructure::{DevCluster, DevMachine, MachineStatus, words::MACHINE_FINALIZER},
};
use capstan_contract::{pause, secrets::ClusterSecrets};
use capstan_engine::{
    Cache, Change, ConditionList, Context, Engine, ObjectKey, Pause, Plan, Reconciler, Settings, Trail,
};
use kube::ResourceExt;

use super::{
    act::{ActError, act},
    decide::{Action, decide},
    observe::{Sources, cluster_of},
    report::{OWNED, report},
    view::View,
};
use crate::backend::Backend;

/// The index of DevMachines by the Cluster they belong to.
const CLUSTER: &str = "cluster";

/// The DevMachine controller.
#[derive(Debug)]
pub struct DevMachineReconciler {
    sources: Sources,
}

impl Reconciler for DevMachineReconciler {
    const NAME: &'static str = "devmachine";
    type Object = DevMachine;
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
            workers: 20,
            spacing: Duration::from_millis(100),
        }
    }

    fn concerns(&self, object: &DevMachine) -> bool {
        object.spec.backend.in_memory.is_some()
    }

    fn pause(&self, object: &DevMachine) -> Pause {
        let cluster = cluster_of(object).and_then(|it| self.sources.clusters.get(&it));
        pause(cluster.as_deref(), object)
    }

    async fn observe(&self, object: Arc<DevMachine>, context: &Context) -> Result<View, ActError> {
        self.sources.synced().await;
        Ok(self.sources.view(object, context).await)
    }

    fn decide(view: &View) -> Plan<Action> {
        decide(view)
    }

    async fn act(&self, view: &View, action: &Action, context: &Context) -> Result<(), ActError> {
        act(&self.sources.backend, view, action, context).await
    }

    fn report(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> MachineStatus {
        report(view, plan, trail)
    }
}

/// Starts the DevMachine controller.
pub fn wire(engine: &Engine, backend: &Backend) {
    let clusters = engine.cache::<Cluster>();
    let machines = engine.cache::<Machine>();
    let dev_clusters = engine.cache::<DevCluster>();
    let dev_machines = engine.cache::<DevMachine>();
    dev_machines.index(CLUSTER, |it: &DevMachine| {
        cluster_of(it).iter().map(ToString::to_string).collect()
    });
    let sources = Sources {
        backend: backend.clone(),
        clusters: clusters.clone(),
        machines: machines.clone(),
        dev_clusters,
        secrets: ClusterSecrets::new(engine),
        client: engine.client().clone(),
    };
    let of_cluster = dev_machines.clone();
    let controller = engine
        .controller(DevMachineReconciler { sources })
        .watch(&machines, of_machine)
        .watch(&clusters, move |change: &Change<Cluster>| match change.latest() {
            Some(cluster) => members(&of_cluster, &ObjectKey::of(&**cluster)),
            None => Vec::new(),
        });
    let trigger = controller.trigger();
    backend.subscribe(move |notice| {
        for key in members(&dev_machines, &notice.cluster) {
            trigger.wake(key);
        }
    });
    controller.start();
}

/// The DevMachine that a changed Machine refers to.
fn of_machine(change: &Change<Machine>) -> Vec<ObjectKey> {
    let reference = |machine: &Arc<Machine>| {
        let reference = &machine.spec.infrastructure_ref;
        (reference.kind == DevMachine::KIND)
            .then(|| ObjectKey::new(machine.namespace().unwrap_or_default(), reference.name.as_str()))
    };
    change.latest().and_then(reference).into_iter().collect()
}

/// The DevMachines of a Cluster.
fn members(dev_machines: &Cache<DevMachine>, cluster: &ObjectKey) -> Vec<ObjectKey> {
    dev_machines
        .by_index(CLUSTER, &cluster.to_string())
        .iter()
        .map(|it| ObjectKey::of(&**it))
        .collect()
}
