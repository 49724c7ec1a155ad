//! Every namespace has a service account `default`.
//! Source: kubernetes `pkg/controller/serviceaccount/serviceaccounts_controller.go`.

use std::sync::Arc;

use serde_json::json;

use super::{RETRY, built_in, stored};
use crate::{
    auth::Identity,
    codec::Body,
    object::Meta,
    registry::{Caller, Registry, Request},
    wire::{options::WriteOptions, status::Result},
};

const MANAGER: &str = "serviceaccount-controller";

/// Follows namespaces and service accounts for ever.
pub(super) async fn run(registry: Arc<Registry>) {
    loop {
        let from = registry.store().revision();
        let mut failed = false;
        for namespace in stored(&registry, "core/namespaces") {
            let meta = Meta::of(&namespace);
            if meta.deletion_timestamp().is_some() {
                continue;
            }
            if let Err(error) = ensure(&registry, meta.name()).await {
                tracing::debug!(%error, namespace = meta.name(), "failed to create the default service account");
                failed = true;
            }
        }
        if failed {
            tokio::time::sleep(RETRY).await;
            continue;
        }
        let store = registry.store();
        let (Ok(mut namespaces), Ok(mut accounts)) = (
            store.watch("core/namespaces", None, from),
            store.watch("core/serviceaccounts", None, from),
        ) else {
            continue;
        };
        // An error means that history was dropped: the next round reads everything anyway.
        tokio::select! {
            biased;
            _ = namespaces.next() => {}
            _ = accounts.next() => {}
        }
    }
}

async fn ensure(registry: &Registry, namespace: &str) -> Result<()> {
    let Some(target) = built_in(registry, "", "serviceaccounts", namespace, "default") else {
        return Ok(());
    };
    if registry.exists(&target) {
        return Ok(());
    }
    let identity = Identity::internal("system:kube-controller-manager");
    let options = WriteOptions {
        field_manager: MANAGER.to_owned(),
        ..WriteOptions::default()
    };
    let caller = Caller {
        identity: &identity,
        user_agent: MANAGER,
    };
    let request = Request {
        target: &target,
        caller,
        options: &options,
    };
    match registry
        .create(request, Body::from(json!({ "metadata": { "name": "default" } })))
        .await
    {
        Err(error) if error.reason != "AlreadyExists" => Err(error),
        _ => Ok(()),
    }
}
