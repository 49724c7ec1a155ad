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
    /// The load balancer's container runs.
    pub const LOAD_BALANCER_AVAILABLE: &str = "LoadBalancerAvailable";
    /// What the Docker Engine grants to node containers. Capstan's own.
    pub const ENGINE_PRIVILEGES: &str = "EnginePrivileges";
    /// The machine's container runs.
    pub const CONTAINER_PROVISIONED: &str = "ContainerProvisioned";
    /// systemd and containerd run in it.
    pub const CGROUPS_READY: &str = "CGroupsReady";
    /// The images that it is given are in it.
    pub const PRE_LOADED_IMAGES_READY: &str = "PreLoadedImagesReady";
    /// Its bootstrap is done.
    pub const BOOTSTRAP_COMPLETED: &str = "BootstrapCompleted";
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
    /// It is not there.
    pub const NOT_PROVISIONED: &str = "NotProvisioned";
    /// It cannot be used.
    pub const NOT_AVAILABLE: &str = "NotAvailable";
    /// Readers of v1beta1: the load balancer could not be made.
    pub const LOAD_BALANCER_PROVISIONING_FAILED: &str = "LoadBalancerProvisioningFailed";
    /// Everything is granted.
    pub const ALL_PRIVILEGES: &str = "AllPrivileges";
    /// What a node needs is granted, one by one.
    pub const CAPABILITIES: &str = "Capabilities";
    /// Something that a node needs is refused.
    pub const CAPABILITIES_MISSING: &str = "CapabilitiesMissing";
    /// The container does not run.
    pub const WAITING_FOR_CONTAINER: &str = "WaitingForContainer";
    /// systemd and containerd do not run.
    pub const WAITING_FOR_CGROUPS: &str = "WaitingForCGroups";
    /// Images are being loaded.
    pub const WAITING_FOR_PRELOADED_IMAGES: &str = "WaitingForPreloadedImages";
    /// The bootstrap is done.
    pub const COMPLETED: &str = "Completed";
    /// The bootstrap is not done.
    pub const NOT_COMPLETED: &str = "NotCompleted";
    /// The bootstrap failed, and is not tried again.
    pub const FAILED: &str = "Failed";
    /// The object is going away.
    pub const DELETING: &str = "Deleting";
    /// The summary is good.
    pub const READY: &str = "Ready";
    /// The summary is not good.
    pub const NOT_READY: &str = "NotReady";
}
