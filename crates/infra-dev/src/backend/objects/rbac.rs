//! The roles and bindings that `kubeadm init` makes.
//! Source: kubernetes `cmd/kubeadm/app/phases/bootstraptoken` and `phases/uploadconfig`.

use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use kube::Client;
use serde_json::{Value, json};

use super::ensure;
use crate::backend::BackendError;

const GROUP: &str = "rbac.authorization.k8s.io";
const TOKENS: &str = "system:bootstrappers:kubeadm:default-node-token";
const NODES: &str = "system:nodes";

/// Writes what is missing.
pub(super) async fn write(client: &Client) -> Result<(), BackendError> {
    let get_nodes = json!([{ "apiGroups": [""], "resources": ["nodes"], "verbs": ["get"] }]);
    ensure::<ClusterRole>(client, role(None, "kubeadm:get-nodes", &get_nodes)).await?;
    let cluster_bindings = [
        (
            "kubeadm:cluster-admins",
            "cluster-admin",
            "kubeadm:cluster-admins",
        ),
        ("kubeadm:get-nodes", "kubeadm:get-nodes", TOKENS),
        ("kubeadm:kubelet-bootstrap", "system:node-bootstrapper", TOKENS),
        (
            "kubeadm:node-autoapprove-bootstrap",
            "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
            TOKENS,
        ),
        (
            "kubeadm:node-autoapprove-certificate-rotation",
            "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
            NODES,
        ),
    ];
    for (name, role, group) in cluster_bindings {
        ensure::<ClusterRoleBinding>(client, binding(None, name, role, &[("Group", group)])).await?;
    }
    let readable = [
        (
            "kube-system",
            "kubeadm:kubeadm-config",
            "kubeadm-config",
            [("Group", TOKENS), ("Group", NODES)],
        ),
        (
            "kube-system",
            "kubeadm:kubelet-config",
            "kubelet-config",
            [("Group", NODES), ("Group", TOKENS)],
        ),
        (
            "kube-public",
            "kubeadm:bootstrap-signer-clusterinfo",
            "cluster-info",
            [("User", "system:anonymous"), ("Group", "system:unauthenticated")],
        ),
    ];
    for (namespace, name, config_map, subjects) in readable {
        let rules = json!([
            { "apiGroups": [""], "resources": ["configmaps"], "resourceNames": [config_map], "verbs": ["get"] },
        ]);
        ensure::<Role>(client, role(Some(namespace), name, &rules)).await?;
        ensure::<RoleBinding>(client, binding(Some(namespace), name, name, &subjects)).await?;
    }
    Ok(())
}

fn role(namespace: Option<&str>, name: &str, rules: &Value) -> Value {
    let kind = if namespace.is_some() {
        "Role"
    } else {
        "ClusterRole"
    };
    json!({
        "apiVersion": format!("{GROUP}/v1"),
        "kind": kind,
        "metadata": { "name": name, "namespace": namespace },
        "rules": rules,
    })
}

/// A binding to a role of the same scope.
pub(super) fn binding(namespace: Option<&str>, name: &str, role: &str, subjects: &[(&str, &str)]) -> Value {
    let (kind, role_kind) = if namespace.is_some() {
        ("RoleBinding", "Role")
    } else {
        ("ClusterRoleBinding", "ClusterRole")
    };
    let subject = |(kind, name): &(&str, &str)| match *kind {
        "ServiceAccount" => json!({ "kind": kind, "name": name, "namespace": "kube-system" }),
        _ => json!({ "apiGroup": GROUP, "kind": kind, "name": name }),
    };
    json!({
        "apiVersion": format!("{GROUP}/v1"),
        "kind": kind,
        "metadata": { "name": name, "namespace": namespace },
        "roleRef": { "apiGroup": GROUP, "kind": role_kind, "name": role },
        "subjects": subjects.iter().map(subject).collect::<Vec<_>>(),
    })
}
