//! The ClusterResourceSet controller as the engine runs it: what wakes it, and what it is made of.

use std::sync::Arc;

use capstan_api::{
    addons::{ClusterResourceSet, ClusterResourceSetBinding, ClusterResourceSetStatus, ResourceKind},
    core::Cluster,
    well_known,
};
use capstan_contract::pause;
use capstan_engine::{
    Cache, ConditionList, Context, Engine, ObjectKey, Pause, Plan, Reconciler, Settings, Trail,
};
use capstan_workload::{News, Workloads};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{ResourceExt, core::PartialObjectMeta};

use super::{
    act::{ActError, Action, act},
    decide::decide,
    observe::{Sources, selects},
    report::{OWNED, OWNED_V1BETA1, report},
    view::View,
};
use crate::index;

/// The ClusterResourceSet controller.
#[derive(Debug)]
pub struct ClusterResourceSetReconciler {
    sources: Sources,
}

impl Reconciler for ClusterResourceSetReconciler {
    const NAME: &'static str = "clusterresourceset";
    type Object = ClusterResourceSet;
    type View = View;
    type Action = Action;
    type Status = ClusterResourceSetStatus;
    type Error = ActError;

    fn settings(&self) -> Settings {
        Settings {
            finalizer: Some(well_known::finalizer::CLUSTER_RESOURCE_SET),
            conditions: const {
                &[
                    ConditionList {
                        pointer: "/status/conditions",
                        owned: OWNED,
                    },
                    crate::v1beta1::list(OWNED_V1BETA1),
                ]
            },
            ..Settings::default()
        }
    }

    /// A set is paused by itself only: it may select many clusters.
    fn pause(&self, set: &ClusterResourceSet) -> Pause {
        pause(None, set)
    }

    async fn observe(&self, set: Arc<ClusterResourceSet>, context: &Context) -> Result<View, ActError> {
        Ok(self.sources.view(set, context).await)
    }

    fn decide(view: &View) -> Plan<Action> {
        decide(view)
    }

    async fn act(&self, view: &View, action: &Action, context: &Context) -> Result<(), ActError> {
        act(&self.sources.workloads, &view.set, action, context).await
    }

    fn report(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> ClusterResourceSetStatus {
        report(view, plan, trail)
    }
}

/// Wires the ClusterResourceSet controller and starts it.
pub fn start(engine: &Engine, workloads: &Workloads) {
    let sets = engine.cache::<ClusterResourceSet>();
    let sources = Sources {
        clusters: engine.cache::<Cluster>(),
        bindings: engine.cache::<ClusterResourceSetBinding>(),
        workloads: workloads.clone(),
    };
    let (clusters, bindings) = (sources.clusters.clone(), sources.bindings.clone());
    // Of what may hold manifests only the metadata is kept.
    let maps = engine.cache::<PartialObjectMeta<ConfigMap>>();
    let secrets = engine.cache::<PartialObjectMeta<Secret>>();
    let (of_cluster, of_map, of_secret, of_news) = (sets.clone(), sets.clone(), sets.clone(), sets);
    let targets = clusters.clone();
    let builder = engine
        .controller(ClusterResourceSetReconciler { sources })
        .watch_children(&bindings)
        .watch(&clusters, move |change| {
            let facts = |it: &Cluster| {
                (
                    it.metadata.labels.clone(),
                    it.metadata.deletion_timestamp.is_some(),
                )
            };
            let both = change
                .before
                .iter()
                .chain(&change.after)
                .filter(|_| index::changed(change, facts));
            both.flat_map(|it| selecting(&of_cluster, it)).collect()
        })
        .watch(&maps, move |change| {
            let map = change.latest().map(|it| ObjectKey::of(&**it));
            map.map_or_else(Vec::new, |it| holding(&of_map, ResourceKind::ConfigMap, &it))
        })
        .watch(&secrets, move |change| {
            let secret = change.latest().map(|it| ObjectKey::of(&**it));
            secret.map_or_else(Vec::new, |it| holding(&of_secret, ResourceKind::Secret, &it))
        });
    let trigger = builder.trigger();
    workloads.subscribe(move |notice| {
        if !matches!(notice.news, News::Connected | News::Disconnected) {
            return;
        }
        let cluster = targets.get(&notice.cluster);
        for key in cluster.iter().flat_map(|it| selecting(&of_news, it)) {
            trigger.wake(key);
        }
    });
    builder.start();
}

/// The sets that select a cluster.
fn selecting(sets: &Cache<ClusterResourceSet>, cluster: &Cluster) -> Vec<ObjectKey> {
    let all = sets.in_namespace(&cluster.namespace().unwrap_or_default());
    all.iter()
        .filter(|it| selects(it, cluster))
        .map(|it| ObjectKey::of(&**it))
        .collect()
}

/// The sets that a Secret or ConfigMap is a resource of.
fn holding(sets: &Cache<ClusterResourceSet>, kind: ResourceKind, resource: &ObjectKey) -> Vec<ObjectKey> {
    let holds = |it: &ClusterResourceSet| {
        it.spec
            .resources
            .iter()
            .any(|it| it.kind == Some(kind) && it.name == resource.name)
    };
    let all = sets.in_namespace(&resource.namespace);
    all.iter()
        .filter(|it| holds(it))
        .map(|it| ObjectKey::of(&**it))
        .collect()
}
