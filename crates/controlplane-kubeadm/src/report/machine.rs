//! What a control plane says of each of its Machines.
// Parity: upstream controlplane/kubeadm/pkg/workload_cluster_conditions.go

use capstan_api::condition::{Draft, Status, Type};
use capstan_contract::MachineConditions;
use capstan_workload::Remote;
use kube::ResourceExt;
use serde_json::Value;

use super::v1beta1;
use crate::{
    remediation::{self, Verdict},
    view::{Component, Member, View},
};

/// The taint and label that kubeadm gives control plane nodes.
const CONTROL_PLANE_ROLE: &str = "node-role.kubernetes.io/control-plane";

/// A condition's status, reason and message.
pub(super) type Said = (&'static str, &'static str, String);

/// What is said of a machine before there is a node to look at; none if there is one.
fn before_node(member: &Member) -> Option<Said> {
    if member.is_deleting() {
        return Some(("False", "Deleting", "Machine is deleting".to_owned()));
    }
    if member.node_name().is_none() {
        let message = match &member.machine.spec.provider_id {
            Some(id) => format!("Waiting for a Node with spec.providerID {id} to exist"),
            None => format!(
                "Waiting for {} to report spec.providerID",
                member.machine.spec.infrastructure_ref.kind
            ),
        };
        return Some(("Unknown", "InspectionFailed", message));
    }
    match &member.node {
        Remote::Found(_) => None,
        Remote::Absent => Some(("Unknown", "InspectionFailed", "Node does not exist".to_owned())),
        Remote::Disconnected { .. } | Remote::NotTried(_) => Some((
            "Unknown",
            "ConnectionDown",
            "Remote connection is down".to_owned(),
        )),
    }
}

fn node_ready_is_unknown(member: &Member) -> bool {
    let conditions = member
        .node
        .found()
        .and_then(|it| it.status.as_ref()?.conditions.clone())
        .unwrap_or_default();
    conditions
        .iter()
        .any(|it| it.type_ == "Ready" && it.status == "Unknown")
}

pub(super) fn pod_condition(member: &Member, component: Component) -> Said {
    if let Some(said) = before_node(member) {
        return said;
    }
    if node_ready_is_unknown(member) {
        let message = "Node Ready condition is Unknown, Pod data might be stale".to_owned();
        return ("Unknown", "InspectionFailed", message);
    }
    match (member.health(component), member.pods.get(&component)) {
        (Some(health), _) => (health.status, health.reason, health.message),
        (None, Some(Remote::Absent)) => ("False", "DoesNotExist", "Pod does not exist".to_owned()),
        (None, _) => (
            "Unknown",
            "ConnectionDown",
            "Remote connection is down".to_owned(),
        ),
    }
}

pub(super) fn etcd_member_health(view: &View, member: &Member) -> Said {
    if let Some(said) = before_node(member) {
        return said;
    }
    let Some(etcd) = view.etcd.found() else {
        return (
            "Unknown",
            "InspectionFailed",
            "Failed to connect to the etcd cluster".to_owned(),
        );
    };
    let Some(found) = view.etcd_member(member) else {
        let message = "Etcd doesn't have a member for this Machine's Node".to_owned();
        return ("False", "NotHealthy", message);
    };
    if found.is_learner {
        return (
            "False",
            "NotHealthy",
            "Waiting for learner etcd member to be promoted".to_owned(),
        );
    }
    let alarms: Vec<String> = etcd
        .alarms
        .iter()
        .filter(|it| it.member == found.id)
        .map(|it| format!("{:?}", it.kind))
        .collect();
    if alarms.is_empty() {
        ("True", "Healthy", String::new())
    } else {
        (
            "False",
            "NotHealthy",
            format!("Etcd member reports alarms: {}", alarms.join(", ")),
        )
    }
}

/// Does the node carry kubeadm's label and, unless the spec leaves it out, its taint?
fn labels_and_taints(view: &View, member: &Member) -> Said {
    if let Some(said) = before_node(member) {
        return said;
    }
    let Some(node) = member.node.found() else {
        return ("Unknown", "InspectionFailed", "Node does not exist".to_owned());
    };
    if !node.labels().contains_key(CONTROL_PLANE_ROLE) {
        let message = format!("{CONTROL_PLANE_ROLE} label is not set");
        return ("False", "NotSet", message);
    }
    let spec = &view.control_plane.spec.kubeadm_config_spec;
    let given = spec.join_configuration.node_registration.taints.as_ref();
    let given = given.or(spec.init_configuration.node_registration.taints.as_ref());
    let wants = given.is_none_or(|it| {
        it.iter()
            .any(|it| it.key == CONTROL_PLANE_ROLE && it.effect == "NoSchedule")
    });
    let taints = node
        .spec
        .as_ref()
        .and_then(|it| it.taints.clone())
        .unwrap_or_default();
    let has = taints
        .iter()
        .any(|it| it.key == CONTROL_PLANE_ROLE && it.effect == "NoSchedule");
    if wants && !has {
        return (
            "False",
            "NotSet",
            format!("{CONTROL_PLANE_ROLE}:NoSchedule taint is not set"),
        );
    }
    ("True", "Set", String::new())
}

fn up_to_date(view: &View, member: &Member) -> Said {
    let differences = view.differences(member);
    if differences.is_empty() {
        return ("True", "UpToDate", String::new());
    }
    let lines: Vec<String> = differences.iter().map(|it| format!("* {it}")).collect();
    ("False", "NotUpToDate", lines.join("\n"))
}

/// The patch that brings the conditions that this controller writes to one Machine up to date; none if they are.
pub(crate) fn machine_conditions_patch(view: &View, member: &Member, verdict: &Verdict) -> Option<Value> {
    let mut said: Vec<(&'static str, Said)> = Component::ALL
        .into_iter()
        .filter(|it| *it != Component::Etcd || view.has_stacked_etcd())
        .map(|it| (it.condition(), pod_condition(member, it)))
        .collect();
    if view.has_stacked_etcd() {
        said.push(("EtcdMemberHealthy", etcd_member_health(view, member)));
    }
    said.push(("NodeKubeadmLabelsAndTaintsSet", labels_and_taints(view, member)));
    said.push(("UpToDate", up_to_date(view, member)));
    let mut conditions = MachineConditions::of(&member.machine, view.now);
    for (kind, (status, reason, message)) in said {
        let status = status.parse().unwrap_or(Status::Unknown);
        conditions.set(Draft::new(kind, status, reason, message));
    }
    if remediation::has_recovered(&member.machine) {
        conditions.remove(Type::OwnerRemediated);
    }
    if let Some(draft) = remediation::owner_remediated(verdict, member) {
        conditions.set(draft);
    }
    v1beta1::of_machine(view, member, verdict, &mut conditions);
    conditions.patch()
}
