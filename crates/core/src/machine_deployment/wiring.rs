//! The MachineDeployment controller as the engine runs it: what wakes it, and what it is made of.

use std::sync::Arc;

use capstan_api::core::{Cluster, Machine, MachineDeployment, MachineDeploymentStatus, MachineSet};
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

/// The MachineDeployment controller.
#[derive(Debug)]
pub struct MachineDeploymentReconciler {
    sources: Sources,
}

impl Reconciler for MachineDeploymentReconciler {
    const NAME: &'static str = "machinedeployment";
    type Object = MachineDeployment;
    type View = View;
    type Action = Action;
    type Status = MachineDeploymentStatus;
    type Error = ActError;

    fn settings(&self) -> Settings {
        Settings {
            finalizer: Some(capstan_api::well_known::finalizer::MACHINE_DEPLOYMENT),
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

    fn pause(&self, deployment: &MachineDeployment) -> Pause {
        let cluster = self
            .sources
            .clusters
            .get(&index::cluster_of(deployment, &deployment.spec.cluster_name));
        pause(cluster.as_deref(), deployment)
    }

    async fn observe(&self, deployment: Arc<MachineDeployment>, context: &Context) -> Result<View, ActError> {
        Ok(self.sources.view(deployment, context).await)
    }

    fn decide(view: &View) -> Plan<Action> {
        decide(view)
    }

    async fn act(&self, view: &View, action: &Action, context: &Context) -> Result<(), ActError> {
        act(&view.machine_deployment, action, context).await
    }

    fn report(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> MachineDeploymentStatus {
        report(view, plan, trail)
    }
}

/// Wires the MachineDeployment controller and starts it.
pub fn start(engine: &Engine, providers: &Providers) {
    let deployments = engine.cache::<MachineDeployment>();
    let sources = Sources {
        clusters: engine.cache::<Cluster>(),
        machines: engine.cache::<Machine>(),
        machine_sets: engine.cache::<MachineSet>(),
        providers: providers.clone(),
    };
    let (clusters, machines, sets) = (
        sources.clusters.clone(),
        sources.machines.clone(),
        sources.machine_sets.clone(),
    );
    let (of_orphan, of_cluster, of_template) = (deployments.clone(), deployments.clone(), deployments);
    let its_sets = sets.clone();
    engine
        .controller(MachineDeploymentReconciler { sources })
        .watch_children(&sets)
        .watch(&sets, move |change| {
            let orphan = change
                .after
                .as_ref()
                .filter(|it| it.owner_references().is_empty());
            orphan.map_or_else(Vec::new, |it| {
                of_one_cluster(&of_orphan, &index::cluster_of(&**it, &it.spec.cluster_name))
            })
        })
        .watch(&machines, move |change| deployment_of(&its_sets, change))
        .watch(&clusters, move |change| {
            if !index::changed(change, index::cluster_facts) {
                return Vec::new();
            }
            change
                .latest()
                .map_or_else(Vec::new, |it| of_one_cluster(&of_cluster, &ObjectKey::of(&**it)))
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
            found.iter().map(|it| ObjectKey::of(&**it)).collect()
        })
        .start();
}

fn of_one_cluster(deployments: &Cache<MachineDeployment>, cluster: &ObjectKey) -> Vec<ObjectKey> {
    let mut found = deployments.in_namespace(&cluster.namespace);
    found.retain(|it| it.spec.cluster_name == cluster.name);
    found.iter().map(|it| ObjectKey::of(&**it)).collect()
}

/// The MachineDeployment whose set controls a Machine: its conditions sum up the Machines'.
fn deployment_of(sets: &Cache<MachineSet>, change: &Change<Machine>) -> Vec<ObjectKey> {
    let Some(machine) = change.latest() else {
        return Vec::new();
    };
    let namespace = machine.namespace().unwrap_or_default();
    let owner = machine
        .owner_references()
        .iter()
        .find(|it| it.controller == Some(true));
    let set = owner.and_then(|it| sets.get(&ObjectKey::new(&namespace, &it.name)));
    let owner = set.and_then(|it| {
        it.owner_references()
            .iter()
            .find(|it| it.controller == Some(true))
            .cloned()
    });
    owner
        .map(|it| ObjectKey::new(&namespace, it.name))
        .into_iter()
        .collect()
}
