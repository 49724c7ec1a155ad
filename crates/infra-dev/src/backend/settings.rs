//! What the dev provider's world is made with.

use std::{
    net::{IpAddr, SocketAddr},
    ops::RangeInclusive,
    path::PathBuf,
    sync::Arc,
};

use capstan_base::{Clock, Entropy};
use capstan_pki::KeySource;

/// How workload clusters are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposure {
    /// Through pipes inside this process only, see [`capstan_workload::PipeConnector`].
    InProcess,
    /// Through a TLS listener per cluster on this address, and through pipes.
    Sockets(IpAddr),
}

impl Exposure {
    /// Can a listener be opened on `port`?
    pub(crate) async fn is_free(self, port: u16) -> bool {
        match self {
            Self::InProcess => true,
            Self::Sockets(address) => tokio::net::TcpListener::bind(SocketAddr::new(address, port))
                .await
                .is_ok(),
        }
    }
}

/// What the dev provider's world is made with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub entropy: Arc<dyn Entropy>,
    /// Where serving keys come from.
    pub keys: Arc<dyn KeySource>,
    /// How clusters are reached.
    pub exposure: Exposure,
    /// The host that endpoints name.
    pub advertise: String,
    /// The ports that endpoints are chosen from.
    pub ports: RangeInclusive<u16>,
    /// The folder that keeps the workload clusters' objects; without one they are kept in memory.
    pub data: Option<PathBuf>,
}

impl Settings {
    /// The ports that endpoints are chosen from if nothing else is said.
    /// Parity: upstream test/infrastructure/inmemory/pkg/server, default port range.
    pub const PORTS: RangeInclusive<u16> = 20_000..=24_000;
}
