//! Which images kube-proxy and CoreDNS have to run.
// Parity: upstream controlplane/kubeadm/pkg/workload_cluster.go:UpdateKubeProxyImageInfo,
// workload_cluster_coredns.go:UpdateCoreDNS

use capstan_api::controlplane::KubeadmControlPlane;
use capstan_base::Version;
use k8s_openapi::api::core::v1::PodTemplateSpec;

use super::image::{Image, tag_of};

/// The oldest CoreDNS that can be upgraded from. Since then no release has taken anything away that a Corefile may hold
/// (coredns/corefile-migration, its table of versions), so an upgrade is another image and nothing else. No Kubernetes
/// that is still supported came with an older one.
const OLDEST_DNS: &str = "1.8.3";
/// From this version on, the image on the public registries has the path `coredns/coredns`.
const DNS_MOVED: &str = "1.8.0";
/// The public registries.
const PUBLIC_REGISTRIES: [&str; 2] = ["registry.k8s.io", "k8s.gcr.io"];

/// The image of a container.
pub(super) fn image_of<'a>(template: &'a PodTemplateSpec, container: &str) -> Option<&'a str> {
    let containers = &template.spec.as_ref()?.containers;
    containers
        .iter()
        .find(|it| it.name == container)?
        .image
        .as_deref()
}

/// The image that kube-proxy has to run: the control plane's version, from the configured repository or where it is.
///
/// # Errors
/// A sentence: the present image is named by its digest, so another version of it cannot be named.
pub(super) fn kube_proxy(present: &str, control_plane: &KubeadmControlPlane) -> Result<String, String> {
    let image = Image::parse(present);
    if !image.digest.is_empty() {
        return Err(format!(
            "the image {present} of kube-proxy is named by its digest: name it by its tag, or set the annotation {}",
            capstan_api::well_known::annotation::SKIP_KUBE_PROXY
        ));
    }
    let repository = configured(control_plane).unwrap_or(image.repository);
    Ok(Image {
        repository,
        name: image.name,
        tag: tag_of(&control_plane.spec.version),
        digest: String::new(),
    }
    .to_string())
}

/// The image that CoreDNS has to run.
///
/// # Errors
/// A sentence: the versions cannot be read, it would be a downgrade, or the present version is too old.
pub(super) fn coredns(present: &str, control_plane: &KubeadmControlPlane) -> Result<String, String> {
    let image = Image::parse(present);
    let dns = &control_plane.spec.kubeadm_config_spec.cluster_configuration.dns;
    let given = |it: &Option<String>| it.clone().filter(|it| !it.is_empty());
    let repository = given(&dns.image_repository)
        .map(|it| it.trim_end_matches('/').to_owned())
        .or_else(|| configured(control_plane))
        .unwrap_or_else(|| image.repository.clone());
    let tag = given(&dns.image_tag).unwrap_or_else(|| image.tag.clone());
    let (from, to) = (version(&image.tag)?, version(&tag)?);
    let moved = version(DNS_MOVED)?;
    let name = if PUBLIC_REGISTRIES.contains(&repository.as_str())
        && image.name == "coredns"
        && to.release().precedence(&moved).is_ge()
    {
        "coredns/coredns".to_owned()
    } else {
        image.name.clone()
    };
    let wanted = Image {
        repository,
        name,
        tag: tag.clone(),
        digest: String::new(),
    }
    .to_string();
    if wanted == present {
        return Ok(wanted);
    }
    if from.release().precedence(&to.release()).is_gt() {
        return Err(format!(
            "spec.kubeadmConfigSpec.clusterConfiguration.dns.imageTag {tag} is older than the CoreDNS that runs, {}",
            image.tag
        ));
    }
    if from.release().precedence(&version(OLDEST_DNS)?).is_lt() {
        return Err(format!(
            "CoreDNS {} is too old to be upgraded: its Corefile may hold what newer versions do not read",
            image.tag
        ));
    }
    Ok(wanted)
}

