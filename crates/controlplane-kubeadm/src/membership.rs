//! Which members leave the etcd cluster: that of a machine which goes, before its host does, and those that no machine
//! stands behind, which count for the quorum and never answer.
// Parity: upstream controlplane/kubeadm/reconcilers/kubeadmcontrolplane/kubeadmcontrolplane_controller.go:
// reconcilePreTerminateHook, reconcileEtcdMembers

use std::time::Duration;

use capstan_api::well_known;
use capstan_engine::{ObjectKey, Plan, Wake, Why};
use capstan_workload::{
    Remote,
    etcd::{Member as EtcdMember, MemberId},
};
use kube::ResourceExt;
use serde_json::json;

use crate::{
    act::Action,
    quorum::{self, Change},
    view::{Component, Member, View},
};

/// How long a member without a name may belong to a node that has just joined.
const STARTING: Duration = Duration::from_secs(20);
/// The pause before a member that cannot go now is thought of again.
const LOOK_AGAIN: Duration = Duration::from_secs(15);

/// Plans to take one such member out. Says whether there is one, in which case nothing else is decided about machines.
pub(crate) fn take_out_stray(view: &View, plan: &mut Plan<Action>) -> bool {
    if !view.has_stacked_etcd() || view.members.is_empty() {
        return false;
    }
    let Some(stray) = stray(view) else { return false };
    let shown = if stray.name.is_empty() {
        "without a name"
    } else {
        &stray.name
    };
    // A member without a name is a learner that nobody will promote: its going cannot cost the quorum.
    if !stray.name.is_empty() && !quorum::holds_after(&view.quorum_members(), Change::Remove(&stray.name)) {
        let message = format!(
            "the etcd member {shown} has no Machine and cannot be taken out: etcd would lose its quorum"
        );
        plan.waits(Why::new("EtcdMemberWithoutMachine", message));
        plan.wakes(Wake::After(LOOK_AGAIN), view.now);
        return true;
    }
    let Some(ask) = somebody(view) else { return false };
    let action = Action::RemoveEtcdMember {
        member: stray.id,
        ask: ask.to_owned(),
        leader_node: ask.to_owned(),
        new_leader: None,
    };
    let why = format!("the etcd member {shown} has no Machine");
    plan.step(action, Why::new("RemoveEtcdMember", why));
    true
}

/// The first member, by name, that cannot belong to any machine, now or soon.
fn stray(view: &View) -> Option<&EtcdMember> {
    let etcd = view.etcd.found()?;
    if view.members.iter().any(|it| it.node_name().is_none()) {
        return None;
    }
    let belongs = |it: &&EtcdMember| {
        view.members
            .iter()
            .any(|member| member.node_name() == Some(&*it.name))
    };
    let mut strays: Vec<&EtcdMember> = etcd.members.iter().filter(|it| !belongs(it)).collect();
    let may_be_starting = view.members.iter().any(|it| has_just_joined(it, view));
    if may_be_starting && strays.iter().any(|it| it.name.is_empty()) {
        return None;
    }
    strays.sort_by(|a, b| a.name.cmp(&b.name).then(a.id.cmp(&b.id)));
    strays.first().copied()
}

fn has_just_joined(member: &Member, view: &View) -> bool {
    let Remote::Found(node) = &member.node else {
        return false;
    };
    let made = node.metadata.creation_timestamp.as_ref().map(|it| it.0);
    !member.is_deleting() && made.is_some_and(|it| it + STARTING > view.now)
}

/// A node whose etcd answers.
fn somebody(view: &View) -> Option<&str> {
    let mut able = view.members.iter().filter(|it| {
        view.is_etcd_member_healthy(it) && it.health(Component::Etcd).is_some_and(|it| it.status == "True")
    });
    able.find_map(Member::node_name)
}

/// Takes the etcd member of a machine out before its host goes: leadership first, then the member, then the hook.
pub(crate) fn take_out_leaving(view: &View, plan: &mut Plan<Action>) {
    let Some(member) = view
        .members
        .iter()
        .filter(|it| it.waits_for_cleanup())
        .min_by_key(|it| it.machine.metadata.creation_timestamp.as_ref().map(|it| it.0))
    else {
        return;
    };
    plan.wakes(Wake::After(LOOK_AGAIN), view.now);
    // A kubelet that talks to its own API server loses it with the etcd member: whoever else holds the machine goes first.
    if let Some(hook) = other_hook(member) {
        let why = format!("Machine {} waits for the hook {hook}", member.name());
        plan.waits(Why::new("WaitingForPreTerminateHook", why));
        return;
    }
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

/// Somebody else's hook on a machine's termination.
fn other_hook(member: &Member) -> Option<&String> {
    let ours = well_known::annotation::KCP_PRE_TERMINATE_HOOK;
    member
        .machine
        .annotations()
        .keys()
        .find(|it| it.starts_with(well_known::annotation::PRE_TERMINATE_HOOK_PREFIX) && *it != ours)
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

/// Releases a machine that is held until its etcd member is out.
pub(crate) fn drop_hook(member: &Member, why: &str, plan: &mut Plan<Action>) {
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
