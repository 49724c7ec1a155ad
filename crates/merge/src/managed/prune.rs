//! Removing what an applier applied before and no longer applies.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use super::{
    Failure, Operation,
    entries::{Managers, Owned},
    ownership::{At, step},
};
use crate::{set::Set, typed};

/// Removes from `merged` what the applier owned by `last` and now owns no more, unless another manager owns it or
/// something in it. `managers` include the applier with its new set. `None`: nothing is to be removed.
pub(super) fn prune(
    operation: &Operation<'_>,
    merged: &At<'_>,
    managers: &Managers,
    last: Option<&Owned>,
) -> Result<Option<At<'static>>, Failure> {
    let Some(last) = last.filter(|last| !last.set.is_empty()) else {
        return Ok(None);
    };
    let Some(merged) = operation.convert(merged, &last.api_version)? else {
        return Ok(None);
    };
    let last_set = last.set.with_named_parents(&merged.schema);
    let without_last = with_value(&merged, typed::remove(&merged.schema, &merged.value, &last_set));
    let pruned = keep_owned(operation, &merged, without_last, &last.api_version, managers)?;
    let pruned = keep_unowned(operation, &merged, &pruned, last, &last_set)?;
    let pruned = operation.convert(&pruned, operation.api_version)?;
    Ok(pruned.map(owned))
}

fn with_value(at: &At<'_>, value: serde_json::Value) -> At<'static> {
    let api_version = Cow::Owned(at.api_version.clone().into_owned());
    At {
        api_version,
        value: Cow::Owned(value),
        schema: Arc::clone(&at.schema),
    }
}

fn owned(at: At<'_>) -> At<'static> {
    let At {
        api_version,
        value,
        schema,
    } = at;
    At {
        api_version: Cow::Owned(api_version.into_owned()),
        value: Cow::Owned(value.into_owned()),
        schema,
    }
}

/// Puts back what any manager owns. The version that was pruned comes first, since converting it to others may need
/// fields that were removed.
fn keep_owned(
    operation: &Operation<'_>,
    merged: &At<'_>,
    pruned: At<'static>,
    pruned_version: &str,
    managers: &Managers,
) -> Result<At<'static>, Failure> {
    let mut owned_at: BTreeMap<&str, Set> = BTreeMap::new();
    for owned in managers.0.values() {
        let set = owned_at.entry(&owned.api_version).or_default();
        *set = set.union(&owned.set);
    }
    let first = owned_at.remove_entry(pruned_version);
    let mut pruned = pruned;
    for (api_version, owned_set) in first.into_iter().chain(owned_at) {
        let Some(merged) = operation.convert(merged, api_version)? else {
            continue;
        };
        let Some(at_version) = operation.convert(&pruned, api_version)? else {
            continue;
        };
        let schema = &merged.schema;
        let all = field_set(&merged)?.with_named_parents(schema);
        let kept = field_set(&at_version)?.with_named_parents(schema);
        let gone = all.difference(&kept.union(&owned_set.with_named_parents(schema)));
        pruned = with_value(&merged, typed::remove(schema, &merged.value, &gone));
    }
    Ok(pruned)
}

/// Puts back what the applier never owned: it went only because something around it did.
fn keep_unowned(
    operation: &Operation<'_>,
    merged: &At<'_>,
    pruned: &At<'_>,
    last: &Owned,
    last_set: &Set,
) -> Result<At<'static>, Failure> {
    let Some(pruned) = operation.convert(pruned, &last.api_version)? else {
        return Ok(with_value(merged, merged.value.clone().into_owned()));
    };
    let schema = &merged.schema;
    let kept = field_set(&pruned)?.with_named_parents(schema);
    let all = field_set(merged)?.with_named_parents(schema);
    let gone = all.difference(&kept).intersection(last_set);
    Ok(with_value(merged, typed::remove(schema, &merged.value, &gone)))
}

fn field_set(at: &At<'_>) -> Result<Set, Failure> {
    typed::field_set(&at.schema, &at.value).map_err(step("create field set from merged object"))
}
