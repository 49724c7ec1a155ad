//! What to do about a cluster in containers.
//!
//! ```text
//!   being deleted             remove the load balancer, then the network if nothing uses it, let go
//!   managed by others         nothing
//!   without an owner          wait for the Cluster controller
//!   the Engine is silent      wait for it
//!   its name is taken         wait until the stranger is gone
//!   without an image          pull it
//!   without a container       make one, at the address that was recorded if one was
//!   stopped                   start it
//!   without an endpoint       record the load balancer's address
//!   configuration is old      give it the new one
//! ```

use std::time::Duration;

use capstan_engine::{Plan, Wake, Why};

use super::view::View;
use crate::{
    docker::{Container, DockerError},
    tasks::Task,
};

/// How soon to look again at something that takes seconds.
const SOON: Duration = Duration::from_secs(2);
/// How soon to look again at something that people must mend.
const LATER: Duration = Duration::from_secs(15);

/// One effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// Pull the load balancer's image, in the background.
    Pull(String),
    /// Make and start the load balancer.
    Create {
        /// Its image.
        image: String,
        /// Its configuration.
        configuration: String,
        /// The address that clients know already.
        address: Option<String>,
        /// The port that it listens on.
        port: u16,
    },
    /// Give the load balancer, which ended, its configuration, and start it again.
    Restart(String),
    /// Record where the API server is reached.
    RecordEndpoint {
        /// The address.
        host: String,
        /// The port.
        port: u16,
    },
    /// Give the load balancer its configuration.
    Configure(String),
    /// Remove the load balancer, and the network if nothing uses it any more.
    Remove,
}

/// What keeps a cluster from going on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wait {
    Owner,
    Engine(DockerError),
    Name,
    Image(Option<String>),
    Configuration(String),
}

impl Wait {
    pub(super) fn message(&self, view: &View) -> String {
        match self {
            Self::Owner => "Waiting for the Cluster controller to set the owner reference".to_owned(),
            Self::Engine(error) => error.to_string(),
            Self::Name => format!(
                "Container {name} is not Capstan's: remove or rename it (docker rename {name} …)",
                name = view.name()
            ),
            Self::Image(None) => format!("Pulling image {}", view.image()),
            Self::Image(Some(why)) => format!(
                "{why}; load the image into the Engine, or set loadBalancer.imageRepository and imageTag"
            ),
            Self::Configuration(why) => why.clone(),
        }
    }

    fn reason(&self) -> &'static str {
        match self {
            Self::Owner => "WaitingForOwner",
            Self::Engine(_) => "EngineUnreachable",
            Self::Name => "NameTaken",
            Self::Image(_) => "WaitingForImage",
            Self::Configuration(_) => "ConfigurationInvalid",
        }
    }

    fn wake(&self) -> Wake {
        match self {
            Self::Owner => Wake::OnChange,
            Self::Image(None) => Wake::After(SOON),
            _ => Wake::After(LATER),
        }
    }
}

/// What a cluster waits for, if it cannot go on.
pub(super) fn wait(view: &View) -> Option<Wait> {
    if view.owner.is_none() {
        return Some(Wait::Owner);
    }
    let found = match &view.found {
        Ok(found) => found,
        Err(error) => return Some(Wait::Engine(error.clone())),
    };
    if view.stranger().is_some() {
        return Some(Wait::Name);
    }
    if let Err(why) = view.configuration() {
        return Some(Wait::Configuration(why));
    }
    if view.container().is_none() && !found.has_image {
        return Some(Wait::Image(match &view.pull {
            Some(Task::Failed { message, .. }) => Some(message.clone()),
            _ => None,
        }));
    }
    None
}

pub(super) fn decide(view: &View) -> Plan<Action> {
    if view.subject.identity.is_deleting {
        return delete(view);
    }
    if view.subject.is_externally_managed {
        return Plan::converged();
    }
    if let Some(wait) = wait(view) {
        let mut plan = Plan::wait(Why::new(wait.reason(), wait.message(view)));
        plan.wake = wait.wake();
        if matches!(wait, Wait::Image(_)) && Task::is_due(view.pull.as_ref(), view.now) {
            let why = Why::new("PullImage", "the Engine does not have the image");
            plan.step(Action::Pull(view.image()), why);
            plan.wake = Wake::After(SOON);
        }
        return plan;
    }
    provision(view)
}

fn provision(view: &View) -> Plan<Action> {
    let mut plan = Plan::converged();
    let configuration = view.configuration().unwrap_or_default();
    let endpoint = &view.subject.endpoint;
    let Some(container) = view.container() else {
        let create = Action::Create {
            image: view.image(),
            configuration,
            address: Some(endpoint.host.clone()).filter(|it| !it.is_empty()),
            port: view.port(),
        };
        plan.step(
            create,
            Why::new("CreateLoadBalancer", "there is no load balancer"),
        );
        plan.wake = Wake::After(SOON);
        return plan;
    };
    if !container.is_running {
        let why = Why::new("RestartLoadBalancer", ended(view, container));
        plan.step(Action::Restart(configuration), why);
        plan.wake = Wake::After(SOON);
        return plan;
    }
    if endpoint.host.is_empty() && !container.address.is_empty() {
        let record = Action::RecordEndpoint {
            host: container.address.clone(),
            port: view.port(),
        };
        plan.step(record, Why::new("RecordEndpoint", "the load balancer is there"));
    }
    let loaded = view.found.as_ref().ok().and_then(|it| it.loaded.as_deref());
    if loaded != Some(configuration.as_str()) {
        let why = Why::new("ConfigureLoadBalancer", "the API servers behind it changed");
        plan.step(Action::Configure(configuration), why);
    }
    plan
}

fn ended(view: &View, container: &Container) -> String {
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
    format!("it ended with exit code {}{said}", container.exit_code)
}

fn delete(view: &View) -> Plan<Action> {
    if let Err(error) = &view.found {
        let mut plan = Plan::wait(Why::new("EngineUnreachable", error.to_string()));
        plan.wake = Wake::After(LATER);
        return plan;
    }
    let mut plan = Plan::finalized();
    plan.step(
        Action::Remove,
        Why::new("Deleting", "the cluster is being deleted"),
    );
    plan
}
