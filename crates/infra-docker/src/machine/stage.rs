//! How far a machine is: one answer that decision and report share.

use capstan_api::{
    condition::{self},
    infrastructure::words::{condition as types, reason},
};

use super::view::View;
use crate::{cloud_config::Probe, docker::DockerError, tasks::Task};

/// How far a machine is, and what it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stage {
    /// It has no Machine or no Cluster yet.
    Owner,
    /// The Engine does not answer.
    Engine(DockerError),
    /// It was provisioned, and its container does not run any more.
    Gone,
    /// The cluster's infrastructure is not there yet.
    ClusterInfrastructure,
    /// There is no control plane to join yet.
    ControlPlane,
    /// There are no bootstrap data yet.
    BootstrapData,
    /// Its name is somebody else's.
    Name,
    /// Its image is not there; perhaps it could not be pulled.
    Image(Option<String>),
    /// It has no container.
    Container,
    /// Its container was made and not started.
    Stopped,
    /// Its container ended before the machine was provisioned.
    Ended,
    /// Its container runs, and is not up; what systemd says.
    Boot(String),
    /// Images are to be loaded into it; perhaps that failed.
    Images(Option<String>),
    /// It is to be bootstrapped.
    Bootstrap,
    /// Its bootstrap data cannot be had or used.
    Data(String),
    /// Its bootstrap runs, at this step.
    Bootstrapping(String),
    /// Its bootstrap failed for good.
    Failed(String),
    /// It is bootstrapped.
    Complete,
}

impl Stage {
    /// The container runs.
    pub(super) fn has_container(&self) -> bool {
        matches!(self, Self::Boot(_)) || self.is_up()
    }

    /// systemd and containerd run.
    pub(super) fn is_up(&self) -> bool {
        matches!(self, Self::Images(_)) || self.is_provisioned()
    }

    /// The infrastructure is there, and the machine may become a node.
    pub(super) fn is_provisioned(&self) -> bool {
        matches!(
            self,
            Self::Bootstrap | Self::Data(_) | Self::Bootstrapping(_) | Self::Failed(_) | Self::Complete
        )
    }
}

/// Whether the bootstrap needs no more watching: it is recorded to be done or to have failed, or the node is known.
pub(super) fn is_settled(view: &View) -> bool {
    let completed = condition::find(&view.subject.status.conditions, types::BOOTSTRAP_COMPLETED);
    view.has_node() || completed.is_some_and(|it| it.status == "True" || it.reason == reason::FAILED)
}

pub(super) fn stage(view: &View) -> Stage {
    let (Some(machine), Some(cluster)) = (&view.machine, &view.cluster) else {
        return Stage::Owner;
    };
    let found = match &view.found {
        Ok(found) => found,
        Err(error) => return Stage::Engine(error.clone()),
    };
    let container = view.container();
    if view.subject.provider_id.is_some() && !container.is_some_and(|it| it.is_running) {
        return Stage::Gone;
    }
    let Some(container) = container else {
        let status = cluster.status.as_ref();
        if status.is_none_or(|it| it.initialization.infrastructure_provisioned != Some(true)) {
            return Stage::ClusterInfrastructure;
        }
        if machine.spec.bootstrap.data_secret_name.is_none() {
            let is_initialized =
                status.is_some_and(|it| it.initialization.control_plane_initialized == Some(true));
            return if is_initialized || view.is_control_plane() {
                Stage::BootstrapData
            } else {
                Stage::ControlPlane
            };
        }
        return if view.stranger().is_some() {
            Stage::Name
        } else if found.has_image {
            Stage::Container
        } else {
            Stage::Image(failure(view.pull.as_ref()))
        };
    };
    if container.is_new {
        return Stage::Stopped;
    }
    if !container.is_running {
        return Stage::Ended;
    }
    running(view)
}

/// The stage of a machine whose container runs.
fn running(view: &View) -> Stage {
    let recorded = condition::find(&view.subject.status.conditions, types::BOOTSTRAP_COMPLETED);
    if let Some(failed) = recorded.filter(|it| it.reason == reason::FAILED) {
        return Stage::Failed(failed.message.clone());
    }
    if is_settled(view) {
        return Stage::Complete;
    }
    let look = view.found.as_ref().ok().and_then(|it| it.look.clone());
    let Some((machine, bootstrap)) = look else {
        return Stage::Boot("nobody could look into it".to_owned());
    };
    let has_id = view.subject.provider_id.is_some();
    if let (Err(says), false) = (machine, has_id) {
        return Stage::Boot(says);
    }
    let are_loaded = has_id
        || view.subject.backend.pre_load_images.is_empty()
        || view.images == Some(Task::Done)
        || condition::is_true(&view.subject.status.conditions, types::PRE_LOADED_IMAGES_READY);
    if !are_loaded {
        return Stage::Images(failure(view.images.as_ref()));
    }
    match bootstrap {
        Probe::Done => Stage::Complete,
        Probe::Running { step } => Stage::Bootstrapping(step),
        Probe::Failed { step, how, log } => Stage::Failed(failed(&step, &how, &log)),
        Probe::NotStarted => match view.bootstrap() {
            None => Stage::Data(match &view.data {
                capstan_engine::Lookup::Unreadable(why) => why.to_string(),
                _ => "the Secret with the bootstrap data does not exist".to_owned(),
            }),
            Some(Err(error)) => Stage::Data(error.to_string()),
            Some(Ok(_)) => Stage::Bootstrap,
        },
    }
}

fn failure(task: Option<&Task>) -> Option<String> {
    match task {
        Some(Task::Failed { message, .. }) => Some(message.clone()),
        _ => None,
    }
}

fn failed(step: &str, how: &str, log: &str) -> String {
    let step = if step.is_empty() {
        "Bootstrap".to_owned()
    } else {
        format!("Step \"{step}\"")
    };
    if log.is_empty() {
        format!("{step} {how}")
    } else {
        format!("{step} {how}; the end of its log:\n{log}")
    }
}
