//! The labels, annotations, finalizers, taints and names that Cluster API's parts agree on.

use std::collections::BTreeMap;

use base64::Engine as _;

/// Labels.
pub mod label {
    /// The cluster something belongs to.
    pub const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";
    /// Present, and empty, on control plane Machines and what belongs to them.
    pub const CONTROL_PLANE: &str = "cluster.x-k8s.io/control-plane";
    /// The control plane of a Machine; see [`super::label_value`].
    pub const CONTROL_PLANE_NAME: &str = "cluster.x-k8s.io/control-plane-name";
    /// The `MachineSet` of a Machine; see [`super::label_value`].
    pub const SET_NAME: &str = "cluster.x-k8s.io/set-name";
    /// The `MachineDeployment` of a `MachineSet` or Machine.
    pub const DEPLOYMENT_NAME: &str = "cluster.x-k8s.io/deployment-name";
    /// The `MachinePool` of a Machine; see [`super::label_value`].
    pub const POOL_NAME: &str = "cluster.x-k8s.io/pool-name";
    /// Which template of a `MachineDeployment` a `MachineSet` and its Machines are made from.
    pub const MACHINE_TEMPLATE_HASH: &str = "machine-template-hash";
    /// Which of several controllers is responsible.
    pub const WATCH_FILTER: &str = "cluster.x-k8s.io/watch-filter";
    /// The provider a component belongs to.
    pub const PROVIDER: &str = "cluster.x-k8s.io/provider";
    /// Present, and empty, on Nodes that may vanish at any time.
    pub const INTERRUPTIBLE: &str = "cluster.x-k8s.io/interruptible";
    /// What a drain does with a Pod: `skip` or `wait-completed`.
    pub const DRAIN: &str = "cluster.x-k8s.io/drain";
    /// Present, and empty, on what a managed topology made.
    pub const TOPOLOGY_OWNED: &str = "topology.cluster.x-k8s.io/owned";
    /// The name of a pool of machines in its topology.
    pub const TOPOLOGY_DEPLOYMENT_NAME: &str = "topology.cluster.x-k8s.io/deployment-name";
    /// The name of a machine pool in its topology.
    pub const TOPOLOGY_POOL_NAME: &str = "topology.cluster.x-k8s.io/pool-name";
    /// Present, and empty, on what clusterctl installed.
    pub const CLUSTERCTL: &str = "clusterctl.cluster.x-k8s.io";
    /// Present on kinds and objects that move with a cluster.
    pub const CLUSTERCTL_MOVE: &str = "clusterctl.cluster.x-k8s.io/move";
    /// Present on kinds and objects that move with everything they own.
    pub const CLUSTERCTL_MOVE_HIERARCHY: &str = "clusterctl.cluster.x-k8s.io/move-hierarchy";
    /// The prefix of labels that are synchronised to Nodes, and of role labels.
    pub const NODE_ROLE_PREFIX: &str = "node-role.kubernetes.io";
    /// The domain of labels that a kubelet may not set itself.
    pub const NODE_RESTRICTION_DOMAIN: &str = "node-restriction.kubernetes.io";
    /// The domain of labels and annotations that are synchronised to Nodes.
    pub const MANAGED_NODE_DOMAIN: &str = "node.cluster.x-k8s.io";
}

