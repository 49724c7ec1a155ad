//! A management plane: started as a whole, ended as a whole.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use capstan_api::crd;
use capstan_apiserver::{Identity, Server};
use capstan_base::{Clock, Entropy};
use capstan_engine::{Chooser, Engine, Fifo};
use capstan_infra_dev::backend::{Backend, Exposure, Settings as BackendSettings};
use capstan_pki::KeySource;
use capstan_store::{Options, Store};
use capstan_workload::{Connector, LiveConnector, PipeConnector, Workloads};
use kube::Client;
use tokio::{net::TcpListener, task::JoinHandle, time};

use crate::{
    admission::KindAdmission,
    controllers::Controllers,
    conversion::KindConverter,
    credentials::{self, Credentials, Keeper},
    definitions,
    error::StartError,
    metrics::PlaneMetrics,
    serving::{self, RENEWAL_INTERVAL, Shown},
};

/// Who the controllers are to the API server.
const CONTROLLERS: &str = "system:capstan:controllers";
/// How long running passes, and requests, may take to end when the plane stops.
const PATIENCE: Duration = Duration::from_secs(10);

/// What every plane is made of.
#[derive(Clone)]
pub struct Parts {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub entropy: Arc<dyn Entropy>,
    /// New keys.
    pub keys: Arc<dyn KeySource>,
    /// Which ready object a controller takes next.
    pub chooser: Arc<dyn Chooser>,
    /// The Docker Engine and the node images of machines in containers; none where there are none.
    pub docker: Option<capstan_infra_docker::Settings>,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").finish_non_exhaustive()
    }
}

impl Parts {
    /// The parts of a live plane.
    pub fn live(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>, keys: Arc<dyn KeySource>) -> Self {
        Self {
            clock,
            entropy,
            keys,
            chooser: Arc::new(Fifo),
            docker: Some(capstan_infra_docker::Settings::default()),
        }
    }
}

/// Where a plane listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listen {
    /// The address and port; port 0 takes a free one.
    pub address: SocketAddr,
    /// The host name or address by which clients reach the plane; by default the one it listens on.
    pub advertise: Option<String>,
}

/// What a plane with a data folder is started with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The data folder: created where it is missing, held by one process at a time.
    pub folder: PathBuf,
    /// Where it listens.
    pub listen: Listen,
    /// What it is made of.
    pub parts: Parts,
}

/// A running plane. Dropping it ends it at once; [`Plane::stop`] ends it in order.
#[derive(Debug)]
pub struct Plane {
    store: Store,
    server: Server,
    controllers: Controllers,
    backend: Backend,
    door: Option<Door>,
}

/// The way in from outside.
#[derive(Debug)]
struct Door {
    address: SocketAddr,
    url: String,
    kubeconfig: PathBuf,
    accepting: JoinHandle<()>,
    renewing: JoinHandle<()>,
}

impl Drop for Door {
    fn drop(&mut self) {
        self.accepting.abort();
        self.renewing.abort();
    }
}

impl Plane {
    /// Starts a plane on a data folder, serving TLS. When this returns, requests are answered, the kinds are installed,
    /// and `FOLDER/kubeconfig` lets the administrator in.
    ///
    /// # Errors
    /// Names the file, address or definition. Nothing goes on running then.
    pub async fn start(settings: Settings) -> Result<Self, StartError> {
        let Settings {
            folder,
            listen,
            parts,
        } = settings;
        let store = Store::open(&folder, Options::new(Arc::clone(&parts.clock)))?;
        let host = advertised(&listen);
        let keeper = Keeper::new(
            folder.join("pki"),
            [host.clone(), listen.address.ip().to_string()],
        );
        let credentials = keeper.load(parts.clock.now(), &*parts.keys)?;
        let shown = Shown::new(&credentials.server)?;
        let configuration = serving::configuration(&shown, &credentials)?;
        let (listener, address) = bind(listen.address).await?;
        let url = url(&host, address.port());

        let backend = Backend::new(BackendSettings {
            exposure: Exposure::Sockets(listen.address.ip()),
            advertise: host,
            data: Some(folder.join("dev")),
            ..in_process(&parts)
        });
        let mut plane = Self::assemble(store, &parts, backend, Arc::new(LiveConnector)).await?;
        let accepting = tokio::spawn(plane.server.serve_tls(listener, configuration));
        let kubeconfig = folder.join("kubeconfig");
        credentials::write_kubeconfig(&kubeconfig, &url, &credentials)?;
        let renewal = Renewal {
            keeper,
            shown,
            kubeconfig: kubeconfig.clone(),
            url: url.clone(),
            parts,
        };
        let renewing = tokio::spawn(renewal.run());
        plane.door = Some(Door {
            address,
            url,
            kubeconfig,
            accepting,
            renewing,
        });
        Ok(plane)
    }

    /// Starts a plane in memory, without sockets, TLS or files: what the simulator runs. All its work is in tasks of
    /// the current runtime.
    ///
    /// # Errors
    /// If a definition is refused.
    pub async fn in_memory(parts: &Parts) -> Result<Self, StartError> {
        let store = Store::memory(Options::new(Arc::clone(&parts.clock)));
        let backend = Backend::new(in_process(parts));
        let connector = Arc::new(PipeConnector::new(Arc::new(backend.clone())));
        Self::assemble(store, parts, backend, connector).await
    }

    async fn assemble(
        store: Store,
        parts: &Parts,
        backend: Backend,
        connector: Arc<dyn Connector>,
    ) -> Result<Self, StartError> {
        let metrics = PlaneMetrics::starting_at(parts.clock.now());
        let server = serve(&store, parts, Some(metrics.clone())).await?;
        let client = Client::new(server.service(Identity::internal(CONTROLLERS)), "default");
        let controllers = Controllers::start(client, parts, &backend, connector);
        metrics.set_engine(controllers.engine().metrics().clone());
        Ok(Self {
            store,
            server,
            controllers,
            backend,
            door: None,
        })
    }

