//! Feature gates: what is not yet, or not for everybody.

use std::collections::BTreeSet;

use crate::record::keyword;

keyword! {
    /// A feature that can be switched on or off.
    // Parity: cluster-api feature/feature.go
    pub enum Feature {
        /// `MachinePools`. On by default.
        MachinePool = "MachinePool",
        /// Checks before a `MachineSet` makes machines. On by default.
        MachineSetPreflightChecks = "MachineSetPreflightChecks",
        /// The wait for volumes asks `VolumeAttachments` as well. On by default.
        MachineWaitForVolumeDetachConsiderVolumeAttachments = "MachineWaitForVolumeDetachConsiderVolumeAttachments",
        /// Managed topologies.
        ClusterTopology = "ClusterTopology",
        /// Runtime extensions.
        RuntimeSdk = "RuntimeSDK",
        /// Machines changed in place by extensions.
        InPlaceUpdates = "InPlaceUpdates",
        /// Taints of Machines on their Nodes.
        MachineTaintPropagation = "MachineTaintPropagation",
        /// Bootstrap data in Ignition's format.
        KubeadmBootstrapFormatIgnition = "KubeadmBootstrapFormatIgnition",
    }
}

/// Which features are on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Features(BTreeSet<Feature>);

impl Default for Features {
    /// What is on unless somebody says otherwise.
    fn default() -> Self {
        Self(
            [
                Feature::MachinePool,
                Feature::MachineSetPreflightChecks,
                Feature::MachineWaitForVolumeDetachConsiderVolumeAttachments,
            ]
            .into(),
        )
    }
}

impl Features {
    /// These features with `feature` on or off.
    #[must_use]
    pub fn with(mut self, feature: Feature, on: bool) -> Self {
        if on {
            self.0.insert(feature);
        } else {
            self.0.remove(&feature);
        }
        self
    }

    /// Whether `feature` is on.
    pub fn is_on(&self, feature: Feature) -> bool {
        self.0.contains(&feature)
    }
}
