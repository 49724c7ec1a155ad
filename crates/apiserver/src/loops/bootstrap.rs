//! The objects that every cluster has from the start.
//! Source: kubernetes `pkg/controlplane/controller/systemnamespaces`, `plugin/pkg/auth/authorizer/rbac/bootstrappolicy`.

use serde_json::{Value, json};

use super::built_in;
use crate::{
    auth::Identity,
    codec::Body,
    registry::{Caller, Registry, Request},
    wire::{options::WriteOptions, status::Result},
};

const NAMESPACES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];
const RBAC: &str = "rbac.authorization.k8s.io";

/// Creates what is missing.
pub(crate) async fn bootstrap(registry: &Registry) -> Result<()> {
    for name in NAMESPACES {
        create(
            registry,
            "",
            "namespaces",
            json!({ "metadata": { "name": name } }),
        )
        .await?;
    }
    let everything = json!([
        { "apiGroups": ["*"], "resources": ["*"], "verbs": ["*"] },
        { "nonResourceURLs": ["*"], "verbs": ["*"] },
    ]);
    create(registry, RBAC, "clusterroles", role("cluster-admin", &everything)).await?;
    let binding = json!({
        "metadata": metadata("cluster-admin"),
        "roleRef": { "apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin" },
        "subjects": [{ "apiGroup": RBAC, "kind": "Group", "name": "system:masters" }],
    });
    create(registry, RBAC, "clusterrolebindings", binding).await
}

fn metadata(name: &str) -> Value {
    json!({
        "name": name,
        "labels": { "kubernetes.io/bootstrapping": "rbac-defaults" },
        "annotations": { "rbac.authorization.kubernetes.io/autoupdate": "true" },
    })
}

fn role(name: &str, rules: &Value) -> Value {
    json!({ "metadata": metadata(name), "rules": rules })
}

/// Creates an object unless it is there.
async fn create(registry: &Registry, group: &str, plural: &str, object: Value) -> Result<()> {
    let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let Some(target) = built_in(registry, group, plural, "", &name) else {
        return Ok(());
    };
    if registry.exists(&target) {
        return Ok(());
    }
    let identity = Identity::internal("system:apiserver");
    let options = WriteOptions {
        field_manager: "kube-apiserver".to_owned(),
        ..WriteOptions::default()
    };
    let caller = Caller {
        identity: &identity,
        user_agent: "kube-apiserver",
    };
    let request = Request {
        target: &target,
        caller,
        options: &options,
    };
    match registry.create(request, Body::from(object)).await {
        Err(error) if error.reason != "AlreadyExists" => Err(error),
        _ => Ok(()),
    }
}
