//! What readers of v1beta1 are told of a control plane, and of each of its Machines.
// Parity: upstream controlplane/kubeadm/reconcilers/kubeadmcontrolplane/status.go:updateV1Beta1Status,
// controlplane/kubeadm/pkg/workload_cluster_conditions.go

use std::{cmp::Ordering, collections::BTreeSet};

use capstan_api::{
    condition::v1beta1::{self, Draft, Localized, Reason, Severity, StepCounter, Summary, Type, aggregate},
    controlplane::KubeadmControlPlaneDeprecated,
    core::{Conditioned, V1Beta1Condition},
};
use capstan_contract::{CreationError, MachineConditions};
use capstan_engine::{Plan, Trail};

use super::{
    count,
    machine::{Said, etcd_member_health, pod_condition},
};
use crate::{
    act::{ActError, Action},
    remediation::{self, Verdict},
    view::{Component, Member, View},
};

/// What `Ready` sums up; the first of the worst decides.
const READY: Summary<'static> = Summary {
    types: &[
        Type::MachinesCreated,
        Type::MachinesSpecUpToDate,
        Type::Resized,
        Type::MachinesReady,
        Type::Available,
        Type::CertificatesAvailable,
    ],
    steps: StepCounter::Off,
};

/// The conditions of Machines that their control plane's conditions are made of.
const COMPONENTS: [Type; 4] = [
    Type::ApiServerPodHealthy,
    Type::ControllerManagerPodHealthy,
    Type::SchedulerPodHealthy,
    Type::EtcdPodHealthy,
];

/// The whole of it.
pub(super) fn report(
    view: &View,
    plan: &Plan<Action>,
    trail: &Trail<ActError>,
) -> KubeadmControlPlaneDeprecated {
    let mut deprecated = view.control_plane.status.clone().unwrap_or_default().deprecated;
    let status = &mut deprecated.v1beta1;
    let all = count(view.members.len());
    let ready = count(view.members.iter().filter(|it| is_node_ready(it)).count());
    let up_to_date = view
        .members
        .iter()
        .filter(|it| view.differences(it).is_empty())
        .count();
    status.updated_replicas = Some(count(up_to_date));
    status.ready_replicas = Some(ready);
    status.unavailable_replicas = Some(all - ready);
    let before = &status.conditions;
    let drafts = [
        machines_created(view, plan, trail),
        spec_up_to_date(view, before, view.members.len() - up_to_date),
        resized(view),
        aggregate(
            view.members
                .iter()
                .map(|it| Localized::of(&*it.machine))
                .collect(),
            Type::MachinesReady,
        ),
        available(view, before),
        certificates_available(view, trail),
        of_machines(
            view,
            &COMPONENTS,
            Type::ControlPlaneComponentsHealthy,
            "control plane",
        ),
        of_machines(
            view,
            &[Type::EtcdMemberHealthy],
            Type::EtcdClusterHealthy,
            "etcd member",
        ),
    ];
    status.conditions = v1beta1::with_summary(before, drafts, READY, view.now);
    deprecated
}

fn is_node_ready(member: &Member) -> bool {
    let node = member
        .node
        .found()
        .and_then(|it| it.status.as_ref()?.conditions.as_ref());
    node.into_iter()
        .flatten()
        .any(|it| it.type_ == "Ready" && it.status == "True")
}

fn wanted(view: &View) -> usize {
    if view.is_deleting() { 0 } else { view.replicas() }
}

