//! Moving from client-side to server-side apply: kubectl's `last-applied-configuration` annotation says which fields
//! kubectl managed before, and is kept up to date for clients that still read it.
//! Upstream: apimachinery `managedfields` `lastAppliedManager` and `lastAppliedUpdater`.

use serde_json::{Map, Value};

use super::{Failure, Operation, conflict::Conflicts};
use crate::{
    set::Set,
    typed::{self, Duplicates},
};

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// The most bytes the keys and values of all annotations of an object may have.
const ANNOTATIONS_SIZE_LIMIT: usize = 256 * 1024;

/// Only kubectl's own manager takes part; choosing another manager name opts out.
pub(super) fn is_concerned(operation: &Operation<'_>) -> bool {
    operation.manager == "kubectl"
}

/// The conflicts that are not with kubectl's own earlier client-side apply; `None` when no such are left.
pub(super) fn remaining_conflicts(
    operation: &Operation<'_>,
    live: &Value,
    conflicts: Conflicts,
) -> Option<Conflicts> {
    let Some(allowed) = last_applied_set(operation, live) else {
        return Some(conflicts);
    };
    let remaining: Vec<_> = conflicts
        .0
        .into_iter()
        .filter(|conflict| !allowed.has(&conflict.path))
        .collect();
    (!remaining.is_empty()).then_some(Conflicts(remaining))
}

/// The fields that still have the value kubectl last applied; `None` when that cannot be told.
fn last_applied_set(operation: &Operation<'_>, live: &Value) -> Option<Set> {
    let text = live
        .get("metadata")?
        .get("annotations")?
        .get(ANNOTATION)?
        .as_str()?;
    let last_applied: Value = serde_json::from_str(text).ok()?;
    if last_applied.get("apiVersion")?.as_str()? != operation.api_version {
        return None;
    }
    let live = operation.typed("live", live, Duplicates::Rejected).ok()?;
    let last_applied = operation
        .typed("last applied", &last_applied, Duplicates::Rejected)
        .ok()?;
    let set = typed::field_set(&live.schema, &last_applied.value).ok()?;
    let comparison = typed::compare(&live.schema, &last_applied.value, &live.value).ok()?;
    Some(
        set.difference(&comparison.modified)
            .difference(&comparison.added)
            .difference(&comparison.removed),
    )
}

/// Writes the applied configuration into the annotation, if the object has it.
pub(super) fn refresh(object: &mut Value, patch: &Value) -> Result<(), Failure> {
    let annotations = object
        .get_mut("metadata")
        .and_then(|metadata| metadata.get_mut("annotations"))
        .and_then(Value::as_object_mut)
        .filter(|annotations| {
            annotations
                .get(ANNOTATION)
                .and_then(Value::as_str)
                .is_some_and(|text| !text.is_empty())
        });
    let Some(annotations) = annotations else {
        return Ok(());
    };
    let mut patch = patch.clone();
    if let Some(applied) = patch
        .pointer_mut("/metadata/annotations")
        .and_then(Value::as_object_mut)
    {
        applied.remove(ANNOTATION);
    }
    let text = serde_json::to_string(&patch).map_err(|error| Failure::LastApplied(error.to_string()))?;
    annotations.insert(ANNOTATION.to_owned(), Value::String(format!("{text}\n")));
    if size(annotations) > ANNOTATIONS_SIZE_LIMIT {
        annotations.remove(ANNOTATION);
    }
    Ok(())
}

fn size(annotations: &Map<String, Value>) -> usize {
    annotations
        .iter()
        .map(|(key, value)| key.len() + value.as_str().map_or(0, str::len))
        .sum()
}
