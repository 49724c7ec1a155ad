//! The Engine that images are given to.

use std::path::Path;

use bollard::query_parameters::CreateImageOptionsBuilder;
use bytes::{Bytes, BytesMut};
use futures::StreamExt as _;
use tokio::io::AsyncReadExt as _;

use crate::BuildError;

/// How long an import may stay silent.
const LIMIT: std::time::Duration = std::time::Duration::from_secs(900);
/// How much of an archive is sent at once.
const PART: usize = 1 << 18;

/// A Docker Engine.
#[derive(Debug, Clone)]
pub struct Engine {
    address: String,
}

impl Engine {
    /// The Engine at `address`, like `unix:///var/run/docker.sock`.
    pub fn at(address: impl Into<String>) -> Self {
        Self {
            address: address.into(),
        }
    }

    async fn client(&self) -> Result<bollard::Docker, BuildError> {
        let fail = |it| self.error("connect", it);
        let client = bollard::Docker::connect_with_host(&self.address).map_err(fail)?;
        client.with_timeout(LIMIT).negotiate_version().await.map_err(fail)
    }

    fn error(&self, operation: &str, source: bollard::errors::Error) -> BuildError {
        BuildError::Engine {
            operation: operation.to_owned(),
            address: self.address.clone(),
            source,
        }
    }

    /// Whether the Engine answers.
    pub(crate) async fn ping(&self) -> Result<(), BuildError> {
        let answer = self.client().await?.ping().await;
        answer
            .map(|_| ())
            .map_err(|it| self.error("reach the Engine", it))
    }

    /// Makes an image of a file system.
    pub(crate) async fn import(&self, archive: &Path, tag: &str, changes: &[&str]) -> Result<(), BuildError> {
        let (repository, version) = tag.rsplit_once(':').unwrap_or((tag, "latest"));
        let options = CreateImageOptionsBuilder::new()
            .from_src("-")
            .repo(repository)
            .tag(version)
            .changes(changes.iter().map(|it| (*it).to_owned()).collect())
            .build();
        let file = tokio::fs::File::open(archive)
            .await
            .map_err(|it| BuildError::file("read", archive, it))?;
        let parts = futures::stream::unfold(file, |mut file| async {
            let mut part = BytesMut::with_capacity(PART);
            match file.read_buf(&mut part).await {
                Ok(0) => None,
                Ok(_) => Some((Ok::<Bytes, std::io::Error>(part.freeze()), file)),
                Err(error) => Some((Err(error), file)),
            }
        });
        let client = self.client().await?;
        let mut progress =
            Box::pin(client.create_image(Some(options), Some(bollard::body_try_stream(parts)), None));
        while let Some(part) = progress.next().await {
            part.map_err(|it| self.error(&format!("import image {tag}"), it))?;
        }
        Ok(())
    }
}
