//! Lists in strategic merge patches: merging by key, deletion lists and element order.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    DIRECTIVE, FieldMeta, Merger, Object, SET_ELEMENT_ORDER, same_type, unknown_directive, without_directives,
};
use crate::{
    PatchError,
    path::Literal,
    types::{Schema, TypeId},
};

impl Merger<'_> {
    /// Merges a list into another of a field whose lists merge, or deletes from it.
    pub(super) fn list(
        self,
        meta: FieldMeta<'_>,
        original: Vec<Value>,
        patch: Vec<Value>,
        delete: bool,
    ) -> Result<Vec<Value>, PatchError> {
        let Some(sample) = element_sample(&original, &patch)? else {
            return Ok(original);
        };
        if sample.is_object() {
            let key = meta.merge_key.ok_or_else(|| {
                PatchError::Internal("cannot merge lists without merge key for struct".to_owned())
            })?;
            return self.objects(meta, key, original, patch);
        }
        if delete {
            return Ok(original
                .into_iter()
                .filter(|item| !patch.contains(item))
                .collect());
        }
        let mut seen = BTreeSet::new();
        let mut merged: Vec<_> = original.iter().chain(&patch).cloned().collect();
        merged.retain(|item| seen.insert(Literal::from(item.clone())));
        order_items(merged, &patch, &original, None)
    }

    fn objects(
        self,
        meta: FieldMeta<'_>,
        key: &str,
        original: Vec<Value>,
        patch: Vec<Value>,
    ) -> Result<Vec<Value>, PatchError> {
        let (original, patch) = apply_directives(key, original, patch)?;
        let element = element_type(self.schema, meta.type_id);
        let mut merged = original.clone();
        for item in &patch {
            let value = key_of(item, key)?;
            let position = position(&merged, key, value)?;
            match (position.map(|at| merged[at].take()), item) {
                (Some(Value::Object(current)), Value::Object(changes)) => {
                    let combined = self.map(element, current, changes.clone())?;
                    merged[position.unwrap_or_default()] = Value::Object(combined);
                }
                _ => merged.push(item.clone()),
            }
        }
        order_items(merged, &patch, &original, Some(key))
    }

    // Differs: upstream reads the live order from a list that deletions and additions of the same patch have by then
    // partly overwritten, so that an unlisted item can end up before rather than after added ones.
    /// Handles every `$setElementOrder/x` of a patch together with its list, and takes both out of the patch.
    pub(super) fn merge_ordered_lists(
        self,
        type_id: TypeId,
        original: &mut Object,
        patch: &mut Object,
    ) -> Result<(), PatchError> {
        let keys: Vec<String> = patch
            .keys()
            .filter(|key| key.starts_with(SET_ELEMENT_ORDER))
            .cloned()
            .collect();
        for key in keys {
            let Some((SET_ELEMENT_ORDER, name)) = key.split_once('/') else {
                return Err(malformed_order());
            };
            let order = list_of(patch.remove(&key))?.unwrap_or_default();
            let meta = self.field(type_id, name)?;
            let current = list_of(original.get(name).cloned())?;
            let changes = list_of(patch.get(name).cloned())?;
            check_order(changes.as_deref().unwrap_or_default(), &order, meta.merge_key)?;
            let merged = match (&current, &changes) {
                (None, None) => continue,
                (Some(current), None) => current.clone(),
                (None, Some(changes)) => changes.iter().cloned().filter_map(without_directives).collect(),
                (Some(current), Some(changes)) if meta.strategy == "merge" => {
                    self.list(meta, current.clone(), changes.clone(), false)?
                }
                (Some(_), Some(changes)) => changes.clone(),
            };
            let current = current.unwrap_or_default();
            element_sample(&current, changes.as_deref().unwrap_or_default())?
                .ok_or_else(|| PatchError::Internal("no elements in any of the given slices".to_owned()))?;
            let ordered = order_items(merged, &order, &current, meta.merge_key)?;
            original.insert(name.to_owned(), Value::Array(ordered));
            patch.remove(name);
        }
        Ok(())
    }
}

fn malformed_order() -> PatchError {
    PatchError::Malformed("invalid patch format of setElementOrder list".to_owned())
}

fn no_merge_key(item: &Value, key: &str) -> PatchError {
    PatchError::Internal(format!("map: {item} does not contain declared merge key: {key}"))
}

fn element_type(schema: &Schema, list: TypeId) -> TypeId {
    schema
        .atom(list)
        .list
        .as_ref()
        .map_or(TypeId::UNTYPED, |list| list.element)
}

fn list_of(value: Option<Value>) -> Result<Option<Vec<Value>>, PatchError> {
    match value {
        None => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items)),
        Some(other) => Err(PatchError::Internal(format!(
            "expected a list, but received {other}"
        ))),
    }
}