/// Annotations.
pub mod annotation {
    /// The object is left alone; any value.
    pub const PAUSED: &str = "cluster.x-k8s.io/paused";
    /// Somebody else provides the infrastructure cluster.
    pub const MANAGED_BY: &str = "cluster.x-k8s.io/managed-by";
    /// Somebody else decides the replicas of a `MachinePool`.
    pub const REPLICAS_MANAGED_BY: &str = "cluster.x-k8s.io/replicas-managed-by";
    /// The fewest machines an autoscaler may leave.
    pub const AUTOSCALER_MIN_SIZE: &str = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size";
    /// The most machines an autoscaler may ask for.
    pub const AUTOSCALER_MAX_SIZE: &str = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size";
    /// The machine goes first when its set is scaled down.
    pub const DELETE_MACHINE: &str = "cluster.x-k8s.io/delete-machine";
    /// A `MachineSet` makes no machines if `true`.
    pub const DISABLE_MACHINE_CREATE: &str = "cluster.x-k8s.io/disable-machine-create";
    /// Health checks leave the machine alone.
    pub const SKIP_REMEDIATION: &str = "cluster.x-k8s.io/skip-remediation";
    /// Health checks repair the machine at once.
    pub const REMEDIATE_MACHINE: &str = "cluster.x-k8s.io/remediate-machine";
    /// The name of the template an object was cloned from.
    pub const CLONED_FROM_NAME: &str = "cluster.x-k8s.io/cloned-from-name";
    /// The kind and group of the template an object was cloned from, as `Kind.group`.
    pub const CLONED_FROM_GROUP_KIND: &str = "cluster.x-k8s.io/cloned-from-groupkind";
    /// On a Node: its cluster.
    pub const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";
    /// On a Node: the namespace of its cluster.
    pub const CLUSTER_NAMESPACE: &str = "cluster.x-k8s.io/cluster-namespace";
    /// On a Node: its Machine.
    pub const MACHINE: &str = "cluster.x-k8s.io/machine";
    /// On a Node: the kind of its Machine's controller.
    pub const OWNER_KIND: &str = "cluster.x-k8s.io/owner-kind";
    /// On a Node: the name of its Machine's controller.
    pub const OWNER_NAME: &str = "cluster.x-k8s.io/owner-name";
    /// On a Node: the labels that come from its Machine.
    pub const LABELS_FROM_MACHINE: &str = "cluster.x-k8s.io/labels-from-machine";
    /// On a Node: the annotations that come from its Machine.
    pub const ANNOTATIONS_FROM_MACHINE: &str = "cluster.x-k8s.io/annotations-from-machine";
    /// On a Node: the taints that come from its Machine.
    pub const TAINTS_FROM_MACHINE: &str = "cluster.x-k8s.io/taints-from-machine";
    /// The hub object that an older version cannot express, as JSON.
    pub const CONVERSION_DATA: &str = "cluster.x-k8s.io/conversion-data";
    /// The machine is deleted without a drain.
    pub const EXCLUDE_NODE_DRAINING: &str = "machine.cluster.x-k8s.io/exclude-node-draining";
    /// The machine is deleted without waiting for volumes.
    pub const EXCLUDE_WAIT_FOR_NODE_VOLUME_DETACH: &str =
        "machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach";
    /// When the first certificate of a control plane machine ends, in RFC 3339.
    pub const CERTIFICATES_EXPIRY: &str = "machine.cluster.x-k8s.io/certificates-expiry";
    /// The prefix of annotations that hold back a machine's drain.
    pub const PRE_DRAIN_HOOK_PREFIX: &str = "pre-drain.delete.hook.machine.cluster.x-k8s.io";
    /// The prefix of annotations that hold back the deletion of a machine's host.
    pub const PRE_TERMINATE_HOOK_PREFIX: &str = "pre-terminate.delete.hook.machine.cluster.x-k8s.io";
    /// The hook with which a `KubeadmControlPlane` cleans up before a host is deleted.
    pub const KCP_PRE_TERMINATE_HOOK: &str = "pre-terminate.delete.hook.machine.cluster.x-k8s.io/kcp-cleanup";
    /// Checks that a `MachineSet` leaves out before making machines, separated by commas.
    pub const SKIP_PREFLIGHT_CHECKS: &str = "machineset.cluster.x-k8s.io/skip-preflight-checks";
    /// The revision of a `MachineDeployment`'s template.
    pub const REVISION: &str = "machinedeployment.clusters.x-k8s.io/revision";
    /// The revisions a `MachineSet` had before.
    pub const REVISION_HISTORY: &str = "machinedeployment.clusters.x-k8s.io/revision-history";
    /// On a `MachineSet`: the replicas of its `MachineDeployment`.
    pub const DESIRED_REPLICAS: &str = "machinedeployment.clusters.x-k8s.io/desired-replicas";
    /// On a `MachineSet`: the replicas of its `MachineDeployment` and what may be too many.
    pub const MAX_REPLICAS: &str = "machinedeployment.clusters.x-k8s.io/max-replicas";
    /// A machine is being changed in place.
    pub const UPDATE_IN_PROGRESS: &str = "in-place-updates.internal.cluster.x-k8s.io/update-in-progress";
    /// A machine waits for its new `MachineSet` to take it.
    pub const PENDING_ACKNOWLEDGE_MOVE: &str =
        "in-place-updates.internal.cluster.x-k8s.io/pending-acknowledge-move";
    /// The machines a `MachineSet` took.
    pub const ACKNOWLEDGED_MOVE: &str = "in-place-updates.internal.cluster.x-k8s.io/acknowledged-move";
    /// The `MachineSet` that a `MachineSet` hands its machines to.
    pub const MOVE_MACHINES_TO_MACHINE_SET: &str =
        "in-place-updates.internal.cluster.x-k8s.io/move-machines-to-machineset";
    /// The `MachineSets` that a `MachineSet` takes machines from.
    pub const RECEIVE_MACHINES_FROM_MACHINE_SETS: &str =
        "in-place-updates.internal.cluster.x-k8s.io/receive-machines-from-machinesets";
    /// A pool of a topology is not upgraded yet.
    pub const TOPOLOGY_DEFER_UPGRADE: &str = "topology.cluster.x-k8s.io/defer-upgrade";
    /// A pool of a topology and those after it are not upgraded yet.
    pub const TOPOLOGY_HOLD_UPGRADE_SEQUENCE: &str = "topology.cluster.x-k8s.io/hold-upgrade-sequence";
    /// How many pools of a topology are upgraded at one time.
    pub const TOPOLOGY_UPGRADE_CONCURRENCY: &str = "topology.cluster.x-k8s.io/upgrade-concurrency";
    /// Marks the dry runs of a topology, which may change what is otherwise immutable.
    pub const TOPOLOGY_DRY_RUN: &str = "topology.cluster.x-k8s.io/dry-run";
    /// The step of an upgrade over several versions.
    pub const TOPOLOGY_UPGRADE_STEP: &str = "topology.internal.cluster.x-k8s.io/upgrade-step";
    /// The class of a topology may be changed without checks.
    pub const TOPOLOGY_UNSAFE_UPDATE_CLASS_NAME: &str =
        "unsafe.topology.cluster.x-k8s.io/disable-update-class-name-check";
    /// The version of a topology may be changed without checks.
    pub const TOPOLOGY_UNSAFE_UPDATE_VERSION: &str =
        "unsafe.topology.cluster.x-k8s.io/disable-update-version-check";
    /// The prefix of annotations that hold back a cluster's upgrade.
    pub const BEFORE_UPGRADE_HOOK_PREFIX: &str = "before-upgrade.hook.cluster.cluster.x-k8s.io";
    /// Runtime hooks that are still to be called.
    pub const PENDING_HOOKS: &str = "runtime.cluster.x-k8s.io/pending-hooks";
    /// The runtime hook before a cluster's deletion was passed.
    pub const OK_TO_DELETE: &str = "runtime.cluster.x-k8s.io/ok-to-delete";
    /// The Secret from which an `ExtensionConfig` gets its CA.
    pub const INJECT_CA_FROM_SECRET: &str = "runtime.cluster.x-k8s.io/inject-ca-from-secret";
    /// `CoreDNS` is left alone.
    pub const SKIP_COREDNS: &str = "controlplane.cluster.x-k8s.io/skip-coredns";
    /// kube-proxy is left alone.
    pub const SKIP_KUBE_PROXY: &str = "controlplane.cluster.x-k8s.io/skip-kube-proxy";
    /// On a control plane: the repair that goes on, as JSON.
    pub const REMEDIATION_IN_PROGRESS: &str = "controlplane.cluster.x-k8s.io/remediation-in-progress";
    /// On a Machine: the repair it was made by, as JSON.
    pub const REMEDIATION_FOR: &str = "controlplane.cluster.x-k8s.io/remediation-for";
    /// The generation of a CRD whose objects are all kept in the storage version.
    pub const CRD_MIGRATION_OBSERVED_GENERATION: &str = "crd-migration.cluster.x-k8s.io/observed-generation";
    /// An object is being moved and may be deleted without checks.
    pub const CLUSTERCTL_DELETE_FOR_MOVE: &str = "clusterctl.cluster.x-k8s.io/delete-for-move";
    /// An object that may not be moved yet.
    pub const CLUSTERCTL_BLOCK_MOVE: &str = "clusterctl.cluster.x-k8s.io/block-move";
}

