//! One status patch per pass: what differs between the stored status and the reported one, and how condition lists
//! that several controllers share are merged.

use capstan_merge::diff::merge_patch;
use serde_json::{Map, Value, json};

use crate::reconciler::ConditionList;

/// The merge patch that turns `stored` (the whole object) into one whose status is `reported`; none if nothing differs.
///
/// Where a condition list changes, the patch carries the stored resourceVersion, since a merge patch replaces a list as
/// a whole and must not overwrite what another controller wrote meanwhile.
pub(crate) fn patch(stored: &Value, reported: &Value, lists: &[ConditionList], now: &str) -> Option<Value> {
    let before = stored.get("status").cloned().unwrap_or_else(|| json!({}));
    let mut wanted = json!({ "status": reported });
    let generation = stored.pointer("/metadata/generation").and_then(Value::as_i64);
    let mut lists_changed = false;
    for list in lists {
        let old = stored
            .pointer(list.pointer)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let new = wanted
            .pointer(list.pointer)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let merged = merge_conditions(&old, &new, list.owned, generation, now);
        lists_changed |= merged != old;
        put(&mut wanted, list.pointer, merged);
    }
    let wanted = wanted.get("status").cloned().unwrap_or_default();
    let changes = merge_patch(&before, &wanted);
    if changes == json!({}) {
        return None;
    }
    Some(if lists_changed {
        let revision = stored
            .pointer("/metadata/resourceVersion")
            .cloned()
            .unwrap_or_default();
        json!({ "metadata": { "resourceVersion": revision }, "status": changes })
    } else {
        json!({ "status": changes })
    })
}

/// A transition time as conditions carry it: RFC 3339, whole seconds.
pub(crate) fn transition_time(now: capstan_base::Timestamp) -> String {
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Merges the conditions that one controller reports into a stored list: types in `owned` are as reported (absent ones
/// go), all others stay. `lastTransitionTime` is kept while the status stays the same, and is `now` (RFC 3339) where it
/// changed and the reported condition does not bring its own.
///
/// The stored order stays and new types come last; but a controller that reports every type of the list decides the
/// order, so that the owners of a kind can keep the order that its users know.
pub fn merge_conditions(
    stored: &[Value],
    reported: &[Value],
    owned: &[&str],
    generation: Option<i64>,
    now: &str,
) -> Vec<Value> {
    let is_owned = |it: &Value| owned.contains(&kind(it));
    let mut merged: Vec<Value> = stored
        .iter()
        .filter_map(|old| {
            if !is_owned(old) {
                return Some(old.clone());
            }
            let new = reported.iter().find(|it| kind(it) == kind(old))?;
            Some(settled(new, Some(old), generation, now))
        })
        .collect();
    for condition in reported.iter().filter(|it| is_owned(it)) {
        if stored.iter().all(|it| kind(it) != kind(condition)) {
            merged.push(settled(condition, None, generation, now));
        }
    }
    let place = |it: &Value| reported.iter().position(|other| kind(other) == kind(it));
    if merged.iter().all(|it| place(it).is_some()) {
        merged.sort_by_key(place);
    }
    merged
}

fn kind(condition: &Value) -> &str {
    condition.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// A reported condition with its transition time and observed generation filled in.
fn settled(condition: &Value, old: Option<&Value>, generation: Option<i64>, now: &str) -> Value {
    let mut condition = condition.clone();
    let Some(fields) = condition.as_object_mut() else {
        return condition;
    };
    let same_status = old.is_some_and(|it| it.get("status") == fields.get("status"));
    let given = fields.get("lastTransitionTime").is_some_and(|it| !it.is_null());
    if !given {
        let kept = old
            .filter(|_| same_status)
            .and_then(|it| it.get("lastTransitionTime"))
            .cloned();
        fields.insert(
            "lastTransitionTime".to_owned(),
            kept.unwrap_or_else(|| json!(now)),
        );
    }
    // Old-style conditions have a severity and no observedGeneration; they are told apart by the missing field.
    if fields.contains_key("observedGeneration")
        && let Some(generation) = generation
    {
        fields.insert("observedGeneration".to_owned(), json!(generation));
    }
    condition
}

fn put(root: &mut Value, pointer: &str, list: Vec<Value>) {
    let mut place = root;
    for name in pointer.trim_start_matches('/').split('/') {
        if !place.is_object() {
            if list.is_empty() {
                return;
            }
            *place = Value::Object(Map::new());
        }
        let Some(fields) = place.as_object_mut() else {
            return;
        };
        if list.is_empty() && !fields.contains_key(name) {
            return;
        }
        place = fields.entry(name).or_insert(Value::Null);
    }
    *place = Value::Array(list);
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTS: &[ConditionList] = &[ConditionList {
        pointer: "/status/conditions",
        owned: &["Ready", "Deleting"],
    }];

    fn condition(kind: &str, status: &str, time: &str) -> Value {
        json!({ "type": kind, "status": status, "reason": "R", "message": "", "lastTransitionTime": time })
    }

    #[test]
    fn an_unchanged_status_needs_no_patch() {
        let stored = json!({ "metadata": { "resourceVersion": "7" },
            "status": { "phase": "Running", "conditions": [condition("Ready", "True", "t1")] } });
        let reported = json!({ "phase": "Running", "conditions": [{ "type": "Ready", "status": "True", "reason": "R", "message": "" }] });
        assert_eq!(patch(&stored, &reported, LISTS, "t2"), None);
    }

    #[test]
    fn conditions_of_others_stay_and_a_changed_list_is_guarded_by_the_revision() {
        let stored = json!({ "metadata": { "resourceVersion": "7" },
            "status": { "conditions": [condition("EtcdMemberHealthy", "True", "t1"), condition("Deleting", "False", "t1")] } });
        let reported = json!({ "phase": "Running", "conditions": [{ "type": "Ready", "status": "False", "reason": "R", "message": "" }] });
        assert_eq!(
            patch(&stored, &reported, LISTS, "t2"),
            Some(
                json!({ "metadata": { "resourceVersion": "7" }, "status": { "phase": "Running", "conditions": [
                condition("EtcdMemberHealthy", "True", "t1"),
                condition("Ready", "False", "t2")] } })
            )
        );
    }

    #[test]
    fn a_field_that_is_no_longer_reported_is_removed() {
        let stored = json!({ "metadata": {}, "status": { "phase": "Running", "nodeRef": { "name": "n" } } });
        assert_eq!(
            patch(&stored, &json!({ "phase": "Running" }), &[], "t"),
            Some(json!({ "status": { "nodeRef": null } }))
        );
    }
}
