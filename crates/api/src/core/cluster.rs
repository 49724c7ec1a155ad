//! `Cluster`: the root of everything that belongs to one Kubernetes cluster.

use super::{
    ClusterStatus, Topology,
    common::{ConditionGate, ContractReference, conditioned},
};
use crate::record::{object, record};

object! {
    /// One Kubernetes cluster.
    /// Source: cluster-api `api/core/v1beta2/cluster_types.go`.
    pub struct Cluster in super::GROUP, plural "clusters", scope NamespaceResourceScope,
    spec ClusterSpec, status ClusterStatus
}
conditioned!(Cluster);

record! {
    /// What is wanted of a cluster.
    pub struct ClusterSpec {
        /// Whether all controllers leave the cluster and everything in it alone.
        pub paused: Option<bool>,
        /// Addresses and names inside the cluster.
        pub cluster_network: ClusterNetwork,
        /// Where the API server is reached; set by the infrastructure or the control plane if not by the user.
        pub control_plane_endpoint: ApiEndpoint,
        /// The object that provides the control plane.
        pub control_plane_ref: Option<ContractReference>,
        /// The object that provides what machines share: networks, load balancers.
        pub infrastructure_ref: Option<ContractReference>,
        /// The managed topology: the class the cluster is made from, and how.
        pub topology: Option<Topology>,
        /// Further conditions that count for `Available`.
        pub availability_gates: Vec<ConditionGate>,
    }

    /// Addresses and names inside a cluster.
    pub struct ClusterNetwork {
        /// The port the API servers listen on; absent means 6443.
        pub api_server_port: Option<i32>,
        /// The addresses of Services.
        pub services: NetworkRanges,
        /// The addresses of Pods.
        pub pods: NetworkRanges,
        /// The DNS domain of Services; absent means `cluster.local`.
        pub service_domain: Option<String>,
    }

    /// Ranges of addresses.
    pub struct NetworkRanges {
        /// The ranges, one or one per address family.
        pub cidr_blocks: Vec<String>,
    }

    /// Where an API server is reached.
    pub struct ApiEndpoint {
        /// A host name or an address.
        pub host: String,
        /// The port; zero means not known yet.
        pub port: i32,
    }
}

impl ApiEndpoint {
    /// Whether neither host nor port is known.
    pub fn is_zero(&self) -> bool {
        self.host.is_empty() && self.port == 0
    }

    /// Whether both host and port are known.
    pub fn is_valid(&self) -> bool {
        !self.host.is_empty() && self.port != 0
    }
}

impl std::fmt::Display for ApiEndpoint {
    /// `host:port`, with an IPv6 address in brackets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl Cluster {
    /// Whether the user paused the whole cluster.
    pub fn is_paused(&self) -> bool {
        self.spec.paused == Some(true)
    }

    /// Whether the infrastructure was provisioned; once true, true for ever.
    pub fn infrastructure_provisioned(&self) -> bool {
        self.status
            .as_ref()
            .is_some_and(|it| it.initialization.infrastructure_provisioned == Some(true))
    }

    /// Whether the control plane answered once; once true, true for ever.
    pub fn control_plane_initialized(&self) -> bool {
        self.status
            .as_ref()
            .is_some_and(|it| it.initialization.control_plane_initialized == Some(true))
    }
}
