//! A server: the registry, its seams, its background loops, and the ways in.

use std::{future::Future, sync::Arc};

use capstan_base::{Clock, Entropy};
use capstan_store::Store;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    sync::watch,
    task::AbortHandle,
};

use crate::{
    auth::{Authenticator, Authorizer, DefaultAuthorizer, Identity, TlsAuthenticator, TokenIssuer},
    http::InProcess,
    loops,
    metrics::{MetricSource, Metrics},
    openapi::Hashes,
    registry::Registry,
    seams::{Admission, Converter, PortForward, Seams},
    wire::status::Result,
};

/// What `/version` says about the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionInfo {
    /// The Kubernetes version whose API this is, for example `v1.34.0`.
    pub kubernetes: String,
    /// What follows the `+`: the name and version of the server itself.
    pub build: String,
}

impl Default for VersionInfo {
    fn default() -> Self {
        let build = format!("capstan-{}", env!("CARGO_PKG_VERSION"));
        Self {
            kubernetes: "v1.34.0".to_owned(),
            build,
        }
    }
}

/// A Kubernetes API server. Clones share everything; the background loops end with the last one.
#[derive(Debug, Clone)]
pub struct Server {
    shared: Arc<Shared>,
    _loops: Arc<Loops>,
}

/// What all requests share.
pub(crate) struct Shared {
    pub(crate) registry: Arc<Registry>,
    pub(crate) authenticator: Box<dyn Authenticator>,
    pub(crate) authorizer: Box<dyn Authorizer>,
    pub(crate) token_issuer: Option<Box<dyn TokenIssuer>>,
    pub(crate) metrics: Metrics,
    pub(crate) openapi_hashes: Hashes,
    metric_sources: Vec<Box<dyn MetricSource>>,
    version: VersionInfo,
    shutdown: watch::Sender<bool>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("registry", &self.registry)
            .finish_non_exhaustive()
    }
}

/// The background tasks of a server; dropping this ends them.
#[derive(Debug)]
struct Loops(Vec<AbortHandle>);

impl Drop for Loops {
    fn drop(&mut self) {
        self.0.iter().for_each(AbortHandle::abort);
    }
}

/// Puts a server together.
pub struct Builder {
    store: Store,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    seams: Seams,
    authenticator: Box<dyn Authenticator>,
    authorizer: Box<dyn Authorizer>,
    token_issuer: Option<Box<dyn TokenIssuer>>,
    metric_sources: Vec<Box<dyn MetricSource>>,
    version: VersionInfo,
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder")
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

impl Builder {
    /// In-process webhooks.
    #[must_use]
    pub fn admission(mut self, admission: Arc<dyn Admission>) -> Self {
        self.seams.admission = admission;
        self
    }

    /// In-process conversion.
    #[must_use]
    pub fn converter(mut self, converter: Arc<dyn Converter>) -> Self {
        self.seams.converter = converter;
        self
    }

    /// Port forwarding to pods.
    #[must_use]
    pub fn port_forward(mut self, port_forward: Arc<dyn PortForward>) -> Self {
        self.seams.port_forward = Some(port_forward);
        self
    }

    /// Who callers over the wire are.
    #[must_use]
    pub fn authenticator(mut self, authenticator: impl Authenticator) -> Self {
        self.authenticator = Box::new(authenticator);
        self
    }

    /// What identities may do.
    #[must_use]
    pub fn authorizer(mut self, authorizer: impl Authorizer) -> Self {
        self.authorizer = Box::new(authorizer);
        self
    }

    /// Tokens of service accounts.
    #[must_use]
    pub fn token_issuer(mut self, issuer: impl TokenIssuer) -> Self {
        self.token_issuer = Some(Box::new(issuer));
        self
    }

    /// Further lines of `/metrics`.
    #[must_use]
    pub fn metric_source(mut self, source: impl MetricSource) -> Self {
        self.metric_sources.push(Box::new(source));
        self
    }

    /// What `/version` says.
    #[must_use]
    pub fn version(mut self, version: VersionInfo) -> Self {
        self.version = version;
        self
    }

