//! Which unhealthy machine is replaced, whether that may happen now, and how often it was tried.
//!
//! The order is: record the intent on the control plane, delete the machine, create its replacement with the record on
//! it, drop the intent. Killed anywhere in between, the next pass goes on from what is recorded.
// Parity: upstream controlplane/kubeadm/reconcilers/kubeadmcontrolplane/remediation.go

use std::cmp::Reverse;

use capstan_api::{
    condition::{self, Draft, Reason, Status, Type},
    controlplane::{KubeadmControlPlane, LastRemediation},
    core::{Conditioned, Machine},
    well_known::annotation,
};
use capstan_base::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;
use serde::{Deserialize, Serialize};

use crate::{
    quorum::{self, Change},
    view::{Component, Member, View},
};

/// How long a replacement has to be healthy before its failure counts as a new one: an hour.
const MIN_HEALTHY_PERIOD_SECONDS: i32 = 3600;

/// What is known of one replacement: on the control plane while it goes on, on the machine that replaces afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    /// The machine that is replaced.
    pub machine: String,
    /// When it was decided; in whole seconds.
    pub timestamp: Time,
    /// How often a replacement of a replacement was tried before.
    #[serde(default)]
    pub retry_count: i32,
}

impl Record {
    fn of(annotations: &std::collections::BTreeMap<String, String>, key: &str) -> Option<Self> {
        serde_json::from_str(annotations.get(key)?).ok()
    }

    /// The replacement that goes on.
    pub(crate) fn in_progress(control_plane: &KubeadmControlPlane) -> Option<Self> {
        Self::of(control_plane.annotations(), annotation::REMEDIATION_IN_PROGRESS)
    }

    /// The replacement that a machine came from.
    fn behind(machine: &Machine) -> Option<Self> {
        Self::of(machine.annotations(), annotation::REMEDIATION_FOR)
    }

    /// The text of the annotations.
    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("invariant: names, times and numbers serialise")
    }

    /// What the status says of it.
    fn to_status(&self) -> LastRemediation {
        LastRemediation {
            machine: self.machine.clone(),
            time: Some(self.timestamp.clone()),
            retry_count: Some(self.retry_count),
        }
    }
}

/// What remediation asks for in this pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No machine is to be replaced, or one is being replaced already.
    Nothing,
    /// A machine is to be replaced, and is not now.
    NotNow {
        /// The machine.
        machine: String,
        /// `CannotBeRemediated` or `RemediationDeferred`.
        reason: Reason,
        /// Why, in the words of the condition.
        message: String,
        /// When time alone may change the answer.
        until: Option<Timestamp>,
    },
    /// This machine is replaced now.
    Replace {
        /// The machine.
        machine: String,
        /// What is recorded of it.
        record: Record,
    },
}

/// Is the machine unhealthy by its health check?
fn is_unhealthy(machine: &Machine) -> bool {
    condition::is_false(machine.conditions(), Type::HealthCheckSucceeded)
}

/// Does the health check ask this controller to replace the machine?
pub(crate) fn is_to_be_remediated(machine: &Machine) -> bool {
    is_unhealthy(machine) && condition::is_false(machine.conditions(), Type::OwnerRemediated)
}

/// Has the machine recovered before it was replaced?
pub(crate) fn has_recovered(machine: &Machine) -> bool {
    machine.metadata.deletion_timestamp.is_none()
        && condition::is_true(machine.conditions(), Type::HealthCheckSucceeded)
        && condition::is_false(machine.conditions(), Type::OwnerRemediated)
}

/// Is the record on the control plane left over, since the replacement is there?
pub(crate) fn is_finished(view: &View, record: &Record) -> bool {
    view.members.iter().any(|it| {
        let made = it.machine.metadata.creation_timestamp.as_ref().map(|it| it.0);
        Record::behind(&it.machine).as_ref() == Some(record)
            || made.is_some_and(|it| it.as_second() > record.timestamp.0.as_second())
    })
}

/// The machine to replace now, or why none is.
pub(crate) fn judge(view: &View) -> Verdict {
    if let Some(record) = Record::in_progress(&view.control_plane).filter(|it| !is_finished(view, it)) {
        // The deletion may not have happened yet: nothing is decided anew.
        let waiting = view
            .members
            .iter()
            .any(|it| it.name() == record.machine && !it.is_deleting());
        return if waiting {
            Verdict::Replace {
                machine: record.machine.clone(),
                record,
            }
        } else {
            Verdict::Nothing
        };
    }
    let Some(member) = most_broken(view).filter(|it| !it.is_deleting()) else {
        return Verdict::Nothing;
    };
    let not_now = |(reason, message, until): Refusal| Verdict::NotNow {
        machine: member.name(),
        reason,
        message,
        until,
    };
    let record = match within_limits(view, member) {
        Ok(record) => record,
        Err(refusal) => return not_now(refusal),
    };
    if view.is_initialized()
        && let Some((reason, message)) = unsafe_because(view, member)
    {
        return not_now((reason, message, None));
    }
    Verdict::Replace {
        machine: member.name(),
        record,
    }
}

type Refusal = (Reason, String, Option<Timestamp>);

