//! `KubeadmControlPlaneTemplate`: what the control planes of a class are cloned from.

use super::{ControlPlaneRollout, KubeadmControlPlaneRemediation};
use crate::{
    bootstrap::KubeadmConfigSpec,
    core::{MachineNaming, MachineTaint, NodeTimeouts, TemplateMeta},
    record::{object, record},
};

object! {
    /// What the control planes of a class are cloned from.
    /// Source: cluster-api `api/controlplane/kubeadm/v1beta2/kubeadmcontrolplanetemplate_types.go`.
    pub struct KubeadmControlPlaneTemplate in super::GROUP, plural "kubeadmcontrolplanetemplates",
    scope NamespaceResourceScope, spec KubeadmControlPlaneTemplateSpec
}

record! {
    /// What control planes are cloned from.
    pub struct KubeadmControlPlaneTemplateSpec {
        /// The template.
        pub template: KubeadmControlPlaneTemplateResource,
    }

    /// The part of a template that is cloned.
    pub struct KubeadmControlPlaneTemplateResource {
        /// Labels and annotations of the clone.
        pub metadata: TemplateMeta,
        /// The clone's spec.
        pub spec: KubeadmControlPlaneTemplateResourceSpec,
    }

    /// A control plane's spec without what the topology decides.
    pub struct KubeadmControlPlaneTemplateResourceSpec {
        /// What each machine is made from.
        pub machine_template: KubeadmControlPlaneTemplateMachineTemplate,
        /// What each machine's `KubeadmConfig` is made from.
        pub kubeadm_config_spec: KubeadmConfigSpec,
        /// When and how machines are replaced.
        pub rollout: ControlPlaneRollout,
        /// How often repairs are tried.
        pub remediation: KubeadmControlPlaneRemediation,
        /// How machines are named.
        pub machine_naming: MachineNaming,
    }

    /// What a control plane's machine is made from.
    pub struct KubeadmControlPlaneTemplateMachineTemplate {
        /// The machine's labels and annotations.
        pub metadata: TemplateMeta,
        /// The machine's spec.
        pub spec: KubeadmControlPlaneTemplateMachineSpec,
    }

    /// The part of a control plane machine's spec that a class decides.
    pub struct KubeadmControlPlaneTemplateMachineSpec {
        /// How long taking a node away may last.
        pub deletion: NodeTimeouts,
        /// Taints of the nodes.
        pub taints: Vec<MachineTaint>,
    }
}
