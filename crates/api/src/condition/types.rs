//! The types of conditions, in the order in which they are listed.

use crate::record::keyword;

keyword! {
    /// The status of a condition.
    pub enum Status {
        /// Yes.
        True = "True",
        /// No.
        False = "False",
        /// Nobody knows.
        Unknown = "Unknown",
    }

    /// The types of conditions of all kinds. The declaration order is the order in which an object lists them:
    /// whether it can be used, what is being done, what its machines say, what others add, and at last whether it is
    /// paused or deleted.
    // Parity: cluster-api util/conditions/sort.go
    pub enum Type {
        /// It can be used.
        Available = "Available",
        /// It works.
        Ready = "Ready",
        /// Machine: it matches what it is made from.
        UpToDate = "UpToDate",
        /// Cluster: its API server answers.
        RemoteConnectionProbe = "RemoteConnectionProbe",
        /// Machine: the data for its first boot is there.
        BootstrapConfigReady = "BootstrapConfigReady",
        /// Cluster, Machine: its infrastructure works.
        InfrastructureReady = "InfrastructureReady",
        /// Cluster: its API server could be used once.
        ControlPlaneInitialized = "ControlPlaneInitialized",
        /// Cluster: its control plane can be used.
        ControlPlaneAvailable = "ControlPlaneAvailable",
        /// Cluster: its workers can be used.
        WorkersAvailable = "WorkersAvailable",
        /// `KubeadmControlPlane`, `KubeadmConfig`: the certificates are there.
        CertificatesAvailable = "CertificatesAvailable",
        /// `KubeadmControlPlane`: kubeadm made the cluster.
        Initialized = "Initialized",
        /// `KubeadmControlPlane`: etcd is well.
        EtcdClusterHealthy = "EtcdClusterHealthy",
        /// `KubeadmControlPlane`: API servers, controller managers and schedulers are well.
        ControlPlaneComponentsHealthy = "ControlPlaneComponentsHealthy",
        /// Machine: its Node has no problems.
        NodeHealthy = "NodeHealthy",
        /// Machine: its Node is ready.
        NodeReady = "NodeReady",
        /// Control plane Machine: its Node has kubeadm's labels and taints.
        NodeKubeadmLabelsAndTaintsSet = "NodeKubeadmLabelsAndTaintsSet",
        /// Control plane Machine: its etcd Pod runs.
        EtcdPodHealthy = "EtcdPodHealthy",
        /// Control plane Machine: its etcd member is well.
        EtcdMemberHealthy = "EtcdMemberHealthy",
        /// Control plane Machine: its API server runs.
        ApiServerPodHealthy = "APIServerPodHealthy",
        /// Control plane Machine: its controller manager runs.
        ControllerManagerPodHealthy = "ControllerManagerPodHealthy",
        /// Control plane Machine: its scheduler runs.
        SchedulerPodHealthy = "SchedulerPodHealthy",
        /// Machine: a health check finds it healthy.
        HealthCheckSucceeded = "HealthCheckSucceeded",
        /// Machine: its owner repairs it.
        OwnerRemediated = "OwnerRemediated",
        /// Cluster: it is as its class says.
        TopologyReconciled = "TopologyReconciled",
        /// Machine: it is being changed in place.
        Updating = "Updating",
        /// Machines are being replaced.
        RollingOut = "RollingOut",
        /// Machines are being repaired.
        Remediating = "Remediating",
        /// Machines are being removed.
        ScalingDown = "ScalingDown",
        /// Machines are being added.
        ScalingUp = "ScalingUp",
        /// Its machines are ready.
        MachinesReady = "MachinesReady",
        /// Cluster: its control plane machines are ready.
        ControlPlaneMachinesReady = "ControlPlaneMachinesReady",
        /// Cluster: its workers are ready.
        WorkerMachinesReady = "WorkerMachinesReady",
        /// Its machines match what they are made from.
        MachinesUpToDate = "MachinesUpToDate",
        /// Cluster: its control plane machines match what they are made from.
        ControlPlaneMachinesUpToDate = "ControlPlaneMachinesUpToDate",
        /// Cluster: its workers match what they are made from.
        WorkerMachinesUpToDate = "WorkerMachinesUpToDate",
        /// Machine: a system outside repairs it.
        ExternallyRemediated = "ExternallyRemediated",
        /// `MachineHealthCheck`: machines may be repaired.
        RemediationAllowed = "RemediationAllowed",
        /// `KubeadmConfig`: the Secret with the data is there.
        DataSecretAvailable = "DataSecretAvailable",
        /// `ClusterClass`: all variables are known.
        VariablesReady = "VariablesReady",
        /// `ClusterClass`: all references name the newest API version.
        RefVersionsUpToDate = "RefVersionsUpToDate",
        /// `ClusterResourceSet`: the manifests were applied.
        ResourcesApplied = "ResourcesApplied",
        /// `ExtensionConfig`: its extensions are known.
        Discovered = "Discovered",
        /// It is left alone.
        Paused = "Paused",
        /// It is being deleted.
        Deleting = "Deleting",
    }
}

/// The place of a type in an object's list. Types without a place of their own share one, before `Paused`.
pub(super) fn place(type_: &str) -> Type {
    match type_.parse::<Type>() {
        Ok(known) if known < Type::ExternallyRemediated || known >= Type::Paused => known,
        _ => Type::ExternallyRemediated,
    }
}
