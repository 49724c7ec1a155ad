//! Ownership through the `scale` subresource: the scale object has one field to own, the replicas, at another path and
//! in another version than its parent. Upstream: apimachinery `managedfields.ScaleHandler`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::entries::{ManagedFieldsError, ManagerId, Managers, Owned, Verb};
use crate::{
    path::{Path, PathElement},
    set::Set,
};

/// Per `group/version` of the parent, where its replicas are; `None` in versions without the subresource.
pub type ScalePaths = BTreeMap<String, Option<Path>>;

const SCALE_VERSION: &str = "autoscaling/v1";

fn replicas() -> Path {
    vec![PathElement::field("spec"), PathElement::field("replicas")]
}

fn only(path: Path) -> Set {
    [path].into_iter().collect()
}

/// The `managedFields` of the scale object: the parent's managers who own the replicas. `None` without any.
///
/// # Errors
/// The parent's `managedFields` cannot be read.
pub fn to_scale(parent: Option<&Value>, paths: &ScalePaths) -> Result<Option<Value>, ManagedFieldsError> {
    let mut managers = Managers::decode(parent)?;
    managers.0.retain(|_, owned| {
        let path = paths.get(&owned.api_version).and_then(Option::as_ref);
        path.is_some_and(|path| owned.set.has(path))
    });
    for owned in managers.0.values_mut() {
        owned.set = only(replicas());
        SCALE_VERSION.clone_into(&mut owned.api_version);
    }
    Ok(managers.encode())
}

/// The parent's `managedFields` after a write to its scale object in the parent's `api_version`: managers who lost the
/// replicas there lose them here, and those who gained them there own them here. `None` without managers.
///
/// # Errors
/// Either `managedFields` cannot be read.
pub fn from_scale(
    parent: Option<&Value>,
    scale: Option<&Value>,
    api_version: &str,
    paths: &ScalePaths,
) -> Result<Option<Value>, ManagedFieldsError> {
    let mut scale = Managers::decode(scale)?;
    let mut managers = Managers::decode(parent)?;
    managers.0.retain(|id, owned| {
        let Some(path) = paths.get(&owned.api_version) else {
            return false;
        };
        let Some(path) = path.as_ref().filter(|path| owned.set.has(path)) else {
            return true;
        };
        if scale.0.remove(&in_version(id, SCALE_VERSION)).is_none() {
            owned.set = owned.set.difference(&only(path.clone()));
        }
        !owned.set.is_empty()
    });
    let path = paths.get(api_version).cloned().flatten();
    for (id, gained) in scale.0 {
        let Some(path) = path.clone().filter(|_| gained.set.has(&replicas())) else {
            continue;
        };
        let none = Owned {
            api_version: api_version.to_owned(),
            set: Set::new(),
            time: None,
        };
        let owned = managers.0.entry(in_version(&id, api_version)).or_insert(none);
        owned.set.insert(&path);
        owned.time = gained.time;
    }
    Ok(managers.encode())
}

/// The same manager, recorded in another version.
fn in_version(id: &ManagerId, api_version: &str) -> ManagerId {
    let mut id = id.clone();
    if id.verb == Verb::Update {
        api_version.clone_into(&mut id.api_version);
    }
    id
}
