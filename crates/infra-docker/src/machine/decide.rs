//! What to do about a machine in a container.
//!
//! ```text
//!   being deleted                   remove the container, let go
//!   without Machine or Cluster      wait for the Machine controller
//!   the Engine is silent            wait for it
//!   provisioned, container gone     nothing: what is lost is replaced by others, never made again
//!   cluster not provisioned         wait for the infrastructure cluster
//!   without bootstrap data          wait for the bootstrap provider
//!   its name is taken               wait until the stranger is gone
//!   without an image                pull it
//!   without a container             make one
//!   container never started, ended  start it; remove it and make another
//!   container runs                  wait until systemd and containerd are up
//!   images to load                  load them
//!   up, without a provider ID       record it
//!   not bootstrapped                start the bootstrap once, and watch it
//!   its node without identity       give it one
//! ```

use std::time::Duration;

use capstan_engine::{Plan, Wake, Why};

use super::{
    stage::{Stage, stage},
    view::{NodeState, View},
};
use crate::{cloud_config::Bootstrap, naming, tasks::Task};

/// How soon to look again at something that takes a second.
const SOON: Duration = Duration::from_secs(1);
/// How soon to look again at something of which the Engine tells us the end.
const MEANWHILE: Duration = Duration::from_secs(10);
/// How soon to look again at something that people must mend.
const LATER: Duration = Duration::from_secs(15);

/// One effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// Pull the machine's image, in the background.
    Pull(String),
    /// Make and start the container.
    Create {
        /// Its image.
        image: String,
    },
    /// Start the container.
    Start,
    /// Remove the container.
    Remove,
    /// Load images into the machine, in the background.
    LoadImages(Vec<String>),
    /// Record the machine's identity in its spec.
    RecordProviderId(String),
    /// Start the bootstrap.
    StartBootstrap {
        /// What to do.
        bootstrap: Bootstrap,
        /// How long it may take.
        timeout: Duration,
    },
    /// Give the node its identity, and take the taint off that waits for a cloud's controller.
    CompleteNode(String),
}

pub(super) fn decide(view: &View) -> Plan<Action> {
    if view.subject.identity.is_deleting {
        return delete(view);
    }
    let stage = stage(view);
    let mut plan = Plan::default();
    if let Some((reason, message)) = waits_for(view, &stage) {
        plan.waits(Why::new(reason, message));
    }
    if stage.is_provisioned() && view.subject.provider_id.is_none() {
        let id = naming::provider_id(&view.name());
        let why = Why::new("RecordProviderID", "the machine is up");
        plan.step(Action::RecordProviderId(id), why);
    }
    match &stage {
        Stage::Engine(_) | Stage::Name | Stage::Data(_) => plan.wake = Wake::After(LATER),
        Stage::Image(_) => pull(view, &mut plan),
        Stage::Container => {
            let why = Why::new("CreateContainer", "the machine has no container");
            plan.step(Action::Create { image: view.image() }, why);
            plan.wake = Wake::After(SOON);
        }
        Stage::Stopped => {
            plan.step(
                Action::Start,
                Why::new("StartContainer", "it was made and never started"),
            );
            plan.wake = Wake::After(SOON);
        }
        Stage::Ended => remake(view, &mut plan),
        Stage::Boot(_) => plan.wake = Wake::After(SOON),
        Stage::Images(_) => load(view, &mut plan),
        Stage::Bootstrap => bootstrap(view, &mut plan),
        Stage::Bootstrapping(_) => plan.wake = Wake::After(MEANWHILE),
        Stage::Owner
        | Stage::Gone
        | Stage::ClusterInfrastructure
        | Stage::ControlPlane
        | Stage::BootstrapData
        | Stage::Failed(_)
        | Stage::Complete => {}
    }
    if view.node == NodeState::Incomplete {
        let id = naming::provider_id(&view.name());
        let why = Why::new("CompleteNode", "the node lacks its identity");
        plan.step(Action::CompleteNode(id), why);
    }
    plan
}

