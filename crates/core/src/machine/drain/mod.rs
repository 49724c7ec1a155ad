//! Drains: which pods have to leave a node before its host goes, which volumes have to be detached, and how it stands.

pub(super) mod inspect;
mod message;
mod rules;
#[cfg(test)]
mod tests;
mod volumes;

use std::sync::Arc;

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::ResourceExt;

pub(super) use message::message;
pub use rules::Disposition;
pub(super) use rules::is_for_machine;
pub use volumes::Attached;
pub(super) use volumes::volumes_message;

/// What is known of a node that is to be drained.
#[derive(Debug, Clone)]
pub enum Drain {
    /// Nobody asked: the Machine is not at that point.
    NotAsked,
    /// The node is gone: nothing is left to drain.
    NodeGone,
    /// The workload cluster could not be asked: why.
    Failed(String),
    /// The node and what is on it.
    Found(Box<Found>),
}

/// A node and what is on it.
#[derive(Debug, Clone)]
pub struct Found {
    /// The node.
    pub node: Arc<Node>,
    /// Its pods, by namespace and name, and what is to be done with each.
    pub pods: Vec<Judged>,
    /// The volumes that are still attached; asked for once no pod is left to drain.
    pub volumes: Attached,
}

/// A pod, and what is to be done with it.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The pod.
    pub pod: Arc<Pod>,
    /// What is to be done.
    pub disposition: Disposition,
}

impl Judged {
    /// `namespace/name`.
    pub fn name(&self) -> String {
        format!(
            "{}/{}",
            self.pod.namespace().unwrap_or_default(),
            self.pod.name_any()
        )
    }

    fn is_going(&self) -> bool {
        self.pod.metadata.deletion_timestamp.is_some()
    }

    /// Its place in the order; none if it may stay.
    fn order(&self) -> Option<i32> {
        match self.disposition {
            Disposition::Skip => None,
            Disposition::WaitCompleted => Some(0),
            Disposition::Drain(order) => Some(order),
        }
    }
}

impl Found {
    /// Does no pod have to leave any more?
    pub fn is_drained(&self) -> bool {
        self.pods.iter().all(|it| it.order().is_none())
    }

    /// The lowest order of the pods that have to leave: those go first.
    fn first_order(&self) -> i32 {
        self.pods.iter().filter_map(Judged::order).min().unwrap_or(0)
    }

    /// The pods that are to be evicted now.
    pub fn evictable(&self) -> impl Iterator<Item = &Judged> {
        let first = self.first_order();
        self.pods
            .iter()
            .filter(move |it| it.disposition == Disposition::Drain(first) && !it.is_going())
    }

    /// The seconds that an evicted pod gets: few where nobody runs it any more, else its own.
    pub fn grace(&self) -> Option<i64> {
        is_unreachable(&self.node).then_some(1)
    }
}

/// Has the node's kubelet fallen silent? Its pods never go by themselves then.
pub(super) fn is_unreachable(node: &Node) -> bool {
    let conditions = node.status.as_ref().and_then(|it| it.conditions.as_deref());
    conditions
        .unwrap_or_default()
        .iter()
        .any(|it| it.type_ == "Ready" && it.status == "Unknown")
}