/// The machine whose replacement helps most.
fn most_broken(view: &View) -> Option<&Member> {
    let rank = |it: &&Member| {
        let bad = |component: Component| it.health(component).is_none_or(|it| it.status != "True");
        let stacked = view.has_stacked_etcd();
        let set = condition::is_true(it.machine.conditions(), "NodeKubeadmLabelsAndTaintsSet");
        (
            Reverse(
                it.machine
                    .annotations()
                    .contains_key(annotation::REMEDIATE_MACHINE),
            ),
            Reverse(it.node_name().is_none()),
            Reverse(stacked && !view.is_etcd_member_healthy(it)),
            Reverse(stacked && bad(Component::Etcd)),
            Reverse(bad(Component::ApiServer)),
            Reverse(bad(Component::ControllerManager)),
            Reverse(bad(Component::Scheduler)),
            Reverse(!set),
            it.machine.metadata.creation_timestamp.as_ref().map(|it| it.0),
            it.name(),
        )
    };
    view.members
        .iter()
        .filter(|it| is_to_be_remediated(&it.machine))
        .min_by_key(rank)
}

/// The record of this attempt, if the limits of the control plane allow it.
fn within_limits(view: &View, member: &Member) -> Result<Record, Refusal> {
    let now = view.now.as_second();
    let limits = &view.control_plane.spec.remediation;
    let first = Record {
        machine: member.name(),
        timestamp: Time(Timestamp::from_second(now).unwrap_or(view.now)),
        retry_count: 0,
    };
    let Some(last) = Record::behind(&member.machine) else {
        return Ok(first);
    };
    let since = now - last.timestamp.0.as_second();
    let healthy_for = limits
        .min_healthy_period_seconds
        .unwrap_or(MIN_HEALTHY_PERIOD_SECONDS);
    if since >= i64::from(healthy_for) {
        return Ok(first);
    }
    let pause = limits.retry_period_seconds.unwrap_or(0);
    if since < i64::from(pause) {
        let shown = capstan_base::duration::format_seconds(i64::from(pause));
        let message = format!(
            "KubeadmControlPlane can't remediate this machine because the operation already failed in the latest {shown} (RetryPeriodSeconds)"
        );
        let until = Timestamp::from_second(last.timestamp.0.as_second() + i64::from(pause)).ok();
        return Err((Reason::RemediationDeferred, message, until));
    }
    if let Some(limit) = limits.max_retry.filter(|it| last.retry_count >= *it) {
        let message = format!(
            "KubeadmControlPlane can't remediate this machine because the operation already failed {limit} times (MaxRetry)"
        );
        return Err((Reason::CannotBeRemediated, message, None));
    }
    Ok(Record {
        retry_count: last.retry_count + 1,
        ..first
    })
}

/// Why the cluster would be worse off without the machine now; none if it would not.
fn unsafe_because(view: &View, member: &Member) -> Option<(Reason, String)> {
    let deferred = |message: &str| Some((Reason::RemediationDeferred, message.to_owned()));
    let cannot = |message: &str| Some((Reason::CannotBeRemediated, message.to_owned()));
    if view.members.len() <= 1 {
        return cannot("KubeadmControlPlane can't remediate if current replicas are less or equal to 1");
    }
    if view
        .members
        .iter()
        .any(|it| it.node_name().is_none() && !is_unhealthy(&it.machine))
    {
        return deferred(
            "KubeadmControlPlane waiting for control plane Machine provisioning to complete before triggering remediation",
        );
    }
    if view.members.iter().any(Member::is_deleting) {
        return deferred(
            "KubeadmControlPlane waiting for control plane Machine deletion to complete before triggering remediation",
        );
    }
    let stacked = view.has_stacked_etcd();
    // Upstream asks this of external etcd too, where nobody knows the members: such control planes never heal there.
    if stacked && view.quorum_members().is_empty() {
        return deferred("Failed to check etcd cluster health before remediation");
    }
    let others_work = view
        .members
        .iter()
        .any(|it| it.name() != member.name() && it.are_pods_healthy(stacked));
    // A member that never showed up cannot be counted: the request to replace its machine is what is left to go by.
    let keeps_quorum = !stacked
        || member
            .node_name()
            .is_none_or(|it| quorum::holds_after(&view.quorum_members(), Change::Remove(it)));
    if others_work && keeps_quorum {
        return None;
    }
    cannot(
        "KubeadmControlPlane can't remediate this Machine because this could result in loosing Kubernetes control plane components or in etcd quorum loss",
    )
}

/// What a machine's `OwnerRemediated` has to become; none if it stays as it is.
pub(crate) fn owner_remediated(verdict: &Verdict, member: &Member) -> Option<Draft> {
    match verdict {
        Verdict::NotNow {
            machine,
            reason,
            message,
            ..
        } if *machine == member.name() => Some(Draft::new(
            Type::OwnerRemediated,
            Status::False,
            *reason,
            message.as_str(),
        )),
        Verdict::Replace { machine, .. } if *machine == member.name() => Some(Draft::new(
            Type::OwnerRemediated,
            Status::False,
            Reason::MachineDeleting,
            "Machine is deleting",
        )),
        _ => None,
    }
}

/// The newest replacement that is known of.
pub(crate) fn last(view: &View) -> Option<LastRemediation> {
    let in_progress = Record::in_progress(&view.control_plane);
    let newest = || {
        view.members
            .iter()
            .filter_map(|it| Record::behind(&it.machine))
            .max_by_key(|it| it.timestamp.0)
    };
    in_progress.or_else(newest).map(|it| it.to_status())
}

/// The names of the machines that are unhealthy without a request to replace them, sorted.
pub(crate) fn unhealthy_only(view: &View) -> Vec<String> {
    let mut names: Vec<String> = view
        .members
        .iter()
        .filter(|it| is_unhealthy(&it.machine) && !is_to_be_remediated(&it.machine))
        .map(Member::name)
        .collect();
    names.sort();
    names
}
