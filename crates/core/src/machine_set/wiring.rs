//! The MachineSet controller as the engine runs it: what wakes it, and what it is made of.

use std::sync::Arc;

use capstan_api::core::{Cluster, Machine, MachineDeployment, MachineSet, MachineSetStatus};
use capstan_contract::{Providers, pause};
use capstan_engine::{
    Cache, Change, ConditionList, Context, Engine, ObjectKey, Pause, Plan, Reconciler, Settings, Trail,
};
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

/// The MachineSet controller.
#[derive(Debug)]
pub struct MachineSetReconciler {
    sources: Sources,
}

impl Reconciler for MachineSetReconciler {
    const NAME: &'static str = "machineset";
    type Object = MachineSet;
    type View = View;
    type Action = Action;
    type Status = MachineSetStatus;
    type Error = ActError;

    fn settings(&self) -> Settings {
        Settings {
            finalizer: Some(capstan_api::well_known::finalizer::MACHINE_SET),
            conditions: const {
                &[
                    ConditionList {
                        pointer: "/status/conditions",
                        owned: OWNED,
                    },
                    crate::v1beta1::list(v1beta1::OWNED),
                ]
            },
            ..Settings::default()
        }
    }

    fn pause(&self, set: &MachineSet) -> Pause {
        let cluster = self
            .sources
            .clusters
            .get(&index::cluster_of(set, &set.spec.cluster_name));
        pause(cluster.as_deref(), set)
    }

    async fn observe(&self, set: Arc<MachineSet>, context: &Context) -> Result<View, ActError> {
        Ok(self.sources.view(set, context).await)
    }

    fn decide(view: &View) -> Plan<Action> {
        decide(view)
    }

    async fn act(&self, view: &View, action: &Action, context: &Context) -> Result<(), ActError> {
        act(&view.machine_set, action, context).await
    }

    fn report(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> MachineSetStatus {
        report(view, plan, trail)
    }
}

/// Wires the MachineSet controller and starts it.
pub fn start(engine: &Engine, providers: &Providers) {
    let sets = engine.cache::<MachineSet>();
    let machines = engine.cache::<Machine>();
    index::machines(&machines);
    let sources = Sources {
        clusters: engine.cache::<Cluster>(),
        machines: machines.clone(),
        machine_deployments: engine.cache::<MachineDeployment>(),
        providers: providers.clone(),
    };
    let (clusters, deployments) = (sources.clusters.clone(), sources.machine_deployments.clone());
    let (of_orphan, of_cluster, of_control_plane, of_deployment) =
        (sets.clone(), sets.clone(), sets.clone(), sets.clone());
    let of_template = sets;
    let its_clusters = clusters.clone();
    engine
        .controller(MachineSetReconciler { sources })
        .watch_children(&machines)
        .watch(&machines, move |change| sets_for_orphan(&of_orphan, change))
        .watch(&deployments, move |change| {
            change.latest().map_or_else(Vec::new, |it| {
                keys(&of_deployment.owned_by(&it.uid().unwrap_or_default()))
            })
        })
        .watch(&clusters, move |change| {
            if !index::changed(change, index::cluster_facts) {
                return Vec::new();
            }
            change
                .latest()
                .map_or_else(Vec::new, |it| of_one_cluster(&of_cluster, &ObjectKey::of(&**it)))
        })
        .watch_foreign(providers.foreign(), move |kind, change| {
            let Some(object) = change.latest() else {
                return Vec::new();
            };
            let key = ObjectKey::of(&**object);
            let found = its_clusters.in_namespace(&key.namespace);
            let refers = |it: &Arc<Cluster>| {
                it.spec
                    .control_plane_ref
                    .iter()
                    .any(|it| it.kind == kind.kind && it.name == key.name)
            };
            let clusters = found
                .iter()
                .filter(|it| refers(it))
                .map(|it| ObjectKey::of(&**it));
            clusters
                .flat_map(|it| of_one_cluster(&of_control_plane, &it))
                .collect()
        })
        .watch_foreign(providers.foreign(), move |kind, change| {
            let is_news = change.before.is_none() || change.after.is_none();
            let Some(template) = change
                .latest()
                .filter(|_| is_news && kind.kind.ends_with("Template"))
            else {
                return Vec::new();
            };
            let name = template.name_any();
            let mut found = of_template.in_namespace(&template.namespace().unwrap_or_default());
            found.retain(|it| {
                let spec = &it.spec.template.spec;
                let mut references = spec
                    .bootstrap
                    .config_ref
                    .iter()
                    .chain(std::iter::once(&spec.infrastructure_ref));
                references.any(|it| it.kind == kind.kind && it.name == name)
            });
            keys(&found)
        })
        .start();
}

fn keys(sets: &[Arc<MachineSet>]) -> Vec<ObjectKey> {
    sets.iter().map(|it| ObjectKey::of(&**it)).collect()
}

fn of_one_cluster(sets: &Cache<MachineSet>, cluster: &ObjectKey) -> Vec<ObjectKey> {
    let mut found = sets.in_namespace(&cluster.namespace);
    found.retain(|it| it.spec.cluster_name == cluster.name);
    keys(&found)
}

/// The sets that may adopt a Machine that has no controller.
fn sets_for_orphan(sets: &Cache<MachineSet>, change: &Change<Machine>) -> Vec<ObjectKey> {
    let Some(machine) = &change.after else {
        return Vec::new();
    };
    if machine
        .owner_references()
        .iter()
        .any(|it| it.controller == Some(true))
    {
        return Vec::new();
    }
    of_one_cluster(sets, &index::cluster_of(&**machine, &machine.spec.cluster_name))
}
