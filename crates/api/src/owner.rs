//! Owner references: who owns whom, and who controls whom.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Resource;

/// A reference to `owner` that keeps it from vanishing before what it owns (`blockOwnerDeletion`), as its controller.
///
/// The UID is empty while `owner` was not stored yet.
pub fn controller<K: Resource<DynamicType = ()>>(owner: &K) -> OwnerReference {
    OwnerReference {
        controller: Some(true),
        block_owner_deletion: Some(true),
        ..plain(owner)
    }
}

/// A reference to `owner` that is not its controller.
pub fn plain<K: Resource<DynamicType = ()>>(owner: &K) -> OwnerReference {
    OwnerReference {
        api_version: K::api_version(&()).into_owned(),
        kind: K::kind(&()).into_owned(),
        name: owner.meta().name.clone().unwrap_or_default(),
        uid: owner.meta().uid.clone().unwrap_or_default(),
        controller: None,
        block_owner_deletion: None,
    }
}

/// The owner that controls the object, if any.
pub fn controller_of(metadata: &ObjectMeta) -> Option<&OwnerReference> {
    metadata
        .owner_references
        .as_deref()
        .unwrap_or_default()
        .iter()
        .find(|it| it.controller == Some(true))
}

/// Whether `owner` controls the object, by UID.
pub fn is_controlled_by<K: Resource>(metadata: &ObjectMeta, owner: &K) -> bool {
    controller_of(metadata).is_some_and(|it| owner.meta().uid.as_deref() == Some(it.uid.as_str()))
}

/// Whether `owner` is among the object's owners, by group, kind and name, whatever the version.
pub fn is_owned_by<K: Resource<DynamicType = ()>>(metadata: &ObjectMeta, owner: &K) -> bool {
    let reference = plain(owner);
    metadata
        .owner_references
        .iter()
        .flatten()
        .any(|it| is_same_owner(it, &reference))
}

/// The first owner of `kind` in `group`, whatever the version.
pub fn of_kind<'a>(metadata: &'a ObjectMeta, group: &str, kind: &str) -> Option<&'a OwnerReference> {
    metadata
        .owner_references
        .iter()
        .flatten()
        .find(|it| it.kind == kind && group_of(&it.api_version) == group)
}

/// Whether two references name the same owner: group, kind and name. Versions may differ, and UIDs do after a move.
// Parity: cluster-api util/util.go:referSameObject
pub fn is_same_owner(one: &OwnerReference, other: &OwnerReference) -> bool {
    group_of(&one.api_version) == group_of(&other.api_version)
        && one.kind == other.kind
        && one.name == other.name
}

/// Adds `reference`, or replaces the one that names the same owner, so that an old API version or UID is corrected.
/// Says whether that changed anything.
// Parity: cluster-api util/util.go:EnsureOwnerRef
pub fn ensure(metadata: &mut ObjectMeta, reference: OwnerReference) -> bool {
    let references = metadata.owner_references.get_or_insert_default();
    match references.iter_mut().find(|it| is_same_owner(it, &reference)) {
        Some(present) if *present == reference => false,
        Some(present) => {
            *present = reference;
            true
        }
        None => {
            references.push(reference);
            true
        }
    }
}

/// Removes the reference that names the same owner. Says whether there was one.
pub fn remove(metadata: &mut ObjectMeta, reference: &OwnerReference) -> bool {
    let Some(references) = metadata.owner_references.as_mut() else {
        return false;
    };
    let before = references.len();
    references.retain(|it| !is_same_owner(it, reference));
    before != references.len()
}

/// The group of an `apiVersion`, empty for the core group.
pub fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Cluster, Machine};

    fn cluster() -> Cluster {
        let mut cluster = Cluster::new("ns", "c");
        cluster.metadata.uid = Some("u-1".to_owned());
        cluster
    }

    #[test]
    fn an_old_api_version_is_replaced_by_group_kind_and_name() {
        let mut machine = Machine::new("ns", "m");
        let old = OwnerReference {
            api_version: "cluster.x-k8s.io/v1beta1".to_owned(),
            ..plain(&cluster())
        };
        assert!(ensure(&mut machine.metadata, old));
        assert!(ensure(&mut machine.metadata, plain(&cluster())));
        assert!(!ensure(&mut machine.metadata, plain(&cluster())));
        assert_eq!(machine.metadata.owner_references, Some(vec![plain(&cluster())]));
        assert!(is_owned_by(&machine.metadata, &cluster()));
        assert!(remove(&mut machine.metadata, &plain(&cluster())));
    }

    #[test]
    fn control_is_by_uid() {
        let mut machine = Machine::new("ns", "m");
        ensure(&mut machine.metadata, plain(&cluster()));
        assert!(!is_controlled_by(&machine.metadata, &cluster()));
        ensure(&mut machine.metadata, controller(&cluster()));
        assert!(is_controlled_by(&machine.metadata, &cluster()));
        let mut other = cluster();
        other.metadata.uid = Some("u-2".to_owned());
        assert!(!is_controlled_by(&machine.metadata, &other));
        assert_eq!(
            of_kind(&machine.metadata, "cluster.x-k8s.io", "Cluster").map(|it| it.uid.as_str()),
            Some("u-1")
        );
    }
}
