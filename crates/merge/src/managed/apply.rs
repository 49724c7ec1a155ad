//! Server-side apply.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    Failure, Operation,
    conflict::Conflicts,
    entries::{Managers, Owned, Verb, managed_fields, strip},
    last_applied,
    ownership::{At, Stop, step, type_text, without_bookkeeping},
    prune::prune,
    update::record,
};
use crate::{
    typed::{self, Duplicates},
    value,
};

const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// Why an apply is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The request itself is wrong (400).
    #[error("{0}")]
    BadRequest(String),
    /// Others own fields it changes (409).
    #[error(transparent)]
    Conflict(Conflicts),
    /// The configuration or an object does not fit its type (500, as upstream).
    #[error(transparent)]
    Failure(#[from] Failure),
}

impl From<Stop> for ApplyError {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Conflicts(conflicts) => Self::Conflict(conflicts),
            Stop::Failure(failure) => Self::Failure(failure),
        }
    }
}

/// Applies the configuration `patch` to `live` (`operation.empty` if there is no object yet) and returns the new
/// object with its `managedFields`. Defaults are not applied.
///
/// What the manager applied before and does not apply now is removed unless others own it. Without `force`, changing
/// what others own is a conflict; with it, they lose it. If nothing changes in the object, the manager's time stays.
///
/// # Errors
/// The type or version of the patch is not the operation's, it carries `managedFields`, it conflicts, or it does not
/// conform to the merge schema.
pub fn apply(
    operation: &Operation<'_>,
    live: &Value,
    patch: &Value,
    force: bool,
) -> Result<Value, ApplyError> {
    let text = |name: &str| patch.get(name).and_then(Value::as_str).unwrap_or_default();
    if (text("apiVersion"), text("kind")) != (operation.api_version, operation.kind) {
        let found = type_text(text("apiVersion"), text("kind"));
        return Err(ApplyError::BadRequest(format!("invalid object type: {found}")));
    }
    if managed_fields(patch).is_some_and(Value::is_array) {
        return Err(ApplyError::BadRequest(
            "metadata.managedFields must be nil".to_owned(),
        ));
    }
    let managers = Managers::decode(managed_fields(live)).map_err(Failure::Decode)?;
    let mut bare_live = live.clone();
    strip(&mut bare_live);
    let mut applied = match apply_once(operation, &bare_live, patch, managers.clone(), force) {
        Err(Stop::Conflicts(conflicts)) if last_applied::is_concerned(operation) => {
            let remaining = last_applied::remaining_conflicts(operation, &bare_live, conflicts);
            if let Some(conflicts) = remaining {
                return Err(ApplyError::Conflict(conflicts));
            }
            apply_once(operation, &bare_live, patch, managers, true)?
        }
        other => other?,
    };
    if last_applied::is_concerned(operation) {
        last_applied::refresh(&mut applied.0, patch)?;
    }
    let (mut object, managers) = applied;
    managers.store(&mut object);
    Ok(object)
}

fn apply_once(
    operation: &Operation<'_>,
    live: &Value,
    patch: &Value,
    mut managers: Managers,
    force: bool,
) -> Result<(Value, Managers), Stop> {
    if managers.is_empty() {
        record(
            operation,
            BEFORE_FIRST_APPLY,
            operation.empty,
            live,
            &mut managers,
        )?;
    }
    let config = operation.typed("patch", patch, Duplicates::Rejected)?;
    let live = operation.typed("live", live, Duplicates::Allowed)?;
    operation.reconcile_schemas(&mut managers);

    let id = operation.manager_id(operation.manager, Verb::Apply);
    let schema = &live.schema;
    let merged = typed::merge(schema, &live.value, &config.value).map_err(step("merge config"))?;
    let merged = At {
        api_version: live.api_version.clone(),
        value: Cow::Owned(merged),
        schema: schema.clone(),
    };
    let mut set = typed::field_set(schema, &config.value).map_err(step("get field set"))?;
    if let Some(reset) = operation.reset_fields.get(operation.api_version) {
        set = set.recursive_difference(reset);
    }
    let last = managers.0.remove(&id);
    let time = last.as_ref().and_then(|last| last.time);
    managers.0.insert(
        id.clone(),
        Owned {
            api_version: operation.api_version.to_owned(),
            set,
            time,
        },
    );
    let new = prune(operation, &merged, &managers, last.as_ref())?.unwrap_or(merged);
    let changes = operation.changes((&live, &new), &managers)?;
    let conflicts = changes.conflicts(&managers, &id);
    if !force && !conflicts.is_empty() {
        return Err(Stop::Conflicts(Conflicts(conflicts)));
    }
    changes.take_over(&mut managers, Some(&id));

    let is_changed = !value::equal(&live.value, &new.value);
    if let Some(mut owned) = managers.0.remove(&id) {
        owned.set = without_bookkeeping(&owned.set);
        if is_changed {
            owned.time = Some(operation.now);
        }
        if !owned.set.is_empty() {
            managers.0.insert(id, owned);
        }
    }
    let object = if is_changed { new.value } else { live.value };
    Ok((object.into_owned(), managers))
}
