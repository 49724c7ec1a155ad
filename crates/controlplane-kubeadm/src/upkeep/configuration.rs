//! What kubeadm's configuration in the workload cluster has to say, so that the next machine joins with what the
//! control plane asks for now.

use capstan_api::{
    bootstrap::{ClusterConfiguration, Dns},
    controlplane::KubeadmControlPlane,
};
use capstan_base::Version;
use capstan_kubeadm::{ClusterDocument, KubeadmApi, cluster_configuration, read_cluster_configuration};
use k8s_openapi::api::core::v1::ConfigMap;

use crate::intent::with_local_mode;

/// The entry of the ConfigMap.
pub(super) const ENTRY: &str = "ClusterConfiguration";

/// The new text of the entry before a rollout; none if it is right already.
///
/// # Errors
/// A sentence: what is there cannot be read, or the version is not supported.
// Parity: upstream controlplane/kubeadm/reconcilers/kubeadmcontrolplane/update.go:updateControlPlane
pub(super) fn for_rollout(
    stored: &ConfigMap,
    control_plane: &KubeadmControlPlane,
) -> Result<Option<String>, String> {
    let wanted = with_local_mode(
        &control_plane.spec.kubeadm_config_spec,
        &control_plane.spec.version,
    )
    .cluster_configuration;
    let is_given =
        control_plane.spec.kubeadm_config_spec.cluster_configuration != ClusterConfiguration::default();
    changed(stored, &control_plane.spec.version, |configuration| {
        if is_given {
            take_over(configuration, wanted);
        }
    })
}

/// The new text of the entry with another image of CoreDNS; none if it is right already.
///
/// # Errors
/// As [`for_rollout`].
pub(super) fn for_dns(
    stored: &ConfigMap,
    control_plane: &KubeadmControlPlane,
) -> Result<Option<String>, String> {
    let Dns {
        image_repository,
        image_tag,
    } = control_plane
        .spec
        .kubeadm_config_spec
        .cluster_configuration
        .dns
        .clone();
    changed(stored, &control_plane.spec.version, |configuration| {
        configuration.dns = Dns {
            image_repository,
            image_tag,
        };
    })
}

/// Everything that may change in the life of a control plane; the rest belongs to the day on which it was made.
fn take_over(configuration: &mut ClusterConfiguration, wanted: ClusterConfiguration) {
    if wanted.image_repository.as_ref().is_some_and(|it| !it.is_empty()) {
        configuration.image_repository = wanted.image_repository;
    }
    configuration.feature_gates = wanted.feature_gates;
    configuration.api_server = wanted.api_server;
    configuration.controller_manager = wanted.controller_manager;
    configuration.scheduler = wanted.scheduler;
    configuration.certificate_validity_period_days = wanted.certificate_validity_period_days;
    configuration.encryption_algorithm = wanted.encryption_algorithm;
    // Local and external etcd exclude each other, and one never becomes the other.
    match wanted.etcd.external {
        Some(external) => configuration.etcd.external = Some(external),
        None => configuration.etcd.local = wanted.etcd.local,
    }
}

fn changed(
    stored: &ConfigMap,
    version: &str,
    change: impl FnOnce(&mut ClusterConfiguration),
) -> Result<Option<String>, String> {
    let text = stored
        .data
        .as_ref()
        .and_then(|it| it.get(ENTRY))
        .ok_or_else(|| format!("it has no entry {ENTRY}"))?;
    let before = read_cluster_configuration(text).map_err(|error| format!("{ENTRY}: {error}"))?;
    let target = Version::parse_tolerant(version).map_err(|error| error.to_string())?;
    let mut after = before.clone();
    change(&mut after.configuration);
    after.facts.kubernetes_version = Some(format!("v{}", version.trim_start_matches('v')));
    if after == before {
        return Ok(None);
    }
    let api = KubeadmApi::for_kubernetes(&target).map_err(|error| error.to_string())?;
    let ClusterDocument {
        configuration, facts, ..
    } = &after;
    let rendered = cluster_configuration(api, configuration, facts);
    Ok((rendered != *text).then_some(rendered))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn stored(text: &str) -> ConfigMap {
        serde_json::from_value(json!({ "data": { ENTRY: text } })).expect("a ConfigMap")
    }

    fn control_plane(version: &str, configuration: serde_json::Value) -> KubeadmControlPlane {
        let mut control_plane = KubeadmControlPlane::new("ns", "cp");
        version.clone_into(&mut control_plane.spec.version);
        control_plane.spec.kubeadm_config_spec.cluster_configuration =
            serde_json::from_value(configuration).expect("a configuration");
        control_plane
    }

    const STORED: &str = "\
apiServer:
  extraArgs:
    v: \"2\"
apiVersion: kubeadm.k8s.io/v1beta3
clusterName: blue
controllerManager: {}
dns: {}
etcd:
  local:
    dataDir: /var/lib/etcd
featureGates:
  Old: true
imageRepository: registry.k8s.io
kind: ClusterConfiguration
kubernetesVersion: v1.30.5
networking:
  dnsDomain: cluster.local
scheduler: {}
";

    #[test]
    fn a_rollout_brings_the_version_and_what_the_control_plane_asks_for() {
        let given = json!({ "apiServer": { "extraArgs": [{ "name": "v", "value": "4" }] },
            "etcd": { "local": { "dataDir": "/var/lib/etcd" } }, "featureGates": { "New": false } });
        let wanted = control_plane("v1.31.2", given);
        let text = for_rollout(&stored(STORED), &wanted)
            .expect("readable")
            .expect("a change");
        let expected = "\
apiServer:
  extraArgs:
  - name: v
    value: \"4\"
apiVersion: kubeadm.k8s.io/v1beta4
clusterName: blue
controllerManager: {}
dns: {}
etcd:
  local:
    dataDir: /var/lib/etcd
featureGates:
  ControlPlaneKubeletLocalMode: true
  New: false
imageRepository: registry.k8s.io
kind: ClusterConfiguration
kubernetesVersion: v1.31.2
networking:
  dnsDomain: cluster.local
proxy: {}
scheduler: {}
";
        assert_eq!(text, expected);
        let again = for_rollout(&stored(&text), &wanted);
        assert_eq!(again, Ok(None), "what was written is right");
    }

    #[test]
    fn a_control_plane_without_a_configuration_changes_the_version_only() {
        let text = for_rollout(&stored(STORED), &control_plane("v1.30.6", json!({}))).expect("readable");
        assert_eq!(text, Some(STORED.replace("v1.30.5", "v1.30.6")));
    }

    #[test]
    fn the_image_of_dns_is_named_there_too() {
        let given = json!({ "dns": { "imageTag": "v1.12.0" } });
        let text = for_dns(&stored(STORED), &control_plane("v1.30.5", given)).expect("readable");
        assert_eq!(text, Some(STORED.replace("dns: {}", "dns:\n  imageTag: v1.12.0")));
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_entry() {
        let empty = ConfigMap::default();
        assert_eq!(
            for_rollout(&empty, &control_plane("v1.31.0", json!({}))),
            Err("it has no entry ClusterConfiguration".to_owned())
        );
        let error =
            for_rollout(&stored("kind: Pod"), &control_plane("v1.31.0", json!({}))).expect_err("an error");
        assert!(
            error.starts_with("ClusterConfiguration: it is \"Pod\""),
            "{error}"
        );
    }
}
