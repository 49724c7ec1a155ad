//! The kinds of group `bootstrap.cluster.x-k8s.io`.

mod config;
mod discovery;
mod host;
mod kubeadm;

pub use config::{
    KubeadmConfig, KubeadmConfigInitialization, KubeadmConfigSpec, KubeadmConfigStatus,
    KubeadmConfigTemplate, KubeadmConfigTemplateResource, KubeadmConfigTemplateSpec,
};
pub use discovery::{
    BootstrapTokenDiscovery, Discovery, FileDiscovery, KubeConfigAuthExec, KubeConfigAuthExecEnv,
    KubeConfigAuthProvider, KubeConfigCluster, KubeConfigDiscovery, KubeConfigUser,
};
pub use host::{
    ContainerLinuxConfig, ContentFormat, DiskSetup, Encoding, File, FileSource, Filesystem, Format, Ignition,
    Ntp, Partition, PartitionSpec, PasswdSource, SecretKeyReference, User,
};
pub use kubeadm::{
    ApiServer, Arg, BootstrapToken, ClusterConfiguration, ControlPlaneComponent, Dns, EncryptionAlgorithm,
    Etcd, ExternalEtcd, HostPathMount, ImagePullPolicy, InitConfiguration, JoinConfiguration,
    JoinControlPlane, LocalApiEndpoint, LocalEtcd, NodeRegistration, Patches, Timeouts,
};

/// The API group of these kinds.
pub const GROUP: &str = "bootstrap.cluster.x-k8s.io";
