//! The Cluster controller as the engine runs it: what wakes it, and what it is made of.

use std::sync::Arc;

use capstan_api::core::{Cluster, ClusterStatus, Machine, MachineDeployment, MachineSet};
use capstan_contract::{Providers, pause};
use capstan_engine::{
    Cache, ConditionList, Context, Engine, ObjectKey, Pause, Plan, Reconciler, Settings, Trail,
};
use capstan_workload::{News, Workloads};
use kube::core::ApiResource;

use super::{
    act::{ActError, Action, act},
    decide::decide,
    observe::Sources,
    report::{OWNED, report},
    v1beta1,
    view::View,
};
use crate::index;

/// The Cluster controller.
#[derive(Debug)]
pub struct ClusterReconciler {
    sources: Sources,
}

impl Reconciler for ClusterReconciler {
    const NAME: &'static str = "cluster";
    type Object = Cluster;
    type View = View;
    type Action = Action;
    type Status = ClusterStatus;
    type Error = ActError;

    fn settings(&self) -> Settings {
        Settings {
            finalizer: Some(capstan_api::well_known::finalizer::CLUSTER),
            conditions: const {
                &[
                    ConditionList {
                        pointer: "/status/conditions",
                        owned: OWNED,
                    },
                    crate::v1beta1::list(v1beta1::OWNED),
                ]
            },
            // A cluster hears of every change of every machine below it; looking a little less often costs nobody.
            spacing: std::time::Duration::from_millis(250),
            ..Settings::default()
        }
    }

    fn pause(&self, cluster: &Cluster) -> Pause {
        pause(Some(cluster), cluster)
    }

    async fn observe(&self, cluster: Arc<Cluster>, context: &Context) -> Result<View, ActError> {
        Ok(self.sources.view(cluster, context).await)
    }

    fn decide(view: &View) -> Plan<Action> {
        decide(view)
    }

    async fn act(&self, view: &View, action: &Action, context: &Context) -> Result<(), ActError> {
        act(&view.cluster, action, context).await
    }

    fn report(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> ClusterStatus {
        report(view, plan, trail)
    }
}

/// Wires the Cluster controller and starts it.
pub fn start(engine: &Engine, providers: &Providers, workloads: &Workloads) {
    let clusters = engine.cache::<Cluster>();
    let machines = engine.cache::<Machine>();
    index::machines(&machines);
    let sources = Sources {
        machines: machines.clone(),
        machine_sets: engine.cache::<MachineSet>(),
        machine_deployments: engine.cache::<MachineDeployment>(),
        providers: providers.clone(),
        workloads: workloads.clone(),
    };
    let (sets, deployments) = (sources.machine_sets.clone(), sources.machine_deployments.clone());
    let builder = engine
        .controller(ClusterReconciler { sources })
        .watch_owned(providers.foreign())
        .watch_foreign(providers.foreign(), move |kind, change| {
            let new = change.after.as_ref().filter(|_| change.before.is_none());
            new.map_or_else(Vec::new, |it| referrers(&clusters, kind, &ObjectKey::of(&**it)))
        })
        .watch(&machines, |change| {
            change
                .latest()
                .map(|it| index::cluster_of(&**it, &it.spec.cluster_name))
                .into_iter()
                .collect()
        })
        .watch(&sets, |change| {
            change
                .latest()
                .map(|it| index::cluster_of(&**it, &it.spec.cluster_name))
                .into_iter()
                .collect()
        })
        .watch(&deployments, |change| {
            change
                .latest()
                .map(|it| index::cluster_of(&**it, &it.spec.cluster_name))
                .into_iter()
                .collect()
        });
    let trigger = builder.trigger();
    workloads.subscribe(move |notice| {
        if !matches!(notice.news, News::Node(_) | News::StaticPod(_)) {
            trigger.wake(notice.cluster.clone());
        }
    });
    builder.start();
}

/// The Clusters that refer to an object that has just appeared and does not name its owner yet.
fn referrers(clusters: &Cache<Cluster>, kind: &ApiResource, object: &ObjectKey) -> Vec<ObjectKey> {
    let refers = |it: &Cluster| {
        it.spec
            .infrastructure_ref
            .iter()
            .chain(&it.spec.control_plane_ref)
            .any(|it| it.api_group == kind.group && it.kind == kind.kind && it.name == object.name)
    };
    let all = clusters.in_namespace(&object.namespace);
    all.iter()
        .filter(|it| refers(it))
        .map(|it| ObjectKey::of(&**it))
        .collect()
}
