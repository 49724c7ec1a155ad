//! Asks a workload cluster what is on a node.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use capstan_api::core::MachineDrainRule;
use capstan_base::Timestamp;
use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        apps::v1::DaemonSet,
        core::v1::{Namespace, Node, PersistentVolume, Pod},
        storage::v1::VolumeAttachment,
    },
};
use kube::{Api, Client, Resource, ResourceExt, api::ListParams};
use serde::de::DeserializeOwned;

use super::{
    Attached, Found, Judged, is_unreachable,
    rules::{Context, disposition},
    volumes::{names_in_attachments, names_in_status},
};

/// How many objects one answer holds.
const PAGE: u32 = 500;

/// What is on `node`. Volumes are asked for if `with_volumes`, once no pod is left that has to leave.
pub(in crate::machine) async fn inspect(
    client: &Client,
    node: &Arc<Node>,
    rules: Vec<Arc<MachineDrainRule>>,
    with_volumes: bool,
    now: Timestamp,
) -> Result<Found, kube::Error> {
    let selector = format!("spec.nodeName={}", node.name_any());
    let mut pods = all(
        &Api::<Pod>::all(client.clone()),
        ListParams::default().fields(&selector),
    )
    .await?;
    pods.sort_by_key(|it| (it.namespace(), it.name_any()));
    let context = Context {
        now,
        is_unreachable: is_unreachable(node),
        daemon_sets: daemon_sets(client, &pods).await?,
        namespaces: if rules.is_empty() {
            BTreeMap::new()
        } else {
            namespaces(client).await?
        },
        rules,
    };
    let judge = |pod: Pod| Judged {
        disposition: disposition(&pod, &context),
        pod: Arc::new(pod),
    };
    let mut found = Found {
        node: Arc::clone(node),
        pods: pods.into_iter().map(judge).collect(),
        volumes: Attached::default(),
    };
    // A silent node detaches nothing.
    if with_volumes && found.is_drained() && !context.is_unreachable {
        found.volumes = volumes(client, node, &found.pods).await?;
    }
    Ok(found)
}

async fn daemon_sets(client: &Client, pods: &[Pod]) -> Result<BTreeSet<String>, kube::Error> {
    let is_of_one = |it: &Pod| it.owner_references().iter().any(|it| it.kind == "DaemonSet");
    if !pods.iter().any(is_of_one) {
        return Ok(BTreeSet::new());
    }
    let found = all(&Api::<DaemonSet>::all(client.clone()), ListParams::default()).await?;
    Ok(found.iter().map(qualified).collect())
}

fn qualified<K: Resource<Scope = NamespaceResourceScope>>(object: &K) -> String {
    format!("{}/{}", object.namespace().unwrap_or_default(), object.name_any())
}

async fn namespaces(client: &Client) -> Result<BTreeMap<String, BTreeMap<String, String>>, kube::Error> {
    let found = all(&Api::<Namespace>::all(client.clone()), ListParams::default()).await?;
    Ok(found
        .iter()
        .map(|it| (it.name_any(), it.labels().clone()))
        .collect())
}

async fn volumes(client: &Client, node: &Node, pods: &[Judged]) -> Result<Attached, kube::Error> {
    let attachments = all(
        &Api::<VolumeAttachment>::all(client.clone()),
        ListParams::default(),
    )
    .await?;
    if names_in_status(node).is_empty() && names_in_attachments(node, &attachments).is_empty() {
        return Ok(Attached::default());
    }
    let volumes = all(
        &Api::<PersistentVolume>::all(client.clone()),
        ListParams::default(),
    )
    .await?;
    Ok(Attached::of(node, &attachments, &volumes, pods))
}

/// All objects of a list, page by page.
async fn all<K>(api: &Api<K>, parameters: ListParams) -> Result<Vec<K>, kube::Error>
where
    K: Clone + DeserializeOwned + std::fmt::Debug,
{
    let mut page = parameters.limit(PAGE);
    let mut items = Vec::new();
    loop {
        let listed = api.list(&page).await?;
        items.extend(listed.items);
        match listed.metadata.continue_.filter(|it| !it.is_empty()) {
            Some(token) => page = page.continue_token(&token),
            None => return Ok(items),
        }
    }
}
