//! Reads the snapshot of one ClusterResourceSet.

use std::sync::Arc;

use capstan_api::{
    addons::{ClusterResourceSet, ClusterResourceSetBinding, ResourceKind, ResourceReference},
    core::Cluster,
    well_known,
};
use capstan_engine::{Cache, Context, Lookup, ObjectKey, ReadFailure};
use capstan_workload::{Remote, Workloads};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::ResourceExt;

use super::{
    manifests::Manifests,
    view::{Resource, Target, View},
};
use crate::selector;

/// What the ClusterResourceSet controller reads from.
#[derive(Debug, Clone)]
pub(super) struct Sources {
    pub clusters: Cache<Cluster>,
    pub bindings: Cache<ClusterResourceSetBinding>,
    pub workloads: Workloads,
}

impl Sources {
    pub(super) async fn view(&self, set: Arc<ClusterResourceSet>, context: &Context) -> View {
        self.clusters.synced().await;
        self.bindings.synced().await;
        let namespace = set.namespace().unwrap_or_default();
        let is_deleting = set.metadata.deletion_timestamp.is_some();
        let targets = if is_deleting {
            Vec::new()
        } else {
            self.targets(&set)
        };
        let mut resources = Vec::new();
        // Nothing has to be read while there is nothing to apply it to.
        for reference in set.spec.resources.iter().filter(|_| !targets.is_empty()) {
            let key = ObjectKey::new(&namespace, &reference.name);
            resources.push((reference.clone(), read(reference, &key, context).await));
        }
        View {
            now: context.now,
            bindings: self.bindings.in_namespace(&namespace),
            targets,
            resources,
            set,
        }
    }

    fn targets(&self, set: &ClusterResourceSet) -> Vec<Target> {
        let mut clusters = self.clusters.in_namespace(&set.namespace().unwrap_or_default());
        clusters.retain(|it| selects(set, it) && it.metadata.deletion_timestamp.is_none());
        let target = |cluster: &Arc<Cluster>| {
            let key = ObjectKey::of(&**cluster);
            let unreachable = match self.workloads.connection(&key) {
                Remote::Found(_) => None,
                Remote::Disconnected { why, .. } => Some(why),
                Remote::Absent | Remote::NotTried(_) => Some("it is not connected yet".to_owned()),
            };
            Target {
                cluster: key,
                unreachable,
            }
        };
        clusters.iter().map(target).collect()
    }
}

/// Does the set select the cluster?
pub(super) fn selects(set: &ClusterResourceSet, cluster: &Cluster) -> bool {
    selector::parse(&set.spec.cluster_selector).is_some_and(|it| it.matches(cluster.labels()))
}

async fn read(reference: &ResourceReference, key: &ObjectKey, context: &Context) -> Lookup<Resource> {
    let found = match reference.kind {
        Some(ResourceKind::Secret) => {
            let secret = context.writer.read::<Secret>(&(), key).await;
            secret.map(|it| it.map(of_secret))
        }
        _ => {
            let map = context.writer.read::<ConfigMap>(&(), key).await;
            map.map(|it| it.map(of_config_map))
        }
    };
    found.map_or_else(
        |error| Lookup::Unreadable(ReadFailure(error.to_string())),
        Lookup::from,
    )
}

fn of_secret(secret: Secret) -> Resource {
    let is_of_sets = secret.type_.as_deref() == Some(well_known::secret_type::RESOURCE_SET);
    let data = secret.data.unwrap_or_default();
    let values = data.iter().map(|(key, value)| (key, value.0.as_slice()));
    Resource {
        manifests: is_of_sets.then(|| Manifests::read(values)),
        metadata: secret.metadata,
    }
}

fn of_config_map(map: ConfigMap) -> Resource {
    let data = map.data.unwrap_or_default();
    let values = data.iter().map(|(key, value)| (key, value.as_bytes()));
    Resource {
        manifests: Some(Manifests::read(values)),
        metadata: map.metadata,
    }
}
