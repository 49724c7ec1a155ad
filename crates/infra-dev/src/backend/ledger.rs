//! The list of all VMs: what a cloud's console would show, for audits.

use std::collections::BTreeMap;

use capstan_base::Timestamp;
use capstan_engine::ObjectKey;
use parking_lot::Mutex;

/// One VM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualMachine {
    /// The Cluster it belongs to.
    pub cluster: ObjectKey,
    /// The DevMachine it was made for.
    pub machine: String,
    /// When it was started.
    pub started: Timestamp,
    /// Whether it is a control-plane machine.
    pub is_control_plane: bool,
}

/// All VMs that exist, by the UID of the DevMachine that each was made for: there can be no two for one.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<BTreeMap<String, VirtualMachine>>);

impl Ledger {
    /// All VMs, by their DevMachine's UID.
    pub fn all(&self) -> BTreeMap<String, VirtualMachine> {
        self.0.lock().clone()
    }

    pub(crate) fn enter(&self, uid: &str, machine: VirtualMachine) {
        self.0.lock().entry(uid.to_owned()).or_insert(machine);
    }

    pub(crate) fn leave(&self, uid: &str) {
        self.0.lock().remove(uid);
    }

    pub(crate) fn close(&self, cluster: &ObjectKey) {
        self.0.lock().retain(|_, it| it.cluster != *cluster);
    }
}