/// An item that stands for the type of all; `None` when there are no items.
fn element_sample<'v>(original: &'v [Value], patch: &'v [Value]) -> Result<Option<&'v Value>, PatchError> {
    let mut items = original.iter().chain(patch);
    let Some(sample) = items.next() else {
        return Ok(None);
    };
    if sample.is_array() {
        return Err(PatchError::Failed("lists of lists are not supported".to_owned()));
    }
    if items.all(|item| same_type(item, sample)) {
        return Ok(Some(sample));
    }
    let lists = Value::Array(vec![original.into(), patch.into()]);
    Err(PatchError::Internal(format!(
        "list element types are not identical: {lists}"
    )))
}

fn key_of<'v>(item: &'v Value, key: &str) -> Result<&'v Value, PatchError> {
    item.get(key).ok_or_else(|| no_merge_key(item, key))
}

fn position(items: &[Value], key: &str, value: &Value) -> Result<Option<usize>, PatchError> {
    for (index, item) in items.iter().enumerate() {
        let fields = item
            .as_object()
            .ok_or_else(|| PatchError::Internal(format!("value for key {index} is not a map")))?;
        if fields.get(key) == Some(value) {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// Carries out the `$patch` items of a list and returns the original to merge into and the items to merge.
fn apply_directives(
    key: &str,
    mut original: Vec<Value>,
    patch: Vec<Value>,
) -> Result<(Vec<Value>, Vec<Value>), PatchError> {
    let mut rest = Vec::new();
    let mut replaces = false;
    for item in patch {
        let Some(directive) = item.get(DIRECTIVE) else {
            rest.push(item);
            continue;
        };
        match directive.as_str() {
            Some("delete") => {
                let value = key_of(&item, key)?;
                original.retain(|candidate| candidate.get(key) != Some(value));
            }
            Some("replace") => replaces = true,
            Some("merge") => {
                return Err(PatchError::Internal(
                    "merging lists cannot yet be specified in the patch".to_owned(),
                ));
            }
            _ => {
                return Err(unknown_directive(
                    directive,
                    &item.as_object().cloned().unwrap_or_default(),
                ));
            }
        }
    }
    Ok(if replaces {
        (rest, Vec::new())
    } else {
        (original, rest)
    })
}

/// The items of the patch must appear in the order list, in that order.
fn check_order(patch: &[Value], order: &[Value], key: Option<&str>) -> Result<(), PatchError> {
    if order.is_empty() {
        return Ok(());
    }
    let mut order_items = order.iter();
    for item in patch.iter().filter(|item| item.get(DIRECTIVE).is_none()) {
        loop {
            let Some(next) = order_items.next() else {
                let (patch, order) = (Value::from(patch), Value::from(order));
                return Err(PatchError::Internal(format!(
                    "The order in patch list:\n{patch}\n doesn't match {SET_ELEMENT_ORDER} list:\n{order}\n"
                )));
            };
            let same = match key {
                None => item == next,
                Some(key) => key_of(item, key)? == key_of(next, key)?,
            };
            if same {
                break;
            }
        }
    }
    Ok(())
}

/// What items are told apart by: their merge key, or themselves.
fn identity(item: &Value, key: Option<&str>) -> Result<Literal, PatchError> {
    let value = match key {
        Some(key) => key_of(item, key)?,
        None if item.is_object() => {
            return Err(PatchError::Internal(
                "cannot merge lists without merge key for struct".to_owned(),
            ));
        }
        None => item,
    };
    Ok(Literal::from(value.clone()))
}

fn ranks(order: &[Value], key: Option<&str>) -> Result<BTreeMap<Literal, usize>, PatchError> {
    let mut ranks = BTreeMap::new();
    for (rank, item) in order.iter().enumerate() {
        ranks.entry(identity(item, key)?).or_insert(rank);
    }
    Ok(ranks)
}

/// Sorts the items the patch lists by its order and the others by the order they had, and interleaves the two by the
/// order they had, as far as that goes.
fn order_items(
    items: Vec<Value>,
    patch_order: &[Value],
    live_order: &[Value],
    key: Option<&str>,
) -> Result<Vec<Value>, PatchError> {
    let (patch_ranks, live_ranks) = (ranks(patch_order, key)?, ranks(live_order, key)?);
    let (mut from_patch, mut others) = (Vec::new(), Vec::new());
    for item in items {
        let identity = identity(&item, key)?;
        let live_rank = live_ranks.get(&identity).copied();
        match patch_ranks.get(&identity) {
            Some(rank) => from_patch.push((*rank, live_rank, item)),
            None => others.push((live_rank, item)),
        }
    }
    from_patch.sort_by_key(|(rank, _, _)| *rank);
    others.sort_by_key(|(rank, _)| rank.unwrap_or(usize::MAX));
    let mut ordered = Vec::with_capacity(from_patch.len() + others.len());
    let mut others = others.into_iter().peekable();
    for (_, rank, item) in from_patch {
        while let Some((_, other)) =
            others.next_if(|(other, _)| other.zip(rank).is_some_and(|(other, rank)| other < rank))
        {
            ordered.push(other);
        }
        ordered.push(item);
    }
    ordered.extend(others.map(|(_, item)| item));
    Ok(ordered)
}
