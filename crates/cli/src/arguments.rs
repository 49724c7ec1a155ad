//! The command line.

use std::{net::SocketAddr, path::PathBuf};

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

/// Creates, upgrades, heals, explains and deletes Kubernetes clusters through the Cluster API.
#[derive(Debug, Parser)]
#[command(name = "capstan", version, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run the management plane: API server and all controllers in this process.
    Up(Up),
    /// Bring a cluster to Running in an embedded management plane, and watch it.
    Demo(Demo),
    /// Show an object and what it is made of.
    #[command(subcommand)]
    Describe(Describe),
    /// Print something of a cluster.
    #[command(subcommand)]
    Get(Get),
    /// Make the images that nodes in containers are made from.
    #[command(subcommand)]
    NodeImage(NodeImage),
    /// Print the version.
    Version,
}

#[derive(Debug, Subcommand)]
pub(crate) enum NodeImage {
    /// Make a node image from Debian packages and a folder of Kubernetes binaries, and give it to the Docker Engine.
    Build(BuildNodeImage),
}

#[derive(Debug, Args)]
pub(crate) struct BuildNodeImage {
    /// The folder with kubeadm, kubelet, kubectl, kube-apiserver, kube-controller-manager, kube-scheduler, kube-proxy,
    /// etcd, coredns, pause, containerd, containerd-shim-runc-v2, ctr and crictl, linked statically.
    #[arg(long, value_name = "DIR")]
    pub(crate) kubernetes_binaries: PathBuf,
    /// The image's name; by default capstan/node and the version of Kubernetes.
    #[arg(long, value_name = "NAME:TAG")]
    pub(crate) tag: Option<String>,
    /// Make an image of the load balancer too, under this name.
    #[arg(long, value_name = "NAME:TAG")]
    pub(crate) load_balancer_tag: Option<String>,
    /// The archive of the Debian system below; made by debootstrap (as root) where it does not exist, and kept.
    #[arg(long, value_name = "FILE")]
    pub(crate) base: Option<PathBuf>,
    /// The Debian release.
    #[arg(long, value_name = "NAME", default_value = "bookworm")]
    pub(crate) debian_release: String,
    /// Where Debian's packages come from.
    #[arg(long, value_name = "URL", default_value = "http://deb.debian.org/debian")]
    pub(crate) debian_mirror: String,
    /// Where the Docker Engine is.
    #[arg(
        long,
        value_name = "URL",
        env = "DOCKER_HOST",
        default_value = "unix:///var/run/docker.sock"
    )]
    pub(crate) docker_host: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Describe {
    /// Show a cluster as a tree: what works, what does not, and why.
    Cluster(DescribeCluster),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Get {
    /// Print the kubeconfig of a workload cluster.
    Kubeconfig(GetKubeconfig),
}

/// How to log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people on a terminal, JSON elsewhere.
    Auto,
    /// For people.
    Human,
    /// One JSON object per line.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct Up {
    /// The folder that holds everything; created where it is missing.
    #[arg(long, value_name = "DIR", env = "CAPSTAN_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:7443")]
    pub(crate) listen: SocketAddr,
    /// The host name or address that clients are told; by default the one listened on.
    #[arg(long, value_name = "HOST")]
    pub(crate) advertise: Option<String>,
    #[command(flatten)]
    pub(crate) docker: DockerEngine,
    /// How to log.
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) log_format: LogFormat,
    /// What to log: a level, or levels by module such as `info,capstan_core=debug`.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub(crate) log_level: String,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// A folder to keep everything in; by default a temporary one that goes with the demo.
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Stay up when the cluster runs, until Ctrl-C.
    #[arg(long)]
    pub(crate) keep: bool,
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    #[command(flatten)]
    pub(crate) docker: DockerEngine,
    /// The manifest to apply; by default three control plane machines and three workers in memory.
    #[arg(long, value_name = "MANIFEST")]
    pub(crate) file: Option<PathBuf>,
}

