//! What a machine's bootstrap data tell kubeadm to do: init or join, with which token, taints and labels. Pure.

use std::{collections::BTreeMap, fmt};

use k8s_openapi::api::core::v1::Taint;
use serde::Deserialize;
use serde_json::Value;

/// What kubeadm is told to do on a machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Bootstrap {
    /// `kubeadm init`: found the cluster.
    Init {
        /// The ClusterConfiguration as YAML, which kubeadm leaves in the cluster.
        cluster_configuration: String,
        /// The tokens to make.
        tokens: Vec<Token>,
        /// How the node registers.
        registration: Registration,
    },
    /// `kubeadm join`: join the cluster.
    Join {
        /// The token to join with; none if the data hold a kubeconfig instead.
        token: Option<Token>,
        /// The hashes of the CA's public key that are accepted; empty for any.
        authority_hashes: Vec<String>,
        /// How the node registers.
        registration: Registration,
    },
    /// Data that hold no kubeadm configuration: the machine is taken to find its way by itself.
    #[default]
    Opaque,
}

impl Bootstrap {
    /// How the node registers.
    pub fn registration(&self) -> Registration {
        match self {
            Self::Init { registration, .. } | Self::Join { registration, .. } => registration.clone(),
            Self::Opaque => Registration::default(),
        }
    }
}

/// A bootstrap token: `id.secret`.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    /// The part that may be shown; the token's Secret is named after it.
    pub id: String,
    secret: String,
}

impl Token {
    /// Reads `id.secret`.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, secret) = text.split_once('.')?;
        let valid = |it: &str, length| {
            it.len() == length
                && it
                    .bytes()
                    .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
        };
        (valid(id, 6) && valid(secret, 16)).then(|| Self {
            id: id.to_owned(),
            secret: secret.to_owned(),
        })
    }

    /// The part that must not be shown.
    pub fn secret(&self) -> &str {
        &self.secret
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({}.…)", self.id)
    }
}

/// How a node registers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Registration {
    /// The taints; none where kubeadm's own apply.
    pub taints: Option<Vec<Taint>>,
    /// The labels that the kubelet gives the node.
    pub labels: BTreeMap<String, String>,
}

/// Reads the bootstrap data of a machine, as Cluster API's kubeadm bootstrap provider writes cloud-config.
pub fn read(data: &[u8]) -> Bootstrap {
    let documents = kubeadm_documents(data);
    let of_kind = |kind: &str| documents.iter().find(|it| it.kind == kind);
    if let Some(join) = of_kind("JoinConfiguration") {
        let discovery = join.value.pointer("/discovery/bootstrapToken");
        let token = discovery
            .and_then(|it| it.get("token"))
            .or_else(|| join.value.pointer("/discovery/tlsBootstrapToken"));
        return Bootstrap::Join {
            token: token.and_then(Value::as_str).and_then(Token::parse),
            authority_hashes: strings(discovery.and_then(|it| it.get("caCertHashes"))),
            registration: registration(&join.value),
        };
    }
    if let Some(cluster) = of_kind("ClusterConfiguration") {
        let init = of_kind("InitConfiguration");
        let tokens = init
            .and_then(|it| it.value.get("bootstrapTokens")?.as_array().cloned())
            .unwrap_or_default();
        return Bootstrap::Init {
            cluster_configuration: cluster.text.clone(),
            tokens: tokens
                .iter()
                .filter_map(|it| Token::parse(it.get("token")?.as_str()?))
                .collect(),
            registration: init.map(|it| registration(&it.value)).unwrap_or_default(),
        };
    }
    Bootstrap::Opaque
}

