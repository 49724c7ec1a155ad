//! The MachineHealthCheck controller as the engine runs it: what wakes it, and what it is made of.

use std::{sync::Arc, time::Duration};

use capstan_api::core::{Cluster, Conditioned as _, Machine, MachineHealthCheck, MachineHealthCheckStatus};
use capstan_contract::{Providers, pause};
use capstan_engine::{
    Cache, ConditionList, Context, Engine, ObjectKey, Pause, Plan, Reconciler, Settings, Trail,
};
use capstan_workload::{News, Workloads};
use kube::ResourceExt;

use super::{
    act::{ActError, Action, act},
    decide::decide,
    observe::{Sources, selects},
    report::{OWNED, OWNED_V1BETA1, report},
    view::View,
};
use crate::index;

/// The least time between two passes: Nodes report often, and mostly that nothing changed.
const SPACING: Duration = Duration::from_secs(1);

/// The MachineHealthCheck controller.
#[derive(Debug)]
pub struct MachineHealthCheckReconciler {
    sources: Sources,
}

impl Reconciler for MachineHealthCheckReconciler {
    const NAME: &'static str = "machinehealthcheck";
    type Object = MachineHealthCheck;
    type View = View;
    type Action = Action;
    type Status = MachineHealthCheckStatus;
    type Error = ActError;

    fn settings(&self) -> Settings {
        Settings {
            conditions: const {
                &[
                    ConditionList {
                        pointer: "/status/conditions",
                        owned: OWNED,
                    },
                    crate::v1beta1::list(OWNED_V1BETA1),
                ]
            },
            spacing: SPACING,
            ..Settings::default()
        }
    }

    fn pause(&self, check: &MachineHealthCheck) -> Pause {
        let key = index::cluster_of(check, &check.spec.cluster_name);
        pause(self.sources.clusters.get(&key).as_deref(), check)
    }

    async fn observe(&self, check: Arc<MachineHealthCheck>, context: &Context) -> Result<View, ActError> {
        Ok(self.sources.view(check, context).await)
    }

    fn decide(view: &View) -> Plan<Action> {
        decide(view)
    }

    async fn act(&self, view: &View, action: &Action, context: &Context) -> Result<(), ActError> {
        act(&view.health_check, action, context).await
    }

    fn report(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> MachineHealthCheckStatus {
        report(view, plan, trail)
    }
}

/// Wires the MachineHealthCheck controller and starts it.
pub fn start(engine: &Engine, providers: &Providers, workloads: &Workloads) {
    let checks = engine.cache::<MachineHealthCheck>();
    let machines = engine.cache::<Machine>();
    index::machines(&machines);
    let sources = Sources {
        clusters: engine.cache::<Cluster>(),
        machines: machines.clone(),
        providers: providers.clone(),
        workloads: workloads.clone(),
    };
    let clusters = sources.clusters.clone();
    let (of_machine, of_cluster, of_request, of_node) =
        (checks.clone(), checks.clone(), checks.clone(), checks);
    let (requesters, hosts) = (machines.clone(), machines.clone());
    let builder = engine
        .controller(MachineHealthCheckReconciler { sources })
        .watch(&machines, move |change| {
            if !index::changed(change, machine_facts) {
                return Vec::new();
            }
            let both = change.before.iter().chain(&change.after);
            both.flat_map(|it| selecting(&of_machine, it)).collect()
        })
        .watch(&clusters, move |change| {
            if !index::changed(change, cluster_facts) {
                return Vec::new();
            }
            change
                .latest()
                .map_or_else(Vec::new, |it| in_cluster(&of_cluster, &ObjectKey::of(&**it)))
        })
        .watch_foreign(providers.foreign(), move |kind, change| {
            if !kind.kind.contains("Remediation") {
                return Vec::new();
            }
            let request = change.latest().map(|it| ObjectKey::of(&**it));
            let machine = request.and_then(|it| requesters.get(&it));
            machine.map_or_else(Vec::new, |it| selecting(&of_request, &it))
        });
    let trigger = builder.trigger();
    workloads.subscribe(move |notice| {
        let concerned = match &notice.news {
            News::Node(change) => index::of_node(&hosts, &notice.cluster, change)
                .iter()
                .filter_map(|it| hosts.get(it))
                .flat_map(|it| selecting(&of_node, &it))
                .collect(),
            News::Connected | News::Disconnected => in_cluster(&of_node, &notice.cluster),
            News::ProbeRecovered | News::ProbeFailed | News::Dropped | News::StaticPod(_) => Vec::new(),
        };
        for key in concerned {
            trigger.wake(key);
        }
    });
    builder.start();
}

fn machine_facts(machine: &Machine) -> impl PartialEq + use<> {
    (
        machine.metadata.labels.clone(),
        machine.metadata.annotations.clone(),
        machine.metadata.deletion_timestamp.is_some(),
        machine.status.as_ref().and_then(|it| it.node_ref.clone()),
        machine.conditions().to_vec(),
    )
}

fn cluster_facts(cluster: &Cluster) -> impl PartialEq + use<> {
    let told = ["ControlPlaneInitialized", "InfrastructureReady"];
    let conditions = cluster
        .conditions()
        .iter()
        .filter(|it| told.contains(&it.type_.as_str()));
    (
        cluster.spec.paused,
        cluster.metadata.annotations.clone(),
        conditions
            .map(|it| (it.type_.clone(), it.status.clone()))
            .collect::<Vec<_>>(),
    )
}

/// The health checks that select a Machine.
fn selecting(checks: &Cache<MachineHealthCheck>, machine: &Machine) -> Vec<ObjectKey> {
    let all = checks.in_namespace(&machine.namespace().unwrap_or_default());
    all.iter()
        .filter(|it| selects(it, machine))
        .map(|it| ObjectKey::of(&**it))
        .collect()
}

/// The health checks of a cluster.
fn in_cluster(checks: &Cache<MachineHealthCheck>, cluster: &ObjectKey) -> Vec<ObjectKey> {
    let all = checks.in_namespace(&cluster.namespace);
    all.iter()
        .filter(|it| it.spec.cluster_name == cluster.name)
        .map(|it| ObjectKey::of(&**it))
        .collect()
}
