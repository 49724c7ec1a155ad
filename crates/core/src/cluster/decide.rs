//! Decides what happens to one Cluster next.
//!
//! ```text
//!   alive     own the infrastructure and control plane objects → take over the endpoint
//!   deleting  workers → control plane → infrastructure → gone
//! ```

use std::{collections::BTreeMap, time::Duration};

use capstan_api::{core::ClusterPhase, owner, well_known};
use capstan_contract::External;
use capstan_engine::{Lookup, ObjectKey, Plan, Preconditions, Wake, Why};
use kube::{Resource, ResourceExt};
use serde_json::json;

use super::{
    act::{Action, Descendant},
    report,
    view::{View, is_control_plane},
};
use capstan_contract::with_owner;

/// The pause before a provider's object that cannot be read is tried again.
const UNREADABLE_RETRY: Duration = Duration::from_secs(30);

/// Where the deletion of a Cluster stands. Computed from facts, never stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// These descendants are still there, by kind.
    Workers(BTreeMap<Descendant, Vec<String>>),
    /// The control plane object goes.
    ControlPlane,
    /// The infrastructure object goes.
    Infrastructure,
    /// Nothing is left.
    Completed,
}

/// Where the deletion stands.
pub fn stage(view: &View) -> Stage {
    let left = descendants_left(view);
    if !left.is_empty() {
        return Stage::Workers(left);
    }
    if view.control_plane.as_ref().is_some_and(|it| !it.is_absent()) {
        return Stage::ControlPlane;
    }
    if view.infrastructure.as_ref().is_some_and(|it| !it.is_absent()) {
        return Stage::Infrastructure;
    }
    Stage::Completed
}

/// Everything that must be gone before the control plane may go, owned by the Cluster or by what it owns.
fn descendants_left(view: &View) -> BTreeMap<Descendant, Vec<String>> {
    let mut left: BTreeMap<Descendant, Vec<String>> = BTreeMap::new();
    let mut add = |kind, name| left.entry(kind).or_default().push(name);
    view.machine_deployments
        .iter()
        .for_each(|it| add(Descendant::MachineDeployment, it.name_any()));
    view.machine_sets
        .iter()
        .for_each(|it| add(Descendant::MachineSet, it.name_any()));
    view.worker_machines()
        .for_each(|it| add(Descendant::Worker, it.name_any()));
    if view.control_plane.is_none() {
        view.control_plane_machines()
            .for_each(|it| add(Descendant::ControlPlaneMachine, it.name_any()));
    }
    left
}

/// Chooses.
pub(super) fn decide(view: &View) -> Plan<Action> {
    let mut plan = if view.is_deleting() {
        delete(view)
    } else {
        bring_up(view)
    };
    announce(view, &mut plan);
    plan
}

fn bring_up(view: &View) -> Plan<Action> {
    let mut plan = Plan::default();
    for external in view
        .infrastructure_object()
        .into_iter()
        .chain(view.control_plane_object())
    {
        own(view, external, &mut plan);
    }
    if !view.cluster.spec.control_plane_endpoint.is_valid()
        && let Some(endpoint) = view.endpoint()
    {
        let patch = json!({ "spec": { "controlPlaneEndpoint": endpoint } });
        let action = Action::PatchCluster {
            key: ObjectKey::of(&*view.cluster),
            patch,
        };
        let why = format!("the API server is at {}:{}", endpoint.host, endpoint.port);
        plan.step_and_continue(action, Why::new("Endpoint", why));
    }
    for lookup in view.infrastructure.iter().chain(&view.control_plane) {
        if let Lookup::Unreadable(why) = lookup {
            plan.waits(Why::new("Unreadable", why.to_string()));
            plan.wakes(Wake::After(UNREADABLE_RETRY), view.now);
        }
    }
    if !view.is_infrastructure_provisioned() {
        plan.waits(Why::new(
            "WaitingForInfrastructure",
            "waiting for the infrastructure",
        ));
    } else if !view.is_control_plane_initialized() {
        plan.waits(Why::new(
            "WaitingForControlPlane",
            "waiting for the control plane",
        ));
    }
    if let Some(time) = report::probe_expires_at(view) {
        plan.wakes(Wake::At(time), view.now);
    }
    plan
}

/// Makes the Cluster the owner of an object; its controller only where a topology made it.
fn own(view: &View, external: &External, plan: &mut Plan<Action>) {
    let (cluster, object) = (&*view.cluster, &external.object);
    let wanted = if cluster.spec.topology.is_some() {
        owner::controller(cluster)
    } else {
        owner::plain(cluster)
    };
    let references = with_owner(object.owner_references(), &wanted);
    let label = well_known::label::CLUSTER_NAME;
    let labelled = object.labels().get(label) == Some(&cluster.name_any());
    if references.is_none() && labelled {
        return;
    }
    let patch = json!({ "metadata": {
        "ownerReferences": references.unwrap_or_else(|| object.owner_references().to_vec()),
        "labels": { label: cluster.name_any() },
        "resourceVersion": object.resource_version(),
    } });
    let action = Action::PatchExternal {
        kind: external.kind.clone(),
        key: ObjectKey::of(&**object),
        patch,
    };
    let why = format!(
        "{} {} belongs to this Cluster",
        external.kind.kind,
        object.name_any()
    );
    plan.step_and_continue(action, Why::new("Own", why));
}

