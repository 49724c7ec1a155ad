//! The KubeadmConfig controller as the engine runs it: what wakes it, and what it is made of.

use std::{sync::Arc, time::Duration};

use capstan_api::{
    bootstrap::{KubeadmConfig, KubeadmConfigStatus},
    condition::{self, Type},
    core::{Cluster, Conditioned, Machine},
    well_known,
};
use capstan_base::Entropy;
use capstan_contract::{Providers, pause, secrets::ClusterSecrets};
use capstan_engine::{
    Cache, Change, ConditionList, Context, Engine, ObjectKey, Pause, Plan, Reconciler,
    Settings as ControllerSettings, Trail,
};
use capstan_pki::KeySource;
use capstan_workload::{News, Workloads};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Resource, ResourceExt};

use super::{
    act::{ActError, Action, act},
    decide::decide,
    observe::Sources,
    report::{OWNED, report},
    view::View,
};

/// Index of Machines: `namespace/cluster` → those whose bootstrap object is a KubeadmConfig.
const CLUSTER: &str = "kubeadm-config-cluster";

/// What the controller can be told.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// How long a bootstrap token is valid; it is refreshed as long as its host has not joined.
    pub token_ttl: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            token_ttl: Duration::from_mins(15),
        }
    }
}

/// The KubeadmConfig controller.
#[derive(Debug)]
pub struct KubeadmConfigReconciler {
    sources: Sources,
}

impl Reconciler for KubeadmConfigReconciler {
    const NAME: &'static str = "kubeadmconfig";
    type Object = KubeadmConfig;
    type View = View;
    type Action = Action;
    type Status = KubeadmConfigStatus;
    type Error = ActError;

    fn settings(&self) -> ControllerSettings {
        ControllerSettings {
            conditions: &[ConditionList {
                pointer: "/status/conditions",
                owned: OWNED,
            }],
            ..ControllerSettings::default()
        }
    }

    fn pause(&self, config: &KubeadmConfig) -> Pause {
        let (_, cluster) = self.sources.owners(config);
        pause(cluster.as_deref(), config)
    }

    async fn observe(&self, config: Arc<KubeadmConfig>, context: &Context) -> Result<View, ActError> {
        Ok(self.sources.view(config, context).await)
    }

    fn decide(view: &View) -> Plan<Action> {
        decide(view)
    }

    async fn act(&self, _view: &View, action: &Action, context: &Context) -> Result<(), ActError> {
        act(&self.sources, action, context).await
    }

