//! Making a container so that a second attempt, at any point, finds what the first one made.

use bollard::models::ContainerCreateBody;

use crate::{
    docker::{Docker, DockerError, File},
    naming,
    specification::Place,
};

/// How many addresses are tried.
const ATTEMPTS: u32 = 8;

/// A container that is wanted.
pub(crate) struct Wanted<'a> {
    pub(crate) name: &'a str,
    /// The UID of its owner: by it a container is known to be ours.
    pub(crate) uid: &'a str,
    /// The address that it must have, if it had one before.
    pub(crate) address: Option<&'a str>,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    /// It runs.
    Running,
    /// Somebody else has the name.
    Taken,
}

impl Wanted<'_> {
    /// Makes the container, gives it its files and starts it.
    pub(crate) async fn create(
        &self,
        docker: &Docker,
        body: impl Fn(&Place) -> ContainerCreateBody,
        files: &[File],
    ) -> Result<Made, DockerError> {
        let network = docker.network(naming::NETWORK).await?;
        let mut refusal = None;
        for attempt in 0..ATTEMPTS {
            let chosen = network.subnet.as_deref().and_then(|subnet| match self.address {
                Some(address) if attempt == 0 => Some(address.to_owned()),
                _ => naming::address(subnet, self.name, attempt),
            });
            let place = Place {
                network: network.name.clone(),
                address: chosen,
            };
            match docker.create(self.name, body(&place)).await {
                Ok(()) => {}
                Err(error) if error.is_conflict() && !self.is_ours(docker).await? => return Ok(Made::Taken),
                Err(error) if error.is_conflict() => {}
                Err(error) if is_address_refused(&error) => {
                    refusal = Some(error);
                    continue;
                }
                Err(error) => return Err(error),
            }
            if !files.is_empty() {
                docker.upload(self.name, crate::haproxy::FOLDER, files).await?;
            }
            match docker.start(self.name).await {
                Ok(()) => return Ok(Made::Running),
                Err(error) => {
                    // What could not be started is in the way of the next attempt.
                    docker.remove(self.name).await?;
                    if !is_address_refused(&error) {
                        return Err(error);
                    }
                    refusal = Some(error);
                }
            }
        }
        Err(refusal
            .unwrap_or_else(|| DockerError::refused("create container", self.name, "no address is free")))
    }

    async fn is_ours(&self, docker: &Docker) -> Result<bool, DockerError> {
        let found = docker.container(self.name).await?;
        Ok(found
            .is_some_and(|it| it.labels.get(naming::OWNER_UID_LABEL).map(String::as_str) == Some(self.uid)))
    }
}

fn is_address_refused(error: &DockerError) -> bool {
    [
        "Address already in use",
        "no configured subnet",
        "address is already",
        "invalid address",
    ]
    .iter()
    .any(|it| error.says(it))
}
