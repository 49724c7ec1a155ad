//! `KubeadmConfig` and its template: how a host becomes a node by way of kubeadm.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use super::{
    ClusterConfiguration, DiskSetup, File, Format, Ignition, InitConfiguration, JoinConfiguration, Ntp, User,
};
use crate::{
    core::{DeprecatedFailure, TemplateMeta},
    record::{object, record},
};

object! {
    /// How one host becomes a node by way of kubeadm.
    /// Source: cluster-api `api/bootstrap/kubeadm/v1beta2/kubeadmconfig_types.go`.
    pub struct KubeadmConfig in super::GROUP, plural "kubeadmconfigs", scope NamespaceResourceScope,
    spec KubeadmConfigSpec, status KubeadmConfigStatus
}
crate::core::conditioned!(KubeadmConfig);

object! {
    /// What `KubeadmConfigs` are cloned from.
    /// Source: cluster-api `api/bootstrap/kubeadm/v1beta2/kubeadmconfigtemplate_types.go`.
    pub struct KubeadmConfigTemplate in super::GROUP, plural "kubeadmconfigtemplates", scope NamespaceResourceScope,
    spec KubeadmConfigTemplateSpec
}

record! {
    /// How a host becomes a node. With neither an init nor a join configuration, both are defaulted.
    pub struct KubeadmConfigSpec {
        /// What holds for the whole cluster.
        pub cluster_configuration: ClusterConfiguration,
        /// How the first host makes the cluster.
        pub init_configuration: InitConfiguration,
        /// How a further host joins it.
        pub join_configuration: JoinConfiguration,
        /// Files written before kubeadm runs.
        pub files: Vec<File>,
        /// Partitions and file systems made at first boot.
        pub disk_setup: DiskSetup,
        /// Mount points, each as the fields of a line of `fstab`.
        pub mounts: Vec<Vec<String>>,
        /// Commands run early at every boot.
        pub boot_commands: Vec<String>,
        /// Commands run before kubeadm.
        pub pre_kubeadm_commands: Vec<String>,
        /// Commands run after kubeadm.
        pub post_kubeadm_commands: Vec<String>,
        /// Users to make.
        pub users: Vec<User>,
        /// Time servers.
        pub ntp: Ntp,
        /// The format of the data; absent means [`Format::CloudConfig`].
        pub format: Option<Format>,
        /// The `--v` of kubeadm.
        pub verbosity: Option<i32>,
        /// What holds for [`Format::Ignition`] only.
        pub ignition: Ignition,
    }

    /// What was observed of a config.
    pub struct KubeadmConfigStatus {
        /// The conditions.
        pub conditions: Vec<Condition>,
        /// What happened once and stays true.
        pub initialization: KubeadmConfigInitialization,
        /// The secret that holds the data.
        pub data_secret_name: Option<String>,
        /// The generation of the spec that this status is about.
        pub observed_generation: Option<i64>,
        /// What only readers of v1beta1 see.
        pub deprecated: DeprecatedFailure,
    }

    /// What happened once in a config's life and stays true.
    pub struct KubeadmConfigInitialization {
        /// The data is there.
        pub data_secret_created: Option<bool>,
    }

    /// What `KubeadmConfigs` are cloned from.
    pub struct KubeadmConfigTemplateSpec {
        /// The template.
        pub template: KubeadmConfigTemplateResource,
    }

    /// The part of a template that is cloned.
    pub struct KubeadmConfigTemplateResource {
        /// Labels and annotations of the clone.
        pub metadata: TemplateMeta,
        /// The clone's spec.
        pub spec: KubeadmConfigSpec,
    }
}
