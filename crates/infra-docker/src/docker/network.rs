//! The network that all containers of this provider share.

use bollard::{
    models::{Ipam, IpamConfig, NetworkCreateRequest, NetworkInspect},
    query_parameters::InspectNetworkOptions,
};

use super::{Docker, DockerError};
use crate::naming;

/// Where the provider's network may lie: the first that the Engine's host has free.
const SUBNETS: [&str; 8] = [
    "172.30.0.0/16",
    "172.29.0.0/16",
    "172.28.0.0/16",
    "172.27.0.0/16",
    "172.26.0.0/16",
    "172.25.0.0/16",
    "10.213.0.0/16",
    "192.168.224.0/20",
];

/// A network as the provider needs to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    /// Its name.
    pub name: String,
    /// Its subnet, if addresses in it may be chosen; the Engine chooses them otherwise.
    pub subnet: Option<String>,
}

impl Docker {
    /// The network of a name, made if it is not there. One that others made is used as it is.
    pub async fn network(&self, name: &str) -> Result<Network, DockerError> {
        if let Some(found) = self.find_network(name).await? {
            return Ok(found);
        }
        let mut refusal = None;
        for subnet in SUBNETS {
            let made = self.client().await?.create_network(request(name, subnet)).await;
            match made.map_err(|it| self.error("create network", name, it)) {
                Ok(_) => {
                    return Ok(Network {
                        name: name.to_owned(),
                        subnet: Some(subnet.to_owned()),
                    });
                }
                Err(error) if error.says("overlaps") => refusal = Some(error),
                Err(error) if error.is_conflict() => {
                    if let Some(found) = self.find_network(name).await? {
                        return Ok(found);
                    }
                    refusal = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        Err(refusal.unwrap_or_else(|| DockerError::refused("create network", name, "no subnet is free")))
    }

    async fn find_network(&self, name: &str) -> Result<Option<Network>, DockerError> {
        let found = self
            .client()
            .await?
            .inspect_network(name, None::<InspectNetworkOptions>)
            .await;
        match found.map_err(|it| self.error("inspect network", name, it)) {
            Ok(network) => Ok(Some(Network {
                name: name.to_owned(),
                subnet: subnet(&network),
            })),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes the network if it is ours and nothing uses it any more.
    pub async fn remove_unused_network(&self, name: &str) -> Result<(), DockerError> {
        let is_ours = self
            .find_network(name)
            .await?
            .is_some_and(|it| it.subnet.is_some());
        if !is_ours || !self.labelled(naming::OWNER_LABEL).await?.is_empty() {
            return Ok(());
        }
        let removed = self.client().await?.remove_network(name).await;
        match removed.map_err(|it| self.error("remove network", name, it)) {
            Err(error) if error.is_not_found() || error.says("active endpoints") => Ok(()),
            other => other,
        }
    }
}

fn request(name: &str, subnet: &str) -> NetworkCreateRequest {
    NetworkCreateRequest {
        name: name.to_owned(),
        driver: Some("bridge".to_owned()),
        ipam: Some(Ipam {
            config: Some(vec![IpamConfig {
                subnet: Some(subnet.to_owned()),
                ..IpamConfig::default()
            }]),
            ..Ipam::default()
        }),
        options: Some(
            [(
                "com.docker.network.bridge.enable_ip_masquerade".to_owned(),
                "true".to_owned(),
            )]
            .into(),
        ),
        labels: Some([(naming::NETWORK_LABEL.to_owned(), String::new())].into()),
        ..NetworkCreateRequest::default()
    }
}

/// The subnet of a network that we made: only there the Engine lets addresses be chosen.
fn subnet(network: &NetworkInspect) -> Option<String> {
    let is_ours = network
        .labels
        .as_ref()
        .is_some_and(|it| it.contains_key(naming::NETWORK_LABEL));
    let configs = network.ipam.as_ref()?.config.as_ref()?;
    configs
        .iter()
        .find_map(|it| it.subnet.clone())
        .filter(|_| is_ours)
}
