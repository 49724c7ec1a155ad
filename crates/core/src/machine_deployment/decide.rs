//! Decides what happens to one MachineDeployment next.
//!
//! ```text
//!   alive     own templates, adopt sets → find or make the current set → follow in place → scale by the rollout's
//!             arithmetic → when complete, remove empty old sets
//!   paused    (spec.paused) scale in proportion only
//!   deleting  delete all sets → gone
//! ```

use std::{sync::Arc, time::Duration};

use capstan_api::{
    core::{MachineDeployment, MachineSet},
    owner, well_known,
};
use capstan_engine::{Lookup, ObjectKey, Plan, Preconditions, Wake, Why};
use kube::ResourceExt;
use serde_json::{Value, json};

use super::{
    act::Action,
    intent,
    rollout::{self, Rollout, Scales, Set},
    view::{MOST, View},
};
use capstan_contract::with_owner;

/// The pause before templates that are missing are looked at again.
const MISSING_RETRY: Duration = Duration::from_secs(30);

/// Chooses.
pub(super) fn decide(view: &View) -> Plan<Action> {
    let mut plan = Plan::default();
    if view.is_deleting() {
        delete(view, &mut plan);
        return plan;
    }
    own(view, &mut plan);
    if view.machine_deployment.spec.paused == Some(true) {
        scale_paused(view, &mut plan);
    } else {
        roll(view, &mut plan);
    }
    let after = view.machine_deployment.spec.rollout.after.as_ref().map(|it| it.0);
    if let Some(time) = after.filter(|it| *it > view.now) {
        plan.wakes(Wake::At(time), view.now);
    }
    plan
}

fn delete(view: &View, plan: &mut Plan<Action>) {
    for set in view
        .machine_sets
        .iter()
        .filter(|it| it.metadata.deletion_timestamp.is_none())
    {
        delete_set(set, "its MachineDeployment is being deleted", plan);
    }
    if view.machine_sets.is_empty() {
        plan.finalize = true;
    } else {
        plan.waits(Why::new(
            "Deleting",
            format!(
                "waiting for {} MachineSets to be deleted",
                view.machine_sets.len()
            ),
        ));
    }
}

fn delete_set(set: &MachineSet, why: &str, plan: &mut Plan<Action>) {
    let action = Action::DeleteMachineSet {
        key: ObjectKey::of(set),
        preconditions: Preconditions {
            uid: set.uid(),
            resource_version: None,
        },
    };
    let why = format!("delete MachineSet {}: {why}", set.name_any());
    plan.step_and_continue(action, Why::new("SuccessfulDelete", why));
}

/// Templates and the MachineDeployment itself belong to the Cluster; matching sets without a controller to the
/// MachineDeployment.
fn own(view: &View, plan: &mut Plan<Action>) {
    let deployment = &*view.machine_deployment;
    if let Some(cluster) = view.cluster.found() {
        let wanted = owner::plain(&**cluster);
        let label = well_known::label::CLUSTER_NAME;
        let references = with_owner(deployment.owner_references(), &wanted);
        let labelled = deployment.labels().get(label) == Some(&deployment.spec.cluster_name);
        if references.is_some() || !labelled {
            let patch = json!({ "metadata": {
                "ownerReferences": references.unwrap_or_else(|| deployment.owner_references().to_vec()),
                "labels": { label: deployment.spec.cluster_name },
                "resourceVersion": deployment.resource_version() } });
            let action = Action::PatchMachineDeployment {
                key: ObjectKey::of(deployment),
                patch,
            };
            plan.step_and_continue(
                action,
                Why::new("Own", "the MachineDeployment belongs to its Cluster"),
            );
        }
        let templates = view
            .bootstrap_template
            .iter()
            .chain(std::iter::once(&view.infrastructure_template));
        for external in templates.filter_map(Lookup::found) {
            let object = &external.object;
            if let Some(references) = with_owner(object.owner_references(), &wanted) {
                let patch = json!({ "metadata": {
                    "ownerReferences": references, "resourceVersion": object.resource_version() } });
                let key = ObjectKey::of(&**object);
                let action = Action::PatchExternal {
                    kind: external.kind.clone(),
                    key,
                    patch,
                };
                let why = format!(
                    "{} {} belongs to the Cluster",
                    external.kind.kind,
                    object.name_any()
                );
                plan.step_and_continue(action, Why::new("Own", why));
            }
        }
    }
    for set in &view.orphans {
        let Some(references) = with_owner(set.owner_references(), &owner::controller(deployment)) else {
            continue;
        };
        let patch = json!({ "metadata": {
            "ownerReferences": references, "resourceVersion": set.resource_version(),
            "labels": { well_known::label::DEPLOYMENT_NAME: deployment.name_any() } } });
        let action = Action::PatchMachineSet {
            key: ObjectKey::of(&**set),
            patch,
            scaled: None,
        };
        let why = format!(
            "MachineSet {} matches the selector and has no controller",
            set.name_any()
        );
        plan.step_and_continue(action, Why::new("SuccessfulAdopt", why));
    }
}

