//! The ClusterResourceSetBinding controller: a binding goes with its Cluster. So small that it is one file.
// Parity: upstream core/reconcilers/clusterresourcesetbinding/clusterresourcesetbinding_controller.go

use std::sync::Arc;

use capstan_api::{addons::ClusterResourceSetBinding, core::Cluster};
use capstan_contract::pause;
use capstan_engine::{
    Cache, Context, Engine, Lookup, ObjectKey, Pause, Plan, Preconditions, Reconciler, Settings, Trail, Why,
    WriteError,
};
use kube::ResourceExt;
use serde_json::{Value, json};

use crate::index;

/// The ClusterResourceSetBinding controller.
#[derive(Debug)]
pub struct ClusterResourceSetBindingReconciler {
    clusters: Cache<Cluster>,
}

/// The snapshot of one pass.
#[derive(Debug, Clone)]
pub struct View {
    /// The binding.
    pub binding: Arc<ClusterResourceSetBinding>,
    /// The Cluster that it is about.
    pub cluster: Lookup<Arc<Cluster>>,
}

/// Deletes the binding if it is still the one that was seen.
#[derive(Debug, Clone)]
pub struct Delete(Preconditions);

impl Reconciler for ClusterResourceSetBindingReconciler {
    const NAME: &'static str = "clusterresourcesetbinding";
    type Object = ClusterResourceSetBinding;
    type View = View;
    type Action = Delete;
    type Status = Value;
    type Error = WriteError;

    fn settings(&self) -> Settings {
        Settings {
            observed_generation: false,
            ..Settings::default()
        }
    }

    fn pause(&self, binding: &ClusterResourceSetBinding) -> Pause {
        pause(None, binding)
    }

    async fn observe(
        &self,
        binding: Arc<ClusterResourceSetBinding>,
        _: &Context,
    ) -> Result<View, WriteError> {
        self.clusters.synced().await;
        let key = index::cluster_of(&*binding, &binding.spec.cluster_name);
        Ok(View {
            cluster: self.clusters.get(&key).into(),
            binding,
        })
    }

    fn decide(view: &View) -> Plan<Delete> {
        let mut plan = Plan::default();
        let is_going = view
            .cluster
            .found()
            .is_none_or(|it| it.metadata.deletion_timestamp.is_some());
        if is_going && view.binding.metadata.deletion_timestamp.is_none() {
            let action = Delete(Preconditions {
                uid: view.binding.uid(),
                resource_version: None,
            });
            plan.step(action, Why::new("Delete", "the binding goes with its Cluster"));
        }
        plan
    }

    async fn act(&self, view: &View, action: &Delete, context: &Context) -> Result<(), WriteError> {
        let key = ObjectKey::of(&*view.binding);
        context
            .writer
            .delete::<ClusterResourceSetBinding>(&(), &key, action.0.clone())
            .await
    }

    fn report(_: &View, _: &Plan<Delete>, _: &Trail<WriteError>) -> Value {
        json!({})
    }
}

/// Wires the ClusterResourceSetBinding controller and starts it.
pub fn start(engine: &Engine) {
    let clusters = engine.cache::<Cluster>();
    engine
        .controller(ClusterResourceSetBindingReconciler {
            clusters: clusters.clone(),
        })
        // A binding has its Cluster's name.
        .watch(&clusters, |change| {
            let is_going = |it: &Cluster| it.metadata.deletion_timestamp.is_some();
            let concerned = change.latest().filter(|_| index::changed(change, is_going));
            concerned.map(|it| ObjectKey::of(&**it)).into_iter().collect()
        })
        .start();
}
