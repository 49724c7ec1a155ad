//! Decides what one MachineHealthCheck does next.
//!
//! ```text
//!   always          belong to the Cluster → judge every Machine → say of each whether it is healthy
//!   within limits   an unhealthy Machine: ask its owner for the repair, or create a repair request
//!                   a healthy one: delete its repair request
//! ```

use std::collections::BTreeMap;

use capstan_api::{condition::Reason, core::ContractReference, owner, well_known};
use capstan_contract::{MachineConditions, TemplateClone, with_owner};
use capstan_engine::{Lookup, ObjectKey, Plan, Preconditions, Wake, Why};
use kube::{
    ResourceExt,
    core::{ApiResource, DynamicObject},
};
use serde_json::json;

use super::{
    act::Action,
    check::{Verdict, verdict},
    conditions,
    limit::{Limit, limit},
    view::{Target, View},
};

/// What was found of all Machines.
#[derive(Debug, Clone)]
pub(super) struct Findings {
    pub verdicts: Vec<Verdict>,
    pub total: i32,
    pub healthy: i32,
    pub limit: Limit,
}

/// Judges all Machines; none if nothing can be said now.
pub(super) fn findings(view: &View) -> Option<Findings> {
    if view.cluster.found().is_none() || view.disconnected().is_some() {
        return None;
    }
    let verdicts: Vec<Verdict> = view.targets.iter().map(|it| verdict(view, it)).collect();
    let count = |number: usize| i32::try_from(number).unwrap_or(i32::MAX);
    let total = count(verdicts.len());
    let healthy = count(verdicts.iter().filter(|it| **it == Verdict::Healthy).count());
    let trigger = &view.health_check.spec.remediation.trigger_if;
    Some(Findings {
        limit: limit(trigger, total, total - healthy),
        verdicts,
        total,
        healthy,
    })
}

/// Chooses.
pub(super) fn decide(view: &View) -> Plan<Action> {
    let mut plan = Plan::default();
    if view.is_deleting() {
        return plan;
    }
    belong(view, &mut plan);
    let Some(findings) = findings(view) else {
        let why = view
            .disconnected()
            .unwrap_or_else(|| "there is no such Cluster".to_owned());
        plan.waits(Why::new("ConnectionDown", why));
        return plan;
    };
    announce(view, &findings, &mut plan);
    for (target, verdict) in view.targets.iter().zip(&findings.verdicts) {
        treat(view, target, verdict, &findings.limit, &mut plan);
        if let Verdict::Pending(next) = verdict {
            plan.wakes(Wake::At(*next), view.now);
        }
    }
    plan
}

/// The health check carries its Cluster's label and goes with it.
fn belong(view: &View, plan: &mut Plan<Action>) {
    let Some(cluster) = view.cluster.found() else {
        return;
    };
    let check = &*view.health_check;
    let references = with_owner(check.owner_references(), &owner::plain(&**cluster));
    let label = well_known::label::CLUSTER_NAME;
    if references.is_none() && check.labels().get(label) == Some(&check.spec.cluster_name) {
        return;
    }
    let patch = json!({ "metadata": {
        "ownerReferences": references.unwrap_or_else(|| check.owner_references().to_vec()),
        "labels": { label: check.spec.cluster_name },
        "resourceVersion": check.resource_version(),
    } });
    let why = Why::new("Own", "the MachineHealthCheck belongs to its Cluster");
    plan.step_and_continue(Action::PatchHealthCheck { patch }, why);
}

/// An event when repairs stop being allowed although something is unhealthy, and whenever the numbers change then.
fn announce(view: &View, findings: &Findings, plan: &mut Plan<Action>) {
    let Limit::Forbidden(message) = &findings.limit else {
        return;
    };
    let told = view.health_check.status.as_ref().is_some_and(|it| {
        it.conditions
            .iter()
            .any(|it| it.type_ == "RemediationAllowed" && it.message == *message)
    });
    let is_any_unhealthy = findings
        .verdicts
        .iter()
        .any(|it| matches!(it, Verdict::Unhealthy(_)));
    if is_any_unhealthy && !told {
        let why = Why::new("RemediationRestricted", message.clone());
        plan.step_and_continue(
            Action::Announce {
                message: message.clone(),
            },
            why,
        );
    }
    plan.waits(Why::new("TooManyUnhealthy", message.clone()));
}

