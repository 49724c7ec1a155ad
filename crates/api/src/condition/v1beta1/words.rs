//! The types and reasons of conditions that are kept for readers of v1beta1.

use crate::record::keyword;

keyword! {
    /// How bad it is that a condition is `False`.
    pub enum Severity {
        /// Somebody must act.
        Error = "Error",
        /// It may heal by itself.
        Warning = "Warning",
        /// It is on its way.
        Info = "Info",
    }

    /// The types of conditions of all kinds.
    pub enum Type {
        /// It works; a summary.
        Ready = "Ready",
        /// Its infrastructure works; a mirror.
        InfrastructureReady = "InfrastructureReady",
        /// Cluster: its control plane works; a mirror.
        ControlPlaneReady = "ControlPlaneReady",
        /// Cluster: its API server could be used once.
        ControlPlaneInitialized = "ControlPlaneInitialized",
        /// Cluster: it is as its class says.
        TopologyReconciled = "TopologyReconciled",
        /// Machine, `MachinePool`: its bootstrap config is ready; a mirror.
        BootstrapReady = "BootstrapReady",
        /// Machine: its Node has no problems.
        NodeHealthy = "NodeHealthy",
        /// Machine: its node was drained.
        DrainingSucceeded = "DrainingSucceeded",
        /// Machine: its node's volumes were detached.
        VolumeDetachSucceeded = "VolumeDetachSucceeded",
        /// Machine: no hook holds back the drain.
        PreDrainDeleteHookSucceeded = "PreDrainDeleteHookSucceeded",
        /// Machine: no hook holds back the deletion of the host.
        PreTerminateDeleteHookSucceeded = "PreTerminateDeleteHookSucceeded",
        /// Machine: a health check finds it healthy.
        HealthCheckSucceeded = "HealthCheckSucceeded",
        /// Machine: its owner repairs it.
        OwnerRemediated = "OwnerRemediated",
        /// Control plane Machine: its API server runs.
        ApiServerPodHealthy = "APIServerPodHealthy",
        /// Control plane Machine: its controller manager runs.
        ControllerManagerPodHealthy = "ControllerManagerPodHealthy",
        /// Control plane Machine: its scheduler runs.
        SchedulerPodHealthy = "SchedulerPodHealthy",
        /// Control plane Machine: its etcd Pod runs.
        EtcdPodHealthy = "EtcdPodHealthy",
        /// Control plane Machine: its etcd member is well.
        EtcdMemberHealthy = "EtcdMemberHealthy",
        /// Its machines could be made.
        MachinesCreated = "MachinesCreated",
        /// It has as many machines as are wanted.
        Resized = "Resized",
        /// Its machines are ready; an aggregate.
        MachinesReady = "MachinesReady",
        /// It can be used.
        Available = "Available",
        /// `MachineDeployment`: its newest `MachineSet` is ready; a mirror.
        MachineSetReady = "MachineSetReady",
        /// `MachinePool`: its machines are ready.
        ReplicasReady = "ReplicasReady",
        /// `MachineHealthCheck`: machines may be repaired.
        RemediationAllowed = "RemediationAllowed",
        /// `MachineHealthCheck`: the template of repair requests is there.
        ExternalRemediationTemplateAvailable = "ExternalRemediationTemplateAvailable",
        /// `MachineHealthCheck`: the repair request could be made.
        ExternalRemediationRequestAvailable = "ExternalRemediationRequestAvailable",
        /// `DevCluster`, `DockerCluster`: the load balancer's container runs.
        LoadBalancerAvailable = "LoadBalancerAvailable",
        /// `DevMachine`, `DockerMachine`: the container runs.
        ContainerProvisioned = "ContainerProvisioned",
        /// `DevMachine`, `DockerMachine`: the bootstrap is done.
        BootstrapExecSucceeded = "BootstrapExecSucceeded",
        /// `ClusterClass`: all variables are known.
        VariablesReconciled = "VariablesReconciled",
        /// `ClusterClass`: all references name the newest API version.
        RefVersionsUpToDate = "RefVersionsUpToDate",
        /// `KubeadmConfig`: the Secret with the data is there.
        DataSecretAvailable = "DataSecretAvailable",
        /// The certificates are there.
        CertificatesAvailable = "CertificatesAvailable",
        /// `KubeadmControlPlane`: its machines match its spec.
        MachinesSpecUpToDate = "MachinesSpecUpToDate",
        /// `KubeadmControlPlane`: API servers, controller managers and schedulers are well.
        ControlPlaneComponentsHealthy = "ControlPlaneComponentsHealthy",
        /// `KubeadmControlPlane`: etcd is well.
        EtcdClusterHealthy = "EtcdClusterHealthy",
        /// `DevMachine`: the VM runs.
        VmProvisioned = "VMProvisioned",
        /// `DevMachine`: the node is registered.
        NodeProvisioned = "NodeProvisioned",
        /// `DevMachine`: the etcd member runs.
        EtcdProvisioned = "EtcdProvisioned",
        /// `DevMachine`: the API server runs.
        ApiServerProvisioned = "APIServerProvisioned",
        /// `ClusterResourceSet`: the manifests were applied.
        ResourcesApplied = "ResourcesApplied",
        /// `ExtensionConfig`: its extensions are known.
        Discovered = "Discovered",
    }

    /// The reasons that controllers give.
    pub enum Reason {
        /// The object that is referred to is gone.
        Deleted = "Deleted",
        /// It is being deleted.
        Deleting = "Deleting",
        /// Deleting it failed.
        DeletionFailed = "DeletionFailed",
        /// It is left alone.
        Paused = "Paused",
        /// Something failed inside.
        InternalError = "InternalError",
        /// The infrastructure is not ready.
        WaitingForInfrastructure = "WaitingForInfrastructure",
        /// The cluster's infrastructure is not ready.
        WaitingForClusterInfrastructure = "WaitingForClusterInfrastructure",
        /// The control plane is not ready.
        WaitingForControlPlane = "WaitingForControlPlane",
        /// The control plane cannot be joined yet.
        WaitingForControlPlaneAvailable = "WaitingForControlPlaneAvailable",
        /// The control plane is not initialised.
        WaitingForControlPlaneProviderInitialized = "WaitingForControlPlaneProviderInitialized",
        /// No host has made the cluster yet.
        WaitingForKubeadmInit = "WaitingForKubeadmInit",
        /// The data for the first boot is not there.
        WaitingForDataSecret = "WaitingForDataSecret",
        /// The Node is not known.
        WaitingForNodeRef = "WaitingForNodeRef",
        /// There is no `MachineSet` yet.
        WaitingForMachineSet = "WaitingForMachineSet",
        /// Too few machines are available.
        WaitingForAvailableMachines = "WaitingForAvailableMachines",
        /// Too few machines are ready.
        WaitingForReplicasReady = "WaitingForReplicasReady",
        /// Nobody began the repair yet.
        WaitingForRemediation = "WaitingForRemediation",
        /// Volumes are still attached.
        WaitingForVolumeDetach = "WaitingForVolumeDetach",
        /// A hook holds it back.
        WaitingExternalHook = "WaitingExternalHook",
        /// No control plane Machine has a Node.
        MissingNodeRef = "MissingNodeRef",
        /// The Node is starting.
        NodeProvisioning = "NodeProvisioning",
        /// The Node is gone.
        NodeNotFound = "NodeNotFound",
        /// The Node has problems.
        NodeConditionsFailed = "NodeConditionsFailed",
        /// Looking at the Node failed.
        NodeInspectionFailed = "NodeInspectionFailed",
        /// The Node did not appear in time.
        NodeStartupTimeout = "NodeStartupTimeout",
        /// The node is being drained.
        Draining = "Draining",
        /// The drain failed.
        DrainingFailed = "DrainingFailed",
        /// The machine failed for good.
        MachineHasFailure = "MachineHasFailure",
        /// A user asked for the repair.
        HasRemediateMachineAnnotation = "HasRemediateMachineAnnotation",
        /// The Node is in a bad state.
        UnhealthyNode = "UnhealthyNode",
        /// The Machine is in a bad state.
        UnhealthyMachine = "UnhealthyMachine",
        /// The repair goes on.
        RemediationInProgress = "RemediationInProgress",
        /// The repair failed.
        RemediationFailed = "RemediationFailed",
        /// The Pod is starting.
        PodProvisioning = "PodProvisioning",
        /// The Pod is not there.
        PodMissing = "PodMissing",
        /// The Pod failed.
        PodFailed = "PodFailed",
        /// Looking at the Pod failed.
        PodInspectionFailed = "PodInspectionFailed",
        /// The etcd member is not well.
        EtcdMemberUnhealthy = "EtcdMemberUnhealthy",
        /// Looking at the etcd member failed.
        MemberInspectionFailed = "MemberInspectionFailed",
        /// A check before making machines failed.
        PreflightCheckFailed = "PreflightCheckFailed",
        /// The bootstrap config could not be made.
        BootstrapTemplateCloningFailed = "BootstrapTemplateCloningFailed",
        /// The infrastructure object could not be made.
        InfrastructureTemplateCloningFailed = "InfrastructureTemplateCloningFailed",
        /// The Machine could not be made.
        MachineCreationFailed = "MachineCreationFailed",
        /// The control plane Machine could not be made.
        MachineGenerationFailed = "MachineGenerationFailed",
        /// Machines are being added.
        ScalingUp = "ScalingUp",
        /// Machines are being removed.
        ScalingDown = "ScalingDown",
        /// Machines are being replaced.
        RollingUpdateInProgress = "RollingUpdateInProgress",
        /// A reference leads nowhere.
        IncorrectExternalRef = "IncorrectExternalRef",
        /// Too many machines are unhealthy.
        TooManyUnhealthy = "TooManyUnhealthy",
        /// The template of repair requests is not there.
        ExternalRemediationTemplateNotFound = "ExternalRemediationTemplateNotFound",
        /// The repair request could not be made.
        ExternalRemediationRequestCreationFailed = "ExternalRemediationRequestCreationFailed",
        /// An extension failed to declare its variables.
        VariableDiscoveryFailed = "VariableDiscoveryFailed",
        /// Some references name an old API version.
        OutdatedRefVersions = "OutdatedRefVersions",
        /// The data for the first boot could not be made.
        DataSecretGenerationFailed = "DataSecretGenerationFailed",
        /// The certificates could not be made.
        CertificatesGenerationFailed = "CertificatesGenerationFailed",
        /// The certificates cannot be read.
        CertificatesCorrupted = "CertificatesCorrupted",
        /// Some component is not well.
        ControlPlaneComponentsUnhealthy = "ControlPlaneComponentsUnhealthy",
        /// The state of some component is not known.
        ControlPlaneComponentsUnknown = "ControlPlaneComponentsUnknown",
        /// Looking at the components failed.
        ControlPlaneComponentsInspectionFailed = "ControlPlaneComponentsInspectionFailed",
        /// etcd is not well.
        EtcdClusterUnhealthy = "EtcdClusterUnhealthy",
        /// The state of etcd is not known.
        EtcdClusterUnknown = "EtcdClusterUnknown",
        /// Looking at etcd failed.
        EtcdClusterInspectionFailed = "EtcdClusterInspectionFailed",
        /// Making it as its class says failed.
        TopologyReconcileFailed = "TopologyReconcileFailed",
        /// A hook holds back the creation.
        ClusterCreating = "ClusterCreating",
        /// An upgrade goes on.
        ClusterUpgrading = "ClusterUpgrading",
        /// The class is not reconciled itself.
        ClusterClassNotReconciled = "ClusterClassNotReconciled",
        /// A user defers the upgrade of some pools.
        MachineDeploymentsUpgradeDeferred = "MachineDeploymentsUpgradeDeferred",
        /// A user defers the upgrade of some machine pools.
        MachinePoolsUpgradeDeferred = "MachinePoolsUpgradeDeferred",
        /// The clusters could not be listed.
        ClusterMatchFailed = "ClusterMatchFailed",
        /// A Secret or `ConfigMap` could not be read.
        RetrievingResourceFailed = "RetrievingResourceFailed",
        /// A Secret has another type.
        WrongSecretType = "WrongSecretType",
        /// A manifest could not be applied.
        ApplyFailed = "ApplyFailed",
        /// The workload cluster cannot be reached.
        RemoteClusterClientFailed = "RemoteClusterClientFailed",
    }
}
