//! Decides what happens to one MachineSet next.
//!
//! ```text
//!   alive     adopt orphans → keep live machines' labels and timeouts in step → repair unhealthy machines
//!             → too few: clone, too many: delete
//!   deleting  delete all machines → gone
//! ```

use std::time::Duration;

use capstan_api::{core::Machine, owner, well_known};
use capstan_contract::{External, InPlace, TemplateClone, dynamic};
use capstan_engine::{Lookup, ObjectKey, Plan, Preconditions, Wake, Why};
use kube::{
    ResourceExt,
    core::{ApiResource, DynamicObject},
};
use serde_json::json;

use super::{act::Action, deletion_order, intent, preflight, remediation, report, view::View};
use capstan_contract::with_owner;

/// The pause before preflight checks, or templates that cannot be read, are looked at again.
pub(super) const BLOCKED_RETRY: Duration = Duration::from_secs(15);

/// The most Machines that one pass makes; the passes that they cause make the next ones.
const BATCH: usize = 200;

/// Chooses.
pub(super) fn decide(view: &View) -> Plan<Action> {
    let mut plan = Plan::default();
    if view.is_deleting() {
        delete(view, &mut plan);
        return plan;
    }
    own_templates(view, &mut plan);
    adopt(view, &mut plan);
    keep_in_step(view, &mut plan);
    remediation::remediate(view, &mut plan);
    scale(view, &mut plan);
    if let Some(time) = report::next_available(view) {
        plan.wakes(Wake::At(time), view.now);
    }
    plan
}

fn delete(view: &View, plan: &mut Plan<Action>) {
    for machine in view
        .machines
        .iter()
        .filter(|it| it.metadata.deletion_timestamp.is_none())
    {
        delete_machine(machine, "its MachineSet is being deleted", plan);
    }
    if view.machines.is_empty() {
        plan.finalize = true;
    } else {
        plan.waits(Why::new(
            "Deleting",
            format!("waiting for {} Machines to be deleted", view.machines.len()),
        ));
    }
}

fn delete_machine(machine: &Machine, why: &str, plan: &mut Plan<Action>) {
    let action = Action::DeleteMachine {
        key: ObjectKey::of(machine),
        preconditions: Preconditions {
            uid: machine.uid(),
            resource_version: None,
        },
    };
    plan.step_and_continue(
        action,
        Why::new(
            "SuccessfulDelete",
            format!("delete Machine {}: {why}", machine.name_any()),
        ),
    );
}

