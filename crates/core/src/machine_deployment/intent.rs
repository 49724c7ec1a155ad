//! What the MachineSets of a MachineDeployment should look like.
// Parity: upstream core/reconcilers/machinedeployment/machinedeployment_rollout_planner.go:computeDesiredMS

use std::{collections::BTreeMap, sync::Arc};

use capstan_api::{
    core::{MachineDeployment, MachineSet, MachineSpec, RolloutStrategyType},
    owner, well_known,
};
use capstan_base::naming;
use kube::ResourceExt;
use serde_json::json;

use super::view::View;

/// Annotations of a MachineDeployment that its MachineSets do not take over.
const NOT_INHERITED: &[&str] = &[
    "kubectl.kubernetes.io/last-applied-configuration",
    well_known::annotation::REVISION,
    well_known::annotation::REVISION_HISTORY,
    well_known::annotation::DESIRED_REPLICAS,
    well_known::annotation::MAX_REPLICAS,
    well_known::annotation::CONVERSION_DATA,
];

/// The revision number of a set; 0 where it has none.
pub(super) fn revision(set: &MachineSet) -> i64 {
    set.annotations()
        .get(well_known::annotation::REVISION)
        .and_then(|it| it.parse().ok())
        .unwrap_or(0)
}

/// The revision that the current set should have: above those of all others, never lower than it has.
pub(super) fn current_revision(current: Option<&MachineSet>, old: &[&Arc<MachineSet>]) -> i64 {
    let next = old.iter().map(|it| revision(it)).max().unwrap_or(0) + 1;
    current.map_or(next, |it| revision(it).max(next))
}

/// The part of a machine's template that decides over replacement, as the text that is hashed.
fn rollout_fields(spec: &MachineSpec) -> String {
    json!([
        spec.version,
        spec.failure_domain,
        spec.bootstrap,
        spec.infrastructure_ref
    ])
    .to_string()
}

/// A set that does not exist yet: named by the MachineDeployment's UID, the template and the revision it will be.
pub(super) fn new_set(view: &View, revision: i64) -> MachineSet {
    let deployment = &*view.machine_deployment;
    let fields = rollout_fields(&deployment.spec.template.spec);
    let uid = deployment.uid().unwrap_or_default();
    let suffix = naming::stable_suffix(&[&uid, &fields, &revision.to_string()], 5);
    let name = naming::with_suffix(&deployment.name_any(), &suffix, 63);
    let identity = format!("{}-{suffix}", naming::fnv32a(fields.as_bytes()));
    let mut set = MachineSet::new(&deployment.namespace().unwrap_or_default(), &name);
    set.metadata.finalizers = Some(vec![well_known::finalizer::MACHINE_SET.to_owned()]);
    set.metadata.owner_references = Some(vec![owner::controller(deployment)]);
    set.spec.cluster_name.clone_from(&deployment.spec.cluster_name);
    set.spec.replicas = Some(0);
    set.spec.template.spec = deployment.spec.template.spec.clone();
    set.spec
        .template
        .spec
        .cluster_name
        .clone_from(&deployment.spec.cluster_name);
    let labels = template_labels(deployment, &identity);
    set.metadata.labels = Some(with(
        &labels,
        well_known::label::DEPLOYMENT_NAME,
        &deployment.name_any(),
    ));
    set.spec.template.metadata.labels = labels;
    set.spec.selector = deployment.spec.selector.clone();
    set.spec
        .selector
        .match_labels
        .get_or_insert_default()
        .insert(well_known::label::MACHINE_TEMPLATE_HASH.to_owned(), identity);
    in_place(deployment, &mut set);
    set.metadata.annotations = Some(annotations(view, &set, Some(revision)));
    set
}

/// An existing set as it should be: what changes in place follows the MachineDeployment, all else stays.
pub(super) fn existing_set(view: &View, set: &MachineSet, current_revision: Option<i64>) -> MachineSet {
    let deployment = &*view.machine_deployment;
    let mut wanted = set.clone();
    wanted.status = None;
    if let Some(identity) = set
        .labels()
        .get(well_known::label::MACHINE_TEMPLATE_HASH)
        .cloned()
    {
        let labels = template_labels(deployment, &identity);
        let own = with(
            &labels,
            well_known::label::DEPLOYMENT_NAME,
            &deployment.name_any(),
        );
        wanted.metadata.labels.get_or_insert_default().extend(own);
        wanted.spec.template.metadata.labels = labels;
    }
    in_place(deployment, &mut wanted);
    let fresh = annotations(view, set, current_revision);
    wanted.metadata.annotations.get_or_insert_default().extend(fresh);
    wanted
}

fn template_labels(deployment: &MachineDeployment, identity: &str) -> BTreeMap<String, String> {
    with(
        &deployment.spec.template.metadata.labels,
        well_known::label::MACHINE_TEMPLATE_HASH,
        identity,
    )
}

fn with(labels: &BTreeMap<String, String>, key: &str, value: &str) -> BTreeMap<String, String> {
    let mut labels = labels.clone();
    labels.insert(key.to_owned(), value.to_owned());
    labels
}

/// The fields that reach live machines without replacing them.
fn in_place(deployment: &MachineDeployment, set: &mut MachineSet) {
    let template = &deployment.spec.template;
    set.spec.deletion = deployment.spec.deletion.clone();
    set.spec.machine_naming = deployment.spec.machine_naming.clone();
    set.spec
        .template
        .metadata
        .annotations
        .clone_from(&template.metadata.annotations);
    set.spec.template.spec.min_ready_seconds = template.spec.min_ready_seconds;
    set.spec
        .template
        .spec
        .readiness_gates
        .clone_from(&template.spec.readiness_gates);
    set.spec.template.spec.deletion = template.spec.deletion.clone();
    set.spec.template.spec.taints.clone_from(&template.spec.taints);
}

fn annotations(view: &View, set: &MachineSet, current_revision: Option<i64>) -> BTreeMap<String, String> {
    let deployment = &*view.machine_deployment;
    let mut annotations: BTreeMap<String, String> = deployment
        .annotations()
        .iter()
        .filter(|(key, _)| !NOT_INHERITED.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let replicas = view.replicas();
    let mut put = |key: &str, value: String| annotations.insert(key.to_owned(), value);
    put(well_known::annotation::DESIRED_REPLICAS, replicas.to_string());
    put(
        well_known::annotation::MAX_REPLICAS,
        (replicas + view.strategy().surge()).to_string(),
    );
    let is_old_on_delete = current_revision.is_none()
        && deployment.spec.rollout.strategy.type_ == Some(RolloutStrategyType::OnDelete);
    put(
        well_known::annotation::DISABLE_MACHINE_CREATE,
        is_old_on_delete.to_string(),
    );
    if let Some(number) = current_revision {
        put(well_known::annotation::REVISION, number.to_string());
        let before = revision(set);
        if before != 0 && before != number {
            let key = well_known::annotation::REVISION_HISTORY;
            let history = set.annotations().get(key).filter(|it| !it.is_empty());
            put(
                key,
                history.map_or_else(|| before.to_string(), |it| format!("{it},{before}")),
            );
        }
    }
    annotations
}
