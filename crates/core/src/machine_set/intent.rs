//! The Machine that a MachineSet is about to make: its name follows from the set's UID and the intent.

use std::collections::BTreeMap;

use capstan_api::{
    core::{ContractReference, Machine, MachineSet},
    owner, well_known,
};
use capstan_base::{naming, template};
use kube::ResourceExt;
use serde_json::json;

use super::view::View;

/// The longest name of a Machine: it becomes a label value.
const NAME_LIMIT: usize = 63;

/// The name of the `ordinal`-th Machine to add to what is there now.
///
/// What an earlier attempt has left behind is finished first, so that nothing stays without a Machine.
///
/// The random-looking part follows from the set's UID, the Machines that it has, and when it last began or stopped to
/// scale up. Decided again from the same state it is the same name, so a create that is issued twice collides; once the
/// state has moved on it is another, so names of machines that are gone do not come back.
pub(super) fn name(view: &View, ordinal: usize) -> String {
    // A name that somebody else has taken is left to them after a few attempts.
    let attempt = view.failures / 4;
    if let Some(begun) = view.unclaimed.get(ordinal).filter(|_| attempt == 0) {
        return begun.clone();
    }
    let set = &*view.machine_set;
    let mut parts = vec![set.uid().unwrap_or_default(), ordinal.to_string(), epoch(set)];
    parts.push(attempt.to_string());
    parts.extend(view.machines.iter().map(|it| it.uid().unwrap_or_default()));
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let random = naming::stable_suffix(&parts, 5);
    let naming = set
        .spec
        .machine_naming
        .template
        .as_deref()
        .filter(|it| !it.is_empty());
    let naming = naming.unwrap_or("{{ .machineSet.name }}-{{ .random }}");
    let (cluster, name) = (set.spec.cluster_name.clone(), set.name_any());
    let data = json!({ "cluster": { "name": cluster }, "machineSet": { "name": name }, "random": random });
    template::name(naming, &data, &random).unwrap_or_else(|_| naming::with_suffix(&name, &random, NAME_LIMIT))
}

fn epoch(set: &MachineSet) -> String {
    let conditions = set
        .status
        .as_ref()
        .map(|it| it.conditions.as_slice())
        .unwrap_or_default();
    let scaling = conditions.iter().find(|it| it.type_ == "ScalingUp");
    scaling
        .map(|it| format!("{} {}", it.status, it.last_transition_time.0))
        .unwrap_or_default()
}

/// The labels of the set's Machines and of what is made for them.
pub(super) fn labels(set: &MachineSet) -> BTreeMap<String, String> {
    let mut labels = set.spec.template.metadata.labels.clone();
    labels.insert(
        well_known::label::CLUSTER_NAME.to_owned(),
        set.spec.cluster_name.clone(),
    );
    labels.insert(
        well_known::label::SET_NAME.to_owned(),
        well_known::label_value(&set.name_any()),
    );
    if let Some(deployment) = set.labels().get(well_known::label::DEPLOYMENT_NAME) {
        labels.insert(well_known::label::DEPLOYMENT_NAME.to_owned(), deployment.clone());
    }
    labels
}

/// The Machine of a name, its references set to objects of the same name.
pub(super) fn machine(set: &MachineSet, name: &str) -> Machine {
    let template = &set.spec.template;
    let mut machine = Machine::new(&set.namespace().unwrap_or_default(), name);
    machine.metadata.labels = Some(labels(set));
    machine.metadata.annotations = Some(template.metadata.annotations.clone()).filter(|it| !it.is_empty());
    machine.metadata.owner_references = Some(vec![owner::controller(set)]);
    // The finalizer is there from the first moment, which spares a write and leaves no gap.
    machine.metadata.finalizers = Some(vec![well_known::finalizer::MACHINE.to_owned()]);
    machine.spec = template.spec.clone();
    machine.spec.cluster_name.clone_from(&set.spec.cluster_name);
    if let Some(reference) = machine.spec.bootstrap.config_ref.as_mut() {
        *reference = clone_reference(reference, name);
    }
    machine.spec.infrastructure_ref = clone_reference(&template.spec.infrastructure_ref, name);
    machine
}

/// The reference to what is cloned from a template: the same group, the kind without `Template`.
fn clone_reference(template: &ContractReference, name: &str) -> ContractReference {
    let kind = template.kind.strip_suffix("Template").unwrap_or(&template.kind);
    ContractReference::new(&template.api_group, kind, name)
}
