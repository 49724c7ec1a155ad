//! The kinds of group `controlplane.cluster.x-k8s.io`.

mod control_plane;
mod template;

pub use control_plane::{
    ControlPlaneRollingUpdate, ControlPlaneRollout, ControlPlaneRolloutBefore, ControlPlaneRolloutStrategy,
    ControlPlaneRolloutStrategyType, KubeadmControlPlane, KubeadmControlPlaneDeprecated,
    KubeadmControlPlaneInitialization, KubeadmControlPlaneMachineSpec, KubeadmControlPlaneMachineTemplate,
    KubeadmControlPlaneRemediation, KubeadmControlPlaneSpec, KubeadmControlPlaneStatus,
    KubeadmControlPlaneV1Beta1, LastRemediation,
};
pub use template::{
    KubeadmControlPlaneTemplate, KubeadmControlPlaneTemplateMachineSpec,
    KubeadmControlPlaneTemplateMachineTemplate, KubeadmControlPlaneTemplateResource,
    KubeadmControlPlaneTemplateResourceSpec, KubeadmControlPlaneTemplateSpec,
};

/// The API group of these kinds.
pub const GROUP: &str = "controlplane.cluster.x-k8s.io";
