//! The two gates in front of every pass: the finalizer is in place, and the object is not paused.

use kube::{Resource, ResourceExt};
use serde_json::{Value, json};

use crate::reconciler::{ConditionList, Pause};

/// The patch that puts `finalizer` on an object that should have it and does not.
pub(crate) fn finalizer_patch<K: Resource>(object: &K, finalizer: &str) -> Option<Value> {
    let present = object.finalizers().iter().any(|it| it == finalizer);
    if present || object.meta().deletion_timestamp.is_some() {
        return None;
    }
    let finalizers: Vec<&str> = object
        .finalizers()
        .iter()
        .map(String::as_str)
        .chain(std::iter::once(finalizer))
        .collect();
    Some(guarded(object, &finalizers))
}

/// The patch that takes `finalizer` off an object; none if it is not there.
pub(crate) fn release_patch<K: Resource>(object: &K, finalizer: &str) -> Option<Value> {
    let finalizers: Vec<&str> = object
        .finalizers()
        .iter()
        .map(String::as_str)
        .filter(|it| *it != finalizer)
        .collect();
    (finalizers.len() != object.finalizers().len()).then(|| guarded(object, &finalizers))
}

/// The whole list, guarded by the revision it was read at: others add and remove finalizers too.
fn guarded<K: Resource>(object: &K, finalizers: &[&str]) -> Value {
    json!({ "metadata": { "finalizers": finalizers, "resourceVersion": object.resource_version() } })
}

/// The `Paused` condition as the engine reports it; none if the controller does not own that type.
pub(crate) fn paused_condition(pause: &Pause, lists: &[ConditionList]) -> Option<(&'static str, Value)> {
    let list = lists.first().filter(|it| it.owned.contains(&"Paused"))?;
    let (status, reason, message) = match pause {
        Pause::Running => ("False", "NotPaused", ""),
        Pause::Paused(message) => ("True", "Paused", message.as_str()),
    };
    let condition = json!({ "type": "Paused", "status": status, "reason": reason, "message": message, "observedGeneration": 0 });
    Some((list.pointer, condition))
}
