//! The KubeadmControlPlane controller as the engine runs it: what wakes it, and what it is made of.

use std::sync::Arc;

use capstan_api::{
    bootstrap::KubeadmConfig,
    controlplane::{KubeadmControlPlane, KubeadmControlPlaneStatus},
    core::{Cluster, Machine},
    owner, well_known,
};
use capstan_contract::{Providers, pause, secrets::ClusterSecrets};
use capstan_engine::{
    Cache, Change, ConditionList, Context, Engine, ObjectKey, Pause, Plan, Reconciler, Settings, Trail,
};
use capstan_pki::KeySource;
use capstan_workload::{News, Workloads};
use kube::ResourceExt;

use crate::{
    act::{ActError, Action, act},
    decide::decide,
    observe::Sources,
    report::{OWNED, report},
    view::View,
};

/// The KubeadmControlPlane controller.
#[derive(Debug)]
pub struct KubeadmControlPlaneReconciler {
    sources: Sources,
}

impl Reconciler for KubeadmControlPlaneReconciler {
    const NAME: &'static str = "kubeadmcontrolplane";
    type Object = KubeadmControlPlane;
    type View = View;
    type Action = Action;
    type Status = KubeadmControlPlaneStatus;
    type Error = ActError;

    fn settings(&self) -> Settings {
        Settings {
            finalizer: Some(well_known::finalizer::KUBEADM_CONTROL_PLANE),
            conditions: &[ConditionList {
                pointer: "/status/conditions",
                owned: OWNED,
            }],
            ..Settings::default()
        }
    }

    fn pause(&self, control_plane: &KubeadmControlPlane) -> Pause {
        pause(self.sources.cluster_of(control_plane).as_deref(), control_plane)
    }

    async fn observe(
        &self,
        control_plane: Arc<KubeadmControlPlane>,
        context: &Context,
    ) -> Result<View, ActError> {
        Ok(self.sources.view(control_plane, context).await)
    }

    fn decide(view: &View) -> Plan<Action> {
        decide(view)
    }

    async fn act(&self, view: &View, action: &Action, context: &Context) -> Result<(), ActError> {
        act(&self.sources, view, action, context).await
    }

    fn report(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> KubeadmControlPlaneStatus {
        report(view, plan, trail)
    }
}

/// Wires the KubeadmControlPlane controller and starts it.
pub fn start(engine: &Engine, providers: &Providers, workloads: &Workloads, keys: Arc<dyn KeySource>) {
    let control_planes = engine.cache::<KubeadmControlPlane>();
    let (clusters, machines) = (engine.cache::<Cluster>(), engine.cache::<Machine>());
    let secrets = ClusterSecrets::new(engine);
    let its_secrets = secrets.cache().clone();
    let sources = Sources::new(
        clusters.clone(),
        machines.clone(),
        engine.cache::<KubeadmConfig>(),
        providers.clone(),
        secrets,
        workloads.clone(),
        keys,
        engine.clock(),
    );
    let (of_cluster, of_worker, of_secret) = (
        control_planes.clone(),
        control_planes.clone(),
        control_planes.clone(),
    );
    let builder = engine
        .controller(KubeadmControlPlaneReconciler { sources })
        .watch_children(&machines)
        .watch(&clusters, move |change| {
            if facts(change.before.as_deref()) == facts(change.after.as_deref()) {
                return Vec::new();
            }
            change.latest().map_or_else(Vec::new, |it| {
                owned_by_cluster(&of_cluster, &ObjectKey::of(&**it))
            })
        })
        .watch(&machines, move |change| {
            // The last worker that goes lets a control plane that is being deleted go on.
            let gone = change.before.as_ref().filter(|_| change.after.is_none());
            let key =
                gone.map(|it| ObjectKey::new(it.namespace().unwrap_or_default(), &it.spec.cluster_name));
            key.map_or_else(Vec::new, |it| owned_by_cluster(&of_worker, &it))
        })
        .watch(&its_secrets, move |change| {
            let Some(secret) = change.latest() else {
                return Vec::new();
            };
            let name = secret
                .labels()
                .get(well_known::label::CLUSTER_NAME)
                .cloned()
                .unwrap_or_default();
            let is_ours = secret.type_.as_deref() == Some(well_known::secret_type::CLUSTER)
                && secret
                    .owner_references()
                    .iter()
                    .all(|it| it.kind != KubeadmConfig::KIND);
            let key = ObjectKey::new(secret.namespace().unwrap_or_default(), name);
            if is_ours {
                owned_by_cluster(&of_secret, &key)
            } else {
                Vec::new()
            }
        });
    let trigger = builder.trigger();
    workloads.subscribe(move |notice| {
        let is_news = match &notice.news {
            News::Node(change) => is_control_plane_news(change),
            News::ProbeFailed => false,
            News::StaticPod(_)
            | News::Connected
            | News::ProbeRecovered
            | News::Disconnected
            | News::Dropped => true,
        };
        if is_news {
            for key in owned_by_cluster(&control_planes, &notice.cluster) {
                trigger.wake(key);
            }
        }
    });
    builder.start();
}

/// What a control plane reads of its Cluster.
fn facts(cluster: Option<&Cluster>) -> impl PartialEq + use<> {
    cluster.map(|it| {
        let status = it.status.clone().unwrap_or_default();
        (
            it.metadata.generation,
            it.metadata.deletion_timestamp.is_some(),
            status.initialization,
            status.failure_domains,
            it.metadata.annotations.clone(),
        )
    })
}

fn is_control_plane_news(change: &Change<k8s_openapi::api::core::v1::Node>) -> bool {
    change
        .latest()
        .is_some_and(|it| it.labels().contains_key("node-role.kubernetes.io/control-plane"))
}

fn owned_by_cluster(control_planes: &Cache<KubeadmControlPlane>, cluster: &ObjectKey) -> Vec<ObjectKey> {
    let mut found = control_planes.in_namespace(&cluster.namespace);
    found.retain(|it| {
        owner::of_kind(&it.metadata, capstan_api::core::GROUP, Cluster::KIND)
            .is_some_and(|it| it.name == cluster.name)
    });
    found.iter().map(|it| ObjectKey::of(&**it)).collect()
}