fn configured(control_plane: &KubeadmControlPlane) -> Option<String> {
    let configuration = &control_plane.spec.kubeadm_config_spec.cluster_configuration;
    let repository = configuration.image_repository.as_ref()?;
    Some(repository.trim_end_matches('/').to_owned()).filter(|it| !it.is_empty())
}

fn version(tag: &str) -> Result<Version, String> {
    Version::parse_image_tag(tag)
        .map_err(|error| format!("the tag {tag:?} of CoreDNS's image is no version: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn control_plane(configuration: Value) -> KubeadmControlPlane {
        let mut control_plane = KubeadmControlPlane::new("ns", "cp");
        "v1.36.1+build.2".clone_into(&mut control_plane.spec.version);
        control_plane.spec.kubeadm_config_spec.cluster_configuration =
            serde_json::from_value(configuration).expect("a configuration");
        control_plane
    }

    #[test]
    fn kube_proxy_follows_the_version_and_the_repository() {
        let table = [
            (
                "registry.k8s.io/kube-proxy:v1.35.0",
                json!({}),
                Ok("registry.k8s.io/kube-proxy:v1.36.1_build.2"),
            ),
            (
                "registry.k8s.io/kube-proxy:v1.36.1_build.2",
                json!({ "imageRepository": "example.org/k8s/" }),
                Ok("example.org/k8s/kube-proxy:v1.36.1_build.2"),
            ),
            (
                "registry.k8s.io/kube-proxy@sha256:ab",
                json!({}),
                Err("is named by its digest"),
            ),
        ];
        for (present, configuration, expected) in table {
            let image = kube_proxy(present, &control_plane(configuration));
            match expected {
                Ok(expected) => assert_eq!(image.as_deref(), Ok(expected), "{present}"),
                Err(part) => assert!(image.expect_err("an error").contains(part), "{present}"),
            }
        }
    }

    #[test]
    fn coredns_follows_what_is_configured_and_only_upwards() {
        let table = [
            (
                "registry.k8s.io/coredns/coredns:v1.11.3",
                json!({}),
                Ok("registry.k8s.io/coredns/coredns:v1.11.3"),
            ),
            (
                "registry.k8s.io/coredns/coredns:v1.11.3",
                json!({ "dns": { "imageTag": "v1.12.1" } }),
                Ok("registry.k8s.io/coredns/coredns:v1.12.1"),
            ),
            (
                "registry.k8s.io/coredns/coredns:v1.11.3",
                json!({ "imageRepository": "example.org/k8s", "dns": { "imageRepository": "example.org/dns/" } }),
                Ok("example.org/dns/coredns:v1.11.3"),
            ),
            (
                "example.org/coredns:v1.11.3",
                json!({ "imageRepository": "registry.k8s.io" }),
                Ok("registry.k8s.io/coredns/coredns:v1.11.3"),
            ),
            (
                "registry.k8s.io/coredns/coredns:v1.12.1",
                json!({ "dns": { "imageTag": "v1.11.3" } }),
                Err("v1.11.3 is older than the CoreDNS that runs, v1.12.1"),
            ),
            (
                "k8s.gcr.io/coredns:1.6.7",
                json!({ "dns": { "imageTag": "v1.11.3" } }),
                Err("CoreDNS 1.6.7 is too old"),
            ),
            (
                "example.org/coredns:latest",
                json!({}),
                Err("\"latest\" of CoreDNS's image is no version"),
            ),
        ];
        for (present, configuration, expected) in table {
            let image = coredns(present, &control_plane(configuration));
            match expected {
                Ok(expected) => assert_eq!(image.as_deref(), Ok(expected), "{present}"),
                Err(part) => {
                    let error = image.expect_err("an error");
                    assert!(error.contains(part), "{present}: {error}");
                }
            }
        }
    }
}
