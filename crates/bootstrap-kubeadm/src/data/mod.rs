//! First-boot data: what a host is given so that it becomes a node. Pure.

mod cloud_init;
mod discovery;
mod quote;
pub(crate) mod template;

use capstan_api::bootstrap::{File, KubeadmConfigSpec, User};

pub(crate) use discovery::kubeconfig_file;

/// What kubeadm shall do on the host, with the documents it reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KubeadmRun {
    /// Make the cluster.
    Init {
        /// The `ClusterConfiguration` document.
        cluster_configuration: String,
        /// The `InitConfiguration` document.
        init_configuration: String,
    },
    /// Join the control plane.
    JoinControlPlane {
        /// The `JoinConfiguration` document.
        join_configuration: String,
    },
    /// Join as a worker.
    JoinWorker {
        /// The `JoinConfiguration` document.
        join_configuration: String,
    },
}

/// Everything from which one host's data is rendered.
#[derive(Debug, Clone)]
pub struct HostData<'a> {
    /// Commands, disks, mounts, time servers and verbosity are taken from here; files and users are not.
    pub spec: &'a KubeadmConfigSpec,
    /// The files of certificates and keys.
    pub certificates: &'a [File],
    /// The user's files, with their content in them.
    pub files: &'a [File],
    /// The user's users, with their passwords in them.
    pub users: &'a [User],
    /// What kubeadm does.
    pub run: KubeadmRun,
}

/// Renders one host's data in cloud-init's cloud-config format.
pub fn render(host: &HostData<'_>) -> String {
    cloud_init::render(host)
}