    /// Makes the server: creates the objects that every cluster has, serves the stored definitions, starts the
    /// background loops (as tasks of the current runtime).
    ///
    /// # Errors
    /// If the store cannot be written.
    pub async fn build(self) -> Result<Server> {
        let registry = Arc::new(Registry::new(self.store, self.clock, self.entropy, self.seams));
        registry.load_definitions();
        loops::bootstrap(&registry).await?;
        let (shutdown, _) = watch::channel(false);
        let shared = Arc::new(Shared {
            registry: Arc::clone(&registry),
            authenticator: self.authenticator,
            authorizer: self.authorizer,
            token_issuer: self.token_issuer,
            metrics: Metrics::default(),
            openapi_hashes: Hashes::default(),
            metric_sources: self.metric_sources,
            version: self.version,
            shutdown,
        });
        let loops = Loops(loops::start(&registry));
        Ok(Server {
            shared,
            _loops: Arc::new(loops),
        })
    }
}

impl Server {
    /// Begins a server over `store`.
    pub fn builder(store: Store, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Builder {
        Builder {
            store,
            clock,
            entropy,
            seams: Seams::default(),
            authenticator: Box::new(TlsAuthenticator),
            authorizer: Box::new(DefaultAuthorizer),
            token_issuer: None,
            metric_sources: Vec::new(),
            version: VersionInfo::default(),
        }
    }

    /// The registry: typed reads and writes without HTTP.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.shared.registry
    }

    /// A tower service that makes every request in the name of `identity`. It is what `kube::Client::new` takes.
    pub fn service(&self, identity: Identity) -> InProcess {
        InProcess::new(Arc::clone(&self.shared), identity)
    }

    /// Serves one connection over any byte stream until it ends; `peer` is who the transport says the client is.
    pub fn serve_io<I>(&self, io: I, peer: Option<Identity>) -> impl Future<Output = ()> + Send + use<I>
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        crate::http::serve_io(Arc::clone(&self.shared), io, peer)
    }

    /// Serves TLS connections until [`Server::shut_down`]. See [`crate::http::tls::server_config`].
    pub fn serve_tls(
        &self,
        listener: TcpListener,
        config: Arc<rustls::ServerConfig>,
    ) -> impl Future<Output = ()> + Send + use<> {
        crate::http::serve_tls(Arc::clone(&self.shared), listener, config)
    }

    /// Ends all watches, refuses new connections and lets running requests finish.
    pub fn shut_down(&self) {
        self.shared.shutdown.send_replace(true);
    }
}

impl Shared {
    /// Ends when the server shuts down.
    pub(crate) fn shutdown(&self) -> impl Future<Output = ()> + Send + Unpin + use<> {
        let mut signal = self.shutdown.subscribe();
        Box::pin(async move {
            // An error means that the server is gone altogether.
            let _ = signal.wait_for(|down| *down).await;
        })
    }

    /// Named checks and whether they pass.
    pub(crate) fn health(&self, ready: bool) -> Vec<(&'static str, bool)> {
        let mut checks = vec![("ping", true), ("store", true)];
        if ready {
            checks.push(("shutdown", !*self.shutdown.borrow()));
        }
        checks
    }

    /// The answer to `/version`.
    pub(crate) fn version(&self) -> Value {
        let VersionInfo { kubernetes, build } = &self.version;
        let mut numbers = kubernetes.trim_start_matches('v').split('.');
        json!({
            "major": numbers.next().unwrap_or_default(),
            "minor": numbers.next().unwrap_or_default(),
            "gitVersion": format!("{kubernetes}+{build}"),
            "gitCommit": "",
            "gitTreeState": "clean",
            "buildDate": "1970-01-01T00:00:00Z",
            "goVersion": "",
            "compiler": "rustc",
            "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
        })
    }

    /// The answer to `/metrics`.
    pub(crate) fn metrics_text(&self) -> String {
        let mut text = self.metrics.text(&self.registry);
        for source in &self.metric_sources {
            source.write(&mut text);
        }
        text
    }
}
