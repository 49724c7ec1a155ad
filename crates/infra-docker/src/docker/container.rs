//! Containers: looking, making, starting, signalling, removing.

use std::collections::BTreeMap;

use bollard::{
    models::{ContainerCreateBody, ContainerInspectResponse, ContainerStateStatusEnum},
    query_parameters::{
        CreateContainerOptionsBuilder, InspectContainerOptions, KillContainerOptionsBuilder,
        ListContainersOptionsBuilder, LogsOptionsBuilder, RemoveContainerOptionsBuilder,
        StartContainerOptions,
    },
};
use capstan_base::Timestamp;
use futures::StreamExt as _;

use super::{Docker, DockerError};

/// A container as the Engine describes it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Container {
    /// The Engine's identity for it.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its processes run.
    pub is_running: bool,
    /// It was made and never started.
    pub is_new: bool,
    /// How its first process ended.
    pub exit_code: i64,
    /// When that was.
    pub ended: Option<Timestamp>,
    /// Its IPv4 address, if it runs.
    pub address: String,
    /// The image that it was made from, as it was named then.
    pub image: String,
}

impl Docker {
    /// The container of a name; none if there is none.
    pub async fn container(&self, name: &str) -> Result<Option<Container>, DockerError> {
        let answer = self
            .client()
            .await?
            .inspect_container(name, None::<InspectContainerOptions>)
            .await
            .map_err(|it| self.error("inspect container", name, it));
        match answer {
            // The Engine also takes the beginning of an identity for a name.
            Ok(found) => Ok(Some(read(found)).filter(|it| it.name == name)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The names of all containers that carry a label (`key=value`), running or not, sorted.
    pub async fn labelled(&self, label: &str) -> Result<Vec<String>, DockerError> {
        let filters = std::collections::HashMap::from([("label", vec![label])]);
        let options = ListContainersOptionsBuilder::new()
            .all(true)
            .filters(&filters)
            .build();
        let found = self.client().await?.list_containers(Some(options)).await;
        let found = found.map_err(|it| self.error("list containers with label", label, it))?;
        let mut names: Vec<String> = found
            .into_iter()
            .filter_map(|it| it.names?.into_iter().next())
            .map(|it| it.trim_start_matches('/').to_owned())
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Makes a container. A name that is taken is a conflict.
    pub async fn create(&self, name: &str, body: ContainerCreateBody) -> Result<(), DockerError> {
        let options = CreateContainerOptionsBuilder::new().name(name).build();
        let made = self.client().await?.create_container(Some(options), body).await;
        made.map(|_| ())
            .map_err(|it| self.error("create container", name, it))
    }

    /// Starts a container; one that runs goes on.
    pub async fn start(&self, name: &str) -> Result<(), DockerError> {
        let started = self
            .client()
            .await?
            .start_container(name, None::<StartContainerOptions>)
            .await;
        started.map_err(|it| self.error("start container", name, it))
    }

    /// Sends a signal to a container's first process.
    pub async fn signal(&self, name: &str, signal: &str) -> Result<(), DockerError> {
        let options = KillContainerOptionsBuilder::new().signal(signal).build();
        let sent = self.client().await?.kill_container(name, Some(options)).await;
        sent.map_err(|it| self.error("signal container", name, it))
    }

    /// Kills and removes a container with its volumes; one that is gone, or going, is success.
    pub async fn remove(&self, name: &str) -> Result<(), DockerError> {
        let options = RemoveContainerOptionsBuilder::new().force(true).v(true).build();
        let removed = self.client().await?.remove_container(name, Some(options)).await;
        match removed.map_err(|it| self.error("remove container", name, it)) {
            Err(error) if error.is_not_found() => Ok(()),
            other => other,
        }
    }

    /// The last lines of what a container's first process printed.
    pub async fn printed(&self, name: &str, lines: usize) -> Result<String, DockerError> {
        let options = LogsOptionsBuilder::new()
            .stdout(true)
            .stderr(true)
            .tail(&lines.to_string())
            .build();
        let mut log = Box::pin(self.client().await?.logs(name, Some(options)));
        let mut text = String::new();
        while let Some(part) = log.next().await {
            let part = part.map_err(|it| self.error("read the log of container", name, it))?;
            text.push_str(&part.to_string());
        }
        Ok(text)
    }
}

fn read(found: ContainerInspectResponse) -> Container {
    let state = found.state.unwrap_or_default();
    let (labels, image) = found
        .config
        .map(|it| (it.labels.unwrap_or_default(), it.image.unwrap_or_default()))
        .unwrap_or_default();
    let networks = found
        .network_settings
        .and_then(|it| it.networks)
        .unwrap_or_default();
    let endpoints: BTreeMap<_, _> = networks.into_iter().collect();
    let address = endpoints
        .into_values()
        .filter_map(|it| it.ip_address)
        .find(|it| !it.is_empty());
    Container {
        id: found.id.unwrap_or_default(),
        name: found.name.unwrap_or_default().trim_start_matches('/').to_owned(),
        labels: labels.into_iter().collect(),
        is_running: state.running == Some(true) && state.restarting != Some(true),
        is_new: state.status == Some(ContainerStateStatusEnum::CREATED),
        exit_code: state.exit_code.unwrap_or_default(),
        ended: state.finished_at.and_then(|it| it.parse().ok()),
        address: address.unwrap_or_default(),
        image,
    }
}
