//! The old discovery documents.

use serde_json::{Value, json};

use super::subresources;
use crate::resource::{Backing, Resource, ResourceTable, Version};

/// `/api`
pub(super) fn versions() -> Value {
    json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{ "clientCIDR": "0.0.0.0/0", "serverAddress": "" }],
    })
}

/// `/apis`
pub(super) fn groups(table: &ResourceTable) -> Value {
    let groups: Vec<Value> = table
        .groups()
        .into_iter()
        .filter(|(group, _)| !group.is_empty())
        .map(|(group, versions)| api_group(&group, &versions))
        .collect();
    json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups })
}

/// `/apis/GROUP`
pub(super) fn group(table: &ResourceTable, group: &str) -> Option<Value> {
    let versions = table.versions(group);
    if versions.is_empty() || group.is_empty() {
        return None;
    }
    let mut document = api_group(group, &versions);
    document["kind"] = json!("APIGroup");
    document["apiVersion"] = json!("v1");
    Some(document)
}

fn api_group(group: &str, versions: &[String]) -> Value {
    let version =
        |version: &String| json!({ "groupVersion": format!("{group}/{version}"), "version": version });
    json!({
        "name": group,
        "versions": versions.iter().map(version).collect::<Vec<_>>(),
        "preferredVersion": versions.first().map(version),
    })
}

/// `/api/v1`, `/apis/GROUP/VERSION`
pub(super) fn resources(table: &ResourceTable, group: &str, version: &str) -> Option<Value> {
    let mut list: Vec<Value> = Vec::new();
    for (resource, found) in table.in_version(group, version) {
        list.push(api_resource(resource));
        list.extend(api_subresources(resource, found));
    }
    if list.is_empty() {
        return None;
    }
    let group_version = if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    };
    Some(json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version,
        "resources": list,
    }))
}

fn api_resource(resource: &Resource) -> Value {
    let mut entry = json!({
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.is_namespaced(),
        "kind": resource.kind,
        "verbs": resource.verbs(),
    });
    if !resource.short_names.is_empty() {
        entry["shortNames"] = json!(resource.short_names);
    }
    if !resource.categories.is_empty() {
        entry["categories"] = json!(resource.categories);
    }
    if resource.backing == Backing::Stored {
        entry["storageVersionHash"] = json!(storage_version_hash(resource));
    }
    entry
}

fn api_subresources(resource: &Resource, version: &Version) -> Vec<Value> {
    let own = (resource.group.as_str(), version.name.as_str());
    subresources(resource, version)
        .into_iter()
        .map(|it| {
            let (group, version, kind) = it.kind;
            let mut entry = json!({
                "name": format!("{}/{}", resource.plural, it.name),
                "singularName": "",
                "namespaced": resource.is_namespaced(),
                "kind": kind,
                "verbs": it.verbs,
            });
            if (group.as_str(), version.as_str()) != own {
                entry["group"] = json!(group);
                entry["version"] = json!(version);
            }
            entry
        })
        .collect()
}

/// Tells clients whether the encoding of stored objects has changed.
/// Source: apiserver `pkg/endpoints/discovery/storageversionhash.go`.
fn storage_version_hash(resource: &Resource) -> String {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use sha2::{Digest, Sha256};
    let (group, version) = &resource.storage;
    let digest = Sha256::digest(format!("{group}/{version}/{}", resource.kind));
    STANDARD.encode(&digest[..8])
}