/// Finalizers.
pub mod finalizer {
    /// Of a Cluster.
    pub const CLUSTER: &str = "cluster.cluster.x-k8s.io";
    /// Of a Machine.
    pub const MACHINE: &str = "machine.cluster.x-k8s.io";
    /// Of a `MachineSet`.
    pub const MACHINE_SET: &str = "cluster.x-k8s.io/machineset";
    /// Of a `MachineDeployment`.
    pub const MACHINE_DEPLOYMENT: &str = "cluster.x-k8s.io/machinedeployment";
    /// Of a `MachineDeployment` of a topology.
    pub const MACHINE_DEPLOYMENT_TOPOLOGY: &str = "machinedeployment.topology.cluster.x-k8s.io";
    /// Of a `MachineSet` of a topology.
    pub const MACHINE_SET_TOPOLOGY: &str = "machineset.topology.cluster.x-k8s.io";
    /// Of a `MachinePool`.
    pub const MACHINE_POOL: &str = "machinepool.cluster.x-k8s.io";
    /// Of a `ClusterResourceSet`.
    pub const CLUSTER_RESOURCE_SET: &str = "addons.cluster.x-k8s.io";
    /// Of a `KubeadmControlPlane`.
    pub const KUBEADM_CONTROL_PLANE: &str = "kubeadm.controlplane.cluster.x-k8s.io";
}

