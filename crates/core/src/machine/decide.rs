//! Decides what happens to one Machine next.
//!
//! ```text
//!   alive     own the bootstrap and infrastructure objects → take over data secret, provider ID, failure domain
//!             → sync the Node
//!   deleting  pre-drain hooks → drain → volumes → pre-terminate hooks → infrastructure → bootstrap → node → gone
//! ```

use std::time::Duration;

use capstan_api::{
    Time,
    condition::v1beta1,
    core::{Conditioned as _, Machine, MachineDeletionStatus},
    owner, well_known,
};
use capstan_base::Timestamp;
use capstan_contract::External;
use capstan_engine::{Lookup, ObjectKey, Plan, Preconditions, Wake, Why};
use capstan_workload::Remote;
use k8s_openapi::api::core::v1::Node;
use kube::ResourceExt;
use serde_json::{Map, Value, json};

use super::{
    act::Action,
    drain::Drain,
    node_sync,
    view::{NodeDeletion, View},
};
use capstan_contract::with_owner;

/// The pause before a provider's object that cannot be read is tried again.
const UNREADABLE_RETRY: Duration = Duration::from_secs(30);

/// The pause before pods that leave are looked at again.
const DRAIN_LOOK: Duration = Duration::from_secs(5);

/// The pause before an eviction that was refused is tried again, and before volumes are looked at again.
pub(super) const DRAIN_FAILED_RETRY: Duration = Duration::from_secs(20);

/// How long the deletion of a Node is tried where the Machine does not say.
const NODE_DELETION_TIMEOUT: i32 = 10;

/// Where the deletion of a Machine stands. Computed from facts, never stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// Somebody holds it before the drain: the hooks' annotations.
    PreDrainHook(Vec<String>),
    /// Its Node is drained.
    Drain,
    /// The Node's volumes are detached.
    VolumeDetach,
    /// Somebody holds it before its host goes: the hooks' annotations.
    PreTerminateHook(Vec<String>),
    /// Its host goes.
    Infrastructure,
    /// Its bootstrap object goes.
    Bootstrap,
    /// Its Node goes.
    Node,
    /// Nothing is left.
    Completed,
}

/// Where the deletion stands.
pub fn stage(view: &View) -> Stage {
    if view.node_deletion == NodeDeletion::Allowed {
        let pre_drain = hooks(view, well_known::annotation::PRE_DRAIN_HOOK_PREFIX);
        if !pre_drain.is_empty() {
            return Stage::PreDrainHook(pre_drain);
        }
        if is_drain_due(view) {
            return Stage::Drain;
        }
        if is_detach_due(view) {
            return Stage::VolumeDetach;
        }
    }
    let pre_terminate = hooks(view, well_known::annotation::PRE_TERMINATE_HOOK_PREFIX);
    if !pre_terminate.is_empty() {
        return Stage::PreTerminateHook(pre_terminate);
    }
    if !view.infrastructure.is_absent() {
        return Stage::Infrastructure;
    }
    if view.bootstrap.as_ref().is_some_and(|it| !it.is_absent()) {
        return Stage::Bootstrap;
    }
    if view.node_deletion == NodeDeletion::Allowed && !is_node_gone(view) {
        return Stage::Node;
    }
    Stage::Completed
}

/// The annotations of hooks of a kind.
pub(super) fn hooks(view: &View, prefix: &str) -> Vec<String> {
    let keys = view.machine.annotations().keys();
    keys.filter(|it| it.starts_with(prefix)).cloned().collect()
}

/// May the Node be drained? Not if a user says so, not once the host goes or is held, and not for ever.
// Parity: upstream core/reconcilers/machine/machine_controller.go:isNodeDrainAllowed
pub(super) fn is_drain_allowed(view: &View) -> bool {
    let deletion = deletion(view);
    let limit = view.machine.spec.deletion.node_drain_timeout_seconds;
    is_host_kept(view, well_known::annotation::EXCLUDE_NODE_DRAINING)
        && ends_at(deletion.node_drain_start_time, limit).is_none_or(|it| view.now < it)
}