fn treat(view: &View, target: &Target, verdict: &Verdict, limit: &Limit, plan: &mut Plan<Action>) {
    let machine = &*target.machine;
    let mut said = MachineConditions::of(machine, view.now);
    conditions::health(&mut said, verdict);
    let is_allowed = matches!(limit, Limit::Allowed(_));
    match (verdict, &target.request) {
        (Verdict::Unhealthy(_), None) if is_allowed && machine.metadata.deletion_timestamp.is_none() => {
            conditions::ask_owner(&mut said, machine);
        }
        (Verdict::Unhealthy(_), Some((kind, Lookup::Absent))) if is_allowed => {
            return request(view, target, kind, said, plan);
        }
        (Verdict::Healthy, Some((kind, Lookup::Found(request))))
            if is_allowed && request.metadata.deletion_timestamp.is_none() =>
        {
            withdraw(target, kind, request, plan);
        }
        _ => {}
    }
    say(target, &said, verdict, plan);
}

/// Writes down what is said of a Machine, if that is news.
fn say(target: &Target, said: &MachineConditions<'_>, verdict: &Verdict, plan: &mut Plan<Action>) {
    let Some(patch) = said.patch() else { return };
    let name = target.machine.name_any();
    let (is_unhealthy, why) = match verdict {
        Verdict::Unhealthy(finding) => (
            true,
            Why::new(
                "MachineMarkedUnhealthy",
                format!("Machine {name}: {}", finding.message),
            ),
        ),
        _ => (
            false,
            Why::new("HealthCheckSucceeded", format!("Machine {name} is healthy")),
        ),
    };
    let action = Action::PatchMachineStatus {
        machine: target.machine.clone(),
        patch,
        is_unhealthy,
    };
    plan.step_and_continue(action, why);
}

/// Creates the repair request of a Machine from the template.
fn request(
    view: &View,
    target: &Target,
    kind: &ApiResource,
    said: MachineConditions<'_>,
    plan: &mut Plan<Action>,
) {
    let machine = &*target.machine;
    let refuse = |reason, message: &str| {
        let mut said = said.clone();
        conditions::externally(&mut said, reason, message);
        said
    };
    let verdict = verdict(view, target);
    let Some(object) = request_object(view, target) else {
        let template = &view.health_check.spec.remediation.template_ref;
        let (kind, name) = template
            .as_ref()
            .map(|it| (it.kind.as_str(), it.name.as_str()))
            .unwrap_or_default();
        let namespace = machine.namespace().unwrap_or_default();
        let message = format!("Error retrieving remediation template {kind} {namespace}/{name}");
        let said = refuse(Reason::RemediationTemplateNotFound, &message);
        say(target, &said, &verdict, plan);
        plan.waits(Why::new("RemediationTemplateNotFound", message));
        return;
    };
    let failed = "Please check controller logs for errors";
    let action = Action::RequestRemediation {
        machine: target.machine.clone(),
        kind: kind.clone(),
        object: Box::new(object),
        created: refuse(Reason::WaitingForRemediation, "").patch(),
        failed: refuse(Reason::RemediationRequestCreationFailed, failed).patch(),
    };
    let why = format!(
        "Machine {} is not healthy: ask for its repair",
        machine.name_any()
    );
    plan.step_and_continue(action, Why::new("MachineMarkedUnhealthy", why));
}

/// The repair request; none if there is no template that it could be made from.
fn request_object(view: &View, target: &Target) -> Option<DynamicObject> {
    let machine = &*target.machine;
    let template = view.template.as_ref()?.found()?;
    let given = view.health_check.spec.remediation.template_ref.as_ref()?;
    let reference = ContractReference::new(owner::group_of(&given.api_version), &given.kind, &given.name);
    let none = BTreeMap::new();
    let clone = TemplateClone {
        template,
        reference: &reference,
        namespace: &machine.namespace().unwrap_or_default(),
        name: &machine.name_any(),
        cluster_name: &machine.spec.cluster_name,
        owner: Some(owner::plain(machine)),
        labels: &none,
        annotations: &none,
    };
    clone.object().ok().map(|(_, object)| object)
}

/// A Machine that is healthy again needs no repair.
fn withdraw(target: &Target, kind: &ApiResource, request: &DynamicObject, plan: &mut Plan<Action>) {
    let action = Action::DeleteRequest {
        kind: kind.clone(),
        key: ObjectKey::of(request),
        preconditions: Preconditions {
            uid: request.uid(),
            resource_version: None,
        },
    };
    let why = format!("Machine {} is healthy again", target.machine.name_any());
    plan.step_and_continue(action, Why::new("HealthCheckSucceeded", why));
}