fn delete(view: &View) -> Plan<Action> {
    match stage(view) {
        Stage::Workers(left) => delete_descendants(view, &left),
        Stage::ControlPlane => delete_external(
            view,
            view.control_plane.as_ref(),
            "WaitingForControlPlaneDeletion",
        ),
        Stage::Infrastructure => delete_external(
            view,
            view.infrastructure.as_ref(),
            "WaitingForInfrastructureDeletion",
        ),
        Stage::Completed => Plan::finalized(),
    }
}

/// Deletes every descendant that the Cluster itself owns and that is not going yet, all in one pass.
fn delete_descendants(view: &View, left: &BTreeMap<Descendant, Vec<String>>) -> Plan<Action> {
    let mut plan = Plan::default();
    for it in &view.machine_deployments {
        delete_one(view, Descendant::MachineDeployment, &**it, &mut plan);
    }
    for it in view.standalone_machine_sets() {
        delete_one(view, Descendant::MachineSet, &**it, &mut plan);
    }
    for it in view
        .machines
        .iter()
        .filter(|it| it.owner_references().iter().all(|it| it.controller != Some(true)))
    {
        if !is_control_plane(it) {
            delete_one(view, Descendant::Worker, &**it, &mut plan);
        } else if view.control_plane.is_none() {
            delete_one(view, Descendant::ControlPlaneMachine, &**it, &mut plan);
        }
    }
    plan.waits(Why::new("WaitingForWorkersDeletion", report::descendants(left)));
    plan
}

fn delete_one<K: Resource>(view: &View, descendant: Descendant, object: &K, plan: &mut Plan<Action>) {
    let cluster = view.cluster.uid().unwrap_or_default();
    let owned = object.owner_references().iter().any(|it| it.uid == cluster);
    if !owned || object.meta().deletion_timestamp.is_some() {
        return;
    }
    let action = Action::Delete {
        descendant,
        key: ObjectKey::of(object),
        preconditions: Preconditions {
            uid: object.uid(),
            resource_version: None,
        },
    };
    plan.step_and_continue(
        action,
        Why::new("Delete", format!("{} goes with its Cluster", object.name_any())),
    );
}

fn delete_external(view: &View, lookup: Option<&Lookup<External>>, reason: &'static str) -> Plan<Action> {
    let mut plan = Plan::default();
    match lookup {
        Some(Lookup::Found(external)) => {
            let object = &external.object;
            let name = format!("{} {}", external.kind.kind, object.name_any());
            if object.metadata.deletion_timestamp.is_none() {
                let action = Action::DeleteExternal {
                    kind: external.kind.clone(),
                    key: ObjectKey::of(&**object),
                    preconditions: Preconditions {
                        uid: object.uid(),
                        resource_version: None,
                    },
                };
                plan.step(action, Why::new(reason, format!("{name} goes with its Cluster")));
            }
            plan.waits(Why::new(reason, format!("waiting for {name} to be deleted")));
        }
        Some(Lookup::Unreadable(why)) => {
            plan.waits(Why::new(reason, why.to_string()));
            plan.wakes(Wake::After(UNREADABLE_RETRY), view.now);
        }
        Some(Lookup::Absent) | None => {}
    }
    plan
}

/// Events for what becomes true in this pass: the phase, the infrastructure, the control plane.
fn announce(view: &View, plan: &mut Plan<Action>) {
    let before = view.cluster.status.clone().unwrap_or_default();
    let mut tell = |reason: &'static str, message: String| {
        plan.step_and_continue(
            Action::Announce {
                reason,
                message: message.clone(),
            },
            Why::new(reason, message),
        );
    };
    let name = view.cluster.name_any();
    let phase = report::phase(view);
    if before.phase != Some(phase) && phase != ClusterPhase::Pending {
        tell(phase.as_str(), format!("Cluster {name} is {phase}"));
    }
    if before.initialization.infrastructure_provisioned != Some(true) && view.is_infrastructure_provisioned()
    {
        tell(
            "InfrastructureReady",
            format!("Cluster {name} InfrastructureReady is now True"),
        );
    }
    if before.initialization.control_plane_initialized != Some(true) && view.is_control_plane_initialized() {
        tell(
            "ControlPlaneInitialized",
            format!("Cluster {name} ControlPlaneInitialized is now True"),
        );
    }
}