/// May volumes be waited for?
pub(super) fn is_detach_allowed(view: &View) -> bool {
    let deletion = deletion(view);
    let limit = view.machine.spec.deletion.node_volume_detach_timeout_seconds;
    is_host_kept(view, well_known::annotation::EXCLUDE_WAIT_FOR_NODE_VOLUME_DETACH)
        && ends_at(deletion.wait_for_node_volume_detach_start_time, limit).is_none_or(|it| view.now < it)
}

fn deletion(view: &View) -> MachineDeletionStatus {
    let status = view.machine.status.as_ref();
    status.and_then(|it| it.deletion.clone()).unwrap_or_default()
}

/// Does the host stay for now, and is nobody excluded by `annotation`?
fn is_host_kept(view: &View, annotation: &str) -> bool {
    !view.machine.annotations().contains_key(annotation)
        && deletion(view).wait_for_pre_terminate_hook_start_time.is_none()
        && view.infrastructure.found().is_some_and(|it| !it.is_deleting())
}

/// When a wait that has begun ends by its time-out.
fn ends_at(begun: Option<Time>, limit: Option<i32>) -> Option<Timestamp> {
    let limit = u64::try_from(limit?).ok().filter(|it| *it > 0)?;
    Some(begun?.0 + Duration::from_secs(limit))
}

fn is_drain_due(view: &View) -> bool {
    is_drain_allowed(view)
        && match &view.drain {
            Drain::NotAsked | Drain::NodeGone => false,
            Drain::Failed(_) => true,
            Drain::Found(found) => !is_cordoned(&found.node) || !found.is_drained(),
        }
}

fn is_detach_due(view: &View) -> bool {
    is_detach_allowed(view)
        && match &view.drain {
            Drain::NotAsked | Drain::NodeGone => false,
            Drain::Failed(_) => true,
            Drain::Found(found) => !found.volumes.is_empty(),
        }
}

fn is_cordoned(node: &Node) -> bool {
    node.spec
        .as_ref()
        .is_some_and(|it| it.unschedulable == Some(true))
}

/// Is the Node gone, or is its time to go over?
fn is_node_gone(view: &View) -> bool {
    let is_over = match (
        view.machine.spec.deletion.node_deletion_timeout_seconds,
        deleted_at(&view.machine),
    ) {
        (Some(0), _) | (_, None) => false,
        (limit, Some(since)) => {
            let limit = u64::try_from(limit.unwrap_or(NODE_DELETION_TIMEOUT)).unwrap_or(0);
            since + Duration::from_secs(limit) <= view.now
        }
    };
    is_over || matches!(view.node, Remote::Absent | Remote::NotTried(_))
}

fn deleted_at(machine: &Machine) -> Option<capstan_base::Timestamp> {
    machine.metadata.deletion_timestamp.as_ref().map(|it| it.0)
}

/// Chooses.
pub(super) fn decide(view: &View) -> Plan<Action> {
    if view.is_deleting() {
        delete(view)
    } else {
        bring_up(view)
    }
}

fn bring_up(view: &View) -> Plan<Action> {
    let mut plan = Plan::default();
    take_over(view, &mut plan);
    if let Some(bootstrap) = view.bootstrap_object() {
        own(view, bootstrap, &mut plan);
    }
    if let Some(infrastructure) = view.infrastructure.found() {
        own(view, infrastructure, &mut plan);
    }
    sync_node(view, &mut plan);
    wait(view, &mut plan);
    plan
}