/// The reason and the sentence of what a machine waits for.
pub(super) fn waits_for(view: &View, stage: &Stage) -> Option<(&'static str, String)> {
    let name = view.name();
    Some(match stage {
        Stage::Owner => (
            "WaitingForOwner",
            "Waiting for the Machine controller to set the owner reference".to_owned(),
        ),
        Stage::Engine(error) => ("EngineUnreachable", error.to_string()),
        Stage::Gone => (
            "ContainerGone",
            format!("Container {name} is not running anymore"),
        ),
        Stage::ClusterInfrastructure => (
            "WaitingForClusterInfrastructure",
            "Waiting for the cluster's network and load balancer".to_owned(),
        ),
        Stage::ControlPlane => (
            "WaitingForControlPlane",
            "Waiting for the control plane to be initialized".to_owned(),
        ),
        Stage::BootstrapData => (
            "WaitingForBootstrapData",
            "Waiting for the bootstrap provider".to_owned(),
        ),
        Stage::Name => (
            "NameTaken",
            format!("Container {name} is not this machine's: remove or rename it (docker rename {name} …)"),
        ),
        Stage::Image(None) => ("WaitingForImage", format!("Pulling image {}", view.image())),
        Stage::Image(Some(why)) => (
            "WaitingForImage",
            format!("{why}; load the image into the Engine, or set customImage in the machine template"),
        ),
        Stage::Ended => ("ContainerEnded", ended(view)),
        Stage::Boot(says) => (
            "WaitingForBoot",
            format!("Container {name} is starting; systemd says: {says}"),
        ),
        Stage::Images(None) => ("WaitingForImages", "Loading images into the machine".to_owned()),
        Stage::Images(Some(why)) => ("WaitingForImages", format!("Failed to load images: {why}")),
        Stage::Data(why) => ("WaitingForBootstrapData", why.clone()),
        Stage::Bootstrapping(step) => ("Bootstrapping", format!("Running step \"{step}\"")),
        Stage::Failed(why) => ("BootstrapFailed", why.clone()),
        Stage::Container | Stage::Stopped | Stage::Bootstrap | Stage::Complete => return None,
    })
}

fn ended(view: &View) -> String {
    let code = view.container().map_or(0, |it| it.exit_code);
    let words = view
        .found
        .as_ref()
        .map(|it| it.last_words.trim().to_owned())
        .unwrap_or_default();
    let said = if words.is_empty() {
        String::new()
    } else {
        format!(", its last words:\n{words}")
    };
    format!(
        "Container {} ended with exit code {code} (is {} a node image?){said}",
        view.name(),
        view.image()
    )
}

fn pull(view: &View, plan: &mut Plan<Action>) {
    plan.wake = Wake::After(SOON * 2);
    if Task::is_due(view.pull.as_ref(), view.now) {
        let why = Why::new("PullImage", "the Engine does not have the image");
        plan.step(Action::Pull(view.image()), why);
    } else if matches!(view.pull, Some(Task::Failed { .. })) {
        plan.wake = Wake::After(LATER);
    }
}

/// A container that ended is removed, and another made; after a while, so that one that always ends is not spun.
fn remake(view: &View, plan: &mut Plan<Action>) {
    let ended = view.container().and_then(|it| it.ended).unwrap_or(view.now);
    let since = Duration::try_from(view.now.duration_since(ended)).unwrap_or_default();
    if since < LATER {
        plan.wake = Wake::After(LATER.saturating_sub(since));
        return;
    }
    let why = Why::new("RemoveContainer", "it ended before the machine was provisioned");
    plan.step(Action::Remove, why);
    plan.wake = Wake::After(SOON);
}

fn load(view: &View, plan: &mut Plan<Action>) {
    plan.wake = Wake::After(SOON * 2);
    if Task::is_due(view.images.as_ref(), view.now) {
        let images = view.subject.backend.pre_load_images.clone();
        let why = Why::new("LoadImages", "the machine is to have them before its bootstrap");
        plan.step(Action::LoadImages(images), why);
    }
}

fn bootstrap(view: &View, plan: &mut Plan<Action>) {
    let Some(Ok(bootstrap)) = view.bootstrap() else {
        return;
    };
    let action = Action::StartBootstrap {
        bootstrap,
        timeout: view.bootstrap_timeout(),
    };
    plan.step(action, Why::new("StartBootstrap", "the machine is up"));
    plan.wake = Wake::After(SOON);
}

fn delete(view: &View) -> Plan<Action> {
    if let Err(error) = &view.found {
        let mut plan = Plan::wait(Why::new("EngineUnreachable", error.to_string()));
        plan.wake = Wake::After(LATER);
        return plan;
    }
    let mut plan = Plan::finalized();
    if view.container().is_some() {
        plan.step(
            Action::Remove,
            Why::new("Deleting", "the machine is being deleted"),
        );
    }
    plan
}
