//! What happens to our containers, told as it happens.

use std::{collections::HashMap, time::Duration};

use bollard::{models::EventMessage, query_parameters::EventsOptionsBuilder};
use futures::StreamExt as _;

use super::{Docker, DockerError};
use crate::naming;

/// Something happened in the Engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incident {
    /// A container of this owner, as its label says, started, ended, or a program in it did.
    Container(String),
    /// The Engine can be heard again; anything may have happened meanwhile.
    Heard,
    /// The Engine cannot be heard any more.
    Lost,
}

/// The longest pause between two attempts to listen.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);

/// What matters of a container: programs that were run in it end with `exec_die`.
const ACTIONS: [&str; 4] = ["start", "die", "destroy", "exec_die"];

/// Tells `listener` what happens, for ever. While there is nothing to listen to, it goes on trying.
pub async fn follow(docker: Docker, listener: impl Fn(Incident) + Send + Sync + 'static) {
    let mut pause = Duration::from_secs(1);
    let mut was_heard = false;
    loop {
        // Listening begins before `Heard` is told, so that nothing falls between.
        if let Ok(()) = docker.ping().await {
            listener(Incident::Heard);
            was_heard = true;
            pause = Duration::from_secs(1);
            if let Err(error) = listen(&docker, &listener).await {
                tracing::debug!(%error, "the Engine's events ended");
            }
        }
        if was_heard {
            listener(Incident::Lost);
            was_heard = false;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn listen(docker: &Docker, listener: &(impl Fn(Incident) + Send + Sync)) -> Result<(), DockerError> {
    let filters = HashMap::from([
        ("type", vec!["container"]),
        ("label", vec![naming::OWNER_LABEL]),
        ("event", ACTIONS.to_vec()),
    ]);
    let options = EventsOptionsBuilder::new().filters(&filters).build();
    let mut events = Box::pin(docker.client().await?.events(Some(options)));
    while let Some(event) = events.next().await {
        let event = event.map_err(|it| docker.error("listen to", "the Engine's events", it))?;
        if let Some(owner) = owner(event) {
            listener(Incident::Container(owner));
        }
    }
    Ok(())
}

fn owner(event: EventMessage) -> Option<String> {
    event.actor?.attributes?.remove(naming::OWNER_LABEL)
}

impl Docker {
    /// Whether the Engine answers.
    pub async fn ping(&self) -> Result<(), DockerError> {
        let answer = self.client().await?.ping().await;
        answer
            .map(|_| ())
            .map_err(|it| self.error("reach", "the Engine", it))
    }
}