/// Copies onto the Machine's own spec what its objects have to say, in one patch.
fn take_over(view: &View, plan: &mut Plan<Action>) {
    let machine = &*view.machine;
    let mut spec = Map::new();
    let mut told = Vec::new();
    if machine.spec.bootstrap.data_secret_name.is_none()
        && let Some(name) = view.data_secret_name()
    {
        told.push(format!("bootstrap data is in Secret {name}"));
        spec.insert("bootstrap".to_owned(), json!({ "dataSecretName": name }));
    }
    if machine.spec.provider_id.as_ref().is_none_or(String::is_empty)
        && let Some(id) = view.provider_id()
    {
        told.push(format!("the host is {id}"));
        spec.insert("providerID".to_owned(), json!(id));
    }
    if let Some(domain) = view
        .infrastructure
        .found()
        .and_then(|it| it.infrastructure_machine().spec_failure_domain().ok().flatten())
        && machine.spec.failure_domain.is_none()
    {
        told.push(format!("the host is in failure domain {domain}"));
        spec.insert("failureDomain".to_owned(), json!(domain));
    }
    let mut metadata = Map::new();
    let label = well_known::label::CLUSTER_NAME;
    if machine.labels().get(label) != Some(&machine.spec.cluster_name) {
        told.push("the cluster's label is missing".to_owned());
        metadata.insert("labels".to_owned(), json!({ label: machine.spec.cluster_name }));
    }
    if let Some(references) = standalone_owner(view) {
        told.push("nobody owns it, so its Cluster does".to_owned());
        metadata.insert("ownerReferences".to_owned(), json!(references));
        metadata.insert("resourceVersion".to_owned(), json!(machine.resource_version()));
    }
    let mut patch = Map::new();
    for (name, part) in [("metadata", metadata), ("spec", spec)] {
        if !part.is_empty() {
            patch.insert(name.to_owned(), Value::Object(part));
        }
    }
    if !patch.is_empty() {
        let action = Action::PatchMachine {
            key: ObjectKey::of(machine),
            patch: Value::Object(patch),
        };
        plan.step_and_continue(action, Why::new("Adopt", told.join(", ")));
    }
}

/// The owner references of a Machine that nobody owns and nobody is about to own.
fn standalone_owner(
    view: &View,
) -> Option<Vec<k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference>> {
    let machine = &*view.machine;
    let spoken_for = [
        well_known::label::SET_NAME,
        well_known::label::POOL_NAME,
        well_known::label::CONTROL_PLANE_NAME,
    ]
    .iter()
    .any(|it| machine.labels().contains_key(*it));
    if spoken_for
        || machine
            .owner_references()
            .iter()
            .any(|it| it.controller == Some(true))
    {
        return None;
    }
    let cluster = view.cluster.found()?;
    with_owner(machine.owner_references(), &owner::plain(&**cluster))
}

/// Makes the Machine the controller of one of its objects. Owners that created the object on the Machine's behalf
/// step back.
fn own(view: &View, external: &External, plan: &mut Plan<Action>) {
    let machine = &*view.machine;
    let object = &external.object;
    let wanted = owner::controller(machine);
    let kept: Vec<_> = object
        .owner_references()
        .iter()
        .filter(|it| it.uid == wanted.uid || !is_creator(view, it))
        .cloned()
        .collect();
    let references = with_owner(&kept, &wanted).unwrap_or(kept);
    let label = well_known::label::CLUSTER_NAME;
    let labelled = object.labels().get(label) == Some(&machine.spec.cluster_name);
    if references == object.owner_references() && labelled {
        return;
    }
    let patch = json!({ "metadata": {
        "ownerReferences": references,
        "labels": { label: machine.spec.cluster_name },
        "resourceVersion": object.resource_version(),
    } });
    let action = Action::PatchExternal {
        kind: external.kind.clone(),
        key: ObjectKey::of(&**object),
        patch,
    };
    let why = format!(
        "{} {} belongs to this Machine",
        external.kind.kind,
        object.name_any()
    );
    plan.step_and_continue(action, Why::new("Own", why));
}

fn is_creator(
    view: &View,
    reference: &k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference,
) -> bool {
    let is_machine_set = reference.kind == capstan_api::core::MachineSet::KIND;
    let is_controller_of_machine = view
        .machine
        .owner_references()
        .iter()
        .any(|it| it.controller == Some(true) && it.kind == reference.kind && it.name == reference.name);
    is_machine_set || is_controller_of_machine
}