    fn report(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> KubeadmConfigStatus {
        report(view, plan, trail)
    }
}

/// Wires the KubeadmConfig controller and starts it.
pub fn start(
    engine: &Engine,
    providers: &Providers,
    workloads: &Workloads,
    keys: Arc<dyn KeySource>,
    entropy: Arc<dyn Entropy>,
    settings: Settings,
) {
    let (clusters, machines) = (engine.cache::<Cluster>(), engine.cache::<Machine>());
    machines.index(CLUSTER, |it| {
        let key = ObjectKey::new(it.namespace().unwrap_or_default(), &it.spec.cluster_name);
        config_of(it).map(|_| key.to_string()).into_iter().collect()
    });
    let locks = engine.cache_of::<ConfigMap>(ClusterSecrets::source());
    let secrets = ClusterSecrets::new(engine);
    let sources = Sources {
        clusters: clusters.clone(),
        machines: machines.clone(),
        locks: locks.clone(),
        secrets: secrets.clone(),
        providers: providers.clone(),
        workloads: workloads.clone(),
        client: engine.client().clone(),
        keys,
        entropy,
        token_ttl: settings.token_ttl,
    };
    let (of_cluster, of_lock, of_secret, of_workload) = (
        machines.clone(),
        machines.clone(),
        machines.clone(),
        machines.clone(),
    );
    let builder = engine
        .controller(KubeadmConfigReconciler { sources })
        .watch(&machines, |change| {
            let changed = machine_facts(change.before.as_deref()) != machine_facts(change.after.as_deref());
            change
                .latest()
                .filter(|_| changed)
                .and_then(|it| config_of(it))
                .into_iter()
                .collect()
        })
        .watch(&clusters, move |change| {
            let changed = cluster_facts(change.before.as_deref()) != cluster_facts(change.after.as_deref());
            let cluster = change.latest().filter(|_| changed).map(|it| ObjectKey::of(&**it));
            cluster.map_or_else(Vec::new, |it| in_cluster(&of_cluster, &it, |_| true))
        })
        .watch(&locks, move |change| {
            let is_control_plane = |it: &Machine| well_known::is_control_plane(it.metadata.labels.as_ref());
            let lock = change.latest().filter(|it| it.name_any().ends_with("-lock"));
            let cluster = lock.and_then(|it| cluster_of(&**it));
            cluster.map_or_else(Vec::new, |it| in_cluster(&of_lock, &it, is_control_plane))
        })
        .watch_children(secrets.cache())
        .watch(secrets.cache(), move |change| {
            let cluster = certificates_of(change);
            cluster.map_or_else(Vec::new, |it| in_cluster(&of_secret, &it, |_| true))
        });
    let trigger = builder.trigger();
    workloads.subscribe(move |notice| {
        if matches!(notice.news, News::Connected) {
            for key in in_cluster(&of_workload, &notice.cluster, |_| true) {
                trigger.wake(key);
            }
        }
    });
    builder.start();
}

/// The config that a Machine boots by, if it is one of ours.
fn config_of(machine: &Machine) -> Option<ObjectKey> {
    let reference = machine.spec.bootstrap.config_ref.as_ref()?;
    let is_ours =
        reference.kind == KubeadmConfig::KIND && reference.api_group == capstan_api::bootstrap::GROUP;
    is_ours.then(|| ObjectKey::new(machine.namespace().unwrap_or_default(), &reference.name))
}

/// The configs of a cluster's Machines.
fn in_cluster(
    machines: &Cache<Machine>,
    cluster: &ObjectKey,
    concerns: impl Fn(&Machine) -> bool,
) -> Vec<ObjectKey> {
    let found = machines.by_index(CLUSTER, &cluster.to_string());
    found
        .iter()
        .filter(|it| concerns(it))
        .filter_map(|it| config_of(it))
        .collect()
}

/// The cluster that a labelled object belongs to.
fn cluster_of<K: Resource>(object: &K) -> Option<ObjectKey> {
    let name = object.labels().get(well_known::label::CLUSTER_NAME)?;
    Some(ObjectKey::new(object.namespace().unwrap_or_default(), name))
}

/// The cluster whose certificates changed; none for the data of single hosts, which only their config cares for.
fn certificates_of(change: &Change<Secret>) -> Option<ObjectKey> {
    let data = |it: &Secret| it.data.clone();
    if change.before.as_deref().map(data) == change.after.as_deref().map(data) {
        return None;
    }
    let secret = change.latest()?;
    let cluster = cluster_of(&**secret)?;
    let purpose = secret
        .name_any()
        .strip_prefix(&format!("{}-", cluster.name))?
        .to_owned();
    ["ca", "etcd", "sa", "proxy", "apiserver-etcd-client"]
        .contains(&purpose.as_str())
        .then_some(cluster)
}

/// What a config reads of its Machine.
fn machine_facts(machine: Option<&Machine>) -> impl PartialEq + use<> {
    machine.map(|it| {
        (
            it.metadata.generation,
            it.metadata.labels.clone(),
            it.metadata.deletion_timestamp.is_some(),
            it.status.as_ref().is_some_and(|it| it.node_ref.is_some()),
        )
    })
}

/// What a config reads of its Cluster.
fn cluster_facts(cluster: Option<&Cluster>) -> impl PartialEq + use<> {
    cluster.map(|it| {
        (
            it.metadata.generation,
            it.infrastructure_provisioned(),
            condition::is_true(it.conditions(), Type::ControlPlaneInitialized),
        )
    })
}