fn counts(set: &MachineSet) -> Set {
    let status = set.status.clone().unwrap_or_default();
    Set {
        name: set.name_any(),
        wanted: set.spec.replicas.unwrap_or(0).min(MOST),
        existing: status.replicas.unwrap_or(0),
        available: status.available_replicas.unwrap_or(0),
    }
}

fn roll(view: &View, plan: &mut Plan<Action>) {
    let (current, old) = view.current_and_old();
    let revision = intent::current_revision(current.map(|it| &**it), &old);
    let new_set = if current.is_none() {
        let missing = view.missing_templates();
        if !missing.is_empty() {
            plan.waits(Why::new(
                "MissingTemplate",
                format!("{} does not exist", missing.join(" and ")),
            ));
            plan.wakes(Wake::After(MISSING_RETRY), view.now);
            return;
        }
        Some(intent::new_set(view, revision))
    } else {
        None
    };
    let Some(target) = current.map(|it| &**it).or(new_set.as_ref()) else {
        return;
    };
    let rollout = Rollout {
        replicas: view.replicas(),
        strategy: view.strategy(),
        current: counts(target),
        old: old.iter().map(|it| counts(it)).collect(),
    };
    let scales = rollout::plan(&rollout);
    follow_revision(view, revision, plan);
    if let Some(mut set) = new_set {
        let scale = scales.get(&set.name_any());
        set.spec.replicas = Some(scale.map_or(0, |it| it.replicas));
        let why = cause(&set, &old);
        plan.step(
            Action::CreateMachineSet { set: Box::new(set) },
            Why::new("SuccessfulCreate", why),
        );
    }
    if let Some(set) = current {
        follow(view, set, Some(revision), &scales, plan);
    }
    for set in &old {
        follow(view, set, None, &scales, plan);
    }
    if is_complete(view, &rollout) {
        let empty = |it: &&&Arc<MachineSet>| counts(it).wanted == 0 && counts(it).existing == 0;
        for set in old
            .iter()
            .filter(empty)
            .filter(|it| it.metadata.deletion_timestamp.is_none())
        {
            delete_set(set, "the rollout is complete and it has no machines", plan);
        }
    }
}

/// Why a new set is made: what differs from the newest old one.
fn cause(set: &MachineSet, old: &[&Arc<MachineSet>]) -> String {
    let name = set.name_any();
    let Some(newest) = old.iter().max_by_key(|it| intent::revision(it)) else {
        return format!("create MachineSet {name}: there is none yet");
    };
    let differences = super::differences(&newest.spec.template.spec, &set.spec.template.spec);
    if differences.is_empty() {
        format!("create MachineSet {name}: a rollout was asked for by spec.rollout.after")
    } else {
        format!("create MachineSet {name}: {}", differences.join(", "))
    }
}

/// The MachineDeployment carries the number of its current revision.
fn follow_revision(view: &View, revision: i64, plan: &mut Plan<Action>) {
    let deployment: &MachineDeployment = &view.machine_deployment;
    let key = well_known::annotation::REVISION;
    if deployment.annotations().get(key) != Some(&revision.to_string()) {
        let patch = json!({ "metadata": { "annotations": { key: revision.to_string() } } });
        let action = Action::PatchMachineDeployment {
            key: ObjectKey::of(deployment),
            patch,
        };
        plan.step_and_continue(
            action,
            Why::new("Revision", format!("the current revision is {revision}")),
        );
    }
}

