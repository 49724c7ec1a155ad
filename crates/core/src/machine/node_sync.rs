//! What a Machine writes to its Node: labels, annotations and taints that it owns, and the record of what it owns.
//! A plain function of the two.
// Parity: upstream core/reconcilers/machine/machine_controller_noderef.go:patchNode

use std::collections::{BTreeMap, BTreeSet};

use capstan_api::{
    core::{Machine, MachineDeployment, MachineSet},
    well_known,
};
use k8s_openapi::api::core::v1::{Node, Taint};
use kube::ResourceExt;
use serde_json::{Map, Value, json};

/// The annotations that every Node of a Machine carries; they are not listed in the record of owned annotations.
const COMMON: &[&str] = &[
    well_known::annotation::CLUSTER_NAME,
    well_known::annotation::CLUSTER_NAMESPACE,
    well_known::annotation::MACHINE,
    well_known::annotation::OWNER_KIND,
    well_known::annotation::OWNER_NAME,
];

/// The taint of a Node that its Machine has not looked after yet: key and effect.
const UNINITIALIZED: (&str, &str) = (well_known::taint::NODE_UNINITIALIZED, "NoSchedule");
/// The taint of a Node whose revision is no longer the current one: key and effect.
const OUTDATED_REVISION: (&str, &str) = (well_known::taint::NODE_OUTDATED_REVISION, "PreferNoSchedule");

/// The merge patch that brings a Node in step with its Machine; none if it is. The patch carries the Node's revision,
/// since taints are a list that others write too.
pub(super) fn patch(
    machine: &Machine,
    node: &Node,
    interruptible: bool,
    owners: (Option<&MachineSet>, Option<&MachineDeployment>),
) -> Option<Value> {
    let mut annotations = owned_annotations(machine);
    let mut labels = owned_labels(machine);
    if interruptible {
        labels.insert(well_known::label::INTERRUPTIBLE.to_owned(), String::new());
    }
    let mut label_changes = Map::new();
    difference(
        node.labels(),
        &labels,
        &recorded(node, well_known::annotation::LABELS_FROM_MACHINE),
        &mut label_changes,
    );
    let before = recorded(node, well_known::annotation::ANNOTATIONS_FROM_MACHINE);
    let before: BTreeSet<String> = before
        .into_iter()
        .chain(COMMON.iter().map(|it| (*it).to_owned()))
        .collect();
    let listed: Vec<&str> = annotations
        .keys()
        .map(String::as_str)
        .filter(|it| !COMMON.contains(it))
        .collect();
    let listed = listed.join(",");
    annotations.insert(
        well_known::annotation::ANNOTATIONS_FROM_MACHINE.to_owned(),
        listed,
    );
    let owned: Vec<&str> = labels.keys().map(String::as_str).collect();
    annotations.insert(
        well_known::annotation::LABELS_FROM_MACHINE.to_owned(),
        owned.join(","),
    );
    let mut annotation_changes = Map::new();
    difference(node.annotations(), &annotations, &before, &mut annotation_changes);
    let taints = taints(node, is_outdated(owners.0, owners.1));
    if label_changes.is_empty() && annotation_changes.is_empty() && taints.is_none() {
        return None;
    }
    let mut metadata = json!({ "resourceVersion": node.resource_version() });
    for (name, changes) in [("labels", label_changes), ("annotations", annotation_changes)] {
        if !changes.is_empty() {
            metadata[name] = Value::Object(changes);
        }
    }
    let mut patch = json!({ "metadata": metadata });
    if let Some(taints) = taints {
        patch["spec"] = json!({ "taints": if taints.is_empty() { Value::Null } else { json!(taints) } });
    }
    Some(patch)
}

/// Labels of a Machine that belong on its Node, by their domain.
fn owned_labels(machine: &Machine) -> BTreeMap<String, String> {
    machine
        .labels()
        .iter()
        .filter(|(key, _)| is_synced_label(key))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect()
}

fn is_synced_label(key: &str) -> bool {
    let Some((domain, _)) = key.split_once('/') else {
        return false;
    };
    domain == "node-role.kubernetes.io"
        || is_or_under(domain, "node-restriction.kubernetes.io")
        || is_or_under(domain, "node.cluster.x-k8s.io")
}

fn is_or_under(domain: &str, parent: &str) -> bool {
    domain == parent || domain.strip_suffix(parent).is_some_and(|it| it.ends_with('.'))
}

