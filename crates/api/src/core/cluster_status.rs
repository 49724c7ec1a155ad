//! The status of a `Cluster`.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use super::common::{DeprecatedFailure, StatusVersion, UpgradePlanVersion};
use crate::record::{keyword, record};

record! {
    /// What was observed of a cluster.
    pub struct ClusterStatus {
        /// The conditions.
        pub conditions: Vec<Condition>,
        /// What happened once and stays true.
        pub initialization: ClusterInitialization,
        /// The control plane's machines in numbers.
        pub control_plane: Option<ClusterReplicasStatus>,
        /// The workers' machines in numbers.
        pub workers: Option<ClusterReplicasStatus>,
        /// Where machines can be placed, sorted by name.
        pub failure_domains: Vec<FailureDomain>,
        /// The cluster's life in one word.
        pub phase: Option<ClusterPhase>,
        /// The generation of the spec that this status is about.
        pub observed_generation: Option<i64>,
        /// What only readers of v1beta1 see.
        pub deprecated: DeprecatedFailure,
    }

    /// What happened once in a cluster's life and stays true.
    pub struct ClusterInitialization {
        /// The infrastructure is there; Machines may be made.
        pub infrastructure_provisioned: Option<bool>,
        /// The API server can be used.
        pub control_plane_initialized: Option<bool>,
    }

    /// A group of machines in numbers.
    pub struct ClusterReplicasStatus {
        /// How many are wanted.
        pub desired_replicas: Option<i32>,
        /// How many there are.
        pub replicas: Option<i32>,
        /// How many match their template.
        pub up_to_date_replicas: Option<i32>,
        /// How many are ready.
        pub ready_replicas: Option<i32>,
        /// How many are ready for long enough.
        pub available_replicas: Option<i32>,
        /// The Kubernetes versions in use, sorted.
        pub versions: Vec<StatusVersion>,
        /// The versions an ongoing upgrade still goes through.
        pub upgrade_plan: Vec<UpgradePlanVersion>,
    }

    /// A place that fails apart from others.
    pub struct FailureDomain {
        /// The name.
        pub name: String,
        /// Whether control plane machines may be placed there.
        pub control_plane: Option<bool>,
        /// What the provider says about it.
        pub attributes: BTreeMap<String, String>,
    }
}

keyword! {
    /// A cluster's life in one word.
    pub enum ClusterPhase {
        /// Nothing was done yet.
        Pending = "Pending",
        /// It is being made.
        Provisioning = "Provisioning",
        /// Its infrastructure is there and its API server has an address.
        Provisioned = "Provisioned",
        /// It is being deleted.
        Deleting = "Deleting",
        /// Kept for readers of v1beta1; not set any more.
        Failed = "Failed",
        /// None of the others can be said.
        Unknown = "Unknown",
    }
}
