//! What `kubeadm init` leaves in a cluster.

use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::Client;
use serde_json::json;

use super::{addons, ensure, rbac};
use crate::backend::BackendError;

/// What the leftovers depend on.
pub(in crate::backend) struct Leftovers {
    /// The cluster's name.
    pub(in crate::backend) cluster: String,
    /// The API server's URL.
    pub(in crate::backend) endpoint: String,
    /// The Kubernetes version.
    pub(in crate::backend) version: String,
    /// The ClusterConfiguration, YAML.
    pub(in crate::backend) cluster_configuration: String,
    /// The cluster CA's certificate, PEM.
    pub(in crate::backend) authority: String,
}

/// Writes what is missing.
pub(in crate::backend) async fn leave_behind(client: &Client, left: &Leftovers) -> Result<(), BackendError> {
    let config_map = |namespace: &str, name: &str, key: &str, text: &str| {
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": { "name": name, "namespace": namespace },
            "data": { (key): text },
        })
    };
    let maps = [
        ("kube-public", "cluster-info", "kubeconfig", discovery(left)),
        ("kube-system", "kubelet-config", "kubelet", KUBELET.to_owned()),
        (
            "kube-system",
            "kubeadm-config",
            "ClusterConfiguration",
            left.cluster_configuration.clone(),
        ),
    ];
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": { "component": "apiserver", "provider": "kubernetes" },
        },
        "spec": {
            "clusterIP": "10.96.0.1",
            "clusterIPs": ["10.96.0.1"],
            "ports": [{ "name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443 }],
            "type": "ClusterIP",
        },
    });
    ensure::<Service>(client, service).await?;
    rbac::write(client).await?;
    addons::write(client, left).await?;
    // kubeadm-config comes last: whoever sees it may take the control plane as initialised.
    for (namespace, name, key, text) in maps {
        ensure::<ConfigMap>(client, config_map(namespace, name, key, &text)).await?;
    }
    Ok(())
}

/// The kubeconfig without a user by which joining machines find the cluster.
fn discovery(left: &Leftovers) -> String {
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{
            "name": "",
            "cluster": {
                "server": left.endpoint,
                "certificate-authority-data": k8s_openapi::ByteString(left.authority.clone().into_bytes()),
            },
        }],
        "contexts": [],
        "current-context": "",
        "preferences": {},
        "users": [],
    });
    format!("{config:#}\n")
}

const KUBELET: &str = "apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: systemd
clusterDNS:
- 10.96.0.10
clusterDomain: cluster.local
rotateCertificates: true
staticPodPath: /etc/kubernetes/manifests
";