fn owned_annotations(machine: &Machine) -> BTreeMap<String, String> {
    let synced = |key: &str| {
        key.split_once('/')
            .is_some_and(|(domain, _)| is_or_under(domain, "node.cluster.x-k8s.io"))
    };
    let mut annotations: BTreeMap<String, String> = machine
        .annotations()
        .iter()
        .filter(|(key, _)| synced(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let mut set = |key: &str, value: String| annotations.insert(key.to_owned(), value);
    set(
        well_known::annotation::CLUSTER_NAME,
        machine.spec.cluster_name.clone(),
    );
    set(
        well_known::annotation::CLUSTER_NAMESPACE,
        machine.namespace().unwrap_or_default(),
    );
    set(well_known::annotation::MACHINE, machine.name_any());
    if let Some(owner) = machine
        .owner_references()
        .iter()
        .find(|it| it.controller == Some(true))
    {
        set(well_known::annotation::OWNER_KIND, owner.kind.clone());
        set(well_known::annotation::OWNER_NAME, owner.name.clone());
    }
    annotations
}

/// The names in one of the Node's records of what its Machine owns.
fn recorded(node: &Node, annotation: &str) -> BTreeSet<String> {
    let list = node.annotations().get(annotation).map_or("", String::as_str);
    list.split(',')
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
        .collect()
}

fn difference(
    current: &BTreeMap<String, String>,
    wanted: &BTreeMap<String, String>,
    owned_before: &BTreeSet<String>,
    changes: &mut Map<String, Value>,
) {
    for (key, value) in wanted {
        if current.get(key) != Some(value) {
            changes.insert(key.clone(), json!(value));
        }
    }
    for key in owned_before
        .iter()
        .filter(|it| !wanted.contains_key(*it) && current.contains_key(*it))
    {
        changes.insert(key.clone(), Value::Null);
    }
}

/// The Node's taints as they should be; none if they are. The taint of uninitialised nodes goes, the one of outdated
/// revisions follows the owners.
fn taints(node: &Node, outdated: bool) -> Option<Vec<Taint>> {
    let current = node
        .spec
        .as_ref()
        .and_then(|it| it.taints.clone())
        .unwrap_or_default();
    let is = |taint: &Taint, (key, effect): (&str, &str)| taint.key == key && taint.effect == effect;
    let mut wanted: Vec<Taint> = current
        .iter()
        .filter(|it| !is(it, UNINITIALIZED))
        .cloned()
        .collect();
    let has_outdated = wanted.iter().any(|it| is(it, OUTDATED_REVISION));
    if outdated && !has_outdated {
        let (key, effect) = OUTDATED_REVISION;
        wanted.push(Taint {
            key: key.to_owned(),
            effect: effect.to_owned(),
            ..Taint::default()
        });
    } else if !outdated {
        wanted.retain(|it| !is(it, OUTDATED_REVISION));
    }
    (wanted != current).then_some(wanted)
}

/// Does the Machine belong to a revision of its MachineDeployment that is no longer the current one?
fn is_outdated(machine_set: Option<&MachineSet>, machine_deployment: Option<&MachineDeployment>) -> bool {
    let revision = |annotations: &BTreeMap<String, String>| -> Option<i64> {
        annotations.get(well_known::annotation::REVISION)?.parse().ok()
    };
    let (Some(set), Some(deployment)) = (machine_set, machine_deployment) else {
        return false;
    };
    match (revision(set.annotations()), revision(deployment.annotations())) {
        (Some(mine), Some(newest)) => mine < newest,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        let mut machine = Machine::new("ns", "m");
        machine.spec.cluster_name = "c".to_owned();
        machine
            .labels_mut()
            .insert("node-role.kubernetes.io/worker".to_owned(), String::new());
        machine.labels_mut().insert("app".to_owned(), "x".to_owned());
        machine
    }

    fn node(json: Value) -> Node {
        serde_json::from_value(json).expect("a node")
    }

    #[test]
    fn a_new_node_gets_what_its_machine_owns_and_loses_the_uninitialised_taint() {
        let fresh = node(json!({ "metadata": { "name": "n", "resourceVersion": "5" },
            "spec": { "taints": [{ "key": "node.cluster.x-k8s.io/uninitialized", "effect": "NoSchedule" }] } }));
        assert_eq!(
            patch(&machine(), &fresh, false, (None, None)),
            Some(json!({
                "metadata": { "resourceVersion": "5", "labels": { "node-role.kubernetes.io/worker": "" },
                    "annotations": { "cluster.x-k8s.io/cluster-name": "c", "cluster.x-k8s.io/cluster-namespace": "ns",
                        "cluster.x-k8s.io/machine": "m", "cluster.x-k8s.io/annotations-from-machine": "",
                        "cluster.x-k8s.io/labels-from-machine": "node-role.kubernetes.io/worker" } },
                "spec": { "taints": null }
            }))
        );
    }

    #[test]
    fn a_node_in_step_needs_no_patch_and_a_label_that_left_the_machine_leaves_the_node() {
        let mut synced = node(json!({ "metadata": { "name": "n", "resourceVersion": "5",
            "labels": { "node-role.kubernetes.io/worker": "", "kept": "by others" },
            "annotations": { "cluster.x-k8s.io/cluster-name": "c", "cluster.x-k8s.io/cluster-namespace": "ns",
                "cluster.x-k8s.io/machine": "m", "cluster.x-k8s.io/annotations-from-machine": "",
                "cluster.x-k8s.io/labels-from-machine": "node-role.kubernetes.io/worker" } } }));
        assert_eq!(patch(&machine(), &synced, false, (None, None)), None);
        let mut bare = machine();
        bare.labels_mut().clear();
        synced.metadata.resource_version = Some("6".to_owned());
        assert_eq!(
            patch(&bare, &synced, false, (None, None)),
            Some(
                json!({ "metadata": { "resourceVersion": "6", "labels": { "node-role.kubernetes.io/worker": null },
                "annotations": { "cluster.x-k8s.io/labels-from-machine": "" } } })
            )
        );
    }
}
