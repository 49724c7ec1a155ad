//! The DevCluster controller as the engine runs it.

use std::{sync::Arc, time::Duration};

use capstan_api::{
    core::Cluster,
    infrastructure::{ClusterStatus, DevCluster, words::CLUSTER_FINALIZER},
};
use capstan_contract::pause;
use capstan_engine::{
    Cache, Change, ConditionList, Context, Engine, ObjectKey, Pause, Plan, Reconciler, Settings, Trail,
};

use super::{
    act::{ActError, act},
    decide::{Action, decide},
    observe::{Sources, owner_of},
    report::{OWNED, report},
    view::View,
};
use crate::backend::Backend;

/// The DevCluster controller.
#[derive(Debug)]
pub struct DevClusterReconciler {
    sources: Sources,
}

impl Reconciler for DevClusterReconciler {
    const NAME: &'static str = "devcluster";
    type Object = DevCluster;
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
            workers: 10,
            spacing: Duration::from_millis(100),
        }
    }

    fn concerns(&self, object: &DevCluster) -> bool {
        object.spec.backend.in_memory.is_some()
    }

    fn pause(&self, object: &DevCluster) -> Pause {
        let cluster = owner_of(object).and_then(|it| self.sources.clusters.get(&it));
        pause(cluster.as_deref(), object)
    }

    async fn observe(&self, object: Arc<DevCluster>, context: &Context) -> Result<View, ActError> {
        self.sources.clusters.synced().await;
        Ok(self.sources.view(object, context))
    }

    fn decide(view: &View) -> Plan<Action> {
        decide(view)
    }

    async fn act(&self, view: &View, action: &Action, context: &Context) -> Result<(), ActError> {
        act(&self.sources.backend, view, action, context).await
    }

    fn report(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> ClusterStatus {
        report(view, plan, trail)
    }
}

/// Starts the DevCluster controller.
pub fn wire(engine: &Engine, backend: &Backend) {
    let clusters = engine.cache::<Cluster>();
    let dev_clusters = engine.cache::<DevCluster>();
    let sources = Sources {
        backend: backend.clone(),
        clusters: clusters.clone(),
        dev_clusters: dev_clusters.clone(),
    };
    engine
        .controller(DevClusterReconciler { sources })
        .watch(&clusters, move |change| of_cluster(&dev_clusters, change))
        .start();
}

/// The DevCluster that a changed Cluster refers to.
fn of_cluster(dev_clusters: &Cache<DevCluster>, change: &Change<Cluster>) -> Vec<ObjectKey> {
    let Some(cluster) = change.latest() else {
        return Vec::new();
    };
    let Some(reference) = cluster
        .spec
        .infrastructure_ref
        .as_ref()
        .filter(|it| it.kind == DevCluster::KIND)
    else {
        return Vec::new();
    };
    let key = ObjectKey::new(ObjectKey::of(&**cluster).namespace, reference.name.as_str());
    dev_clusters.get(&key).map(|_| key).into_iter().collect()
}
