//! How a kubeconfig becomes a client: over TLS in a live process, over an in-process pipe elsewhere.

use std::time::Duration;

use futures::future::BoxFuture;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig, KubeconfigError},
};

/// Why a kubeconfig gave no client.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The kubeconfig is not text.
    #[error("failed to read the kubeconfig: not valid UTF-8")]
    NotText,
    /// The kubeconfig cannot be parsed or lacks something.
    #[error("failed to read the kubeconfig")]
    Kubeconfig(#[source] Box<KubeconfigError>),
    /// The kubeconfig's current context cannot be read.
    #[error("failed to read the kubeconfig")]
    Current(#[source] capstan_pki::Error),
    /// The kubeconfig's current context lacks something.
    #[error("failed to read the kubeconfig: {0}")]
    Incomplete(&'static str),
    /// No client could be built from it.
    #[error("failed to build a client from the kubeconfig")]
    Client(#[source] Box<kube::Error>),
}

/// Turns a kubeconfig into a client. No request is sent yet.
pub trait Connector: Send + Sync + 'static {
    /// A client for the kubeconfig's current context.
    fn connect<'a>(&'a self, kubeconfig: &'a [u8]) -> BoxFuture<'a, Result<Client, ConnectError>>;
}

/// Clients over TCP and TLS.
#[derive(Debug, Clone, Copy, Default)]
pub struct LiveConnector;

/// How long opening a TCP connection may take. Parity: upstream controlplane/kubeadm/pkg/proxy, dial time-out.
const DIAL_LIMIT: Duration = Duration::from_secs(10);

impl Connector for LiveConnector {
    fn connect<'a>(&'a self, kubeconfig: &'a [u8]) -> BoxFuture<'a, Result<Client, ConnectError>> {
        Box::pin(async move {
            let kubeconfig = parse(kubeconfig)?;
            let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
                .await
                .map_err(|it| ConnectError::Kubeconfig(Box::new(it)))?;
            config.connect_timeout = Some(DIAL_LIMIT);
            // The probe must see the cluster as it is, not a retried answer.
            config.default_retry = false;
            Client::try_from(config).map_err(|it| ConnectError::Client(Box::new(it)))
        })
    }
}

/// What a kubeconfig says about whom to call and who is calling.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Call {
    /// The server's URL.
    pub server: String,
    /// The PEM bundle that the server's certificate must be signed by.
    pub certificate_authority: Option<Vec<u8>>,
    /// The caller's certificate, PEM.
    pub client_certificate: Option<Vec<u8>>,
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

impl Call {
    /// Reads the current context of a kubeconfig whose certificates are inline, as Cluster API writes them.
    pub fn parse(kubeconfig: &[u8]) -> Result<Self, ConnectError> {
        let text = std::str::from_utf8(kubeconfig).map_err(|_| ConnectError::NotText)?;
        let kubeconfig = capstan_pki::Kubeconfig::parse(text).map_err(ConnectError::Current)?;
        let incomplete = ConnectError::Incomplete("the current context names no cluster");
        let cluster = kubeconfig.current_cluster().ok_or(incomplete)?;
        let user = kubeconfig.current_user();
        let pem = |it: &str| (!it.is_empty()).then(|| it.as_bytes().to_vec());
        Ok(Self {
            server: cluster.server.clone(),
            certificate_authority: pem(&cluster.certificate_authority),
            client_certificate: user.and_then(|it| pem(&it.client_certificate)),
        })
    }
}

fn parse(kubeconfig: &[u8]) -> Result<Kubeconfig, ConnectError> {
    let text = std::str::from_utf8(kubeconfig).map_err(|_| ConnectError::NotText)?;
    Kubeconfig::from_yaml(text).map_err(|it| ConnectError::Kubeconfig(Box::new(it)))
}
