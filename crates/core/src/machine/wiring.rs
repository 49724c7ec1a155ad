//! The Machine controller as the engine runs it: what wakes it, and what it is made of.

use std::{sync::Arc, time::Duration};

use capstan_api::core::{Cluster, Machine, MachineDeployment, MachineSet, MachineStatus};
use capstan_contract::{Providers, pause};
use capstan_engine::{
    Cache, Change, ConditionList, Context, Engine, ObjectKey, Pause, Plan, Reconciler, Settings, Trail,
};
use capstan_workload::{News, Workloads};
use kube::ResourceExt;

use super::{
    act::{ActError, Action, act},
    decide::decide,
    observe::Sources,
    report::{OWNED, report},
    v1beta1,
    view::View,
};
use crate::index;

/// The Machine controller.
#[derive(Debug)]
pub struct MachineReconciler {
    sources: Sources,
}

impl Reconciler for MachineReconciler {
    const NAME: &'static str = "machine";
    type Object = Machine;
    type View = View;
    type Action = Action;
    type Status = MachineStatus;
    type Error = ActError;

    fn settings(&self) -> Settings {
        Settings {
            finalizer: Some(capstan_api::well_known::finalizer::MACHINE),
            conditions: const {
                &[
                    ConditionList {
                        pointer: "/status/conditions",
                        owned: OWNED,
                    },
                    crate::v1beta1::list(v1beta1::OWNED),
                ]
            },
            workers: 20,
            ..Settings::default()
        }
    }

    fn pause(&self, machine: &Machine) -> Pause {
        let cluster = self
            .sources
            .clusters
            .get(&index::cluster_of(machine, &machine.spec.cluster_name));
        pause(cluster.as_deref(), machine)
    }

    async fn observe(&self, machine: Arc<Machine>, context: &Context) -> Result<View, ActError> {
        Ok(self.sources.view(machine, context).await)
    }

    fn decide(view: &View) -> Plan<Action> {
        decide(view)
    }

    async fn act(&self, view: &View, action: &Action, context: &Context) -> Result<(), ActError> {
        act(&self.sources.workloads, &view.machine, action, context).await
    }

    fn report(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> MachineStatus {
        report(view, plan, trail)
    }
}

/// Wires the Machine controller and starts it.
pub fn start(engine: &Engine, providers: &Providers, workloads: &Workloads) {
    let machines = engine.cache::<Machine>();
    index::machines(&machines);
    let sources = Sources {
        clusters: engine.cache::<Cluster>(),
        machines: machines.clone(),
        machine_sets: engine.cache::<MachineSet>(),
        machine_deployments: engine.cache::<MachineDeployment>(),
        providers: providers.clone(),
        workloads: workloads.clone(),
        rules: engine.cache(),
    };
    let (clusters, sets, deployments) = (
        sources.clusters.clone(),
        sources.machine_sets.clone(),
        sources.machine_deployments.clone(),
    );
    let of_cluster = machines.clone();
    let of_deployment = (machines.clone(), sets.clone());
    let by_reference = machines.clone();
    let builder = engine
        .controller(MachineReconciler { sources })
        .watch_owned(providers.foreign())
        .watch_foreign(providers.foreign(), move |kind, change| {
            let before = change.before.is_none().then_some(()).and(change.after.as_ref());
            before.map_or_else(Vec::new, |it| {
                index::referrers(&by_reference, kind, &ObjectKey::of(&**it))
            })
        })
        .watch(&clusters, move |change| {
            // Only what a Machine reads of its Cluster: pause, deletion, and whether its parts are there.
            if index::changed(change, index::cluster_facts) {
                index::members(&of_cluster, change)
            } else {
                Vec::new()
            }
        })
        .watch(&sets, {
            let machines = machines.clone();
            move |change| index::owned(&machines, change)
        })
        .watch(&deployments, move |change| {
            machines_of_deployment(&of_deployment.0, &of_deployment.1, change)
        });
    let trigger = builder.trigger();
    workloads.subscribe(move |notice| {
        let keys = match &notice.news {
            News::Node(change) => index::of_node(&machines, &notice.cluster, change),
            News::StaticPod(_) | News::ProbeFailed => Vec::new(),
            News::Connected | News::ProbeRecovered | News::Disconnected | News::Dropped => {
                index::in_cluster(&machines, &notice.cluster)
            }
        };
        for key in keys {
            trigger.wake(key);
        }
    });
    builder.start();
}

fn machines_of_deployment(
    machines: &Cache<Machine>,
    sets: &Cache<MachineSet>,
    change: &Change<MachineDeployment>,
) -> Vec<ObjectKey> {
    let Some(deployment) = change.latest() else {
        return Vec::new();
    };
    let sets = sets.owned_by(&deployment.uid().unwrap_or_default());
    sets.iter()
        .flat_map(|set| machines.owned_by(&set.uid().unwrap_or_default()))
        .map(|it| ObjectKey::of(&*it))
        .collect()
}

/// How long a disconnected workload cluster is trusted to be as it was last seen.
pub(super) const GRACE: Duration = Duration::from_secs(5 * 60);
