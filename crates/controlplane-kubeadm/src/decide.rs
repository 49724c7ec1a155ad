//! Decides what happens to one KubeadmControlPlane next.
//!
//! ```text
//!   alive     certificates → kubeconfig → machines in step → take etcd members out → one machine at a time: init, join,
//!             replace, remove
//!   deleting  wait for the workers → delete all machines → gone
//! ```

use std::time::Duration;

use capstan_api::{owner, well_known};
use capstan_contract::{InPlace, with_owner};
use capstan_engine::{Lookup, ObjectKey, Plan, Preconditions, Wake, Why};
use capstan_pki::Purpose;
use capstan_workload::{Remote, etcd::MemberId};
use kube::ResourceExt;
use serde_json::json;

use crate::{
    act::Action,
    intent,
    quorum::{self, Change},
    report, selection,
    view::{Member, View},
};

/// The pause before something that no watch tells of is looked at again.
const LOOK_AGAIN: Duration = Duration::from_secs(20);
/// The pause before a machine that must not be made or removed now is thought of again.
const BLOCKED_RETRY: Duration = Duration::from_secs(15);

/// Chooses.
pub(crate) fn decide(view: &View) -> Plan<Action> {
    let mut plan = Plan::default();
    let Some(cluster) = &view.cluster else {
        plan.waits(Why::new(
            "WaitingForCluster",
            "waiting for the Cluster controller to set the owner reference",
        ));
        return plan;
    };
    if view.is_deleting() {
        delete(view, &mut plan);
        return plan;
    }
    own_template(view, &mut plan);
    let status = cluster.status.clone().unwrap_or_default();
    if status.initialization.infrastructure_provisioned != Some(true) {
        plan.waits(Why::new(
            "WaitingForInfrastructure",
            "waiting for the cluster's infrastructure",
        ));
        return plan;
    }
    certificates(view, &mut plan);
    if !cluster.spec.control_plane_endpoint.is_valid() {
        plan.waits(Why::new(
            "WaitingForEndpoint",
            "waiting for the address of the API server",
        ));
        return plan;
    }
    kubeconfig(view, &mut plan);
    keep_in_step(view, &mut plan);
    tell_machines(view, &mut plan);
    take_out_member(view, &mut plan);
    scale(view, &mut plan);
    if !view.is_initialized()
        || !view
            .members
            .iter()
            .all(|it| it.are_pods_healthy(view.has_stacked_etcd()))
    {
        plan.wakes(Wake::After(LOOK_AGAIN), view.now);
    }
    plan
}

fn delete(view: &View, plan: &mut Plan<Action>) {
    if view.workers > 0 {
        plan.waits(Why::new(
            "WaitingForWorkersDeletion",
            format!("waiting for {} worker Machines to go", view.workers),
        ));
        plan.wakes(Wake::After(Duration::from_secs(30)), view.now);
        return;
    }
    for member in &view.members {
        // Nobody will need the etcd cluster: its members are not taken out one by one.
        if member
            .machine
            .annotations()
            .contains_key(well_known::annotation::KCP_PRE_TERMINATE_HOOK)
        {
            drop_hook(member, "the control plane is being deleted", plan);
        }
        if !member.is_deleting() {
            delete_machine(member, "the control plane is being deleted", plan);
        }
    }
    if view.members.is_empty() {
        plan.finalize = true;
    } else {
        plan.waits(Why::new(
            "WaitingForMachineDeletion",
            format!("waiting for {} Machines to go", view.members.len()),
        ));
    }
}

fn delete_machine(member: &Member, why: &str, plan: &mut Plan<Action>) {
    let action = Action::DeleteMachine {
        key: ObjectKey::of(&*member.machine),
        preconditions: Preconditions {
            uid: member.machine.uid(),
            resource_version: None,
        },
    };
    plan.step_and_continue(
        action,
        Why::new(
            "DeleteMachine",
            format!("delete Machine {}: {why}", member.name()),
        ),
    );
}

fn drop_hook(member: &Member, why: &str, plan: &mut Plan<Action>) {
    let patch =
        json!({ "metadata": { "annotations": { well_known::annotation::KCP_PRE_TERMINATE_HOOK: null } } });
    let action = Action::PatchMachine {
        key: ObjectKey::of(&*member.machine),
        patch,
    };
    plan.step_and_continue(
        action,
        Why::new("DropHook", format!("release Machine {}: {why}", member.name())),
    );
}

