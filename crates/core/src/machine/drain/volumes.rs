//! The volumes that have to be detached from a drained node before its host goes.
// Parity: upstream core/reconcilers/machine/machine_controller.go:shouldWaitForNodeVolumes

use std::collections::BTreeSet;

use capstan_base::Timestamp;
use k8s_openapi::api::{
    core::v1::{Node, PersistentVolume},
    storage::v1::VolumeAttachment,
};
use kube::ResourceExt;

use super::{
    Judged,
    message::{listed, skipped},
};

/// How many volumes a line names.
const VOLUMES: usize = 5;

/// What is still attached, apart from the volumes of pods that may stay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attached {
    /// Claims, `namespace/name`.
    pub claims: Vec<String>,
    /// Volumes that no claim holds.
    pub unclaimed: Vec<String>,
    /// Names in the Node's status that no volume goes with.
    pub unknown_to_node: Vec<String>,
    /// Names in attachments that no volume goes with.
    pub unknown_attachments: Vec<String>,
}

impl Attached {
    /// Is nothing attached?
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What is attached to a node with these pods.
    pub(in crate::machine) fn of(
        node: &Node,
        attachments: &[VolumeAttachment],
        volumes: &[PersistentVolume],
        pods: &[Judged],
    ) -> Self {
        let mut by_node = names_in_status(node);
        let mut by_attachment = names_in_attachments(node, attachments);
        let (mut claims, mut unclaimed) = (BTreeSet::new(), BTreeSet::new());
        for volume in volumes {
            let spec = volume.spec.clone().unwrap_or_default();
            let csi = spec
                .csi
                .map(|it| format!("kubernetes.io/csi/{}^{}", it.driver, it.volume_handle));
            let is_in_status = csi.is_some_and(|it| by_node.remove(&it));
            let is_attached = by_attachment.remove(&volume.name_any());
            if !is_in_status && !is_attached {
                continue;
            }
            match spec
                .claim_ref
                .filter(|it| it.kind.as_deref() == Some("PersistentVolumeClaim"))
            {
                Some(claim) => {
                    let (namespace, name) = (
                        claim.namespace.unwrap_or_default(),
                        claim.name.unwrap_or_default(),
                    );
                    claims.insert(format!("{namespace}/{name}"));
                }
                None => {
                    unclaimed.insert(volume.name_any());
                }
            }
        }
        let ignored: BTreeSet<String> = skipped(pods).flat_map(claims_of).collect();
        Self {
            claims: claims.difference(&ignored).cloned().collect(),
            unclaimed: unclaimed.into_iter().collect(),
            unknown_to_node: by_node.into_iter().collect(),
            unknown_attachments: by_attachment.into_iter().collect(),
        }
    }
}

/// The volumes that the Node's status calls attached.
pub(in crate::machine) fn names_in_status(node: &Node) -> BTreeSet<String> {
    let attached = node.status.as_ref().and_then(|it| it.volumes_attached.as_deref());
    attached
        .unwrap_or_default()
        .iter()
        .map(|it| it.name.clone())
        .collect()
}

/// The volumes of attachments to the node.
pub(in crate::machine) fn names_in_attachments(
    node: &Node,
    attachments: &[VolumeAttachment],
) -> BTreeSet<String> {
    let is_attached = |it: &&VolumeAttachment| {
        it.spec.node_name == node.name_any() && it.status.as_ref().is_some_and(|it| it.attached)
    };
    let found = attachments.iter().filter(is_attached);
    found
        .filter_map(|it| it.spec.source.persistent_volume_name.clone())
        .collect()
}

fn claims_of(pod: &Judged) -> Vec<String> {
    let namespace = pod.pod.namespace().unwrap_or_default();
    let volumes = pod
        .pod
        .spec
        .as_ref()
        .and_then(|it| it.volumes.as_deref())
        .unwrap_or_default();
    let claims = volumes
        .iter()
        .filter_map(|it| it.persistent_volume_claim.as_ref());
    claims
        .map(|it| format!("{namespace}/{}", it.claim_name))
        .collect()
}

/// What is waited for, as the `Deleting` condition tells it.
pub(in crate::machine) fn volumes_message(attached: &Attached, started: Timestamp) -> String {
    let started = started.strftime("%Y-%m-%dT%H:%M:%SZ");
    let mut lines = vec![format!(
        "Waiting for Node volumes to be detached (started at {started})"
    )];
    for (what, names) in [
        ("PersistentVolumeClaims", &attached.claims),
        (
            "PersistentVolumes without a .spec.claimRef to a PersistentVolumeClaim",
            &attached.unclaimed,
        ),
        (
            "Node with .status.volumesAttached entries not matching a PersistentVolume",
            &attached.unknown_to_node,
        ),
        (
            "VolumeAttachment with .spec.source.persistentVolumeName not matching a PersistentVolume",
            &attached.unknown_attachments,
        ),
    ] {
        if !names.is_empty() {
            lines.push(format!("* {what}: {}", listed(names, VOLUMES)));
        }
    }
    lines.join("\n")
}
