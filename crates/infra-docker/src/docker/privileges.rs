//! What an Engine lets a node container do. Many Engines that run in containers themselves refuse `--privileged`; a node
//! then gets the capabilities that Kubernetes needs, one by one.

use bollard::models::{ContainerCreateBody, HostConfig};

use super::{Docker, DockerError};
use crate::naming;

/// The capabilities that a Kubernetes node needs.
pub const REQUIRED: [&str; 20] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "DAC_READ_SEARCH",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_ADMIN",
    "NET_BIND_SERVICE",
    "NET_RAW",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYSLOG",
    "SYS_ADMIN",
    "SYS_CHROOT",
    "SYS_NICE",
    "SYS_PTRACE",
];
/// What a node makes good use of, and does without.
const USEFUL: [&str; 2] = ["IPC_LOCK", "SYS_RESOURCE"];

/// What an Engine grants to node containers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Privileges {
    /// `--privileged`.
    All,
    /// These capabilities.
    Capabilities(Vec<String>),
    /// Too little: these capabilities are refused.
    Missing(Vec<String>),
}

impl Privileges {
    /// What was found, for people.
    pub fn sentence(&self) -> String {
        match self {
            Self::All => "The Engine grants all privileges to node containers".to_owned(),
            Self::Capabilities(granted) => format!(
                "The Engine refuses privileged containers; nodes get {} capabilities one by one",
                granted.len()
            ),
            Self::Missing(missing) => format!(
                "The Engine refuses privileged containers, and capabilities that a node needs: {}. \
                 Run the Engine with them, or use another Engine with DOCKER_HOST",
                missing.join(", ")
            ),
        }
    }
}

impl Docker {
    /// What this Engine grants, found out once by starting short-lived containers of an image that is there.
    pub async fn privileges(&self, image: &str) -> Result<Privileges, DockerError> {
        let found = self
            .0
            .privileges
            .get_or_try_init(|| async { self.find_privileges(image).await })
            .await;
        found.cloned()
    }

    /// What this Engine grants, if that was found out already.
    pub fn known_privileges(&self) -> Option<Privileges> {
        self.0.privileges.get().cloned()
    }

    async fn find_privileges(&self, image: &str) -> Result<Privileges, DockerError> {
        let all = HostConfig {
            privileged: Some(true),
            ..HostConfig::default()
        };
        if self.grants(image, all).await? {
            return Ok(Privileges::All);
        }
        let mut wanted: Vec<&str> = REQUIRED.into_iter().chain(USEFUL).collect();
        wanted.sort_unstable();
        if self.grants(image, with(&wanted)).await? {
            return Ok(granted(&wanted));
        }
        let mut refused = Vec::new();
        for capability in wanted.clone() {
            if !self.grants(image, with(&[capability])).await? {
                refused.push(capability);
            }
        }
        wanted.retain(|it| !refused.contains(it));
        refused.retain(|it| REQUIRED.contains(it));
        if refused.is_empty() {
            return Ok(granted(&wanted));
        }
        Ok(Privileges::Missing(
            refused.into_iter().map(str::to_owned).collect(),
        ))
    }

    /// Whether a container with these settings starts. Whatever the program in it says, it was granted.
    async fn grants(&self, image: &str, host: HostConfig) -> Result<bool, DockerError> {
        let name = format!("{}-probe", naming::NETWORK);
        self.remove(&name).await?;
        let body = ContainerCreateBody {
            image: Some(image.to_owned()),
            entrypoint: Some(vec!["/bin/sh".to_owned()]),
            cmd: Some(vec!["-c".to_owned(), "exit 0".to_owned()]),
            host_config: Some(HostConfig {
                network_mode: Some("none".to_owned()),
                ..host
            }),
            labels: Some([(naming::OWNER_LABEL.to_owned(), "probe".to_owned())].into()),
            ..ContainerCreateBody::default()
        };
        self.create(&name, body).await?;
        let started = self.start(&name).await;
        self.remove(&name).await?;
        match started {
            Ok(()) => Ok(true),
            Err(error) if error.says("operation not permitted") || error.says("apply caps") => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn with(capabilities: &[&str]) -> HostConfig {
    HostConfig {
        cap_drop: Some(vec!["ALL".to_owned()]),
        cap_add: Some(capabilities.iter().map(|it| (*it).to_owned()).collect()),
        ..HostConfig::default()
    }
}

fn granted(capabilities: &[&str]) -> Privileges {
    Privileges::Capabilities(capabilities.iter().map(|it| (*it).to_owned()).collect())
}
