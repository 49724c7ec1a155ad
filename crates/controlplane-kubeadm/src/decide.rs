//! Decides what happens to one KubeadmControlPlane next.
//!
//! ```text
//!   alive     adopt → certificates → kubeconfig → machines in step → take etcd members out → replace what is unhealthy →
//!             one machine at a time: init, join, roll out, remove → kube-proxy and CoreDNS
//!   deleting  wait for the workers → delete all machines → gone
//! ```

use std::time::Duration;

use capstan_api::{owner, well_known};
use capstan_contract::{InPlace, with_owner};
use capstan_engine::{Lookup, ObjectKey, Plan, Preconditions, Wake, Why};
use capstan_pki::Purpose;
use kube::ResourceExt;
use serde_json::json;

use crate::{
    act::Action,
    adoption, intent, membership,
    preflight::{Scaling, blockers},
    quorum::{self, Change},
    remediation::{self, Record, Verdict},
    report, selection, upkeep,
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
    if adoption::adopt(view, &mut plan) {
        return plan;
    }
    kubeconfig(view, &mut plan);
    keep_in_step(view, &mut plan);
    let verdict = remediation::judge(view);
    tell_machines(view, &verdict, &mut plan);
    if !membership::take_out_stray(view, &mut plan) {
        membership::take_out_leaving(view, &mut plan);
        if !remediate(view, &verdict, &mut plan) {
            scale(view, &mut plan);
        }
    }
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
            membership::drop_hook(member, "the control plane is being deleted", plan);
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
fn tell_machines(view: &View, verdict: &Verdict, plan: &mut Plan<Action>) {
    for member in &view.members {
        if let Some(patch) = report::machine_conditions_patch(view, member, verdict) {
            let action = Action::PatchMachineStatus {
                key: ObjectKey::of(&*member.machine),
                patch,
            };
            let why = format!("the components on Machine {} changed", member.name());
            plan.step_and_continue(action, Why::new("MachineConditions", why));
        }
    }
}

/// Replaces an unhealthy machine. Says whether it does, in which case nothing else is decided about machines.
fn remediate(view: &View, verdict: &Verdict, plan: &mut Plan<Action>) -> bool {
    let recorded = Record::in_progress(&view.control_plane);
    if recorded
        .as_ref()
        .is_some_and(|it| remediation::is_finished(view, it))
    {
        forget_remediation(plan);
    }
    match verdict {
        Verdict::Nothing => false,
        Verdict::NotNow {
            machine,
            message,
            until,
            ..
        } => {
            plan.waits(Why::new("Remediating", format!("Machine {machine}: {message}")));
            if let Some(until) = until {
                plan.wakes(Wake::At(*until), view.now);
            }
            false
        }
        Verdict::Replace { machine, record } => {
            if recorded.as_ref() != Some(record) {
                let annotations =
                    json!({ well_known::annotation::REMEDIATION_IN_PROGRESS: record.to_text() });
                let action = Action::Annotate {
                    patch: json!({ "metadata": { "annotations": annotations } }),
                };
                let why = format!("Machine {machine} is unhealthy and is replaced");
                plan.step(action, Why::new("Remediating", why));
            }
            if let Some(member) = view.members.iter().find(|it| it.name() == *machine) {
                delete_machine(member, "it is unhealthy", plan);
            }
            true
        }
    }
}

fn forget_remediation(plan: &mut Plan<Action>) {
    let annotations = json!({ well_known::annotation::REMEDIATION_IN_PROGRESS: null });
    let action = Action::Annotate {
        patch: json!({ "metadata": { "annotations": annotations } }),
    };
    plan.step(action, Why::new("Remediated", "the replacement is there"));
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
    // Whatever joins from here on has to join as the new version does.
    if outdated > 0 && !upkeep::before_rollout(view, plan) {
        return;
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
    upkeep::after_rollout(view, plan);
}

fn blocked(view: &View, scaling: Scaling, plan: &mut Plan<Action>) -> bool {
    let blockers = blockers(view, scaling);
    if blockers.is_empty() {
        return false;
    }
    let reason = match scaling {
        Scaling::Up => "ScalingUp",
        Scaling::Down => "ScalingDown",
    };
    plan.waits(Why::new(reason, blockers.join("; ")));
    plan.wakes(Wake::After(BLOCKED_RETRY), view.now);
    true
}

fn add_if_stable(view: &View, why: &str, plan: &mut Plan<Action>) {
    let quorum = !view.has_stacked_etcd() || quorum::holds_after(&view.quorum_members(), Change::Add);
    if blocked(view, Scaling::Up, plan) {
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
            if Record::in_progress(&view.control_plane).is_some() {
                forget_remediation(plan);
            }
        }
        Err(why) => {
            plan.waits(Why::new("ScalingUp", why));
            plan.wakes(Wake::After(BLOCKED_RETRY), view.now);
        }
    }
}

fn remove_if_stable(view: &View, why: &str, plan: &mut Plan<Action>) {
    if blocked(view, Scaling::Down, plan) {
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
