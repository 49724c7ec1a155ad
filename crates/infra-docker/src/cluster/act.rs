//! Performs what was decided about a cluster in containers.

use capstan_engine::{Classified, Context, Retry, WriteError};
use serde_json::json;

use super::{decide::Action, observe::Sources, view::View};
use crate::{
    create::{self, Made},
    docker::{DockerError, File},
    haproxy,
    kinds::ContainerCluster,
    naming,
    specification::{self, Belonging, Role},
};

/// What can fail.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ActError {
    /// In the Engine.
    #[error(transparent)]
    Docker(#[from] DockerError),
    /// In the management plane.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Classified for ActError {
    fn retry(&self) -> Retry {
        match self {
            Self::Docker(error) => error.retry(),
            Self::Write(error) => error.retry(),
        }
    }
}

pub(super) async fn act<K: ContainerCluster + Clone + serde::de::DeserializeOwned>(
    sources: &Sources,
    view: &View,
    action: &Action,
    context: &Context,
) -> Result<(), ActError> {
    let (docker, name) = (&sources.docker, view.name());
    match action {
        Action::Pull(image) => {
            let (docker, wanted) = (docker.clone(), image.clone());
            sources
                .tasks
                .begin(image.clone(), async move { docker.pull(&wanted).await });
        }
        Action::Create {
            image,
            configuration,
            address,
            port,
        } => {
            let belonging = belonging(view);
            let body = |place: &_| specification::load_balancer(image, &belonging, place, *port);
            let made = create::Wanted {
                name: &name,
                uid: &view.subject.identity.uid,
                address: address.as_deref(),
            };
            if made.create(docker, body, &files(configuration, true)).await? == Made::Taken {
                return Err(DockerError::refused("create container", name, "the name is taken").into());
            }
        }
        Action::Restart(configuration) => {
            docker
                .upload(&name, haproxy::FOLDER, &files(configuration, true))
                .await?;
            docker.start(&name).await?;
        }
        Action::Configure(configuration) => {
            docker
                .upload(&name, haproxy::FOLDER, &files(configuration, false))
                .await?;
            docker.signal(&name, "HUP").await?;
            docker
                .upload(&name, haproxy::FOLDER, &[loaded(configuration)])
                .await?;
        }
        Action::RecordEndpoint { host, port } => {
            let patch = json!({ "spec": { "controlPlaneEndpoint": { "host": host, "port": port } } });
            context
                .writer
                .merge_patch::<K>(&(), &view.subject.identity.key, &patch)
                .await?;
        }
        Action::Remove => {
            if view.container().is_some() {
                docker.remove(&name).await?;
            }
            docker.remove_unused_network(naming::NETWORK).await?;
        }
    }
    Ok(())
}

fn belonging(view: &View) -> Belonging {
    Belonging {
        cluster: view.owner.as_ref().map(|it| it.name.clone()).unwrap_or_default(),
        owner: view.subject.identity.label(),
        uid: view.subject.identity.uid.clone(),
        role: Role::LoadBalancer,
        failure_domain: None,
    }
}

/// The configuration; before the first start, together with the note that haproxy has read it.
fn files(configuration: &str, is_first: bool) -> Vec<File> {
    let file = File {
        path: haproxy::FILE.to_owned(),
        mode: 0o644,
        content: configuration.into(),
    };
    if is_first {
        vec![file, loaded(configuration)]
    } else {
        vec![file]
    }
}

fn loaded(configuration: &str) -> File {
    File {
        path: haproxy::LOADED.to_owned(),
        mode: 0o644,
        content: configuration.into(),
    }
}
