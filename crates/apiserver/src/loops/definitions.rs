//! The end of custom resource definitions: their objects go first.
//! Source: apiextensions-apiserver `pkg/controller/finalizer/crd_finalizer.go`.

use std::sync::Arc;

use serde_json::Value;

use super::{RETRY, built_in, stored};
use crate::{
    crd::{CLEANUP_FINALIZER, GROUP, PLURAL, STORE_NAME},
    object::{Meta, MetaMut},
    registry::{Part, Registry, Target},
    wire::options::DeleteOptions,
};

const MANAGER: &str = "crd-finalizer";

/// Follows the definitions for ever.
pub(super) async fn run(registry: Arc<Registry>) {
    loop {
        let from = registry.store().revision();
        let mut waiting = false;
        for definition in stored(&registry, STORE_NAME) {
            let meta = Meta::of(&definition);
            if meta.deletion_timestamp().is_some() && meta.has_finalizer(CLEANUP_FINALIZER) {
                waiting |= !clean_up(&registry, &definition).await;
            }
        }
        if waiting {
            tokio::time::sleep(RETRY).await;
            continue;
        }
        if let Ok(mut cursor) = registry.store().watch(STORE_NAME, None, from) {
            // An error means that history was dropped: the next round reads everything anyway.
            let _ = cursor.next().await;
        }
    }
}

/// Deletes the objects of a definition; releases the definition when none is left. Says whether it is done.
async fn clean_up(registry: &Registry, definition: &Value) -> bool {
    let name = Meta::of(definition).name();
    let group = definition["spec"]["group"].as_str().unwrap_or_default();
    let plural = definition["spec"]["names"]["plural"].as_str().unwrap_or_default();
    let resource = registry
        .resources()
        .get(group, plural)
        .filter(|it| it.is_custom())
        .cloned();
    if let Some(resource) = resource {
        let snapshot = registry.store().snapshot();
        for record in snapshot.range(&resource.store_name, None) {
            let target = Target::stored(&resource, record.key.namespace(), record.key.name());
            let Some(target) = target else { return false };
            match registry.remove(&target, MANAGER, &DeleteOptions::default()).await {
                Ok(_) => {}
                Err(error) if error.is_not_found() => {}
                Err(error) => {
                    tracing::warn!(%error, name, "failed to delete an object of a definition that goes")
                }
            }
        }
        if registry.store().snapshot().count(&resource.store_name) > 0 {
            return false;
        }
    }
    let Some(target) = built_in(registry, GROUP, PLURAL, "", name) else {
        return true;
    };
    let release = |definition: &mut Value| {
        let kept: Vec<String> = Meta::of(definition)
            .finalizers()
            .into_iter()
            .filter(|it| *it != CLEANUP_FINALIZER)
            .map(str::to_owned)
            .collect();
        let kept: Vec<&str> = kept.iter().map(String::as_str).collect();
        MetaMut::of(definition).set_finalizers(&kept);
        true
    };
    match registry.change(&target.part(Part::Main), MANAGER, &release).await {
        Ok(_) => true,
        Err(error) => {
            tracing::warn!(%error, name, "failed to release a custom resource definition");
            false
        }
    }
}
