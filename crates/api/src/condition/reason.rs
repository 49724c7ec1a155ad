//! The reasons of conditions.

use crate::record::keyword;

keyword! {
    /// The reasons that controllers give for the conditions of all kinds.
    pub enum Reason {
        /// `Available`, `ControlPlaneAvailable`, `CertificatesAvailable` and the like: it is.
        Available = "Available",
        /// The same: it is not.
        NotAvailable = "NotAvailable",
        /// The same: nobody knows.
        AvailableUnknown = "AvailableUnknown",
        /// `Ready` and what is derived from it: it is.
        Ready = "Ready",
        /// The same: it is not.
        NotReady = "NotReady",
        /// The same: nobody knows.
        ReadyUnknown = "ReadyUnknown",
        /// `UpToDate` and what is derived from it: it is.
        UpToDate = "UpToDate",
        /// The same: it is not.
        NotUpToDate = "NotUpToDate",
        /// The same: nobody knows.
        UpToDateUnknown = "UpToDateUnknown",
        /// Something failed inside.
        InternalError = "InternalError",
        /// A merged condition: something is wrong, and no better reason was given.
        IssuesReported = "IssuesReported",
        /// A merged condition: something is not known.
        UnknownReported = "UnknownReported",
        /// A merged condition: nothing is wrong.
        InfoReported = "InfoReported",
        /// A condition that is expected but not there.
        NotYetReported = "NotYetReported",
        /// A foreign condition without a reason.
        NoReasonReported = "NoReasonReported",
        /// A foreign condition that cannot be read.
        InvalidConditionReported = "InvalidConditionReported",
        /// The object that is referred to is not there.
        ObjectDoesNotExist = "ObjectDoesNotExist",
        /// The object that is referred to was there and is gone.
        ObjectDeleted = "ObjectDeleted",
        /// `Paused`: it is.
        Paused = "Paused",
        /// `Paused`: it is not.
        NotPaused = "NotPaused",
        /// `Deleting`: it is not.
        NotDeleting = "NotDeleting",
        /// `Deleting`: it is.
        Deleting = "Deleting",
        /// `Deleting`: everything is gone.
        DeletionCompleted = "DeletionCompleted",
        /// `Deleting` of a Cluster: a runtime hook has not been passed.
        WaitingForBeforeDeleteHook = "WaitingForBeforeDeleteHook",
        /// `Deleting`: workers are still there.
        WaitingForWorkersDeletion = "WaitingForWorkersDeletion",
        /// `Deleting` of a Cluster: its control plane is still there.
        WaitingForControlPlaneDeletion = "WaitingForControlPlaneDeletion",
        /// `Deleting`: the infrastructure is still there.
        WaitingForInfrastructureDeletion = "WaitingForInfrastructureDeletion",
        /// `Deleting` of a control plane: machines are still there.
        WaitingForMachineDeletion = "WaitingForMachineDeletion",
        /// `Deleting` of a Machine: a hook holds back the drain.
        WaitingForPreDrainHook = "WaitingForPreDrainHook",
        /// `Deleting` of a Machine: its node is being drained.
        DrainingNode = "DrainingNode",
        /// `Deleting` of a Machine: volumes are still attached.
        WaitingForVolumeDetach = "WaitingForVolumeDetach",
        /// `Deleting` of a Machine: a hook holds back the deletion of the host.
        WaitingForPreTerminateHook = "WaitingForPreTerminateHook",
        /// `Deleting` of a Machine: the bootstrap config is still there.
        WaitingForBootstrapDeletion = "WaitingForBootstrapDeletion",
        /// `Deleting` of a Machine: its Node is being deleted.
        DeletingNode = "DeletingNode",
        /// `ControlPlaneInitialized`, `Initialized`: it is.
        Initialized = "Initialized",
        /// The same: it is not.
        NotInitialized = "NotInitialized",
        /// `WorkersAvailable`: there are none.
        NoWorkers = "NoWorkers",
        /// Conditions about machines: there are none.
        NoReplicas = "NoReplicas",
        /// `RemoteConnectionProbe`: the API server does not answer.
        ProbeFailed = "ProbeFailed",
        /// `RemoteConnectionProbe`: the API server answers.
        ProbeSucceeded = "ProbeSucceeded",
        /// `RollingOut`: machines are being replaced.
        RollingOut = "RollingOut",
        /// `RollingOut`: none is.
        NotRollingOut = "NotRollingOut",
        /// `RollingOut`: nobody knows.
        RollingOutUnknown = "RollingOutUnknown",
        /// `ScalingUp`: machines are being added.
        ScalingUp = "ScalingUp",
        /// `ScalingUp`: none is.
        NotScalingUp = "NotScalingUp",
        /// `ScalingUp`: nobody knows.
        ScalingUpUnknown = "ScalingUpUnknown",
        /// `ScalingDown`: machines are being removed.
        ScalingDown = "ScalingDown",
        /// `ScalingDown`: none is.
        NotScalingDown = "NotScalingDown",
        /// `ScalingDown`: nobody knows.
        ScalingDownUnknown = "ScalingDownUnknown",
        /// `Remediating`: machines are being repaired.
        Remediating = "Remediating",
        /// `Remediating`: none is.
        NotRemediating = "NotRemediating",
        /// The wanted number is not set.
        WaitingForReplicasSet = "WaitingForReplicasSet",
        /// The number of available machines is not set.
        WaitingForAvailableReplicasSet = "WaitingForAvailableReplicasSet",
        /// `Available` of a Machine: it is not ready for long enough.
        WaitingForMinReadySeconds = "WaitingForMinReadySeconds",
        /// `UpToDate` of a Machine: it is being changed in place.
        Updating = "Updating",
        /// `Updating`: it is not.
        NotUpdating = "NotUpdating",
        /// `Updating`: it is being changed in place.
        InPlaceUpdating = "InPlaceUpdating",
        /// `Updating`: the change failed.
        InPlaceUpdateFailed = "InPlaceUpdateFailed",
        /// `BootstrapConfigReady`: the user gave the data.
        DataSecretProvided = "DataSecretProvided",
        /// `NodeHealthy`: it is.
        NodeHealthy = "NodeHealthy",
        /// `NodeHealthy`: it is not.
        NodeNotHealthy = "NodeNotHealthy",
        /// `NodeHealthy`: nobody knows.
        NodeHealthUnknown = "NodeHealthyUnknown",
        /// `NodeReady`: it is.
        NodeReady = "NodeReady",
        /// `NodeReady`: it is not.
        NodeNotReady = "NodeNotReady",
        /// `NodeReady`: nobody knows.
        NodeReadyUnknown = "NodeReadyUnknown",
        /// Conditions about a Node: it is not there.
        NodeDoesNotExist = "NodeDoesNotExist",
        /// Conditions about a Node: it was there and is gone.
        NodeDeleted = "NodeDeleted",
        /// Conditions about the workload cluster: looking failed.
        InspectionFailed = "InspectionFailed",
        /// Conditions about the workload cluster: it cannot be reached.
        ConnectionDown = "ConnectionDown",
        /// `HealthCheckSucceeded`: it did.
        HealthCheckSucceeded = "HealthCheckSucceeded",
        /// `HealthCheckSucceeded`: the Node is in a bad state.
        UnhealthyNode = "UnhealthyNode",
        /// `HealthCheckSucceeded`: the Machine is in a bad state.
        UnhealthyMachine = "UnhealthyMachine",
        /// `HealthCheckSucceeded`: the Node did not appear in time.
        NodeStartupTimeout = "NodeStartupTimeout",
        /// `HealthCheckSucceeded`: a user asked for the repair.
        HasRemediateAnnotation = "HasRemediateAnnotation",
        /// `OwnerRemediated`, `ExternallyRemediated`: nobody began yet.
        WaitingForRemediation = "WaitingForRemediation",
        /// `OwnerRemediated`: it cannot be repaired.
        CannotBeRemediated = "CannotBeRemediated",
        /// `OwnerRemediated`: it is repaired later.
        RemediationDeferred = "RemediationDeferred",
        /// `OwnerRemediated`: the machine is being deleted for it.
        MachineDeleting = "MachineDeleting",
        /// `ExternallyRemediated`: the template of the request is not there.
        RemediationTemplateNotFound = "RemediationTemplateNotFound",
        /// `ExternallyRemediated`: the request could not be made.
        RemediationRequestCreationFailed = "RemediationRequestCreationFailed",
        /// `RemediationAllowed`: it is.
        RemediationAllowed = "RemediationAllowed",
        /// `RemediationAllowed`: too many machines are unhealthy.
        TooManyUnhealthy = "TooManyUnhealthy",
        /// Conditions about a Pod: it runs.
        Running = "Running",
        /// Conditions about a Pod: it is starting.
        Provisioning = "Provisioning",
        /// Conditions about a Pod: it is not there.
        DoesNotExist = "DoesNotExist",
        /// Conditions about a Pod: it failed.
        Failed = "Failed",
        /// Conditions about etcd and control plane components: they are well.
        Healthy = "Healthy",
        /// The same: they are not.
        NotHealthy = "NotHealthy",
        /// The same: nobody knows.
        HealthUnknown = "HealthUnknown",
        /// `NodeKubeadmLabelsAndTaintsSet`: they are.
        Set = "Set",
        /// `NodeKubeadmLabelsAndTaintsSet`: they are not.
        NotSet = "NotSet",
        /// `Ready` of a provider's object: its host or network is there.
        Provisioned = "Provisioned",
        /// The same: it is not.
        NotProvisioned = "NotProvisioned",
        /// The same: the cluster's infrastructure is awaited.
        WaitingForClusterInfrastructureReady = "WaitingForClusterInfrastructureReady",
        /// The same: the first control plane machine is awaited.
        WaitingForControlPlaneInitialized = "WaitingForControlPlaneInitialized",
        /// The same: the data for the first boot is awaited.
        WaitingForBootstrapData = "WaitingForBootstrapData",
        /// `VariablesReady`: they are.
        VariablesReady = "VariablesReady",
        /// `VariablesReady`: an extension failed.
        VariableDiscoveryFailed = "VariableDiscoveryFailed",
        /// `RefVersionsUpToDate`: they are.
        RefVersionsUpToDate = "RefVersionsUpToDate",
        /// `RefVersionsUpToDate`: some are not.
        RefVersionsNotUpToDate = "RefVersionsNotUpToDate",
        /// `ResourcesApplied`: they were.
        Applied = "Applied",
        /// `ResourcesApplied`: they were not.
        NotApplied = "NotApplied",
        /// `ResourcesApplied`: a Secret has another type.
        WrongSecretType = "WrongSecretType",
        /// `Discovered`: they were.
        Discovered = "Discovered",
        /// `Discovered`: they were not.
        NotDiscovered = "NotDiscovered",
        /// `TopologyReconciled`: it is as its class says.
        ReconcileSucceeded = "ReconcileSucceeded",
        /// `TopologyReconciled`: something failed.
        ReconcileFailed = "ReconcileFailed",
        /// `TopologyReconciled`: a hook holds back the creation.
        ClusterCreating = "ClusterCreating",
        /// `TopologyReconciled`: an upgrade goes on.
        ClusterUpgrading = "ClusterUpgrading",
        /// `TopologyReconciled`: the class is not reconciled itself.
        ClusterClassNotReconciled = "ClusterClassNotReconciled",
        /// `TopologyReconciled`: a user defers the upgrade of some pools.
        MachineDeploymentsUpgradeDeferred = "MachineDeploymentsUpgradeDeferred",
        /// `TopologyReconciled`: a user defers the upgrade of some machine pools.
        MachinePoolsUpgradeDeferred = "MachinePoolsUpgradeDeferred",
        /// `Ready` of a claim: no address could be taken.
        AllocationFailed = "AllocationFailed",
        /// `Ready` of a claim: the pool is not ready.
        PoolNotReady = "PoolNotReady",
        /// `Ready` of a claim: the pool has no address left.
        PoolExhausted = "PoolExhausted",
    }
}