/// The Docker Engine of machines in containers.
#[derive(Debug, Clone, Args)]
pub(crate) struct DockerEngine {
    /// Where the Docker Engine of machines in containers is.
    #[arg(
        long,
        value_name = "URL",
        env = "DOCKER_HOST",
        default_value = "unix:///var/run/docker.sock"
    )]
    pub(crate) docker_host: String,
    /// The repository of node images, whose tags are versions of Kubernetes.
    #[arg(
        long,
        value_name = "REPOSITORY",
        env = "CAPSTAN_NODE_IMAGE_REPOSITORY",
        default_value = "kindest/node"
    )]
    pub(crate) node_image_repository: String,
}

impl DockerEngine {
    /// As the provider is told.
    pub(crate) fn settings(self) -> capstan_infra_docker::Settings {
        capstan_infra_docker::Settings {
            engine: self.docker_host,
            node_image_repository: self.node_image_repository,
        }
    }
}

/// Which management plane, and which namespace of it.
#[derive(Debug, Clone, Args)]
pub(crate) struct Place {
    /// The kubeconfig of the management plane; by default found as kubectl finds it.
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig; by default the current one.
    #[arg(long, value_name = "NAME")]
    pub(crate) kubeconfig_context: Option<String>,
    /// The namespace of the cluster; by default the context's.
    #[arg(short, long, value_name = "NAME")]
    pub(crate) namespace: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct GetKubeconfig {
    /// The name of the cluster.
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line, as in clusterctl"
)]
#[derive(Debug, Args)]
pub(crate) struct DescribeCluster {
    /// The name of the cluster.
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) place: Place,
    /// Show all conditions of these objects: kinds or KIND/NAME separated by commas, or `all`; with `+` behind it, only
    /// the conditions that say something.
    #[arg(long, value_name = "LIST", default_value = "", value_parser = no_whitespace)]
    pub(crate) show_conditions: String,
    /// Show MachineSets.
    #[arg(long)]
    pub(crate) show_machinesets: bool,
    /// Show ClusterResourceSets.
    #[arg(long)]
    pub(crate) show_resourcesets: bool,
    /// Show the templates that machines are made from.
    #[arg(long)]
    pub(crate) show_templates: bool,
    /// Show infrastructure and bootstrap objects of machines even if they are ready.
    #[arg(long)]
    pub(crate) echo: bool,
    /// Show machines that say the same as one group.
    #[arg(long, default_value_t = true, action = ArgAction::Set, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_name = "BOOL")]
    pub(crate) grouping: bool,
    /// Use colours; by default on a terminal, and never if NO_COLOR is set.
    #[arg(short, long, action = ArgAction::Set, num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_name = "BOOL")]
    pub(crate) color: Option<bool>,
}

fn no_whitespace(text: &str) -> Result<String, String> {
    if text.split(',').any(|it| it.trim() != it) {
        return Err("no whitespace is allowed".to_owned());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn describe(flags: &[&str]) -> Result<DescribeCluster, clap::Error> {
        let all = ["capstan", "describe", "cluster", "one"].iter().chain(flags);
        match Arguments::try_parse_from(all)?.verb {
            Verb::Describe(Describe::Cluster(arguments)) => Ok(arguments),
            _ => unreachable!(),
        }
    }

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn switches_are_written_as_in_clusterctl() {
        let plain = describe(&[]).unwrap();
        assert!(plain.grouping && plain.color.is_none());
        assert!(!describe(&["--grouping=false"]).unwrap().grouping);
        assert_eq!(describe(&["-c"]).unwrap().color, Some(true));
        assert_eq!(describe(&["--color=false"]).unwrap().color, Some(false));
        assert_eq!(
            describe(&["--show-conditions", "all+"]).unwrap().show_conditions,
            "all+"
        );
        assert!(describe(&["--show-conditions", "a, b"]).is_err());
    }
}
