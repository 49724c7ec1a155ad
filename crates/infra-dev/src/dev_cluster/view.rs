//! Everything that a decision about a DevCluster needs.

use std::sync::Arc;

use capstan_base::Timestamp;
use capstan_engine::ObjectKey;
use kube::ResourceExt;

use capstan_api::infrastructure::DevCluster;

/// A DevCluster and its surroundings.
#[derive(Debug, Clone)]
pub struct View {
    /// The time of this pass.
    pub now: Timestamp,
    /// The DevCluster.
    pub object: Arc<DevCluster>,
    /// The Cluster that its owner references name.
    pub owner: Option<ObjectKey>,
    /// Somebody else manages it.
    pub is_externally_managed: bool,
    /// Its workload cluster is open.
    pub is_open: bool,
    /// The ports that other DevClusters have recorded, sorted.
    pub taken_ports: Vec<u16>,
}

impl View {
    /// The DevCluster's UID.
    pub fn uid(&self) -> String {
        self.object.uid().unwrap_or_default()
    }

    /// Is it being deleted?
    pub fn is_deleting(&self) -> bool {
        self.object.metadata.deletion_timestamp.is_some()
    }
}
