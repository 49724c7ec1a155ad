//! Finalizers, annotations, condition types and reasons, as they are on the wire.

/// The finalizer of a DevCluster.
pub const CLUSTER_FINALIZER: &str = "dockercluster.infrastructure.cluster.x-k8s.io";
/// The finalizer of a DevMachine.
pub const MACHINE_FINALIZER: &str = "dockermachine.infrastructure.cluster.x-k8s.io";

/// Condition types.
pub mod condition {
    /// Everything below is true.
    pub const READY: &str = "Ready";
    /// Reconciliation is paused.
    pub const PAUSED: &str = "Paused";
    /// The VM runs.
    pub const VM_PROVISIONED: &str = "VMProvisioned";
    /// The node is registered.
    pub const NODE_PROVISIONED: &str = "NodeProvisioned";
    /// The etcd member runs.
    pub const ETCD_PROVISIONED: &str = "EtcdProvisioned";
    /// The API server runs.
    pub const API_SERVER_PROVISIONED: &str = "APIServerProvisioned";
}

/// Reasons of conditions.
pub mod reason {
    /// It is there.
    pub const PROVISIONED: &str = "Provisioned";
    /// The cluster's infrastructure is not provisioned.
    pub const WAITING_FOR_CLUSTER_INFRASTRUCTURE: &str = "WaitingForClusterInfrastructureReady";
    /// The control plane has never answered.
    pub const WAITING_FOR_CONTROL_PLANE: &str = "WaitingForControlPlaneInitialized";
    /// There is no data for the first boot.
    pub const WAITING_FOR_BOOTSTRAP_DATA: &str = "WaitingForBootstrapData";
    /// The time that it takes has not passed.
    pub const WAITING_FOR_STARTUP: &str = "WaitingForStartupTimeout";
    /// The VM does not run.
    pub const WAITING_FOR_VM: &str = "WaitingForVMProvisioned";
    /// The node is not registered.
    pub const WAITING_FOR_NODE: &str = "WaitingForNodeProvisioned";
    /// kubeadm could not join or init; the message says why.
    pub const BOOTSTRAP_FAILED: &str = "BootstrapFailed";
    /// Something went wrong in this process.
    pub const INTERNAL_ERROR: &str = "InternalError";
    /// The backend that the spec names is not served here.
    pub const BACKEND_NOT_SUPPORTED: &str = "BackendNotSupported";
    /// The object is going away.
    pub const DELETING: &str = "Deleting";
    /// The summary is good.
    pub const READY: &str = "Ready";
    /// The summary is not good.
    pub const NOT_READY: &str = "NotReady";
}
