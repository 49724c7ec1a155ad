//! `ClusterConfiguration` read back from the file that kubeadm keeps in a workload cluster.
//! Source of the forms: upstream `bootstrap/kubeadm/pkg/types/utils.go:UnmarshalClusterConfiguration`.

use capstan_api::bootstrap::ClusterConfiguration;
use capstan_base::duration;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use crate::{ClusterFacts, KubeadmApi};

const SECONDS_OF_A_DAY: i64 = 24 * 3600;

/// A `ClusterConfiguration` document, in the hub's terms.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterDocument {
    /// The API version it was written in.
    pub api: KubeadmApi,
    /// What Cluster API's own type holds.
    pub configuration: ClusterConfiguration,
    /// What Cluster API keeps elsewhere.
    pub facts: ClusterFacts,
}

/// Why a text is not a `ClusterConfiguration`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It is not YAML.
    #[error("it is not YAML: {0}")]
    Yaml(String),
    /// It is a document of another kind, or of a version that nothing reads.
    #[error(
        "it is {kind:?} of {api_version:?}, not a ClusterConfiguration of kubeadm.k8s.io/v1beta3 or v1beta4"
    )]
    Kind {
        /// The `apiVersion` that it says.
        api_version: String,
        /// The `kind` that it says.
        kind: String,
    },
    /// A field has a value that it cannot have.
    #[error("{field}: {why}")]
    Field {
        /// The field's path.
        field: &'static str,
        /// What is wrong with it.
        why: String,
    },
}

/// Reads a `ClusterConfiguration` document of any API version that kubeadm still reads.
///
/// # Errors
/// [`ReadError`]: the text is no such document.
pub fn read_cluster_configuration(text: &str) -> Result<ClusterDocument, ReadError> {
    let mut document: Value =
        serde_saphyr::from_str(text).map_err(|error| ReadError::Yaml(error.to_string()))?;
    let api = api_of(&document)?;
    let facts = facts(&document)?;
    days(
        &mut document,
        "certificateValidityPeriod",
        "certificateValidityPeriodDays",
    )?;
    days(
        &mut document,
        "caCertificateValidityPeriod",
        "caCertificateValidityPeriodDays",
    )?;
    for pointer in ["/apiServer", "/controllerManager", "/scheduler", "/etcd/local"] {
        if let Some(Value::Object(section)) = document.pointer_mut(pointer) {
            list_arguments(section);
        }
    }
    let configuration = ClusterConfiguration::deserialize(document).map_err(|error| ReadError::Field {
        field: "ClusterConfiguration",
        why: error.to_string(),
    })?;
    Ok(ClusterDocument {
        api,
        configuration,
        facts,
    })
}

fn api_of(document: &Value) -> Result<KubeadmApi, ReadError> {
    let text = |field: &str| document[field].as_str().unwrap_or_default().to_owned();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    [KubeadmApi::V1Beta3, KubeadmApi::V1Beta4]
        .into_iter()
        .find(|it| it.api_version() == api_version && kind == "ClusterConfiguration")
        .ok_or(ReadError::Kind { api_version, kind })
}

fn facts(document: &Value) -> Result<ClusterFacts, ReadError> {
    let text = |pointer: &str| {
        let found = document.pointer(pointer).and_then(Value::as_str);
        found.filter(|it| !it.is_empty()).map(str::to_owned)
    };
    let timeout = match text("/apiServer/timeoutForControlPlane") {
        Some(text) => Some(seconds("apiServer.timeoutForControlPlane", &text)?),
        None => None,
    };
    Ok(ClusterFacts {
        cluster_name: text("/clusterName"),
        kubernetes_version: text("/kubernetesVersion"),
        // The configuration itself says it.
        control_plane_endpoint: None,
        dns_domain: text("/networking/dnsDomain"),
        service_subnet: text("/networking/serviceSubnet"),
        pod_subnet: text("/networking/podSubnet"),
        control_plane_health_check_seconds: timeout.and_then(|it| i32::try_from(it).ok()),
    })
}

fn seconds(field: &'static str, text: &str) -> Result<i64, ReadError> {
    duration::parse_seconds(text).map_err(|error| ReadError::Field {
        field,
        why: error.to_string(),
    })
}

