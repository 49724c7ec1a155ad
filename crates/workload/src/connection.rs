//! A connection to one workload cluster: the client, and the caches that every controller shares.

use std::{fmt, sync::Arc};

use capstan_engine::{Cache, ObjectKey, Source};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::Client;

use crate::remote::Remote;

/// The namespace of the control plane's static pods.
const SYSTEM_NAMESPACE: &str = "kube-system";
/// The label that kubeadm puts on static pods.
const STATIC_POD_SELECTOR: &str = "tier=control-plane";
/// The index of nodes by provider ID.
const PROVIDER_ID: &str = "providerID";

struct Inner {
    client: Client,
    nodes: Cache<Node>,
    static_pods: Cache<Pod>,
}

/// A live connection. Clones share everything; the caches stop with the last clone.
#[derive(Clone)]
pub struct Connection(Arc<Inner>);

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("nodes", &self.0.nodes.all().len())
            .finish_non_exhaustive()
    }
}

impl Connection {
    /// A connection whose caches are not filled yet.
    pub(crate) fn new(client: Client) -> Self {
        let nodes = Cache::new((), Source::default());
        nodes.index(PROVIDER_ID, |node: &Node| provider_id(node).into_iter().collect());
        let pods = Source {
            label_selector: Some(STATIC_POD_SELECTOR.to_owned()),
            namespace: Some(SYSTEM_NAMESPACE.to_owned()),
        };
        Self(Arc::new(Inner {
            client,
            nodes,
            static_pods: Cache::new((), pods),
        }))
    }

    /// Starts the caches and waits for their first lists.
    pub(crate) async fn fill(&self) {
        self.0.nodes.start(&self.0.client);
        self.0.static_pods.start(&self.0.client);
        self.0.nodes.synced().await;
        self.0.static_pods.synced().await;
    }

    /// The client, with the kubeconfig's rights: cluster administrator.
    pub fn client(&self) -> &Client {
        &self.0.client
    }

    /// The cache of all nodes.
    pub fn nodes(&self) -> &Cache<Node> {
        &self.0.nodes
    }

    /// The cache of the control plane's static pods: kube-apiserver, kube-controller-manager, kube-scheduler and etcd
    /// of each node, named `<component>-<node>`.
    pub fn static_pods(&self) -> &Cache<Pod> {
        &self.0.static_pods
    }

    /// A node by name.
    pub fn node(&self, name: &str) -> Remote<Arc<Node>> {
        self.0.nodes.get(&ObjectKey::new("", name)).into()
    }

    /// The nodes that claim a provider ID; more than one is somebody's mistake.
    pub fn nodes_by_provider_id(&self, id: &str) -> Vec<Arc<Node>> {
        self.0.nodes.by_index(PROVIDER_ID, id)
    }

    /// The static pod of a control-plane component on a node.
    pub fn static_pod(&self, component: &str, node: &str) -> Remote<Arc<Pod>> {
        self.0
            .static_pods
            .get(&ObjectKey::new(SYSTEM_NAMESPACE, format!("{component}-{node}")))
            .into()
    }
}

fn provider_id(node: &Node) -> Option<String> {
    node.spec
        .as_ref()?
        .provider_id
        .clone()
        .filter(|it| !it.is_empty())
}
