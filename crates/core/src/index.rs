//! Who belongs to whom: the indexes over Machines, and from a change to the objects that it concerns.

use capstan_api::core::{Cluster, Machine};
use capstan_engine::{Cache, Cached, Change, ObjectKey};
use k8s_openapi::api::core::v1::Node;
use kube::{Resource, ResourceExt, core::ApiResource};

/// `namespace/cluster` → Machines.
const CLUSTER: &str = "cluster";
/// `namespace/cluster/node` → Machines whose nodeRef names that Node.
const NODE: &str = "node";
/// `namespace/cluster/provider ID` → Machines.
const PROVIDER_ID: &str = "providerID";
/// `group/Kind/namespace/name` → Machines that refer to that object.
const REFERENCE: &str = "reference";

/// Adds the indexes that this crate looks Machines up by.
pub(crate) fn machines(machines: &Cache<Machine>) {
    let scoped = |it: &Machine| format!("{}/{}", it.namespace().unwrap_or_default(), it.spec.cluster_name);
    machines.index(CLUSTER, move |it| vec![scoped(it)]);
    machines.index(NODE, move |it| {
        let node = it.status.as_ref().and_then(|it| it.node_ref.as_ref());
        node.map(|node| format!("{}/{}", scoped(it), node.name))
            .into_iter()
            .collect()
    });
    machines.index(PROVIDER_ID, move |it| {
        it.spec
            .provider_id
            .iter()
            .map(|id| format!("{}/{id}", scoped(it)))
            .collect()
    });
    machines.index(REFERENCE, |it| {
        let namespace = it.namespace().unwrap_or_default();
        let references = it
            .spec
            .bootstrap
            .config_ref
            .iter()
            .chain(std::iter::once(&it.spec.infrastructure_ref));
        references
            .map(|it| format!("{}/{}/{namespace}/{}", it.api_group, it.kind, it.name))
            .collect()
    });
}

/// The key of the Cluster that an object belongs to.
pub(crate) fn cluster_of<K: Resource>(object: &K, cluster_name: &str) -> ObjectKey {
    ObjectKey::new(object.namespace().unwrap_or_default(), cluster_name)
}

fn keys<K: Resource>(objects: &[std::sync::Arc<K>]) -> Vec<ObjectKey> {
    objects.iter().map(|it| ObjectKey::of(&**it)).collect()
}

/// All Machines of a cluster.
pub(crate) fn in_cluster(machines: &Cache<Machine>, cluster: &ObjectKey) -> Vec<ObjectKey> {
    keys(&machines_in_cluster(machines, cluster))
}

/// All Machines of a cluster, by name.
pub(crate) fn machines_in_cluster(
    machines: &Cache<Machine>,
    cluster: &ObjectKey,
) -> Vec<std::sync::Arc<Machine>> {
    machines.by_index(CLUSTER, &cluster.to_string())
}

/// The Machines of a changed Cluster.
pub(crate) fn members(machines: &Cache<Machine>, change: &Change<Cluster>) -> Vec<ObjectKey> {
    change
        .latest()
        .map_or_else(Vec::new, |it| in_cluster(machines, &ObjectKey::of(&**it)))
}

/// The Machines that a changed object owns.
pub(crate) fn owned<K: Cached>(machines: &Cache<Machine>, change: &Change<K>) -> Vec<ObjectKey> {
    change.latest().map_or_else(Vec::new, |it| {
        keys(&machines.owned_by(&it.uid().unwrap_or_default()))
    })
}

/// The Machines that a Node of a cluster concerns: by name, or by provider ID where no Machine knows it yet.
pub(crate) fn of_node(
    machines: &Cache<Machine>,
    cluster: &ObjectKey,
    change: &Change<Node>,
) -> Vec<ObjectKey> {
    let Some(node) = change.latest() else {
        return Vec::new();
    };
    let by_name = machines.by_index(NODE, &format!("{cluster}/{}", node.name_any()));
    if !by_name.is_empty() {
        return keys(&by_name);
    }
    let id = node
        .spec
        .as_ref()
        .and_then(|it| it.provider_id.clone())
        .unwrap_or_default();
    keys(&machines.by_index(PROVIDER_ID, &format!("{cluster}/{id}")))
}

/// The Machines that refer to a provider's object.
pub(crate) fn referrers(machines: &Cache<Machine>, kind: &ApiResource, object: &ObjectKey) -> Vec<ObjectKey> {
    keys(&machines.by_index(
        REFERENCE,
        &format!(
            "{}/{}/{}/{}",
            kind.group, kind.kind, object.namespace, object.name
        ),
    ))
}

/// Did any of the facts that `facts` picks change?
pub(crate) fn changed<K, F: PartialEq>(change: &Change<K>, facts: impl Fn(&K) -> F) -> bool {
    change.before.as_deref().map(&facts) != change.after.as_deref().map(&facts)
}

/// What members read of their Cluster.
pub(crate) fn cluster_facts(cluster: &Cluster) -> impl PartialEq + use<> {
    let status = cluster.status.clone().unwrap_or_default();
    (
        cluster.metadata.generation,
        cluster.metadata.deletion_timestamp.is_some(),
        cluster.spec.paused,
        status.initialization,
        cluster.metadata.annotations.clone(),
    )
}
