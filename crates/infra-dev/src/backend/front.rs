//! The way in: the TLS listener and the pipes of a workload cluster, open while an API server runs behind them.

use std::{io, net::SocketAddr, sync::Arc};

use capstan_apiserver::Server;
use capstan_pki::Authority;
use capstan_workload::{Call, Dial};
use tokio::{
    io::DuplexStream,
    net::TcpListener,
    task::{AbortHandle, JoinSet},
};
use tokio_rustls::TlsAcceptor;

use super::{
    Backend, BackendError, Exposure, Workload,
    identity::{Authorities, authenticate, identity_of, server_config},
};

/// The bytes that one end of a pipe may be ahead of the other.
const PIPE: usize = 256 * 1024;

/// The names that an API server's certificate has besides the endpoint's. Source: kubeadm's certificate phase.
const SERVER_NAMES: [&str; 7] = [
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "localhost",
    "127.0.0.1",
    "10.96.0.1",
];

/// What is open.
#[derive(Default)]
pub(crate) struct Front {
    open: Option<Open>,
}

struct Open {
    authority: Arc<Authority>,
    listener: Option<AbortHandle>,
    pipes: JoinSet<()>,
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(listener) = &self.listener {
            listener.abort();
        }
    }
}

impl Front {
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Ends all connections and refuses new ones.
    pub(super) fn close(&mut self) {
        self.open = None;
    }
}

impl Workload {
    /// Opens the way in, if it is not open.
    pub(super) async fn open_front(self: &Arc<Self>, authorities: &Authorities) -> Result<(), BackendError> {
        let Some(server) = self.running_server() else {
            return Ok(());
        };
        if self.is_serving() {
            return Ok(());
        }
        let listener = match self.settings.exposure {
            Exposure::InProcess => None,
            Exposure::Sockets(address) => {
                let port = u16::try_from(self.endpoint().port).unwrap_or_default();
                Some(
                    self.listen(server, SocketAddr::new(address, port), authorities)
                        .await?,
                )
            }
        };
        let open = Open {
            authority: Arc::clone(&authorities.cluster),
            listener,
            pipes: JoinSet::new(),
        };
        self.front.lock().open = Some(open);
        Ok(())
    }

    async fn listen(
        &self,
        server: &Server,
        address: SocketAddr,
        authorities: &Authorities,
    ) -> Result<AbortHandle, BackendError> {
        let listener = TcpListener::bind(address)
            .await
            .map_err(|source| BackendError::Listen {
                endpoint: address.to_string(),
                source,
            })?;
        let mut names: Vec<String> = SERVER_NAMES.map(str::to_owned).to_vec();
        names.extend([self.endpoint().host.clone(), address.ip().to_string()]);
        names.sort();
        names.dedup();
        let settings = &self.settings;
        let config = server_config(
            &authorities.cluster,
            "kube-apiserver",
            names,
            false,
            &settings.clock,
            &*settings.keys,
        )
        .map_err(|source| BackendError::Certificates {
            machine: self.cluster.name.clone(),
            source,
        })?;
        tracing::info!(Cluster = %self.cluster, address = %address, "the workload cluster's API server listens");
        Ok(tokio::spawn(accept(listener, Arc::new(config), server.clone())).abort_handle())
    }

    /// A pipe to the API server for a caller that TLS would let in.
    fn dial(&self, call: &Call) -> io::Result<DuplexStream> {
        let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
        let mut front = self.front.lock();
        let open = front.open.as_mut().ok_or_else(refused)?;
        let server = self.running_server().ok_or_else(refused)?;
        let identity = authenticate(call, &open.authority, self.settings.clock.now())?;
        let (near, far) = tokio::io::duplex(PIPE);
        while open.pipes.try_join_next().is_some() {}
        open.pipes.spawn(server.serve_io(far, identity));
        Ok(near)
    }
}

/// Accepts connections until it is aborted, which ends them too.
async fn accept(listener: TcpListener, config: Arc<rustls::ServerConfig>, server: Server) {
    let acceptor = TlsAcceptor::from(config);
    let mut connections = JoinSet::new();
    loop {
        let stream = tokio::select! {
            biased;
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Out of file descriptors, most likely: going on at once would spin.
                    tracing::warn!(error = %error, "failed to accept a connection");
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let (acceptor, server) = (acceptor.clone(), server.clone());
        connections.spawn(async move {
            let _ = stream.set_nodelay(true);
            match acceptor.accept(stream).await {
                Ok(stream) => {
                    let certificate = stream.get_ref().1.peer_certificates().and_then(|it| it.first());
                    let identity = certificate.and_then(identity_of);
                    server.serve_io(stream, identity).await;
                }
                Err(error) => tracing::debug!(error = %error, "TLS handshake failed"),
            }
        });
    }
}

impl Dial for Backend {
    fn dial(&self, call: &Call) -> io::Result<DuplexStream> {
        let endpoint = call
            .server
            .strip_prefix("https://")
            .unwrap_or(&call.server)
            .trim_end_matches('/');
        let workload = self
            .at(endpoint)
            .ok_or_else(|| io::Error::from(io::ErrorKind::ConnectionRefused))?;
        workload.dial(call)
    }
}
