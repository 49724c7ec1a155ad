//! The conversions of the core kinds.

mod addons;
mod cluster;
mod cluster_class;
mod control_plane;
mod infrastructure;
mod ipam;
mod kubeadm;
mod machines;
mod shared;
mod variable_schema;

use super::rules::Conversion;

/// Every conversion, by kind and spoke.
pub(super) static ALL: &[Conversion] = &[
    addons::CLUSTER_RESOURCE_SET,
    addons::CLUSTER_RESOURCE_SET_BINDING,
    addons::EXTENSION_CONFIG,
    cluster::CLUSTER,
    cluster_class::CLUSTER_CLASS,
    control_plane::KUBEADM_CONTROL_PLANE,
    control_plane::KUBEADM_CONTROL_PLANE_TEMPLATE,
    infrastructure::DEV_CLUSTER,
    infrastructure::DEV_CLUSTER_TEMPLATE,
    infrastructure::DEV_MACHINE,
    infrastructure::DEV_MACHINE_TEMPLATE,
    infrastructure::DOCKER_CLUSTER,
    infrastructure::DOCKER_CLUSTER_TEMPLATE,
    infrastructure::DOCKER_MACHINE,
    infrastructure::DOCKER_MACHINE_TEMPLATE,
    ipam::IP_ADDRESS,
    ipam::IP_ADDRESS_ALPHA,
    ipam::IP_ADDRESS_CLAIM,
    ipam::IP_ADDRESS_CLAIM_ALPHA,
    kubeadm::KUBEADM_CONFIG,
    kubeadm::KUBEADM_CONFIG_TEMPLATE,
    machines::MACHINE,
    machines::MACHINE_DEPLOYMENT,
    machines::MACHINE_DRAIN_RULE,
    machines::MACHINE_HEALTH_CHECK,
    machines::MACHINE_POOL,
    machines::MACHINE_SET,
];