fn sync_node(view: &View, plan: &mut Plan<Action>) {
    let Some(node) = view.node.found() else { return };
    let interruptible = view
        .infrastructure
        .found()
        .is_some_and(|it| it.infrastructure_machine().interruptible().unwrap_or(false));
    let owners = (view.machine_set.as_deref(), view.machine_deployment.as_deref());
    if let Some(patch) = node_sync::patch(&view.machine, node, interruptible, owners) {
        let action = Action::PatchNode {
            cluster: cluster_key(&view.machine),
            node: node.name_any(),
            patch,
        };
        let why = format!(
            "Node {} has labels, annotations or taints out of step",
            node.name_any()
        );
        plan.step_and_continue(action, Why::new("SyncNode", why));
    }
    let known = view
        .machine
        .status
        .as_ref()
        .is_some_and(|it| it.node_ref.is_some());
    if !known {
        let action = Action::Announce {
            reason: "SuccessfulSetNodeRef",
            message: node.name_any(),
        };
        plan.step_and_continue(
            action,
            Why::new(
                "SuccessfulSetNodeRef",
                format!("Node {} is here", node.name_any()),
            ),
        );
    }
}

fn cluster_key(machine: &Machine) -> ObjectKey {
    ObjectKey::new(
        machine.namespace().unwrap_or_default(),
        &machine.spec.cluster_name,
    )
}

/// Names what the Machine waits for, and when to look again if no change will tell.
fn wait(view: &View, plan: &mut Plan<Action>) {
    for lookup in view.bootstrap.iter().chain(std::iter::once(&view.infrastructure)) {
        if let Lookup::Unreadable(why) = lookup {
            plan.waits(Why::new("Unreadable", why.to_string()));
            plan.wakes(Wake::After(UNREADABLE_RETRY), view.now);
        }
    }
    if view.data_secret_name().is_none() {
        plan.waits(Why::new("WaitingForDataSecret", "waiting for the bootstrap data"));
    } else if !view.is_provisioned() {
        plan.waits(Why::new("WaitingForInfrastructure", "waiting for the host"));
    } else if view.node.found().is_none() {
        plan.waits(Why::new(
            "WaitingForNode",
            "waiting for a Node with the host's provider ID",
        ));
    }
    if let Some(time) = super::report::available_at(view) {
        plan.wakes(Wake::At(time), view.now);
    }
}

fn delete(view: &View) -> Plan<Action> {
    let stage = stage(view);
    let mut plan = delete_in(view, &stage);
    if !matches!(stage, Stage::PreDrainHook(_) | Stage::Drain) {
        announce_drained(view, &stage, &mut plan);
    }
    plan
}

/// Events for what has just been waited for with success.
fn announce_drained(view: &View, stage: &Stage, plan: &mut Plan<Action>) {
    let told = |kind| v1beta1::is_true(view.machine.v1beta1_conditions(), kind);
    let Some(node) = view.machine.status.as_ref().and_then(|it| it.node_ref.as_ref()) else {
        return;
    };
    let mut tell = |reason: &'static str, message: String| {
        let action = Action::Announce {
            reason,
            message: message.clone(),
        };
        plan.step_and_continue(action, Why::new(reason, message));
    };
    if is_drained(view) && !told(v1beta1::Type::DrainingSucceeded) {
        tell(
            "SuccessfulDrainNode",
            format!("success draining Machine's node {:?}", node.name),
        );
    }
    if *stage != Stage::VolumeDetach && is_detached(view) && !told(v1beta1::Type::VolumeDetachSucceeded) {
        let message = format!(
            "success waiting for node volumes detaching Machine's node {:?}",
            node.name
        );
        tell("NodeVolumesDetached", message);
    }
}

/// Was the Node drained, after this was begun?
pub(super) fn is_drained(view: &View) -> bool {
    deletion(view).node_drain_start_time.is_some()
        && is_drain_allowed(view)
        && !matches!(view.drain, Drain::NotAsked)
        && !is_drain_due(view)
}

/// Were the Node's volumes detached, after this was waited for?
pub(super) fn is_detached(view: &View) -> bool {
    deletion(view).wait_for_node_volume_detach_start_time.is_some()
        && is_detach_allowed(view)
        && !matches!(view.drain, Drain::NotAsked)
        && !is_detach_due(view)
}