/// Taints, by key.
pub mod taint {
    /// On a new worker until its labels are set; effect `NoSchedule`.
    pub const NODE_UNINITIALIZED: &str = "node.cluster.x-k8s.io/uninitialized";
    /// On a node of an old `MachineSet`; effect `PreferNoSchedule`.
    pub const NODE_OUTDATED_REVISION: &str = "node.cluster.x-k8s.io/outdated-revision";
    /// On control plane nodes; effect `NoSchedule`.
    pub const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";
}

/// Types of Secrets.
pub mod secret_type {
    /// Bootstrap data, certificates and kubeconfigs.
    pub const CLUSTER: &str = "cluster.x-k8s.io/secret";
    /// Manifests of a `ClusterResourceSet`.
    pub const RESOURCE_SET: &str = "addons.cluster.x-k8s.io/resource-set";
}

/// What a cluster's Secrets are for, as the ends of their names.
pub mod secret_purpose {
    /// An administrator's kubeconfig, in key `value`.
    pub const KUBECONFIG: &str = "kubeconfig";
    /// The cluster's CA.
    pub const CLUSTER_CA: &str = "ca";
    /// The CA of etcd.
    pub const ETCD_CA: &str = "etcd";
    /// The key pair of service accounts.
    pub const SERVICE_ACCOUNT: &str = "sa";
    /// The CA of the front proxy.
    pub const FRONT_PROXY_CA: &str = "proxy";
    /// The API server's client certificate for an external etcd.
    pub const API_SERVER_ETCD_CLIENT: &str = "apiserver-etcd-client";
}

/// The checks a `MachineSet` makes before it makes machines, as [`annotation::SKIP_PREFLIGHT_CHECKS`] names them.
pub mod preflight_check {
    /// All of them.
    pub const ALL: &str = "All";
    /// The machines' version fits kubeadm's rules.
    pub const KUBEADM_VERSION_SKEW: &str = "KubeadmVersionSkew";
    /// The machines' version fits Kubernetes' rules.
    pub const KUBERNETES_VERSION_SKEW: &str = "KubernetesVersionSkew";
    /// The control plane is not being changed.
    pub const CONTROL_PLANE_IS_STABLE: &str = "ControlPlaneIsStable";
    /// The machines' version is the control plane's.
    pub const CONTROL_PLANE_VERSION_SKEW: &str = "ControlPlaneVersionSkew";
    /// All names, sorted.
    pub const NAMES: [&str; 5] = [
        ALL,
        CONTROL_PLANE_IS_STABLE,
        CONTROL_PLANE_VERSION_SKEW,
        KUBEADM_VERSION_SKEW,
        KUBERNETES_VERSION_SKEW,
    ];
}

/// The name of the Secret of `cluster` for `purpose`.
pub fn secret_name(cluster: &str, purpose: &str) -> String {
    format!("{cluster}-{purpose}")
}

/// The name of the `ConfigMap` that decides which host makes `cluster`.
pub fn init_lock_name(cluster: &str) -> String {
    format!("{cluster}-lock")
}

/// `name` as a label's value: itself if it can be one, otherwise its hash.
// Parity: cluster-api util/labels/format:MustFormatValue
pub fn label_value(name: &str) -> String {
    if is_label_value(name) {
        return name.to_owned();
    }
    let hash = capstan_base::naming::fnv32a(name.as_bytes()).to_be_bytes();
    format!(
        "hash_{}_z",
        base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(hash)
    )
}

/// Whether `text` can be a label's value: empty, or at most 63 letters, digits, `-`, `_` and `.`, with a letter or
/// digit at both ends.
pub fn is_label_value(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
        return true;
    };
    bytes.len() <= 63
        && first.is_ascii_alphanumeric()
        && last.is_ascii_alphanumeric()
        && bytes
            .iter()
            .all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.'))
}

/// Whether `labels` are those of a control plane Machine.
pub fn is_control_plane(labels: Option<&BTreeMap<String, String>>) -> bool {
    labels.is_some_and(|it| it.contains_key(label::CONTROL_PLANE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_label_values_are_hashed() {
        assert_eq!(label_value("machineSetName"), "machineSetName");
        assert_eq!(label_value(&"machineSetName".repeat(12)), "hash_FR_ghQ_z");
        assert_eq!(label_value(""), "");
    }

    #[test]
    fn the_known_preflight_checks_are_sorted() {
        assert!(preflight_check::NAMES.is_sorted());
    }
}
