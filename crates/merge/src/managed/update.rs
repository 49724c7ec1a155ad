//! What creates, updates and patches do to ownership.

use std::collections::{BTreeMap, btree_map::Entry};

use jiff::Timestamp;
use serde_json::Value;

use super::{
    Failure, Operation,
    entries::{ManagerId, Managers, Owned, Verb, managed_fields, strip},
    ownership::without_bookkeeping,
};
use crate::{typed::Duplicates, value};

/// The most entries of updates an object keeps; older ones are merged.
const MAX_UPDATE_MANAGERS: usize = 10;
const ANCIENT_CHANGES: &str = "ancient-changes";

/// The outcome of [`update`].
#[derive(Debug, Clone, PartialEq)]
pub struct Updated {
    /// The new object with its `managedFields`.
    pub object: Value,
    /// Why ownership could not be computed; the object then has no `managedFields`, rather than wrong ones, and the
    /// write goes on.
    pub failure: Option<Failure>,
}

/// Records a create, update or patch: `new` is the object about to be stored, `live` the stored one, or
/// `operation.empty` for a create.
///
/// The managers are those of `new` if it carries any, so that clients can edit them, and else those of `live`, so that
/// clients who do not know them do not lose them; through a subresource always those of `live`. An empty list, or a
/// list of one empty entry, forgets all managers; an object without managers stays so until it is applied.
pub fn update(operation: &Operation<'_>, live: &Value, mut new: Value) -> Updated {
    let mut managers = starting_managers(operation, live, &new);
    strip(&mut new);
    let is_create = live
        .pointer("/metadata/uid")
        .and_then(Value::as_str)
        .is_none_or(str::is_empty);
    if managers.is_empty() && !is_create {
        return Updated {
            object: new,
            failure: None,
        };
    }
    let failure = record(operation, operation.manager, live, &new, &mut managers).err();
    if failure.is_none() {
        managers.store(&mut new);
    }
    Updated { object: new, failure }
}

fn starting_managers(operation: &Operation<'_>, live: &Value, new: &Value) -> Managers {
    let of_live = || Managers::decode(managed_fields(live)).unwrap_or_default();
    if !operation.subresource.is_empty() {
        return of_live();
    }
    let managed_fields = managed_fields(new);
    if managed_fields.is_some_and(is_reset) {
        return Managers::default();
    }
    match Managers::decode(managed_fields) {
        Ok(managers) if !managers.is_empty() => managers,
        _ => of_live(),
    }
}

fn is_reset(managed_fields: &Value) -> bool {
    let is_zero = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        _ => false,
    };
    match managed_fields.as_array().map(Vec::as_slice) {
        Some([]) => true,
        Some([Value::Object(only)]) => only.values().all(is_zero),
        _ => false,
    }
}

/// Gives `manager` what changed from `live` to `new`, and takes it from the others.
pub(super) fn record(
    operation: &Operation<'_>,
    manager: &str,
    live: &Value,
    new: &Value,
    managers: &mut Managers,
) -> Result<(), Failure> {
    let new = operation.typed("new", new, Duplicates::Allowed)?;
    let live = operation.typed("live", live, Duplicates::Allowed)?;
    operation.reconcile_schemas(managers);
    let changes = operation.changes((&live, &new), managers)?;
    changes.take_over(managers, None);
    let written = without_bookkeeping(&changes.own().written());
    if !written.is_empty() {
        let now = Some(operation.now);
        match managers.0.entry(operation.manager_id(manager, Verb::Update)) {
            Entry::Vacant(vacant) => {
                let api_version = operation.api_version.to_owned();
                vacant.insert(Owned {
                    api_version,
                    set: written,
                    time: now,
                });
            }
            Entry::Occupied(mut occupied) => {
                let owned = occupied.get_mut();
                owned.set = owned.set.union(&written);
                owned.time = now;
            }
        }
    }
    cap_update_managers(managers);
    Ok(())
}

/// Merges the oldest updates of each version until few enough are left.
fn cap_update_managers(managers: &mut Managers) {
    let seconds = |owned: &Owned| owned.time.map_or(0, Timestamp::as_second);
    let mut oldest_first: Vec<(i64, ManagerId)> = managers
        .0
        .iter()
        .filter(|(id, _)| id.verb == Verb::Update)
        .map(|(id, owned)| (seconds(owned), id.clone()))
        .collect();
    let mut excess = oldest_first.len().saturating_sub(MAX_UPDATE_MANAGERS);
    oldest_first.sort();
    let mut first_of_version: BTreeMap<String, ManagerId> = BTreeMap::new();
    for (_, id) in oldest_first {
        if excess == 0 {
            return;
        }
        let Some(first) = first_of_version.get(&id.api_version) else {
            first_of_version.insert(id.api_version.clone(), id);
            continue;
        };
        let bucket = ManagerId {
            manager: ANCIENT_CHANGES.to_owned(),
            verb: Verb::Update,
            api_version: id.api_version.clone(),
            subresource: String::new(),
        };
        let Some(newest) = managers.0.remove(&id) else {
            continue;
        };
        let older = if managers.0.contains_key(&bucket) {
            &bucket
        } else {
            first
        };
        let mut merged = newest;
        if let Some(owned) = managers.0.remove(older) {
            merged.set = merged.set.union(&owned.set);
        }
        managers.0.insert(bucket, merged);
        excess -= 1;
    }
}

/// Sets the times of the managers of `new` back to those of `old` when nothing else differs, so that a write that
/// changes nothing is not stored.
pub fn revert_timestamps(old: &Value, new: &mut Value) {
    let (Some(Value::Array(old_entries)), Some(Value::Array(new_entries))) =
        (managed_fields(old), managed_fields(new))
    else {
        return;
    };
    let timeless = |entry: &Value| {
        let mut entry = entry.clone();
        entry.as_object_mut().map(|entry| entry.remove("time"));
        entry
    };
    let same_managers = old_entries.len() == new_entries.len()
        && old_entries
            .iter()
            .zip(new_entries)
            .all(|(old, new)| value::equal(&timeless(old), &timeless(new)));
    if !same_managers {
        return;
    }
    let entries = Value::Array(old_entries.clone());
    let (mut old_rest, mut new_rest) = (old.clone(), new.clone());
    strip(&mut old_rest);
    strip(&mut new_rest);
    if old_rest == new_rest
        && let Some(own) = new.pointer_mut("/metadata/managedFields")
    {
        *own = entries;
    }
}
