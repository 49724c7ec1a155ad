//! The containers as the Engine is asked to make them. Pure.

use std::collections::{BTreeMap, HashMap};

use bollard::models::{
    ContainerCreateBody, DeviceMapping, EndpointIpamConfig, EndpointSettings, HostConfig,
    HostConfigCgroupnsModeEnum, Mount, MountType, NetworkingConfig, PortBinding, RestartPolicy,
    RestartPolicyNameEnum,
};
use capstan_api::infrastructure::ExtraMount;

use crate::{docker::Privileges, haproxy, naming};

/// What a container is to its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It runs the API server, etcd and the rest of the control plane.
    ControlPlane,
    /// It runs workloads only.
    Worker,
    /// It stands in front of the API servers.
    LoadBalancer,
}

impl Role {
    /// As kind and upstream's provider write it in labels.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::ControlPlane => "control-plane",
            Self::Worker => "worker",
            Self::LoadBalancer => "external-load-balancer",
        }
    }
}

/// Whose a container is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Belonging {
    /// The Cluster's name.
    pub cluster: String,
    /// The object: `Kind/namespace/name`.
    pub owner: String,
    /// Its UID.
    pub uid: String,
    /// What the container is to the cluster.
    pub role: Role,
    /// Where it is placed.
    pub failure_domain: Option<String>,
}

impl Belonging {
    fn labels(&self) -> HashMap<String, String> {
        let mut labels: BTreeMap<&str, &str> = BTreeMap::from([
            (naming::CLUSTER_LABEL, self.cluster.as_str()),
            (naming::ROLE_LABEL, self.role.as_str()),
            (naming::OWNER_LABEL, self.owner.as_str()),
            (naming::OWNER_UID_LABEL, self.uid.as_str()),
        ]);
        if let Some(domain) = &self.failure_domain {
            labels.insert(naming::FAILURE_DOMAIN_LABEL, domain);
        }
        labels
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect()
    }
}

/// Where a container is connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The network.
    pub network: String,
    /// The address in it; the Engine's choice if absent.
    pub address: Option<String>,
}

impl Place {
    fn config(&self) -> NetworkingConfig {
        let endpoint = EndpointSettings {
            ipam_config: self.address.clone().map(|address| EndpointIpamConfig {
                ipv4_address: Some(address),
                ..EndpointIpamConfig::default()
            }),
            ..EndpointSettings::default()
        };
        NetworkingConfig {
            endpoints_config: Some([(self.network.clone(), endpoint)].into()),
        }
    }
}

/// A container that becomes a node.
// Parity: upstream test/infrastructure/docker/internal/docker/manager.go, createNode
pub(crate) fn node(
    name: &str,
    image: &str,
    belonging: &Belonging,
    place: &Place,
    extra_mounts: &[ExtraMount],
    privileges: &Privileges,
) -> ContainerCreateBody {
    let mut env = vec!["container=docker".to_owned()];
    if belonging.role == Role::ControlPlane {
        env.push("KUBECONFIG=/etc/kubernetes/admin.conf".to_owned());
    }
    let host = HostConfig {
        network_mode: Some(place.network.clone()),
        cgroupns_mode: Some(HostConfigCgroupnsModeEnum::PRIVATE),
        tmpfs: Some(["/tmp", "/run"].map(|it| (it.to_owned(), String::new())).into()),
        mounts: Some(mounts(extra_mounts)),
        // The kernel's modules, where the host has some.
        binds: Some(vec!["/lib/modules:/lib/modules:ro".to_owned()]),
        init: Some(false),
        // The Engine starts nodes again after its own restart, with the addresses that they had.
        restart_policy: Some(restart(RestartPolicyNameEnum::UNLESS_STOPPED)),
        ..privileged(privileges)
    };
    ContainerCreateBody {
        hostname: Some(name.to_owned()),
        image: Some(image.to_owned()),
        // systemd and the entrypoint's words go to the log of the container.
        tty: Some(true),
        env: Some(env),
        labels: Some(belonging.labels()),
        // containerd needs a real file system below /var, not a layer of the image.
        volumes: Some(vec!["/var".to_owned()]),
        stop_signal: Some("SIGRTMIN+3".to_owned()),
        host_config: Some(host),
        networking_config: Some(place.config()),
        ..ContainerCreateBody::default()
    }
}

/// The container in front of the API servers.
pub(crate) fn load_balancer(
    image: &str,
    belonging: &Belonging,
    place: &Place,
    port: u16,
) -> ContainerCreateBody {
    let port = format!("{port}/tcp");
    let host = HostConfig {
        network_mode: Some(place.network.clone()),
        restart_policy: Some(restart(RestartPolicyNameEnum::UNLESS_STOPPED)),
        // A port of the host for those who cannot reach the network of containers.
        port_bindings: Some(
            [(
                port.clone(),
                Some(vec![PortBinding {
                    host_ip: Some("127.0.0.1".to_owned()),
                    host_port: Some(String::new()),
                }]),
            )]
            .into(),
        ),
        ..HostConfig::default()
    };
    ContainerCreateBody {
        image: Some(image.to_owned()),
        entrypoint: Some(haproxy::COMMAND.map(str::to_owned).to_vec()),
        exposed_ports: Some(vec![port]),
        labels: Some(belonging.labels()),
        host_config: Some(host),
        networking_config: Some(place.config()),
        ..ContainerCreateBody::default()
    }
}

fn restart(name: RestartPolicyNameEnum) -> RestartPolicy {
    RestartPolicy {
        name: Some(name),
        maximum_retry_count: None,
    }
}

/// Folders and files of the host that a node is asked to see. One that does not exist is an error of the Engine's.
fn mounts(asked: &[ExtraMount]) -> Vec<Mount> {
    let mount = |it: &ExtraMount| Mount {
        source: Some(it.host_path.clone()),
        target: Some(it.container_path.clone()),
        read_only: Some(it.read_only),
        typ: Some(MountType::BIND),
        ..Mount::default()
    };
    asked.iter().map(mount).collect()
}

/// How much a node may do: everything, or what the Engine grants of it.
fn privileged(privileges: &Privileges) -> HostConfig {
    let unconfined = |more: &[&str]| {
        let options = ["seccomp=unconfined", "apparmor=unconfined"];
        Some(options.iter().chain(more).map(|it| (*it).to_owned()).collect())
    };
    match privileges {
        Privileges::All | Privileges::Missing(_) => HostConfig {
            privileged: Some(true),
            security_opt: unconfined(&[]),
            ..HostConfig::default()
        },
        Privileges::Capabilities(granted) => HostConfig {
            cap_drop: Some(vec!["ALL".to_owned()]),
            cap_add: Some(granted.clone()),
            security_opt: unconfined(&[]),
            // What `systempaths=unconfined` says on the command line.
            masked_paths: Some(Vec::new()),
            readonly_paths: Some(Vec::new()),
            // Without it, the devices of privileged pods are refused.
            device_cgroup_rules: Some(vec!["a *:* rwm".to_owned()]),
            // The kubelet ends without it.
            devices: Some(vec![DeviceMapping {
                path_on_host: Some("/dev/kmsg".to_owned()),
                path_in_container: Some("/dev/kmsg".to_owned()),
                cgroup_permissions: Some("rwm".to_owned()),
            }]),
            ..HostConfig::default()
        },
    }
}
