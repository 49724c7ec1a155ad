//! Performs what was decided about a machine in a container.

use capstan_engine::{Classified, Context, Retry, WriteError};
use k8s_openapi::api::core::v1::Node;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::{
    decide::Action,
    observe::{Sources, UNINITIALIZED, images_task},
    view::View,
};
use crate::{
    cloud_config,
    create::{Made, Wanted},
    docker::{Docker, DockerError, Privileges},
    kinds::ContainerMachine,
    specification,
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
    /// In the workload cluster.
    #[error("failed to give node {node} its identity: {message}")]
    Node {
        /// The node.
        node: String,
        /// Why.
        message: String,
    },
}

impl Classified for ActError {
    fn retry(&self) -> Retry {
        match self {
            Self::Docker(error) => error.retry(),
            Self::Write(error) => error.retry(),
            Self::Node { .. } => Retry::Backoff,
        }
    }
}

pub(super) async fn act<K: ContainerMachine + Clone + DeserializeOwned>(
    sources: &Sources,
    view: &View,
    action: &Action,
    context: &Context,
) -> Result<(), ActError> {
    let (docker, name) = (&sources.docker, view.name());
    match action {
        Action::Pull(image) => {
            let (docker, wanted) = (docker.clone(), image.clone());
            let work = async move { docker.pull(&wanted).await };
            sources.tasks.begin(image.clone(), work);
        }
        Action::Create { image } => create(docker, view, &name, image).await?,
        Action::Start => docker.start(&name).await?,
        Action::Remove => {
            docker.remove(&name).await?;
            sources.tasks.forget(&images_task(view));
        }
        Action::LoadImages(images) => {
            let work = load(docker.clone(), name, images.clone());
            sources.tasks.begin(images_task(view), work);
        }
        Action::RecordProviderId(id) => {
            let patch = json!({ "spec": { "providerID": id } });
            context
                .writer
                .merge_patch::<K>(&(), &view.subject.identity.key, &patch)
                .await?;
        }
        Action::StartBootstrap { bootstrap, timeout } => {
            let files = cloud_config::files(bootstrap);
            docker.upload(&name, cloud_config::FOLDER, &files).await?;
            let command = cloud_config::start_command(*timeout);
            docker
                .detach(&name, &command.each_ref().map(String::as_str))
                .await?;
        }
        Action::CompleteNode(id) => complete_node(sources, view, &name, id).await?,
    }
    Ok(())
}

async fn create(docker: &Docker, view: &View, name: &str, image: &str) -> Result<(), DockerError> {
    let privileges = docker.privileges(image).await?;
    if matches!(privileges, Privileges::Missing(_)) {
        return Err(DockerError::refused(
            "create container",
            name,
            privileges.sentence(),
        ));
    }
    let belonging = view.belonging();
    let mounts = &view.subject.backend.extra_mounts;
    let body = |place: &_| specification::node(name, image, &belonging, place, mounts, &privileges);
    let wanted = Wanted {
        name,
        uid: &view.subject.identity.uid,
        address: None,
    };
    match wanted.create(docker, body, &[]).await? {
        Made::Running => Ok(()),
        Made::Taken => Err(DockerError::refused(
            "create container",
            name,
            "the name is taken",
        )),
    }
}

/// Loads images of the Engine into a machine's containerd.
async fn load(docker: Docker, name: String, images: Vec<String>) -> Result<(), DockerError> {
    const COMMAND: [&str; 6] = [
        "ctr",
        "--namespace=k8s.io",
        "images",
        "import",
        "--all-platforms",
        "-",
    ];
    for image in images {
        let archive = docker.save(&image).await?;
        let output = docker.run_with_input(&name, &COMMAND, archive).await?;
        if output.code != 0 {
            return Err(DockerError::refused("load image", image, output.text.trim()));
        }
    }
    Ok(())
}

async fn complete_node(sources: &Sources, view: &View, name: &str, id: &str) -> Result<(), ActError> {
    let fail = |message: String| ActError::Node {
        node: name.to_owned(),
        message,
    };
    let connection = view
        .cluster_key
        .as_ref()
        .map(|it| sources.workloads.connection(it));
    let Some(connection) = connection.as_ref().and_then(|it| it.found()) else {
        return Err(fail("the cluster cannot be reached".to_owned()));
    };
    let node = connection.node(name);
    let Some(node) = node.found() else {
        return Ok(());
    };
    let spec = node.spec.clone().unwrap_or_default();
    let taints: Vec<_> = spec
        .taints
        .into_iter()
        .flatten()
        .filter(|it| it.key != UNINITIALIZED)
        .collect();
    let mut patch = json!({
        "metadata": { "resourceVersion": node.metadata.resource_version },
        "spec": { "taints": taints },
    });
    if spec.provider_id.is_none_or(|it| it.is_empty()) {
        patch["spec"]["providerID"] = json!(id);
    }
    let nodes: Api<Node> = Api::all(connection.client().clone());
    let patched = nodes
        .patch(name, &PatchParams::default(), &Patch::Merge(&patch))
        .await;
    patched.map(|_| ()).map_err(|it| fail(it.to_string()))
}