fn own_template(view: &View, plan: &mut Plan<Action>) {
    let (Some(cluster), Lookup::Found(external)) = (&view.cluster, &view.infrastructure_template) else {
        return;
    };
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

/// Missing authorities are made only before the cluster exists: afterwards a new one would not fit the old nodes.
fn certificates(view: &View, plan: &mut Plan<Action>) {
    let absent: Vec<Purpose> = view
        .certificates
        .iter()
        .filter(|(_, it)| it.is_absent())
        .map(|(purpose, _)| *purpose)
        .collect();
    if absent.is_empty() {
        return;
    }
    let names = absent.iter().map(|it| it.suffix()).collect::<Vec<_>>().join(", ");
    if view.is_initialized() {
        plan.waits(Why::new(
            "CertificatesMissing",
            format!("the certificate secrets {names} are missing"),
        ));
        plan.wakes(Wake::After(Duration::from_secs(30)), view.now);
    } else {
        let action = Action::CreateCertificates { purposes: absent };
        plan.step(
            action,
            Why::new(
                "CreateCertificates",
                format!("there are no certificate secrets {names} yet"),
            ),
        );
    }
}

fn kubeconfig(view: &View, plan: &mut Plan<Action>) {
    let why = match &view.kubeconfig {
        Lookup::Found(it) if it.needs_renewal => "its client certificate ends within half a year",
        Lookup::Absent => "there is none yet",
        Lookup::Found(_) | Lookup::Unreadable(_) => return,
    };
    let renew = view.kubeconfig.found().is_some();
    plan.step(
        Action::WriteKubeconfig { renew },
        Why::new("WriteKubeconfig", format!("write the kubeconfig: {why}")),
    );
}

/// Labels, annotations, timeouts and gates of the template reach live machines without replacing them.
fn keep_in_step(view: &View, plan: &mut Plan<Action>) {
    let template = &view.control_plane.spec.machine_template;
    let (labels, gates) = (intent::labels(view), intent::readiness_gates(view));
    for member in &view.members {
        let machine = &member.machine;
        let wanted = InPlace {
            labels: &labels,
            annotations: &template.metadata.annotations,
            // A control plane has no wish about it.
            min_ready_seconds: machine.spec.min_ready_seconds,
            readiness_gates: &gates,
            taints: &template.spec.taints,
            deletion: &template.spec.deletion,
        };
        if let Some(patch) = wanted.patch(machine) {
            let action = Action::PatchMachine {
                key: ObjectKey::of(&**machine),
                patch,
            };
            let why = format!(
                "Machine {} follows the control plane's template in place",
                member.name()
            );
            plan.step_and_continue(action, Why::new("InPlace", why));
        }
    }
}

/// The conditions that this controller writes to its Machines.
fn tell_machines(view: &View, plan: &mut Plan<Action>) {
    for member in &view.members {
        if let Some(patch) = report::machine_conditions_patch(view, member) {
            let action = Action::PatchMachineStatus {
                key: ObjectKey::of(&*member.machine),
                patch,
            };
            let why = format!("the components on Machine {} changed", member.name());
            plan.step_and_continue(action, Why::new("MachineConditions", why));
        }
    }
}

/// Takes the etcd member of a machine out before its host goes: leadership first, then the member, then the hook.
fn take_out_member(view: &View, plan: &mut Plan<Action>) {
    let Some(member) = view
        .members
        .iter()
        .filter(|it| it.waits_for_cleanup())
        .min_by_key(|it| it.machine.metadata.creation_timestamp.as_ref().map(|it| it.0))
    else {
        return;
    };
    plan.wakes(Wake::After(BLOCKED_RETRY), view.now);
    if view.members.len() == 1 {
        return drop_hook(member, "it is the last machine", plan);
    }
    if !view.has_stacked_etcd() {
        return drop_hook(member, "etcd is not on the machines", plan);
    }
    let Some(node) = member.node_name() else {
        return drop_hook(member, "it never had a node", plan);
    };
    let Remote::Found(etcd) = &view.etcd else {
        plan.waits(Why::new(
            "EtcdUnreachable",
            format!("Machine {} waits: etcd cannot be asked", member.name()),
        ));
        return;
    };
    let Some(own) = etcd.members.iter().find(|it| it.name == node) else {
        return drop_hook(member, "its etcd member is gone", plan);
    };
    if !quorum::holds_after(&view.quorum_members(), Change::Remove(node)) {
        let why = format!(
            "Machine {} waits: without its etcd member there is no quorum",
            member.name()
        );
        plan.waits(Why::new("QuorumAtRisk", why));
        return;
    }
    let heir = heir(view, member);
    let lead = if etcd.leader == Some(own.id) {
        heir.as_ref().map(|it| it.1)
    } else {
        None
    };
    let Some((ask, _)) = heir else {
        plan.waits(Why::new(
            "NoHeir",
            format!("Machine {} waits: no other etcd member is healthy", member.name()),
        ));
        return;
    };
    let action = Action::RemoveEtcdMember {
        member: own.id,
        ask,
        leader_node: node.to_owned(),
        new_leader: lead,
    };
    plan.step(
        action,
        Why::new("RemoveEtcdMember", format!("take the etcd member {node} out")),
    );
    drop_hook(member, "its etcd member is taken out", plan);
}

/// Another machine that can take over: healthy, up to date if possible, the newest of those. Its node and member.
fn heir(view: &View, leaving: &Member) -> Option<(String, MemberId)> {
    let others = view
        .members
        .iter()
        .filter(|it| it.name() != leaving.name() && !it.is_deleting());
    let able = others.filter(|it| view.is_etcd_member_healthy(it) && it.are_pods_healthy(true));
    let best = able.max_by_key(|it| {
        (
            view.differences(it).is_empty(),
            it.machine.metadata.creation_timestamp.as_ref().map(|it| it.0),
            it.name(),
        )
    })?;
    Some((best.node_name()?.to_owned(), view.etcd_member(best)?.id))
}

fn scale(view: &View, plan: &mut Plan<Action>) {
    let (wanted, have) = (view.replicas(), view.members.len());
    let outdated = view
        .members
        .iter()
        .filter(|it| !it.is_deleting() && !view.differences(it).is_empty())
        .count();
    if have == 0 {
        return add(view, "the first machine", plan);
    }
    if have < wanted {
        return add_if_stable(view, &format!("{have} of {wanted} machines are there"), plan);
    }
    if have > wanted {
        return remove_if_stable(
            view,
            &format!("{have} machines are there, {wanted} are wanted"),
            plan,
        );
    }
    if outdated > 0 {
        let why = format!("{outdated} machines are not up to date");
        if report::max_surge(view) > 0 {
            add_if_stable(view, &why, plan)
        } else {
            remove_if_stable(view, &why, plan)
        }
    }
}

/// What forbids to add or remove a machine now, in the words of the conditions.
// Parity: upstream controlplane/kubeadm/reconcilers/scale.go:preflightChecks
pub(crate) fn blockers(view: &View) -> Vec<String> {
    let mut blockers = Vec::new();
    if !view.has_certificates() {
        blockers.push("certificates are not available".to_owned());
    }
    if let Some(member) = view.members.iter().find(|it| it.is_deleting()) {
        blockers.push(format!("waiting for Machine {} to be deleted", member.name()));
        return blockers;
    }
    for member in &view.members {
        if member.node_name().is_none() {
            blockers.push(format!(
                "Machine {} does not have a corresponding Node yet (Machine.status.nodeRef not set)",
                member.name()
            ));
            continue;
        }
        for component in crate::Component::ALL {
            if component == crate::Component::Etcd && !view.has_stacked_etcd() {
                continue;
            }
            let health = member.health(component);
            if health.as_ref().is_none_or(|it| it.status != "True") {
                let told = health.map(|it| it.message).filter(|it| !it.is_empty());
                let told = told.unwrap_or_else(|| "not known yet".to_owned());
                blockers.push(format!(
                    "Machine {}: {}: {told}",
                    member.name(),
                    component.condition()
                ));
            }
        }
        if !view.is_etcd_member_healthy(member) {
            blockers.push(format!(
                "Machine {}: EtcdMemberHealthy: not healthy or not known yet",
                member.name()
            ));
        }
    }
    blockers
}

fn blocked(view: &View, reason: &'static str, plan: &mut Plan<Action>) -> bool {
    let blockers = blockers(view);
    if blockers.is_empty() {
        return false;
    }
    plan.waits(Why::new(reason, blockers.join("; ")));
    plan.wakes(Wake::After(BLOCKED_RETRY), view.now);
    true
}

fn add_if_stable(view: &View, why: &str, plan: &mut Plan<Action>) {
    let quorum = !view.has_stacked_etcd() || quorum::holds_after(&view.quorum_members(), Change::Add);
    if blocked(view, "ScalingUp", plan) {
        return;
    }
    if quorum {
        add(view, why, plan);
    } else {
        plan.waits(Why::new(
            "ScalingUp",
            "the etcd cluster would have no quorum with one more member",
        ));
        plan.wakes(Wake::After(BLOCKED_RETRY), view.now);
    }
}

fn add(view: &View, why: &str, plan: &mut Plan<Action>) {
    if !view.certificates.values().all(|it| it.found().is_some()) {
        plan.waits(Why::new("ScalingUp", "waiting for the certificates"));
        return;
    }
    let name = intent::name(view);
    let domain = selection::domain_for_new(&view.failure_domains(), &view.candidates());
    match intent::objects(view, &name, domain) {
        Ok(objects) => {
            let why = format!("create Machine {name}: {why}");
            plan.step(
                Action::CloneMachine { name, objects },
                Why::new("CreateMachine", why),
            );
        }
        Err(why) => {
            plan.waits(Why::new("ScalingUp", why));
            plan.wakes(Wake::After(BLOCKED_RETRY), view.now);
        }
    }
}

fn remove_if_stable(view: &View, why: &str, plan: &mut Plan<Action>) {
    if blocked(view, "ScalingDown", plan) {
        return;
    }
    let candidates = view.candidates();
    let Some(chosen) = selection::to_delete(&view.failure_domains(), &candidates) else {
        return;
    };
    let Some(member) = view.members.iter().find(|it| it.name() == chosen.name) else {
        return;
    };
    let node = member.node_name().unwrap_or_default();
    if view.has_stacked_etcd() && !quorum::holds_after(&view.quorum_members(), Change::Remove(node)) {
        plan.waits(Why::new(
            "ScalingDown",
            format!("without Machine {} etcd has no quorum", member.name()),
        ));
        plan.wakes(Wake::After(BLOCKED_RETRY), view.now);
        return;
    }
    delete_machine(member, why, plan);
}