struct Document {
    kind: String,
    text: String,
    value: Value,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CloudConfig {
    write_files: Vec<WriteFile>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WriteFile {
    path: String,
    content: String,
}

/// The documents of the files that kubeadm is run with.
fn kubeadm_documents(data: &[u8]) -> Vec<Document> {
    let Ok(text) = std::str::from_utf8(data) else {
        return Vec::new();
    };
    let config: CloudConfig = serde_saphyr::from_str(text).unwrap_or_default();
    let files = config.write_files.iter().filter(|it| it.path.contains("kubeadm"));
    files.flat_map(|it| documents(&it.content)).collect()
}

fn documents(text: &str) -> Vec<Document> {
    let mut parts = vec![String::new()];
    for line in text.lines() {
        if line.trim_end() == "---" {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push_str(line);
            part.push('\n');
        }
    }
    let read = |text: String| {
        let value: Value = serde_saphyr::from_str(&text).ok()?;
        let kind = value.get("kind")?.as_str()?.to_owned();
        Some(Document { kind, text, value })
    };
    parts.into_iter().filter_map(read).collect()
}

fn registration(configuration: &Value) -> Registration {
    let registration = configuration.get("nodeRegistration");
    let taints = registration
        .and_then(|it| it.get("taints"))
        .filter(|it| it.is_array());
    Registration {
        taints: taints.and_then(|it| serde_json::from_value(it.clone()).ok()),
        labels: registration
            .and_then(|it| it.get("kubeletExtraArgs"))
            .map(node_labels)
            .unwrap_or_default(),
    }
}

/// The kubelet's `node-labels` argument. kubeadm's v1beta3 has a map of arguments, v1beta4 a list.
fn node_labels(arguments: &Value) -> BTreeMap<String, String> {
    let text = match arguments {
        Value::Array(list) => list
            .iter()
            .filter(|it| it.get("name").and_then(Value::as_str) == Some("node-labels"))
            .find_map(|it| it.get("value")?.as_str()),
        other => other.get("node-labels").and_then(Value::as_str),
    };
    let pairs = text
        .unwrap_or_default()
        .split(',')
        .filter_map(|it| it.split_once('='));
    pairs
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .collect()
}

fn strings(list: Option<&Value>) -> Vec<String> {
    list.and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const INIT: &str = r"## template: jinja
#cloud-config

write_files:
-   path: /etc/kubernetes/pki/ca.crt
    content: |
      not for us
-   path: /run/kubeadm/kubeadm.yaml
    owner: root:root
    permissions: '0640'
    content: |
      ---
      apiVersion: kubeadm.k8s.io/v1beta4
      kind: ClusterConfiguration
      clusterName: c1
      kubernetesVersion: v1.34.1
      ---
      apiVersion: kubeadm.k8s.io/v1beta4
      kind: InitConfiguration
      bootstrapTokens:
      - token: abcdef.0123456789abcdef
      nodeRegistration:
        name: '{{ ds.meta_data.local_hostname }}'
        taints: []
runcmd:
  - 'kubeadm init --config /run/kubeadm/kubeadm.yaml'
";

    const JOIN: &str = r"#cloud-config
write_files:
-   path: /run/kubeadm/kubeadm-join-config.yaml
    content: |
      apiVersion: kubeadm.k8s.io/v1beta4
      kind: JoinConfiguration
      discovery:
        bootstrapToken:
          apiServerEndpoint: 127.0.0.1:20000
          caCertHashes: ['sha256:00']
          token: abcdef.0123456789abcdef
      nodeRegistration:
        kubeletExtraArgs:
        - name: node-labels
          value: pool=a,zone=z1
        taints:
        - effect: NoSchedule
          key: node.cluster.x-k8s.io/uninitialized
";

    #[test]
    fn init_data_found_a_cluster_with_their_configuration_and_tokens() {
        expect_test::expect![[r#"
            Init {
                cluster_configuration: "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nclusterName: c1\nkubernetesVersion: v1.34.1\n",
                tokens: [
                    Token(abcdef.…),
                ],
                registration: Registration {
                    taints: Some(
                        [],
                    ),
                    labels: {},
                },
            }
        "#]]
        .assert_debug_eq(&read(INIT.as_bytes()));
    }

    #[test]
    fn join_data_join_with_their_token_labels_and_taints() {
        expect_test::expect![[r#"
            Join {
                token: Some(
                    Token(abcdef.…),
                ),
                authority_hashes: [
                    "sha256:00",
                ],
                registration: Registration {
                    taints: Some(
                        [
                            Taint {
                                effect: "NoSchedule",
                                key: "node.cluster.x-k8s.io/uninitialized",
                                time_added: None,
                                value: None,
                            },
                        ],
                    ),
                    labels: {
                        "pool": "a",
                        "zone": "z1",
                    },
                },
            }
        "#]]
        .assert_debug_eq(&read(JOIN.as_bytes()));
    }

    #[test]
    fn other_data_say_nothing_to_kubeadm() {
        assert_eq!(read(b"#!/bin/sh\necho hello"), Bootstrap::Opaque);
        assert_eq!(read(&[0xff, 0xfe]), Bootstrap::Opaque);
    }

    #[test]
    fn a_token_shows_its_id_only() {
        let token = Token::parse("abcdef.0123456789abcdef").expect("a token");
        assert_eq!(format!("{token:?}"), "Token(abcdef.…)");
        assert_eq!(Token::parse("abcdef.short"), None);
        assert_eq!(Token::parse("no-token"), None);
    }
}
