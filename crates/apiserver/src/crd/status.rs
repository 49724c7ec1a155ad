//! The status of a definition: accepted names, conditions, stored versions.
//! Source: apiextensions-apiserver `pkg/controller/{status,establish,finalizer}`.

use capstan_base::Timestamp;
use serde_json::{Value, json};

use crate::object::{Meta, metadata::seconds};

/// Whether the condition `kind` is true.
pub(super) fn is_true(definition: &Value, kind: &str) -> bool {
    let conditions = definition["status"]["conditions"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    conditions
        .iter()
        .any(|it| it["type"] == kind && it["status"] == "True")
}

/// Brings the status up to date with the spec. `conflicts` says which names others have already.
pub(super) fn refresh(definition: &mut Value, old: Option<&Value>, conflicts: &[String], now: Timestamp) {
    if let Some(status) = old.and_then(|old| old.get("status")) {
        definition["status"] = status.clone();
    }
    if !definition["status"].is_object() {
        definition["status"] = json!({});
    }
    let names = definition["spec"]["names"].clone();
    let mut changes: Vec<(&str, bool, &str, String)> = Vec::new();
    if conflicts.is_empty() {
        definition["status"]["acceptedNames"] = names;
        changes.push((
            "NamesAccepted",
            true,
            "NoConflicts",
            "no conflicts found".to_owned(),
        ));
        changes.push((
            "Established",
            true,
            "InitialNamesAccepted",
            "the initial names have been accepted".to_owned(),
        ));
    } else {
        if !definition["status"]["acceptedNames"].is_object() {
            definition["status"]["acceptedNames"] = json!({ "kind": "", "plural": "" });
        }
        changes.push(("NamesAccepted", false, "NameConflict", conflicts.join(", ")));
        if !is_true(definition, "Established") {
            changes.push((
                "Established",
                false,
                "NotAccepted",
                "not all names are accepted".to_owned(),
            ));
        }
    }
    if Meta::of(definition).deletion_timestamp().is_some() {
        changes.push((
            "Terminating",
            true,
            "InstanceDeletionPending",
            "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
                .to_owned(),
        ));
    }
    for (kind, is_true, reason, message) in changes {
        set_condition(definition, kind, is_true, reason, &message, now);
    }
    store_version(definition);
}

fn set_condition(
    definition: &mut Value,
    kind: &str,
    is_true: bool,
    reason: &str,
    message: &str,
    now: Timestamp,
) {
    let status = if is_true { "True" } else { "False" };
    let conditions = &mut definition["status"]["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Some(list) = conditions.as_array_mut() else {
        return;
    };
    let index = list.iter().position(|it| it["type"] == kind);
    let since = index
        .filter(|index| list[*index]["status"] == status)
        .and_then(|index| list[index]["lastTransitionTime"].as_str().map(str::to_owned))
        .unwrap_or_else(|| seconds(now));
    let condition = json!({
        "type": kind,
        "status": status,
        "lastTransitionTime": since,
        "reason": reason,
        "message": message,
    });
    match index {
        Some(index) => list[index] = condition,
        None => list.push(condition),
    }
}

/// Objects may be stored in the storage version from now on.
fn store_version(definition: &mut Value) {
    let versions = definition["spec"]["versions"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let Some(storage) = versions
        .iter()
        .find(|it| it["storage"] == json!(true))
        .map(|it| it["name"].clone())
    else {
        return;
    };
    let stored = &mut definition["status"]["storedVersions"];
    if !stored.is_array() {
        *stored = json!([]);
    }
    if let Some(list) = stored.as_array_mut()
        && !list.contains(&storage)
    {
        list.push(storage);
    }
}
