//! Carrying changes of a typed object over to the JSON it was read from.

use serde_json::{Map, Value};

/// Changes `target` by what differs between `before` and `after`, and leaves everything else of it alone.
pub(super) fn apply(before: &Value, after: &Value, target: &mut Value) {
    let Value::Object(after) = after else {
        if before != after {
            *target = after.clone();
        }
        return;
    };
    // What holds only defaults is not written, so an absent `before` may have stood for an object.
    let nothing = Map::new();
    let before = before.as_object().unwrap_or(&nothing);
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else { return };
    for name in before.keys().filter(|it| !after.contains_key(*it)) {
        target.remove(name);
    }
    for (name, wanted) in after {
        let known = before.get(name).unwrap_or(&Value::Null);
        if known != wanted {
            apply(known, wanted, target.entry(name).or_insert(Value::Null));
        }
    }
}

/// `value` without members that are null.
pub(super) fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members
                .iter()
                .filter(|(_, member)| !member.is_null())
                .map(|(name, member)| (name.clone(), without_nulls(member)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        scalar => scalar.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn unknown_members_stay_and_changes_arrive() {
        let mut target = json!({ "a": 1, "unknown": true, "nested": { "b": null, "own": 1 }, "gone": 1 });
        let before = json!({ "a": 1, "nested": {}, "gone": 1 });
        let after = json!({ "a": 1, "nested": { "b": { "c": [1] } } });
        apply(&before, &after, &mut target);
        assert_eq!(
            target,
            json!({ "a": 1, "unknown": true, "nested": { "b": { "c": [1] }, "own": 1 } })
        );
    }
}
