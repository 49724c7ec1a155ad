//! kubeadm's configuration as Cluster API writes it.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::core::v1::{EnvVar, Taint},
    apimachinery::pkg::apis::meta::v1::Time,
};

use super::Discovery;
use crate::record::{keyword, record};

record! {
    /// What holds for the whole cluster.
    /// Source: cluster-api `api/bootstrap/kubeadm/v1beta2/kubeadm_types.go`.
    pub struct ClusterConfiguration {
        /// etcd, local or external.
        pub etcd: Etcd,
        /// Where the API server is reached; absent means the Cluster's endpoint.
        pub control_plane_endpoint: Option<String>,
        /// The API server.
        pub api_server: ApiServer,
        /// The controller manager.
        pub controller_manager: ControlPlaneComponent,
        /// The scheduler.
        pub scheduler: ControlPlaneComponent,
        /// `CoreDNS`.
        pub dns: Dns,
        /// Where certificates are kept; absent means `/etc/kubernetes/pki`.
        pub certificates_dir: Option<String>,
        /// Where images are pulled from.
        pub image_repository: Option<String>,
        /// kubeadm's feature gates.
        pub feature_gates: BTreeMap<String, bool>,
        /// For how long certificates are valid.
        pub certificate_validity_period_days: Option<i32>,
        /// For how long CA certificates are valid.
        #[serde(rename = "caCertificateValidityPeriodDays")]
        pub ca_certificate_validity_period_days: Option<i32>,
        /// The algorithm of keys.
        pub encryption_algorithm: Option<EncryptionAlgorithm>,
    }

    /// The API server.
    pub struct ApiServer {
        /// Further arguments.
        pub extra_args: Vec<Arg>,
        /// Further folders of the host.
        pub extra_volumes: Vec<HostPathMount>,
        /// Further environment variables.
        pub extra_envs: Option<Vec<EnvVar>>,
        /// Further names in the serving certificate.
        #[serde(rename = "certSANs")]
        pub cert_sans: Vec<String>,
    }

    /// The controller manager or the scheduler.
    pub struct ControlPlaneComponent {
        /// Further arguments.
        pub extra_args: Vec<Arg>,
        /// Further folders of the host.
        pub extra_volumes: Vec<HostPathMount>,
        /// Further environment variables.
        pub extra_envs: Option<Vec<EnvVar>>,
    }

    /// `CoreDNS`.
    pub struct Dns {
        /// Where the image is pulled from.
        pub image_repository: Option<String>,
        /// The image's tag.
        pub image_tag: Option<String>,
    }

    /// etcd, local or external.
    pub struct Etcd {
        /// etcd run by the control plane's own machines.
        pub local: LocalEtcd,
        /// etcd run by somebody else.
        pub external: Option<ExternalEtcd>,
    }

    /// etcd run by the control plane's own machines.
    pub struct LocalEtcd {
        /// Where the image is pulled from.
        pub image_repository: Option<String>,
        /// The image's tag.
        pub image_tag: Option<String>,
        /// Where data is kept; absent means `/var/lib/etcd`.
        pub data_dir: Option<String>,
        /// Further arguments.
        pub extra_args: Vec<Arg>,
        /// Further environment variables.
        pub extra_envs: Option<Vec<EnvVar>>,
        /// Further names in the serving certificate.
        #[serde(rename = "serverCertSANs")]
        pub server_cert_sans: Vec<String>,
        /// Further names in the peer certificate.
        #[serde(rename = "peerCertSANs")]
        pub peer_cert_sans: Vec<String>,
    }

    /// etcd run by somebody else.
    pub struct ExternalEtcd {
        /// Its members' URLs.
        pub endpoints: Vec<String>,
        /// The file with its CA's certificate.
        pub ca_file: String,
        /// The file with the client certificate.
        pub cert_file: String,
        /// The file with the client key.
        pub key_file: String,
    }

    /// How the first host makes the cluster.
    pub struct InitConfiguration {
        /// The tokens with which others join.
        pub bootstrap_tokens: Vec<BootstrapToken>,
        /// The node.
        pub node_registration: NodeRegistration,
        /// Where the node's own API server listens.
        #[serde(rename = "localAPIEndpoint")]
        pub local_api_endpoint: LocalApiEndpoint,
        /// The phases to leave out.
        pub skip_phases: Vec<String>,
        /// Patches of kubeadm's manifests.
        pub patches: Patches,
        /// How long kubeadm waits.
        pub timeouts: Timeouts,
    }

