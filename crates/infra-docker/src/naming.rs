//! What containers, labels and images are called.

use capstan_base::Version;
use sha2::{Digest as _, Sha256};

/// The network of all containers.
pub const NETWORK: &str = "capstan";
/// The label of the network.
pub const NETWORK_LABEL: &str = "io.capstan.network";
/// The label that says which object a container belongs to: `Kind/namespace/name`.
pub const OWNER_LABEL: &str = "io.capstan.owner";
/// The label with the UID of that object.
pub const OWNER_UID_LABEL: &str = "io.capstan.owner-uid";
/// The label with the Cluster's name, as kind and upstream's provider set it.
pub const CLUSTER_LABEL: &str = "io.x-k8s.kind.cluster";
/// The label with what a container is to its cluster, as kind and upstream's provider set it.
pub const ROLE_LABEL: &str = "io.x-k8s.kind.role";
/// The label with the failure domain, as upstream's provider sets it.
pub const FAILURE_DOMAIN_LABEL: &str = "io.x-k8s.kind.failure-domain";

/// The longest name that a container may have here: it is its host name too.
const LONGEST: usize = 63;

/// The name of the load balancer's container.
// Parity: upstream test/infrastructure/docker/internal/docker/loadbalancer.go, containerName
pub fn load_balancer(cluster: &str) -> String {
    fitting(&format!("{cluster}-lb"))
}

/// The name of a Machine's container, which its node has too.
// Parity: upstream test/infrastructure/docker/internal/docker/util.go, MachineContainerName
pub fn machine(cluster: &str, machine: &str) -> String {
    let name = if machine.starts_with(cluster) {
        machine.to_owned()
    } else {
        format!("{cluster}-{machine}")
    };
    fitting(&name)
}

/// The name itself if a host can have it; else its beginning and a hash of all of it.
fn fitting(name: &str) -> String {
    if name.len() <= LONGEST {
        return name.to_owned();
    }
    let hash = hex(&Sha256::digest(name.as_bytes())[..4]);
    let head = name.get(..LONGEST - hash.len() - 1).unwrap_or(name);
    format!("{}-{hash}", head.trim_end_matches(['-', '.']))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

/// The identity of a machine, equal to its node's.
// Parity: upstream test/infrastructure/docker/internal/docker/machine.go, ProviderID
pub fn provider_id(container: &str) -> String {
    format!("docker:////{container}")
}

/// The image of a node: the one that is asked for, or that of its version.
pub fn node_image(custom: &str, repository: &str, version: &str) -> String {
    if !custom.is_empty() {
        return custom.to_owned();
    }
    // Image tags know no `+`.
    let tag = Version::parse_tolerant(version).map_or_else(|_| version.to_owned(), |it| it.to_string());
    format!("{repository}:{}", tag.replace('+', "_"))
}

/// The image of the load balancer.
// Parity: upstream test/infrastructure/docker/internal/loadbalancer/const.go
pub fn load_balancer_image(repository: &str, tag: &str) -> String {
    let or = |text: &str, default: &str| if text.is_empty() { default } else { text }.to_owned();
    format!(
        "{}/haproxy:{}",
        or(repository, "kindest"),
        or(tag, "v20230606-42a2262b")
    )
}

/// An address of the upper half of a subnet for a container, by its name: the same name gets the same address again
/// after a restart of the Engine. Each attempt gives another.
pub fn address(subnet: &str, container: &str, attempt: u32) -> Option<String> {
    let (base, bits) = subnet.split_once('/')?;
    let base: u32 = base.parse::<std::net::Ipv4Addr>().ok()?.into();
    let bits: u32 = bits.parse().ok().filter(|it| (8..=24).contains(it))?;
    let half = 1_u32 << (31 - bits);
    let digest = Sha256::digest(format!("{container}/{attempt}").as_bytes());
    let number = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
    // Neither the first address of the half nor the last, which is the broadcast address.
    let offset = half + 1 + number % (half - 2);
    Some(std::net::Ipv4Addr::from((base & (u32::MAX << (32 - bits))) + offset).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_called_as_upstream_calls_it() {
        assert_eq!(machine("demo", "demo-workers-x7k2p"), "demo-workers-x7k2p");
        assert_eq!(machine("demo", "workers-x7k2p"), "demo-workers-x7k2p");
        assert_eq!(load_balancer("demo"), "demo-lb");
        assert_eq!(provider_id("demo-workers-x7k2p"), "docker:////demo-workers-x7k2p");
    }

    #[test]
    fn a_name_that_no_host_can_have_is_cut_and_stays_unique() {
        let long = "a".repeat(70);
        let other = "a".repeat(71);
        assert_eq!(machine("a", &long).len(), LONGEST);
        assert_ne!(machine("a", &long), machine("a", &other));
    }

    #[test]
    fn images_go_by_version_unless_one_is_asked_for() {
        let named = |custom, version| node_image(custom, "kindest/node", version);
        assert_eq!(named("", "v1.36.3"), "kindest/node:v1.36.3");
        assert_eq!(named("", "1.36.3"), "kindest/node:v1.36.3");
        assert_eq!(named("", "v1.36.3+vendor.1"), "kindest/node:v1.36.3_vendor.1");
        assert_eq!(named("my/node:x", "v1.36.3"), "my/node:x");
        assert_eq!(load_balancer_image("", ""), "kindest/haproxy:v20230606-42a2262b");
        assert_eq!(load_balancer_image("mirror/kind", "v1"), "mirror/kind/haproxy:v1");
    }

    #[test]
    fn an_address_lies_in_the_upper_half_and_goes_by_name() {
        let of = |name, attempt| address("172.30.0.0/16", name, attempt).unwrap();
        assert_eq!(of("demo-lb", 0), of("demo-lb", 0));
        assert_ne!(of("demo-lb", 0), of("demo-lb", 1));
        for attempt in 0..500 {
            let octets = of("x", attempt).parse::<std::net::Ipv4Addr>().unwrap().octets();
            assert_eq!(octets[..2], [172, 30]);
            assert!(octets[2] >= 128, "{octets:?}");
            assert!(octets != [172, 30, 128, 0] && octets != [172, 30, 255, 255]);
        }
        assert_eq!(address("fd00::/64", "x", 0), None);
    }
}
