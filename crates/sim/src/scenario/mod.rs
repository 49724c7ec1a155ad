//! What users do: named lives of a cluster, each of which must end in the same state whatever befalls it.

mod lives;

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;

use crate::{World, fault::Fault};

/// What a life gives.
type Lived = BoxFuture<'static, anyhow::Result<()>>;

/// A named life.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// The name on the command line.
    pub name: &'static str,
    /// What happens, in a line.
    pub about: &'static str,
    /// The life.
    pub life: fn(Arc<World>) -> Lived,
    /// Faults that belong to the story.
    pub befalls: fn() -> Vec<Fault>,
    /// Must as many objects be made and deleted as in the reference run? Not where a user acts at a moment that the
    /// seed draws: then it depends on how far things were.
    pub is_exact: bool,
}

fn nothing() -> Vec<Fault> {
    Vec::new()
}

fn an_hour_without_provider() -> Vec<Fault> {
    vec![Fault::Outage {
        from: Duration::from_secs(1),
        lasts: Duration::from_secs(3600),
    }]
}

impl Scenario {
    const fn new(name: &'static str, about: &'static str, life: fn(Arc<World>) -> Lived) -> Self {
        Self {
            name,
            about,
            life,
            befalls: nothing,
            is_exact: true,
        }
    }

    const fn befalls(mut self, befalls: fn() -> Vec<Fault>) -> Self {
        self.befalls = befalls;
        self
    }

    const fn inexact(mut self) -> Self {
        self.is_exact = false;
        self
    }
}

/// All of them.
pub const SCENARIOS: &[Scenario] = &[
    Scenario::new(
        "create-1-1",
        "a cluster of one control plane machine and one worker comes up",
        |it| Box::pin(lives::create_1_1(it)),
    ),
    Scenario::new("create-3-3", "a cluster of three and three comes up", |it| {
        Box::pin(lives::create_3_3(it))
    }),
    Scenario::new("scale", "workers and control plane grow and shrink", |it| {
        Box::pin(lives::scale(it))
    }),
    Scenario::new(
        "worker-rollout",
        "the workers get another version, one after the other",
        |it| Box::pin(lives::worker_rollout(it)),
    ),
    Scenario::new(
        "control-plane-upgrade",
        "three control plane machines are replaced by ones of the next version",
        |it| Box::pin(lives::control_plane_upgrade(it)),
    ),
    Scenario::new(
        "machine-deleted",
        "somebody deletes a worker's Machine: another one takes its place",
        |it| Box::pin(lives::machine_deleted(it)),
    ),
    Scenario::new(
        "node-not-ready",
        "a worker loses its power for ten minutes",
        |it| Box::pin(lives::node_not_ready(it)),
    ),
    Scenario::new(
        "pause",
        "a paused cluster is left alone, and goes on afterwards",
        |it| Box::pin(lives::pause(it)),
    ),
    Scenario::new("delete", "a cluster comes up and is deleted", |it| {
        Box::pin(lives::delete(it))
    }),
    Scenario::new(
        "delete-any-moment",
        "a cluster is deleted at a moment that the seed draws",
        |it| Box::pin(lives::delete_any_moment(it)),
    )
    .inexact(),
    Scenario::new(
        "delete-everything",
        "every object of a cluster is deleted at once, in an order that the seed draws",
        |it| Box::pin(lives::delete_everything(it)),
    )
    .inexact(),
    Scenario::new(
        "manager-upgraded",
        "the manager is replaced on the same store: nothing is replaced with it",
        |it| Box::pin(lives::manager_upgraded(it)),
    ),
    Scenario::new(
        "template-missing",
        "the workers' template comes ten minutes late",
        |it| Box::pin(lives::template_missing(it)),
    ),
    Scenario::new(
        "provider-outage",
        "the provider refuses everything for an hour",
        |it| Box::pin(lives::create_1_1(it)),
    )
    .befalls(an_hour_without_provider),
];

/// A scenario by its name.
pub fn scenario(name: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|it| it.name == name)
}
