//! The aggregated discovery document: everything in one answer.

use serde_json::{Value, json};

use super::subresources;
use crate::resource::{Backing, Resource, ResourceTable, Version};

/// The document of `/api` (the core group) or `/apis` (all others).
pub(super) fn document(table: &ResourceTable, core: bool) -> Value {
    let items: Vec<Value> = table
        .groups()
        .into_iter()
        .filter(|(group, _)| group.is_empty() == core)
        .map(|(group, versions)| {
            let versions: Vec<Value> = versions
                .iter()
                .map(|version| version_entry(table, &group, version))
                .collect();
            let metadata = if core {
                json!({ "creationTimestamp": null })
            } else {
                json!({ "name": group, "creationTimestamp": null })
            };
            json!({ "metadata": metadata, "versions": versions })
        })
        .collect();
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    })
}

fn version_entry(table: &ResourceTable, group: &str, version: &str) -> Value {
    let resources: Vec<Value> = table
        .in_version(group, version)
        .map(|(resource, version)| resource_entry(resource, version))
        .collect();
    json!({ "version": version, "resources": resources, "freshness": "Current" })
}

fn resource_entry(resource: &Resource, version: &Version) -> Value {
    let mut entry = json!({
        "resource": resource.plural,
        "responseKind": { "group": resource.group, "version": version.name, "kind": resource.kind },
        "scope": if resource.is_namespaced() { "Namespaced" } else { "Cluster" },
        "singularResource": resource.singular,
        "verbs": resource.verbs(),
    });
    if !resource.short_names.is_empty() {
        entry["shortNames"] = json!(resource.short_names);
    }
    if !resource.categories.is_empty() {
        entry["categories"] = json!(resource.categories);
    }
    let subresources: Vec<Value> = subresources(resource, version)
        .into_iter()
        .map(|it| {
            let (group, version, kind) = it.kind;
            json!({
                "subresource": it.name,
                "responseKind": { "group": group, "version": version, "kind": kind },
                "verbs": it.verbs,
            })
        })
        .collect();
    if !subresources.is_empty() && resource.backing == Backing::Stored {
        entry["subresources"] = json!(subresources);
    }
    entry
}