    /// How a further host joins the cluster.
    pub struct JoinConfiguration {
        /// The node.
        pub node_registration: NodeRegistration,
        /// The file with the cluster's CA certificate; absent means `/etc/kubernetes/pki/ca.crt`.
        pub ca_cert_path: Option<String>,
        /// How the cluster is found and trusted.
        pub discovery: Discovery,
        /// Present, even when empty, if the host joins the control plane.
        pub control_plane: Option<JoinControlPlane>,
        /// The phases to leave out.
        pub skip_phases: Vec<String>,
        /// Patches of kubeadm's manifests.
        pub patches: Patches,
        /// How long kubeadm waits.
        pub timeouts: Timeouts,
    }

    /// How a host joins the control plane.
    pub struct JoinControlPlane {
        /// Where the node's own API server listens.
        #[serde(rename = "localAPIEndpoint")]
        pub local_api_endpoint: LocalApiEndpoint,
    }

    /// Where a node's own API server listens.
    pub struct LocalApiEndpoint {
        /// The address it advertises.
        pub advertise_address: Option<String>,
        /// Its port; absent means 6443.
        pub bind_port: Option<i32>,
    }

    /// A node as kubeadm registers it.
    pub struct NodeRegistration {
        /// The node's name.
        pub name: Option<String>,
        /// The container runtime's socket.
        pub cri_socket: Option<String>,
        /// The node's taints. Absent means kubeadm's default, an empty list means none.
        pub taints: Option<Vec<Taint>>,
        /// Further arguments of the kubelet.
        pub kubelet_extra_args: Vec<Arg>,
        /// Checks whose failure is tolerated.
        pub ignore_preflight_errors: Vec<String>,
        /// When images are pulled.
        pub image_pull_policy: Option<ImagePullPolicy>,
        /// Whether images are pulled one after the other.
        pub image_pull_serial: Option<bool>,
    }

    /// A token with which hosts join.
    pub struct BootstrapToken {
        /// The token, as `id.secret`.
        pub token: String,
        /// What it is for.
        pub description: Option<String>,
        /// For how long it is valid.
        pub ttl_seconds: Option<i32>,
        /// Until when it is valid.
        pub expires: Option<Time>,
        /// What it may be used for.
        pub usages: Vec<String>,
        /// The groups its user is in.
        pub groups: Vec<String>,
    }

    /// Patches of kubeadm's manifests.
    pub struct Patches {
        /// The folder they are in.
        pub directory: Option<String>,
    }

    /// One argument of a command; some may be given more than once.
    pub struct Arg {
        /// The name, without dashes.
        pub name: String,
        /// The value, may be empty.
        pub value: Option<String>,
    }

    /// A folder of the host that a component sees.
    pub struct HostPathMount {
        /// The volume's name.
        pub name: String,
        /// The folder on the host.
        pub host_path: String,
        /// The folder in the component.
        pub mount_path: String,
        /// Whether the component may not write.
        pub read_only: Option<bool>,
        /// What is expected on the host.
        pub path_type: Option<String>,
    }

    /// How long kubeadm waits, in seconds.
    pub struct Timeouts {
        /// For a control plane component to be healthy.
        pub control_plane_component_health_check_seconds: Option<i32>,
        /// For the kubelet to be healthy.
        pub kubelet_health_check_seconds: Option<i32>,
        /// For a call of the Kubernetes API.
        #[serde(rename = "kubernetesAPICallSeconds")]
        pub kubernetes_api_call_seconds: Option<i32>,
        /// For a call of etcd.
        #[serde(rename = "etcdAPICallSeconds")]
        pub etcd_api_call_seconds: Option<i32>,
        /// For the kubelet's first certificate.
        pub tls_bootstrap_seconds: Option<i32>,
        /// For the cluster to be found.
        pub discovery_seconds: Option<i32>,
    }
}

keyword! {
    /// The algorithm of a cluster's keys.
    pub enum EncryptionAlgorithm {
        /// ECDSA on P-256.
        EcdsaP256 = "ECDSA-P256",
        /// ECDSA on P-384.
        EcdsaP384 = "ECDSA-P384",
        /// RSA with 2048 bits.
        Rsa2048 = "RSA-2048",
        /// RSA with 3072 bits.
        Rsa3072 = "RSA-3072",
        /// RSA with 4096 bits.
        Rsa4096 = "RSA-4096",
    }

    /// When kubeadm pulls images.
    pub enum ImagePullPolicy {
        /// Always.
        Always = "Always",
        /// If they are not there.
        IfNotPresent = "IfNotPresent",
        /// Never.
        Never = "Never",
    }
}
