//! Everything that a decision about a cluster in containers needs.

use std::collections::BTreeMap;

use capstan_base::Timestamp;
use capstan_engine::{Lookup, ObjectKey};

use crate::{
    docker::{Container, DockerError, Privileges},
    haproxy::{self, Backend},
    kinds::ClusterSubject,
    naming,
    tasks::Task,
};

/// What the Engine says of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Found {
    /// The load balancer's container.
    pub container: Option<Container>,
    /// The Engine has its image.
    pub has_image: bool,
    /// The configuration that haproxy was last told to read.
    pub loaded: Option<String>,
    /// The last words of a load balancer that ended.
    pub last_words: String,
}

/// A cluster in containers and its surroundings.
#[derive(Debug, Clone)]
pub(crate) struct View {
    /// The time of this pass.
    pub now: Timestamp,
    /// The infrastructure cluster.
    pub subject: ClusterSubject,
    /// The Cluster that its owner references name.
    pub owner: Option<ObjectKey>,
    /// What the Engine says.
    pub found: Result<Found, DockerError>,
    /// The pull of the load balancer's image.
    pub pull: Option<Task>,
    /// The API servers, by the names of their containers.
    pub backends: BTreeMap<String, Backend>,
    /// The user's template of the load balancer's configuration; absent if none is asked for.
    pub template: Lookup<String>,
    /// What the Engine grants to nodes, once that is known.
    pub privileges: Option<Privileges>,
}

impl View {
    /// The name of the load balancer's container.
    pub(crate) fn name(&self) -> String {
        let cluster = self
            .owner
            .as_ref()
            .map_or(&self.subject.identity.key.name, |it| &it.name);
        naming::load_balancer(cluster)
    }

    /// The image of the load balancer.
    pub(crate) fn image(&self) -> String {
        let load_balancer = &self.subject.backend.load_balancer;
        naming::load_balancer_image(&load_balancer.image_repository, &load_balancer.image_tag)
    }

    /// The port that the load balancer listens on.
    pub(crate) fn port(&self) -> u16 {
        let port = u16::try_from(self.subject.endpoint.port).unwrap_or_default();
        if port == 0 { haproxy::BACKEND_PORT } else { port }
    }

    /// The load balancer's container, if it is ours.
    pub(crate) fn container(&self) -> Option<&Container> {
        let found = self.found.as_ref().ok()?;
        found.container.as_ref().filter(|it| self.is_ours(it))
    }

    /// A container that has the load balancer's name and is somebody else's.
    pub(crate) fn stranger(&self) -> Option<&Container> {
        let found = self.found.as_ref().ok()?;
        found.container.as_ref().filter(|it| !self.is_ours(it))
    }

    fn is_ours(&self, container: &Container) -> bool {
        container.labels.get(naming::OWNER_UID_LABEL) == Some(&self.subject.identity.uid)
    }

    /// The configuration that haproxy should have, or why there is none.
    pub(crate) fn configuration(&self) -> Result<String, String> {
        let facts = haproxy::Facts {
            port: self.port(),
            backends: self.backends.clone(),
        };
        match &self.template {
            Lookup::Found(template) => haproxy::configuration(&facts, Some(template)),
            Lookup::Absent => haproxy::configuration(&facts, None),
            Lookup::Unreadable(why) => Err(why.to_string()),
        }
    }
}
