//! Decides what one ClusterResourceSet does next.
//!
//! ```text
//!   alive     own the resources → per cluster: apply what is not applied, or what changed → record it
//!   deleting  take the set out of all bindings → gone
//! ```
// Parity: upstream core/reconcilers/clusterresourceset/clusterresourceset_controller.go

use capstan_api::{
    addons::{ClusterResourceSetBinding, ResourceKind, ResourceReference, ResourceStrategy},
    owner,
};
use capstan_contract::with_owner;
use capstan_engine::{Lookup, ObjectKey, Plan, Preconditions, Why};
use kube::ResourceExt;
use serde_json::json;

use super::{
    act::{Action, ToApply},
    bindings::{self, Without},
    view::{Resource, Target, View},
};

/// Chooses.
pub(super) fn decide(view: &View) -> Plan<Action> {
    if view.is_deleting() {
        return delete(view);
    }
    let mut plan = Plan::default();
    if view.targets.is_empty() {
        return plan;
    }
    for (reference, lookup) in &view.resources {
        if let Lookup::Found(resource) = lookup {
            own(view, reference, resource, &mut plan);
        }
    }
    for message in problems(view) {
        plan.waits(Why::new("ResourcesApplied", message));
    }
    if wrong_types(view).is_empty() {
        for target in &view.targets {
            apply(view, target, &mut plan);
        }
    }
    plan
}

/// The Secrets of another type than resource sets have.
pub(super) fn wrong_types(view: &View) -> Vec<&str> {
    let found = view
        .resources
        .iter()
        .filter_map(|(reference, lookup)| Some((reference, lookup.found()?)));
    found
        .filter(|(_, it)| it.manifests.is_none())
        .map(|(reference, _)| reference.name.as_str())
        .collect()
}

/// What is wrong with resources, and which clusters cannot be reached.
pub(super) fn problems(view: &View) -> Vec<String> {
    let mut problems = Vec::new();
    for (reference, lookup) in &view.resources {
        match lookup {
            Lookup::Absent => problems.push(format!("{} does not exist", named(reference))),
            Lookup::Unreadable(why) => problems.push(why.to_string()),
            Lookup::Found(resource) => {
                if let Some(Err(why)) = resource.manifests.as_ref().map(|it| &it.objects) {
                    problems.push(format!("{}: {why}", named(reference)));
                }
            }
        }
    }
    for target in &view.targets {
        if let Some(why) = &target.unreachable {
            problems.push(format!(
                "Cluster {} cannot be reached: {why}",
                target.cluster.name
            ));
        }
    }
    problems
}

/// The kind and name of a resource.
pub(super) fn named(reference: &ResourceReference) -> String {
    let kind = reference.kind.map_or("", ResourceKind::as_str);
    format!("{kind} {}", reference.name)
}

/// The resources go with the set.
fn own(view: &View, reference: &ResourceReference, resource: &Resource, plan: &mut Plan<Action>) {
    let present = resource.metadata.owner_references.clone().unwrap_or_default();
    let Some(references) = with_owner(&present, &owner::plain(&*view.set)) else {
        return;
    };
    let action = Action::PatchResource {
        kind: reference.kind,
        key: ObjectKey::new(view.set.namespace().unwrap_or_default(), &reference.name),
        patch: json!({ "metadata": {
            "ownerReferences": references, "resourceVersion": resource.metadata.resource_version } }),
    };
    let why = format!("{} belongs to the ClusterResourceSet", named(reference));
    plan.step_and_continue(action, Why::new("Own", why));
}

fn apply(view: &View, target: &Target, plan: &mut Plan<Action>) {
    let set = &*view.set;
    let binding = view.binding(&target.cluster).map(|it| &**it);
    let recorded = bindings::recorded(binding, &set.name_any());
    let mut wanted = Vec::new();
    for (reference, lookup) in &view.resources {
        let manifests = lookup.found().and_then(|it| it.manifests.as_ref());
        let Some(manifests) = manifests.filter(|_| target.unreachable.is_none()) else {
            continue;
        };
        let record = bindings::of_resource(recorded, reference);
        let is_applied = record.is_some_and(|it| it.applied == Some(true));
        let is_same = record.is_some_and(|it| it.hash.as_ref() == Some(&manifests.hash));
        let is_reconciled = set.spec.strategy == Some(ResourceStrategy::Reconcile);
        let is_tried_in_vain =
            manifests.objects.is_err() && record.is_some_and(|it| it.applied == Some(false));
        if is_tried_in_vain || is_applied && (is_same || !is_reconciled) {
            continue;
        }
        wanted.push(ToApply {
            reference: reference.clone(),
            hash: manifests.hash.clone(),
            objects: manifests.objects.clone(),
        });
    }
    let is_bound = binding.is_some_and(|it| bindings::patch(it, set, recorded.to_vec()).is_none());
    if wanted.is_empty() && is_bound {
        return;
    }
    let names: Vec<String> = wanted.iter().map(|it| named(&it.reference)).collect();
    let gets = if names.is_empty() {
        "a binding".to_owned()
    } else {
        names.join(", ")
    };
    let why = format!("Cluster {} gets {gets}", target.cluster.name);
    let action = Action::Apply {
        cluster: target.cluster.clone(),
        binding: binding.cloned().map(Box::new),
        resources: wanted,
        updates: set.spec.strategy == Some(ResourceStrategy::Reconcile),
    };
    plan.step_and_continue(action, Why::new("Apply", why));
}

fn delete(view: &View) -> Plan<Action> {
    let mut plan = Plan::default();
    for binding in &view.bindings {
        let key = ObjectKey::of(&**binding);
        let action = match bindings::without(binding, &view.set) {
            Without::Same => continue,
            Without::Empty => Action::DeleteBinding {
                key,
                preconditions: preconditions(binding),
            },
            Without::Patch(patch) => Action::PatchBinding { key, patch },
        };
        let why = format!("Cluster {} no longer has the set", binding.spec.cluster_name);
        plan.step_and_continue(action, Why::new("Unbind", why));
    }
    if plan.steps.is_empty() {
        plan.finalize = true;
    }
    plan
}

/// A binding is deleted only if nobody entered something meanwhile.
fn preconditions(binding: &ClusterResourceSetBinding) -> Preconditions {
    Preconditions {
        uid: binding.uid(),
        resource_version: binding.resource_version(),
    }
}
