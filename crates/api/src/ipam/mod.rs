//! The kinds of group `ipam.cluster.x-k8s.io`: addresses claimed from pools of providers.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use crate::{
    core::{ContractReference, DeprecatedConditions},
    record::{object, record},
};

/// The API group of these kinds.
pub const GROUP: &str = "ipam.cluster.x-k8s.io";

object! {
    /// An address taken from a pool.
    /// Source: cluster-api `api/ipam/v1beta2/ipaddress_types.go`.
    pub struct IPAddress in GROUP, plural "ipaddresses", scope NamespaceResourceScope, spec IPAddressSpec
}

object! {
    /// The wish for an address from a pool.
    /// Source: cluster-api `api/ipam/v1beta2/ipaddressclaim_types.go`.
    pub struct IPAddressClaim in GROUP, plural "ipaddressclaims", scope NamespaceResourceScope,
    spec IPAddressClaimSpec, status IPAddressClaimStatus
}
crate::core::conditioned!(IPAddressClaim);

record! {
    /// An address taken from a pool.
    pub struct IPAddressSpec {
        /// The claim it was taken for.
        pub claim_ref: IPAddressClaimReference,
        /// The pool it was taken from.
        pub pool_ref: ContractReference,
        /// The address.
        pub address: String,
        /// The length of its network's prefix.
        pub prefix: Option<i32>,
        /// Its network's gateway.
        pub gateway: Option<String>,
    }

    /// A reference to a claim in the same namespace.
    pub struct IPAddressClaimReference {
        /// The name.
        pub name: String,
    }

    /// The wish for an address from a pool.
    pub struct IPAddressClaimSpec {
        /// The cluster the address is for.
        pub cluster_name: Option<String>,
        /// The pool.
        pub pool_ref: ContractReference,
    }

    /// What was observed of a claim.
    pub struct IPAddressClaimStatus {
        /// The conditions.
        pub conditions: Vec<Condition>,
        /// The address that was taken.
        pub address_ref: Option<IPAddressReference>,
        /// What only readers of v1beta1 see.
        pub deprecated: DeprecatedConditions,
    }

    /// A reference to an address in the same namespace.
    pub struct IPAddressReference {
        /// The name.
        pub name: String,
    }
}