/// Could the Machines be made? Says nothing new while more are wanted and nothing failed.
fn machines_created(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> Option<Draft> {
    let kind = Type::MachinesCreated;
    let failure = plan.failure_of(trail, |it| matches!(it, Action::CloneMachine { .. }));
    if let Some(error) = failure {
        return Some(Draft::no(
            kind,
            reason_of(error),
            Severity::Error,
            error.to_string(),
        ));
    }
    (view.members.len() >= wanted(view)).then(|| Draft::yes(kind))
}

/// Which part of a Machine could not be made.
fn reason_of(error: &ActError) -> Reason {
    let kind = match error {
        ActError::Creation(CreationError::NameTaken { kind, .. }) => kind.as_str(),
        ActError::Creation(CreationError::Write(error)) | ActError::Write(error) => error.kind.as_str(),
        _ => "",
    };
    match kind {
        "Machine" | "" => Reason::MachineGenerationFailed,
        "KubeadmConfig" => Reason::BootstrapTemplateCloningFailed,
        _ => Reason::InfrastructureTemplateCloningFailed,
    }
}

/// Do the Machines match the spec? Said from the first rollout on.
fn spec_up_to_date(view: &View, before: &[V1Beta1Condition], outdated: usize) -> Option<Draft> {
    let kind = Type::MachinesSpecUpToDate;
    if view.is_deleting() {
        return None;
    }
    if outdated > 0 {
        let rest = view.members.len() - outdated;
        let message = format!("Rolling {outdated} replicas with outdated spec ({rest} replicas up to date)");
        return Some(Draft::no(
            kind,
            Reason::RollingUpdateInProgress,
            Severity::Warning,
            message,
        ));
    }
    v1beta1::find(before, kind).map(|_| Draft::yes(kind))
}

/// Are there as many Machines as are wanted, all ready? Says nothing new until they are.
fn resized(view: &View) -> Option<Draft> {
    let kind = Type::Resized;
    if view.is_deleting() {
        let message = if view.workers > 0 {
            "Waiting for worker nodes to be deleted first"
        } else {
            ""
        };
        return Some(Draft::no(kind, Reason::Deleting, Severity::Info, message));
    }
    let (have, wanted) = (view.members.len(), view.replicas());
    let scaling = |reason, verb: &str| {
        let message = format!("Scaling {verb} control plane to {wanted} replicas (actual {have})");
        Some(Draft::no(kind, reason, Severity::Warning, message))
    };
    let is_ready = |it: &Member| v1beta1::is_true(it.machine.v1beta1_conditions(), Type::Ready);
    match have.cmp(&wanted) {
        Ordering::Less => scaling(Reason::ScalingUp, "up"),
        Ordering::Greater => scaling(Reason::ScalingDown, "down"),
        Ordering::Equal => view.members.iter().all(is_ready).then(|| Draft::yes(kind)),
    }
}

/// Did `kubeadm init` succeed? Once true it stays true.
fn available(view: &View, before: &[V1Beta1Condition]) -> Option<Draft> {
    let kind = Type::Available;
    if v1beta1::is_true(before, kind) {
        return None;
    }
    if view.kubeadm_config.found().is_some() {
        return Some(Draft::yes(kind));
    }
    let waits = view.members.is_empty() && wanted(view) > 0;
    waits.then(|| Draft::no(kind, Reason::WaitingForKubeadmInit, Severity::Info, ""))
}

fn certificates_available(view: &View, trail: &Trail<ActError>) -> Option<Draft> {
    let kind = Type::CertificatesAvailable;
    if let Some(error @ ActError::Certificate { .. }) = trail.failure() {
        let (reason, severity) = (Reason::CertificatesGenerationFailed, Severity::Warning);
        return Some(Draft::no(kind, reason, severity, error.to_string()));
    }
    view.has_certificates().then(|| Draft::yes(kind))
}

/// What Machines say, summed up: the worst that any says decides. Nothing if none says anything yet.
fn of_machines(view: &View, types: &[Type], target: Type, note: &str) -> Option<Draft> {
    let (unhealthy, unknown) = if target == Type::EtcdClusterHealthy {
        (Reason::EtcdClusterUnhealthy, Reason::EtcdClusterUnknown)
    } else {
        (
            Reason::ControlPlaneComponentsUnhealthy,
            Reason::ControlPlaneComponentsUnknown,
        )
    };
    let conditions: Vec<(String, Vec<Draft>)> = view
        .members
        .iter()
        .map(|it| (it.name(), components(view, it)))
        .collect();
    let with = |says: &dyn Fn(&Draft) -> bool| -> Vec<&str> {
        let told = |drafts: &[Draft]| {
            let asked = |it: &&Draft| types.iter().any(|kind| kind.as_str() == it.type_);
            drafts.iter().filter(asked).any(says)
        };
        let names: BTreeSet<&str> = conditions
            .iter()
            .filter(|(_, drafts)| told(drafts))
            .map(|(name, _)| name.as_str())
            .collect();
        names.into_iter().collect()
    };
    for (severity, word) in [
        (Severity::Error, "errors"),
        (Severity::Warning, "warnings"),
        (Severity::Info, "info"),
    ] {
        let names = with(&|it| it.severity == Some(severity));
        if !names.is_empty() {
            let message = format!(
                "Following Machines are reporting {note} {word}: {}",
                names.join(", ")
            );
            return Some(Draft::no(target, unhealthy, severity, message));
        }
    }
    if !with(&|it| it.status == capstan_api::condition::Status::True).is_empty() {
        return Some(Draft::yes(target));
    }
    let names = with(&|it| it.status == capstan_api::condition::Status::Unknown);
    (!names.is_empty()).then(|| {
        let message = format!(
            "Following Machines are reporting unknown {note} status: {}",
            names.join(", ")
        );
        Draft::unknown(target, unknown, message)
    })
}

/// What is said of a Machine's components; nothing before it has a Node.
fn components(view: &View, member: &Member) -> Vec<Draft> {
    if member.node_name().is_none() && !member.is_deleting() {
        return Vec::new();
    }
    let mut drafts = Vec::new();
    for component in Component::ALL {
        if component != Component::Etcd || view.has_stacked_etcd() {
            drafts.push(pod_draft(member, component));
        }
    }
    if view.has_stacked_etcd() {
        let (status, reason, message) = etcd_member_health(view, member);
        drafts.push(match (status, reason) {
            ("True", _) => Draft::yes(Type::EtcdMemberHealthy),
            (_, "Deleting") => Draft::no(Type::EtcdMemberHealthy, Reason::Deleting, Severity::Info, ""),
            ("False", _) => Draft::no(
                Type::EtcdMemberHealthy,
                Reason::EtcdMemberUnhealthy,
                Severity::Error,
                message,
            ),
            _ => Draft::unknown(Type::EtcdMemberHealthy, Reason::MemberInspectionFailed, message),
        });
    }
    drafts
}

fn pod_draft(member: &Member, component: Component) -> Draft {
    let kind = component.condition();
    if !member.is_deleting() && matches!(member.node, capstan_workload::Remote::Absent) {
        return Draft::no(kind, Reason::PodFailed, Severity::Error, "Missing Node");
    }
    let (status, reason, message): Said = pod_condition(member, component);
    match (status, reason) {
        ("True", _) => Draft::yes(kind),
        (_, "Deleting") => Draft::no(kind, Reason::Deleting, Severity::Info, ""),
        (_, "Provisioning") => Draft::no(kind, Reason::PodProvisioning, Severity::Info, message),
        (_, "DoesNotExist") => {
            let node = member.node_name().unwrap_or_default();
            let message = format!("Pod {}-{node} is missing", component.pod());
            Draft::no(kind, Reason::PodMissing, Severity::Error, message)
        }
        ("False", _) => Draft::no(kind, Reason::PodFailed, Severity::Error, message),
        _ => Draft::unknown(kind, Reason::PodInspectionFailed, message),
    }
}

/// Sets what is said of a Machine.
pub(super) fn of_machine(
    view: &View,
    member: &Member,
    verdict: &Verdict,
    conditions: &mut MachineConditions<'_>,
) {
    for draft in components(view, member) {
        conditions.set_v1beta1(draft);
    }
    let repair = Type::OwnerRemediated;
    let before = member.machine.v1beta1_conditions();
    let is_repaired = v1beta1::find(before, repair).is_some_and(|it| it.status == "False");
    if remediation::has_recovered(&member.machine) && is_repaired {
        conditions.remove_v1beta1(repair);
    }
    let told = match verdict {
        Verdict::NotNow { machine, message, .. } if *machine == member.name() => {
            Some((Reason::WaitingForRemediation, message.as_str()))
        }
        Verdict::Replace { machine, .. } if *machine == member.name() => {
            Some((Reason::RemediationInProgress, ""))
        }
        _ => None,
    };
    if let Some((reason, message)) = told {
        conditions.set_v1beta1(Draft::no(repair, reason, Severity::Warning, message));
    }
}
