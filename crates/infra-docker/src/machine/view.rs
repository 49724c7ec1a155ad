//! Everything that a decision about a machine in a container needs.

use std::{fmt, sync::Arc, time::Duration};

use capstan_api::{
    core::{Cluster, Machine},
    infrastructure::parse_duration,
    well_known,
};
use capstan_base::Timestamp;
use capstan_engine::{Lookup, ObjectKey};
use kube::ResourceExt;

use crate::{
    cloud_config::{self, Bootstrap, CloudConfigError, Probe},
    docker::{Container, DockerError},
    kinds::MachineSubject,
    naming,
    specification::{Belonging, Role},
    tasks::Task,
};

/// How long a bootstrap may take if nobody says otherwise.
const BOOTSTRAP_TIMEOUT: Duration = Duration::from_secs(300);

/// What the Engine says of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Found {
    /// The container of the machine's name.
    pub container: Option<Container>,
    /// The Engine has the machine's image. Looked for only if there is no container.
    pub has_image: bool,
    /// Whether the machine is up (if not, what systemd says), and how far its bootstrap is. Looked for only in a
    /// container that runs and is not bootstrapped.
    pub look: Option<(Result<(), String>, Probe)>,
    /// The last words of a container that ended.
    pub last_words: String,
    /// The Engine's host has the first version of control groups. Asked for only before a bootstrap.
    pub has_cgroup_v1: bool,
}

/// Bootstrap data, which are secret.
#[derive(Clone, PartialEq, Eq, Default)]
pub(crate) struct BootstrapData {
    /// The format; cloud-config if empty.
    pub format: String,
    /// The data.
    pub value: Vec<u8>,
}

impl fmt::Debug for BootstrapData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BootstrapData({} bytes)", self.value.len())
    }
}

/// What the workload cluster says of a machine's node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum NodeState {
    /// There is none, or nobody can say.
    #[default]
    Unknown,
    /// It has its identity.
    Complete,
    /// It lacks its identity, or waits for a cloud's controller that does not exist.
    Incomplete,
}

/// A machine in a container and its surroundings.
#[derive(Debug, Clone)]
pub(crate) struct View {
    /// The time of this pass.
    pub now: Timestamp,
    /// The infrastructure machine.
    pub subject: MachineSubject,
    /// The Machine that owns it.
    pub machine: Option<Arc<Machine>>,
    /// The key of the Cluster; known even when the Cluster is not there.
    pub cluster_key: Option<ObjectKey>,
    /// The Cluster.
    pub cluster: Option<Arc<Cluster>>,
    /// What the Engine says.
    pub found: Result<Found, DockerError>,
    /// Where node images come from.
    pub repository: String,
    /// The pull of the machine's image.
    pub pull: Option<Task>,
    /// The load of the images that the machine is given before its bootstrap.
    pub images: Option<Task>,
    /// The bootstrap data. Read only before a bootstrap.
    pub data: Lookup<BootstrapData>,
    /// The machine's node.
    pub node: NodeState,
}

impl View {
    /// The name of the container, which its node has too.
    pub(crate) fn name(&self) -> String {
        let cluster = self.cluster_key.as_ref().map_or("", |it| it.name.as_str());
        let machine = self.machine.as_ref().map(|it| it.name_any());
        naming::machine(
            cluster,
            machine.as_deref().unwrap_or(&self.subject.identity.key.name),
        )
    }

    /// The image of the node.
    pub(crate) fn image(&self) -> String {
        let version = self.machine.as_ref().and_then(|it| it.spec.version.clone());
        naming::node_image(
            &self.subject.backend.custom_image,
            &self.repository,
            &version.unwrap_or_default(),
        )
    }

    /// The container, if it is ours.
    pub(crate) fn container(&self) -> Option<&Container> {
        let found = self.found.as_ref().ok()?;
        found.container.as_ref().filter(|it| self.is_ours(it))
    }

    /// A container that has the machine's name and is somebody else's.
    pub(crate) fn stranger(&self) -> Option<&Container> {
        let found = self.found.as_ref().ok()?;
        found.container.as_ref().filter(|it| !self.is_ours(it))
    }

    /// Whether a container was made for this object.
    pub(crate) fn is_ours(&self, container: &Container) -> bool {
        container.labels.get(naming::OWNER_UID_LABEL) == Some(&self.subject.identity.uid)
    }

    /// Is it part of the control plane?
    pub(crate) fn is_control_plane(&self) -> bool {
        well_known::is_control_plane(self.machine.as_ref().and_then(|it| it.metadata.labels.as_ref()))
    }

    /// Whose the container is.
    pub(crate) fn belonging(&self) -> Belonging {
        let machine = self.machine.as_ref();
        Belonging {
            cluster: self
                .cluster_key
                .as_ref()
                .map(|it| it.name.clone())
                .unwrap_or_default(),
            owner: self.subject.identity.label(),
            uid: self.subject.identity.uid.clone(),
            role: if self.is_control_plane() {
                Role::ControlPlane
            } else {
                Role::Worker
            },
            failure_domain: machine
                .and_then(|it| it.spec.failure_domain.clone())
                .filter(|it| !it.is_empty()),
        }
    }

    /// How long the bootstrap may take.
    pub(crate) fn bootstrap_timeout(&self) -> Duration {
        let asked = self.subject.backend.bootstrap_timeout.as_deref();
        asked
            .and_then(|it| parse_duration(it).ok())
            .unwrap_or(BOOTSTRAP_TIMEOUT)
    }

    /// The bootstrap data as steps; none before they are there.
    pub(crate) fn bootstrap(&self) -> Option<Result<Bootstrap, CloudConfigError>> {
        let data = self.data.found()?;
        if !matches!(data.format.as_str(), "" | "cloud-config") {
            return Some(Err(CloudConfigError::Format(data.format.clone())));
        }
        let facts = cloud_config::Facts {
            host_name: self.name(),
            provider_id: naming::provider_id(&self.name()),
            has_cgroup_v1: self.found.as_ref().is_ok_and(|it| it.has_cgroup_v1),
        };
        Some(cloud_config::read(&data.value, &facts))
    }

    /// The machine's Node is known to the Machine controller.
    pub(crate) fn has_node(&self) -> bool {
        let status = self.machine.as_ref().and_then(|it| it.status.as_ref());
        status.and_then(|it| it.node_ref.as_ref()).is_some()
    }
}
