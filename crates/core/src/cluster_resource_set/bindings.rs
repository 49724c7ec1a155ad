//! The algebra of bindings: what was applied of which set.

use capstan_api::{
    addons::{
        ClusterResourceSet, ClusterResourceSetBinding, ResourceBinding, ResourceReference, ResourceSetBinding,
    },
    owner,
};
use kube::ResourceExt;
use serde_json::{Value, json};

/// What is recorded of a set's resources; nothing if there is no binding or no entry.
pub(super) fn recorded<'a>(
    binding: Option<&'a ClusterResourceSetBinding>,
    set: &str,
) -> &'a [ResourceBinding] {
    binding
        .into_iter()
        .flat_map(|it| &it.spec.bindings)
        .find(|it| it.cluster_resource_set_name == set)
        .map_or(&[], |it| &it.resources)
}

/// What is recorded of one resource.
pub(super) fn of_resource<'a>(
    recorded: &'a [ResourceBinding],
    reference: &ResourceReference,
) -> Option<&'a ResourceBinding> {
    recorded
        .iter()
        .find(|it| it.name == reference.name && it.kind == reference.kind)
}

/// The list with a record put in the place of the one of the same resource, or at its end.
pub(super) fn with(mut recorded: Vec<ResourceBinding>, record: ResourceBinding) -> Vec<ResourceBinding> {
    match recorded
        .iter_mut()
        .find(|it| it.name == record.name && it.kind == record.kind)
    {
        Some(present) => *present = record,
        None => recorded.push(record),
    }
    recorded
}

/// A new binding of a cluster with what was applied of a set.
pub(super) fn new(
    set: &ClusterResourceSet,
    cluster: &str,
    resources: Vec<ResourceBinding>,
) -> ClusterResourceSetBinding {
    let mut binding = ClusterResourceSetBinding::new(&set.namespace().unwrap_or_default(), cluster);
    binding.metadata.owner_references = Some(vec![owner::plain(set)]);
    cluster.clone_into(&mut binding.spec.cluster_name);
    binding.spec.bindings = vec![entry(set, resources)];
    binding
}

fn entry(set: &ClusterResourceSet, resources: Vec<ResourceBinding>) -> ResourceSetBinding {
    ResourceSetBinding {
        cluster_resource_set_name: set.name_any(),
        resources,
    }
}

/// The patch that records what was applied of a set, guarded by the revision; none if that is recorded already.
pub(super) fn patch(
    binding: &ClusterResourceSetBinding,
    set: &ClusterResourceSet,
    resources: Vec<ResourceBinding>,
) -> Option<Value> {
    let mut changed = binding.clone();
    owner::ensure(&mut changed.metadata, owner::plain(set));
    let name = set.name_any();
    let bindings = &mut changed.spec.bindings;
    match bindings
        .iter_mut()
        .find(|it| it.cluster_resource_set_name == name)
    {
        Some(present) => present.resources = resources,
        None => bindings.push(entry(set, resources)),
    }
    (changed != *binding).then(|| as_patch(&changed))
}

/// What becomes of a binding when a set goes.
#[derive(Debug, PartialEq)]
pub(super) enum Without {
    /// It has nothing to do with the set.
    Same,
    /// Nothing is left in it.
    Empty,
    /// The patch that takes the set out, guarded by the revision.
    Patch(Value),
}

/// The binding without a set.
pub(super) fn without(binding: &ClusterResourceSetBinding, set: &ClusterResourceSet) -> Without {
    let mut changed = binding.clone();
    owner::remove(&mut changed.metadata, &owner::plain(set));
    let name = set.name_any();
    changed
        .spec
        .bindings
        .retain(|it| it.cluster_resource_set_name != name);
    if changed == *binding {
        Without::Same
    } else if changed.spec.bindings.is_empty() {
        Without::Empty
    } else {
        Without::Patch(as_patch(&changed))
    }
}

fn as_patch(binding: &ClusterResourceSetBinding) -> Value {
    json!({
        "metadata": {
            "ownerReferences": binding.owner_references(),
            "resourceVersion": binding.resource_version(),
        },
        "spec": { "bindings": binding.spec.bindings },
    })
}
