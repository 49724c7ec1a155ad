//! How a joining host finds its cluster and comes to trust it.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;

use crate::record::record;

record! {
    /// How the cluster is found and trusted: by a token or by a file.
    pub struct Discovery {
        /// By a token.
        pub bootstrap_token: BootstrapTokenDiscovery,
        /// By a file.
        pub file: Option<FileDiscovery>,
        /// The token for the kubelet's first certificate, if another than that of the discovery.
        pub tls_bootstrap_token: Option<String>,
    }

    /// The cluster found by a token.
    pub struct BootstrapTokenDiscovery {
        /// The token.
        pub token: Option<String>,
        /// Where the API server is reached.
        pub api_server_endpoint: Option<String>,
        /// Hashes of CA keys that are trusted, as `sha256:…`.
        pub ca_cert_hashes: Vec<String>,
        /// Whether any CA is trusted.
        #[serde(rename = "unsafeSkipCAVerification")]
        pub unsafe_skip_ca_verification: Option<bool>,
    }

    /// The cluster found by a file.
    pub struct FileDiscovery {
        /// The kubeconfig file on the host.
        pub kube_config_path: String,
        /// What that file is to contain, if it is to be written.
        pub kube_config: Option<KubeConfigDiscovery>,
    }

    /// A kubeconfig to write.
    pub struct KubeConfigDiscovery {
        /// The cluster; absent members come from the Cluster.
        pub cluster: KubeConfigCluster,
        /// The user.
        pub user: KubeConfigUser,
    }

    /// A cluster of a kubeconfig.
    pub struct KubeConfigCluster {
        /// The API server's URL.
        pub server: Option<String>,
        /// The name expected in the server's certificate.
        pub tls_server_name: Option<String>,
        /// Whether any certificate is accepted.
        #[serde(rename = "insecureSkipTLSVerify")]
        pub insecure_skip_tls_verify: Option<bool>,
        /// The CA's certificates.
        pub certificate_authority_data: ByteString,
        /// The proxy to use.
        #[serde(rename = "proxyURL")]
        pub proxy_url: Option<String>,
    }

    /// A user of a kubeconfig.
    pub struct KubeConfigUser {
        /// By an authentication provider.
        pub auth_provider: Option<KubeConfigAuthProvider>,
        /// By a command.
        pub exec: Option<KubeConfigAuthExec>,
    }

    /// An authentication provider.
    pub struct KubeConfigAuthProvider {
        /// The name.
        pub name: String,
        /// Its settings.
        pub config: BTreeMap<String, String>,
    }

    /// A command that authenticates.
    pub struct KubeConfigAuthExec {
        /// The command.
        pub command: String,
        /// Its arguments.
        pub args: Vec<String>,
        /// Its environment variables.
        pub env: Vec<KubeConfigAuthExecEnv>,
        /// The version of its protocol.
        pub api_version: Option<String>,
        /// Whether it is told about the cluster.
        pub provide_cluster_info: Option<bool>,
    }

    /// An environment variable.
    pub struct KubeConfigAuthExecEnv {
        /// The name.
        pub name: String,
        /// The value.
        pub value: String,
    }
}