/// Replaces a duration by the number of whole days in it.
fn days(document: &mut Value, from: &'static str, to: &str) -> Result<(), ReadError> {
    let Value::Object(fields) = document else {
        return Ok(());
    };
    if let Some(Value::String(text)) = fields.remove(from) {
        fields.insert(to.to_owned(), json!(seconds(from, &text)? / SECONDS_OF_A_DAY));
    }
    Ok(())
}

/// Arguments are a map in v1beta3 and a list later: the hub has the list.
fn list_arguments(section: &mut Map<String, Value>) {
    if let Some(Value::Object(arguments)) = section.get("extraArgs") {
        let list: Value = arguments
            .iter()
            .map(|(name, value)| json!({ "name": name, "value": value }))
            .collect();
        section.insert("extraArgs".to_owned(), list);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster_configuration;

    const OLD: &str = "\
apiServer:
  certSANs:
  - localhost
  extraArgs:
    audit-log-maxage: \"30\"
    v: \"2\"
  timeoutForControlPlane: 4m0s
apiVersion: kubeadm.k8s.io/v1beta3
clusterName: blue
controlPlaneEndpoint: 10.0.0.1:6443
controllerManager: {}
dns:
  imageTag: v1.11.3
etcd:
  local:
    dataDir: /var/lib/etcd
    extraArgs:
      quota-backend-bytes: \"1000\"
featureGates:
  PublicKeysECDSA: true
imageRepository: registry.example.org
kind: ClusterConfiguration
kubernetesVersion: v1.30.5
networking:
  dnsDomain: cluster.local
  podSubnet: 192.168.0.0/16
scheduler: {}
";

    const NEW: &str = "\
apiServer:
  certSANs:
  - localhost
  extraArgs:
  - name: audit-log-maxage
    value: \"30\"
  - name: v
    value: \"2\"
apiVersion: kubeadm.k8s.io/v1beta4
certificateValidityPeriod: 48h0m0s
clusterName: blue
controlPlaneEndpoint: 10.0.0.1:6443
controllerManager: {}
dns:
  imageTag: v1.11.3
encryptionAlgorithm: ECDSA-P256
etcd:
  local:
    dataDir: /var/lib/etcd
    extraArgs:
    - name: quota-backend-bytes
      value: \"1000\"
featureGates:
  PublicKeysECDSA: true
imageRepository: registry.example.org
kind: ClusterConfiguration
kubernetesVersion: v1.31.0
networking:
  dnsDomain: cluster.local
  podSubnet: 192.168.0.0/16
proxy: {}
scheduler: {}
";

    fn rendered(document: &ClusterDocument, api: KubeadmApi) -> String {
        cluster_configuration(api, &document.configuration, &document.facts)
    }

    #[test]
    fn what_is_read_is_written_the_same() {
        for text in [OLD, NEW] {
            let document = read_cluster_configuration(text).expect("a ClusterConfiguration");
            assert_eq!(rendered(&document, document.api), text);
        }
    }

    #[test]
    fn an_old_document_becomes_a_new_one_without_loss() {
        let mut document = read_cluster_configuration(OLD).expect("a ClusterConfiguration");
        document.facts.kubernetes_version = Some("v1.31.0".to_owned());
        let lines: Vec<&str> = NEW
            .lines()
            .filter(|it| !it.starts_with("certificateValidity") && !it.starts_with("encryption"))
            .collect();
        assert_eq!(
            rendered(&document, KubeadmApi::V1Beta4)
                .lines()
                .collect::<Vec<_>>(),
            lines
        );
    }

    #[test]
    fn what_is_no_cluster_configuration_is_refused_with_the_reason() {
        let table = [
            ("kind: [", "it is not YAML"),
            (
                "kind: InitConfiguration\napiVersion: kubeadm.k8s.io/v1beta4\n",
                "it is \"InitConfiguration\" of \"kubeadm.k8s.io/v1beta4\"",
            ),
            (
                "kind: ClusterConfiguration\napiVersion: kubeadm.k8s.io/v1beta2\n",
                "of \"kubeadm.k8s.io/v1beta2\"",
            ),
            (
                "kind: ClusterConfiguration\napiVersion: kubeadm.k8s.io/v1beta4\ncertificateValidityPeriod: soon\n",
                "certificateValidityPeriod: \"soon\" is not a duration",
            ),
        ];
        for (text, expected) in table {
            let error = read_cluster_configuration(text)
                .expect_err("an error")
                .to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