/// Brings an existing set in step with the MachineDeployment, its replicas included, in one patch.
fn follow(view: &View, set: &MachineSet, revision: Option<i64>, scales: &Scales, plan: &mut Plan<Action>) {
    let mut wanted = intent::existing_set(view, set, revision);
    let scale = scales.get(&set.name_any());
    if let Some(scale) = scale {
        wanted.spec.replicas = Some(scale.replicas);
    }
    let mut before = set.clone();
    before.status = None;
    let (before, after) = (serde_json::to_value(&before), serde_json::to_value(&wanted));
    let (Ok(before), Ok(after)) = (before, after) else {
        return;
    };
    let patch = capstan_merge::diff::merge_patch(&before, &after);
    if patch == json!({}) {
        return;
    }
    let name = set.name_any();
    let why = match scale {
        Some(scale) => format!("scale MachineSet {name} to {}: {}", scale.replicas, scale.why),
        None => format!("MachineSet {name} follows its MachineDeployment in place"),
    };
    let scaled = scale.map(|it| (set.spec.replicas.unwrap_or(0), it.replicas));
    let reason = if scaled.is_some() {
        "SuccessfulScale"
    } else {
        "InPlace"
    };
    let action = Action::PatchMachineSet {
        key: ObjectKey::of(set),
        patch: guarded(patch, set, scaled),
        scaled,
    };
    plan.step_and_continue(action, Why::new(reason, why));
}

/// A patch that scales is only right for the set as it was seen.
fn guarded(mut patch: Value, set: &MachineSet, scaled: Option<(i32, i32)>) -> Value {
    if scaled.is_some()
        && let Some(fields) = patch.as_object_mut()
        && let Some(metadata) = fields
            .entry("metadata")
            .or_insert_with(|| json!({}))
            .as_object_mut()
    {
        metadata.insert("resourceVersion".to_owned(), json!(set.resource_version()));
    }
    patch
}

/// Is every machine the current revision's, and available, and the status about the current spec?
fn is_complete(view: &View, rollout: &Rollout) -> bool {
    let observed = view
        .machine_deployment
        .status
        .as_ref()
        .and_then(|it| it.observed_generation);
    let current = &rollout.current;
    let all = |count: i32| count == rollout.replicas;
    observed == view.machine_deployment.metadata.generation
        && all(current.wanted)
        && all(current.existing)
        && all(current.available)
        && rollout.old.iter().all(|it| it.existing == 0)
}

fn scale_paused(view: &View, plan: &mut Plan<Action>) {
    let (current, old) = view.current_and_old();
    let Some(target) = current.or_else(|| old.last().copied()) else {
        return;
    };
    let rollout = Rollout {
        replicas: view.replicas(),
        strategy: view.strategy(),
        current: counts(target),
        old: old
            .iter()
            .filter(|it| it.name_any() != target.name_any())
            .map(|it| counts(it))
            .collect(),
    };
    let key = well_known::annotation::MAX_REPLICAS;
    let largest = target.annotations().get(key).and_then(|it| it.parse().ok());
    let scales = rollout::proportional(&rollout, largest.unwrap_or(rollout.replicas));
    for set in &view.machine_sets {
        let Some(scale) = scales.get(&set.name_any()) else {
            continue;
        };
        let patch = json!({ "spec": { "replicas": scale.replicas } });
        let scaled = Some((set.spec.replicas.unwrap_or(0), scale.replicas));
        let action = Action::PatchMachineSet {
            key: ObjectKey::of(&**set),
            patch: guarded(patch, set, scaled),
            scaled,
        };
        let why = format!(
            "scale MachineSet {} to {}: {}",
            set.name_any(),
            scale.replicas,
            scale.why
        );
        plan.step_and_continue(action, Why::new("SuccessfulScale", why));
    }
    plan.waits(Why::new("Paused", "spec.paused is set: the rollout waits"));
}
