//! Where workload clusters keep their objects.

use std::path::PathBuf;

use capstan_engine::ObjectKey;
use capstan_store::{Options, Store};

use super::{BackendError, Settings};

impl Settings {
    /// The store of a workload cluster: the one it had before, if a folder keeps it.
    pub(crate) fn open_store(&self, cluster: &ObjectKey, uid: &str) -> Result<Store, BackendError> {
        let options = Options::new(self.clock.clone());
        match self.folder(uid) {
            None => Ok(Store::memory(options)),
            Some(folder) => Store::open(folder, options).map_err(|source| BackendError::OpenStore {
                cluster: cluster.clone(),
                source: Box::new(source),
            }),
        }
    }

    /// Removes what a workload cluster kept.
    pub(crate) fn forget_store(&self, cluster: &ObjectKey, uid: &str) -> Result<(), BackendError> {
        let Some(folder) = self.folder(uid) else {
            return Ok(());
        };
        match std::fs::remove_dir_all(&folder) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(BackendError::RemoveStore {
                cluster: cluster.clone(),
                source,
            }),
            _ => Ok(()),
        }
    }

    /// A folder per DevCluster UID: a cluster that is made again under its old name starts empty.
    fn folder(&self, uid: &str) -> Option<PathBuf> {
        self.data.as_ref().map(|it| it.join(uid))
    }
}
