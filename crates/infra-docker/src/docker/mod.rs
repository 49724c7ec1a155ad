//! The Docker Engine as this provider uses it: few operations, each idempotent, each error with its operation, its
//! object and the fix.
//!
//! Source: Docker Engine API 1.41, docs.docker.com/reference/api/engine.

mod container;
mod error;
mod events;
mod exec;
mod files;
mod image;
mod network;
mod privileges;

pub use container::Container;
pub use error::DockerError;
pub use events::{Incident, follow};
pub use exec::Output;
pub use files::File;
pub use network::Network;
pub use privileges::{Privileges, REQUIRED};

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::sync::OnceCell;

/// How long one call may take until its answer begins.
const CALL_LIMIT: Duration = Duration::from_secs(45);
/// How long pulling or saving an image may stay silent.
const IMAGE_LIMIT: Duration = Duration::from_secs(900);

struct Inner {
    address: String,
    client: OnceCell<bollard::Docker>,
    privileges: OnceCell<Privileges>,
    calls: AtomicU64,
}

/// The Engine. It is connected to when it is first needed. Clones share everything.
#[derive(Clone)]
pub struct Docker(Arc<Inner>);

impl std::fmt::Debug for Docker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Docker")
            .field("address", &self.0.address)
            .finish_non_exhaustive()
    }
}

impl Docker {
    /// The Engine at `address` (`unix:///…`, `tcp://…` or `npipe://…`).
    pub fn at(address: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            address: address.into(),
            client: OnceCell::new(),
            privileges: OnceCell::new(),
            calls: AtomicU64::new(0),
        }))
    }

    /// Where the Engine is looked for.
    pub fn address(&self) -> &str {
        &self.0.address
    }

    /// How many calls were made so far.
    pub fn calls(&self) -> u64 {
        self.0.calls.load(Ordering::Relaxed)
    }

    /// The client, connected and speaking a version of the API that the Engine knows.
    async fn client(&self) -> Result<&bollard::Docker, DockerError> {
        self.0.calls.fetch_add(1, Ordering::Relaxed);
        self.0
            .client
            .get_or_try_init(|| async {
                let connected = bollard::Docker::connect_with_host(self.address())
                    .map_err(|it| self.error("connect to", "the Engine", it))?;
                connected
                    .with_timeout(CALL_LIMIT)
                    .negotiate_version()
                    .await
                    .map_err(|it| self.error("connect to", "the Engine", it))
            })
            .await
    }

    fn error(&self, operation: &'static str, object: &str, error: bollard::errors::Error) -> DockerError {
        DockerError::of(self.address(), operation, object, error)
    }

    /// Whether the Engine's host has the first version of control groups.
    pub async fn has_cgroup_v1(&self) -> Result<bool, DockerError> {
        let info = self.client().await?.info().await;
        let info = info.map_err(|it| self.error("ask", "the Engine for its description", it))?;
        Ok(info.cgroup_version == Some(bollard::models::SystemInfoCgroupVersionEnum::_1))
    }
}
