//! The end of namespaces: everything in them goes first.
//! Source: kubernetes `pkg/controller/namespace/deletion/namespaced_resources_deleter.go`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{RETRY, built_in, stored};
use crate::{
    object::{Meta, metadata::seconds},
    registry::{Part, Registry, Target},
    resource::Backing,
    wire::options::{DeleteOptions, Propagation},
};

const MANAGER: &str = "namespace-controller";
const STORE_NAME: &str = "core/namespaces";

/// Follows the namespaces for ever.
pub(super) async fn run(registry: Arc<Registry>) {
    loop {
        let from = registry.store().revision();
        let mut waiting = false;
        for namespace in stored(&registry, STORE_NAME) {
            let has_content = namespace["spec"]["finalizers"]
                .as_array()
                .is_some_and(|list| !list.is_empty());
            if Meta::of(&namespace).deletion_timestamp().is_some() && has_content {
                waiting |= !empty(&registry, &namespace).await;
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

/// What is left in a namespace.
#[derive(Default)]
struct Remains {
    /// Each resource with objects left, and how many.
    resources: Vec<(String, usize)>,
    /// Each finalizer that keeps objects, and how many.
    finalizers: std::collections::BTreeMap<String, usize>,
    failures: Vec<String>,
}

/// Deletes the content of a namespace; finishes the namespace when nothing is left. Says whether it is done.
async fn empty(registry: &Registry, namespace: &Value) -> bool {
    let name = Meta::of(namespace).name();
    let remains = delete_content(registry, name).await;
    let done = remains.resources.is_empty() && remains.failures.is_empty();
    let Some(target) = built_in(registry, "", "namespaces", "", name) else {
        return true;
    };
    let now = seconds(registry.now());
    let outcome = if done {
        let finish = |namespace: &mut Value| {
            namespace["spec"]["finalizers"] = json!([]);
            true
        };
        registry
            .change(&target.part(Part::Finalize), MANAGER, &finish)
            .await
    } else {
        let report = |namespace: &mut Value| {
            for (kind, reason, message) in conditions(&remains) {
                set_condition(namespace, kind, reason, message.as_deref(), &now);
            }
            true
        };
        registry
            .change(&target.part(Part::Status), MANAGER, &report)
            .await
    };
    match outcome {
        Ok(_) => done,
        Err(error) => {
            tracing::debug!(%error, namespace = name, "failed to update a namespace that goes");
            false
        }
    }
}

async fn delete_content(registry: &Registry, namespace: &str) -> Remains {
    let mut remains = Remains::default();
    let table = registry.resources();
    let resources = table.all().filter(|resource| {
        // Two views of the same objects: one of them is enough.
        resource.is_namespaced()
            && resource.backing == Backing::Stored
            && resource.storage.0 == resource.group
    });
    let options = DeleteOptions {
        propagation: Some(Propagation::Background),
        ..DeleteOptions::default()
    };
    for resource in resources {
        let snapshot = registry.store().snapshot();
        for record in snapshot.range(&resource.store_name, Some(namespace)) {
            let Some(target) = Target::stored(resource, namespace, record.key.name()) else {
                continue;
            };
            match registry.remove(&target, MANAGER, &options).await {
                Err(error) if !error.is_not_found() => remains.failures.push(error.message),
                _ => {}
            }
        }
        let mut left = 0;
        for record in registry
            .store()
            .snapshot()
            .range(&resource.store_name, Some(namespace))
        {
            left += 1;
            let object: Value = serde_json::from_slice(&record.value).unwrap_or_default();
            for finalizer in Meta::of(&object).finalizers() {
                *remains.finalizers.entry(finalizer.to_owned()).or_insert(0) += 1;
            }
        }
        if left > 0 {
            remains.resources.push((resource.qualified(), left));
        }
    }
    remains
}

fn conditions(remains: &Remains) -> [(&'static str, &'static str, Option<String>); 5] {
    let resources: Vec<String> = remains
        .resources
        .iter()
        .map(|(name, count)| format!("{name} has {count} resource instances"))
        .collect();
    let finalizers: Vec<String> = remains
        .finalizers
        .iter()
        .map(|(name, count)| format!("{name} in {count} resource instances"))
        .collect();
    let text = |lead: &str, list: &[String]| (!list.is_empty()).then(|| format!("{lead}{}", list.join(", ")));
    let failures = text("Failed to delete all resource types: ", &remains.failures);
    [
        ("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", None),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            "ParsedGroupVersions",
            None,
        ),
        (
            "NamespaceDeletionContentFailure",
            if failures.is_some() {
                "ContentDeletionFailed"
            } else {
                "ContentDeleted"
            },
            failures,
        ),
        (
            "NamespaceContentRemaining",
            if resources.is_empty() {
                "ContentRemoved"
            } else {
                "SomeResourcesRemain"
            },
            text("Some resources are remaining: ", &resources),
        ),
        (
            "NamespaceFinalizersRemaining",
            if finalizers.is_empty() {
                "ContentHasNoFinalizers"
            } else {
                "SomeFinalizersRemain"
            },
            text(
                "Some content in the namespace has finalizers remaining: ",
                &finalizers,
            ),
        ),
    ]
}

/// Sets a condition that is true if there is something to say.
fn set_condition(namespace: &mut Value, kind: &str, reason: &str, message: Option<&str>, now: &str) {
    let status = if message.is_some() { "True" } else { "False" };
    let message = message.unwrap_or(match kind {
        "NamespaceDeletionDiscoveryFailure" => "All resources successfully discovered",
        "NamespaceDeletionGroupVersionParsingFailure" => "All legacy kube types successfully parsed",
        "NamespaceDeletionContentFailure" => {
            "All content successfully deleted, may be waiting on finalization"
        }
        "NamespaceContentRemaining" => "All content successfully removed",
        _ => "All content-preserving finalizers finished",
    });
    if !namespace["status"]["conditions"].is_array() {
        namespace["status"]["conditions"] = json!([]);
    }
    let Some(list) = namespace["status"]["conditions"].as_array_mut() else {
        return;
    };
    let index = list.iter().position(|it| it["type"] == kind);
    let since = index
        .filter(|index| list[*index]["status"] == status)
        .and_then(|index| list[index]["lastTransitionTime"].as_str().map(str::to_owned))
        .unwrap_or_else(|| now.to_owned());
    let condition = json!({
        "type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since,
    });
    match index {
        Some(index) => list[index] = condition,
        None => list.push(condition),
    }
}