fn delete_in(view: &View, stage: &Stage) -> Plan<Action> {
    match stage {
        Stage::Drain => drain(view),
        Stage::VolumeDetach => detach(view),
        Stage::PreDrainHook(hooks) => Plan::wait(Why::new("WaitingForPreDrainHook", held_by(hooks))),
        Stage::PreTerminateHook(hooks) => Plan::wait(Why::new("WaitingForPreTerminateHook", held_by(hooks))),
        Stage::Infrastructure => {
            delete_external(view, &view.infrastructure, "WaitingForInfrastructureDeletion")
        }
        Stage::Bootstrap => delete_external(
            view,
            view.bootstrap.as_ref().unwrap_or(&Lookup::Absent),
            "WaitingForBootstrapDeletion",
        ),
        Stage::Node => delete_node(view),
        Stage::Completed => Plan::finalized(),
    }
}

/// Closes the Node to new pods and evicts those whose turn it is.
fn drain(view: &View) -> Plan<Action> {
    let mut plan = Plan::default();
    let limit = view.machine.spec.deletion.node_drain_timeout_seconds;
    if let Some(end) = ends_at(deletion(view).node_drain_start_time, limit) {
        plan.wakes(Wake::At(end), view.now);
    }
    let found = match &view.drain {
        Drain::Found(found) => found,
        Drain::Failed(why) => {
            plan.waits(Why::new("DrainingNode", why.clone()));
            plan.wakes(Wake::After(DRAIN_FAILED_RETRY), view.now);
            return plan;
        }
        Drain::NotAsked | Drain::NodeGone => return plan,
    };
    let cluster = cluster_key(&view.machine);
    let node = found.node.name_any();
    if !is_cordoned(&found.node) {
        let action = Action::PatchNode {
            cluster: cluster.clone(),
            node: node.clone(),
            patch: json!({ "spec": { "unschedulable": true } }),
        };
        plan.step(
            action,
            Why::new("DrainingNode", format!("Node {node} takes no new pods")),
        );
    }
    for judged in found.evictable() {
        let action = Action::Evict {
            cluster: cluster.clone(),
            pod: ObjectKey::of(&*judged.pod),
            grace_seconds: found.grace(),
        };
        let why = format!("Pod {} has to leave Node {node}", judged.name());
        plan.step_and_continue(action, Why::new("DrainingNode", why));
    }
    plan.waits(Why::new(
        "DrainingNode",
        format!("waiting for the pods on Node {node} to leave"),
    ));
    plan.wakes(Wake::After(DRAIN_LOOK), view.now);
    plan
}

fn detach(view: &View) -> Plan<Action> {
    let mut plan = Plan::wait(Why::new(
        "WaitingForVolumeDetach",
        "waiting for volumes to be detached",
    ));
    let limit = view.machine.spec.deletion.node_volume_detach_timeout_seconds;
    if let Some(end) = ends_at(deletion(view).wait_for_node_volume_detach_start_time, limit) {
        plan.wakes(Wake::At(end), view.now);
    }
    plan.wakes(Wake::After(DRAIN_FAILED_RETRY), view.now);
    plan
}

fn held_by(hooks: &[String]) -> String {
    format!("held by the annotations {}", hooks.join(", "))
}

fn delete_external(view: &View, lookup: &Lookup<External>, reason: &'static str) -> Plan<Action> {
    let mut plan = Plan::default();
    match lookup {
        Lookup::Found(external) => {
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
                plan.step(action, Why::new(reason, format!("{name} goes with its Machine")));
            }
            plan.waits(Why::new(reason, format!("waiting for {name} to be deleted")));
        }
        Lookup::Unreadable(why) => {
            plan.waits(Why::new(reason, why.to_string()));
            plan.wakes(Wake::After(UNREADABLE_RETRY), view.now);
        }
        Lookup::Absent => {}
    }
    plan
}

fn delete_node(view: &View) -> Plan<Action> {
    let mut plan = Plan::default();
    if let Remote::Found(node) = &view.node {
        let action = Action::DeleteNode {
            cluster: cluster_key(&view.machine),
            node: node.name_any(),
        };
        plan.step_and_continue(
            action,
            Why::new(
                "DeletingNode",
                format!("Node {} goes with its Machine", node.name_any()),
            ),
        );
    }
    plan.waits(Why::new("DeletingNode", "waiting for the Node to be deleted"));
    plan.wakes(Wake::After(Duration::from_secs(2)), view.now);
    plan
}