/// Templates belong to the Cluster, so that they move and go with it.
fn own_templates(view: &View, plan: &mut Plan<Action>) {
    let Some(cluster) = view.cluster.found() else {
        return;
    };
    let templates = view
        .bootstrap_template
        .iter()
        .chain(std::iter::once(&view.infrastructure_template));
    for external in templates.filter_map(Lookup::found) {
        let object = &external.object;
        if let Some(references) = with_owner(object.owner_references(), &owner::plain(&**cluster)) {
            let patch = json!({ "metadata": {
                "ownerReferences": references, "resourceVersion": object.resource_version() } });
            let action = Action::PatchExternal {
                kind: external.kind.clone(),
                key: ObjectKey::of(&**object),
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

fn adopt(view: &View, plan: &mut Plan<Action>) {
    for machine in &view.orphans {
        let wanted = owner::controller(&*view.machine_set);
        let Some(references) = with_owner(machine.owner_references(), &wanted) else {
            continue;
        };
        let patch = json!({ "metadata": {
            "ownerReferences": references, "resourceVersion": machine.resource_version() } });
        let action = Action::PatchMachine {
            key: ObjectKey::of(&**machine),
            patch,
        };
        let why = format!(
            "Machine {} matches the selector and has no controller",
            machine.name_any()
        );
        plan.step_and_continue(action, Why::new("SuccessfulAdopt", why));
    }
}

/// Labels, annotations, timeouts and gates of the template reach live machines without replacing them.
fn keep_in_step(view: &View, plan: &mut Plan<Action>) {
    let set = &*view.machine_set;
    let template = &set.spec.template;
    let labels = intent::labels(set);
    let wanted = InPlace {
        labels: &labels,
        annotations: &template.metadata.annotations,
        min_ready_seconds: template.spec.min_ready_seconds,
        readiness_gates: &template.spec.readiness_gates,
        taints: &template.spec.taints,
        deletion: &template.spec.deletion,
    };
    for machine in &view.machines {
        if let Some(patch) = wanted.patch(machine) {
            let action = Action::PatchMachine {
                key: ObjectKey::of(&**machine),
                patch,
            };
            let why = format!(
                "Machine {} follows its MachineSet's template in place",
                machine.name_any()
            );
            plan.step_and_continue(action, Why::new("InPlace", why));
        }
    }
}

fn scale(view: &View, plan: &mut Plan<Action>) {
    let (wanted, have) = (view.replicas(), view.machines.len());
    if have < wanted {
        scale_up(view, wanted - have, plan);
    } else if have > wanted {
        scale_down(view, have - wanted, plan);
    }
}

fn scale_up(view: &View, count: usize, plan: &mut Plan<Action>) {
    let key = well_known::annotation::DISABLE_MACHINE_CREATE;
    if view
        .machine_set
        .annotations()
        .get(key)
        .is_some_and(|it| it == "true")
    {
        plan.waits(Why::new(
            "ScalingUp",
            "the annotation disable-machine-create forbids new machines",
        ));
        return;
    }
    if !view.orphans.is_empty() {
        // They may be enough once they are adopted.
        return;
    }
    let missing = view.missing_templates();
    if !missing.is_empty() {
        plan.waits(Why::new(
            "ScalingUp",
            format!("{} does not exist", missing.join(" and ")),
        ));
        plan.wakes(Wake::After(BLOCKED_RETRY), view.now);
        return;
    }
    let blockers = preflight::blockers(view);
    if !blockers.is_empty() {
        plan.waits(Why::new("ScalingUp", blockers.join("; ")));
        plan.wakes(Wake::After(BLOCKED_RETRY), view.now);
        return;
    }
    for ordinal in 0..count.min(BATCH) {
        let name = intent::name(view, ordinal);
        match clone_machine(view, &name) {
            Ok(action) => {
                let why = format!(
                    "{} of {} Machines are there",
                    view.machines.len() + ordinal,
                    view.replicas()
                );
                plan.step(
                    action,
                    Why::new("SuccessfulCreate", format!("create Machine {name}: {why}")),
                );
            }
            Err(why) => plan.waits(Why::new("ScalingUp", why)),
        }
    }
}

/// The whole of one Machine: bootstrap object, host and Machine, all of one name.
fn clone_machine(view: &View, name: &str) -> Result<Action, String> {
    let set = &*view.machine_set;
    let template = &set.spec.template.spec;
    let mut objects: Vec<(ApiResource, DynamicObject)> = Vec::new();
    if let (Some(Lookup::Found(external)), Some(reference)) =
        (&view.bootstrap_template, &template.bootstrap.config_ref)
    {
        objects.push(clone_part(view, external, reference, name)?);
    }
    if let Lookup::Found(external) = &view.infrastructure_template {
        objects.push(clone_part(view, external, &template.infrastructure_ref, name)?);
    }
    objects.push(dynamic(&intent::machine(set, name)).map_err(|it| it.to_string())?);
    Ok(Action::CloneMachine {
        name: name.to_owned(),
        objects,
    })
}

fn clone_part(
    view: &View,
    external: &External,
    reference: &capstan_api::core::ContractReference,
    name: &str,
) -> Result<(ApiResource, DynamicObject), String> {
    let set = &*view.machine_set;
    let clone = TemplateClone {
        template: &external.object,
        reference,
        namespace: &set.namespace().unwrap_or_default(),
        name,
        cluster_name: &set.spec.cluster_name,
        owner: Some(owner::plain(set)),
        labels: &intent::labels(set),
        annotations: &set.spec.template.metadata.annotations,
    };
    clone.object().map_err(|it| it.to_string())
}

fn scale_down(view: &View, surplus: usize, plan: &mut Plan<Action>) {
    let sorted = deletion_order::sorted(&view.machine_set, &view.machines, view.now);
    for machine in sorted
        .iter()
        .take(surplus)
        .filter(|it| it.metadata.deletion_timestamp.is_none())
    {
        delete_machine(machine, &format!("{} Machines are wanted", view.replicas()), plan);
    }
    plan.waits(Why::new(
        "ScalingDown",
        format!("waiting for {surplus} Machines to go"),
    ));
}