    /// A client inside the process that may do everything and calls itself `name`.
    pub fn client(&self, name: &str) -> Client {
        Client::new(self.server.service(Identity::internal(name)), "default")
    }

    /// The API server.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// The home of the controllers.
    pub fn engine(&self) -> &Engine {
        self.controllers.engine()
    }

    /// The connections to workload clusters.
    pub fn workloads(&self) -> &Workloads {
        self.controllers.workloads()
    }

    /// The world of the dev provider: its VMs and workload clusters.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The address that the plane listens on; none in memory.
    pub fn address(&self) -> Option<SocketAddr> {
        self.door.as_ref().map(|it| it.address)
    }

    /// The URL by which clients reach the plane; none in memory.
    pub fn url(&self) -> Option<&str> {
        self.door.as_ref().map(|it| it.url.as_str())
    }

    /// The administrator's kubeconfig file; none in memory.
    pub fn kubeconfig(&self) -> Option<&Path> {
        self.door.as_ref().map(|it| it.kubeconfig.as_path())
    }

    /// Ends the plane in order: controllers finish what they are in the middle of, watches end, the listener closes,
    /// and the store is closed last. What takes longer than ten seconds is cut off; nothing acknowledged is lost by it.
    pub async fn stop(mut self) {
        if time::timeout(PATIENCE, self.controllers.close()).await.is_err() {
            tracing::warn!("controllers did not finish in time");
        }
        self.server.shut_down();
        if let Some(door) = &mut self.door {
            // Accepting ends with the shutdown; an error would mean that it panicked, and it has ended then too.
            let _ = time::timeout(PATIENCE, &mut door.accepting).await;
        }
        self.store.close().await;
    }
}

/// Starts the API server over a store, with our kinds installed. The same store may be served again later.
///
/// # Errors
/// If the server cannot be built or a definition is refused.
pub async fn serve(
    store: &Store,
    parts: &Parts,
    metrics: Option<PlaneMetrics>,
) -> Result<Server, StartError> {
    let mut builder = Server::builder(
        store.clone(),
        Arc::clone(&parts.clock),
        Arc::clone(&parts.entropy),
    )
    .admission(Arc::new(KindAdmission))
    .converter(Arc::new(KindConverter::new(store.clone())));
    if let Some(metrics) = metrics {
        builder = builder.metric_source(metrics);
    }
    let server = builder
        .build()
        .await
        .map_err(|error| StartError::Server(error.message))?;
    let client = Client::new(server.service(Identity::internal(CONTROLLERS)), "default");
    definitions::install(&client, crd::definitions()).await?;
    Ok(server)
}

/// Keeps the credentials of a running plane valid.
struct Renewal {
    keeper: Keeper,
    shown: Shown,
    kubeconfig: PathBuf,
    url: String,
    parts: Parts,
}

impl Renewal {
    async fn run(self) {
        loop {
            time::sleep(RENEWAL_INTERVAL).await;
            match self.renew() {
                Ok(_) => tracing::debug!("looked after the plane's certificates"),
                Err(error) => tracing::error!(%error, "failed to renew the plane's certificates"),
            }
        }
    }

    fn renew(&self) -> Result<Credentials, StartError> {
        let credentials = self.keeper.load(self.parts.clock.now(), &*self.parts.keys)?;
        self.shown.exchange(&credentials.server)?;
        credentials::write_kubeconfig(&self.kubeconfig, &self.url, &credentials)?;
        Ok(credentials)
    }
}

/// The dev provider's world inside this process only.
pub fn in_process(parts: &Parts) -> BackendSettings {
    BackendSettings {
        clock: Arc::clone(&parts.clock),
        entropy: Arc::clone(&parts.entropy),
        keys: Arc::clone(&parts.keys),
        exposure: Exposure::InProcess,
        advertise: "127.0.0.1".to_owned(),
        ports: BackendSettings::PORTS,
        data: None,
    }
}

async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), StartError> {
    let failed = |source| StartError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

/// The host by which clients reach a plane: as told, else where it listens. "Everywhere" is no address that a client can
/// connect to, so it becomes this host itself.
fn advertised(listen: &Listen) -> String {
    let ip = listen.address.ip();
    listen.advertise.clone().unwrap_or_else(|| match ip {
        _ if !ip.is_unspecified() => ip.to_string(),
        _ if ip.is_ipv4() => "127.0.0.1".to_owned(),
        _ => "::1".to_owned(),
    })
}

fn url(host: &str, port: u16) -> String {
    if host.contains(':') {
        format!("https://[{host}]:{port}")
    } else {
        format!("https://{host}:{port}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_told_a_host_that_they_can_connect_to() {
        let cases = [
            ("127.0.0.1:8443", None, "https://127.0.0.1:8443"),
            ("0.0.0.0:8443", None, "https://127.0.0.1:8443"),
            ("[::]:8443", None, "https://[::1]:8443"),
            ("192.0.2.7:8443", None, "https://192.0.2.7:8443"),
            (
                "0.0.0.0:8443",
                Some("plane.example"),
                "https://plane.example:8443",
            ),
        ];
        for (address, advertise, expected) in cases {
            let address: SocketAddr = address.parse().unwrap();
            let listen = Listen {
                address,
                advertise: advertise.map(str::to_owned),
            };
            assert_eq!(url(&advertised(&listen), address.port()), expected);
        }
    }
}
