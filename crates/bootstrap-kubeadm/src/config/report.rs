//! What is true of a KubeadmConfig, from what was seen, chosen and done.

use capstan_api::{
    bootstrap::KubeadmConfigStatus,
    condition::{self, Draft, Reason, Reasons, Status, Summary, Type, v1beta1},
};
use capstan_engine::{Outcome, Plan, Trail};
use kube::ResourceExt;

use super::{
    act::{ActError, Action},
    prepare::{Blocked, prepare},
    stage::Stage,
    view::View,
};

/// The condition types that this controller owns.
pub(super) const OWNED: &[&str] = &["Ready", "CertificatesAvailable", "DataSecretAvailable", "Paused"];

/// How `Ready` is made of the others.
const READY: Summary<'static> = Summary {
    target: "Ready",
    types: &["DataSecretAvailable", "CertificatesAvailable"],
    negative: &[],
    ignore_if_missing: &[],
    overrides: &[],
    priority: None,
    transform: None,
    reasons: Reasons {
        issue: Reason::NotReady,
        unknown: Reason::ReadyUnknown,
        info: Reason::Ready,
    },
};

/// The whole status.
pub(super) fn report(view: &View, plan: &Plan<Action>, trail: &Trail<ActError>) -> KubeadmConfigStatus {
    let mut status = view.basics.config.status.clone().unwrap_or_default();
    if view.stage == Stage::Idle {
        return status;
    }
    let facts = facts(view, is_stored(plan, trail));
    if let Some(name) = facts.data_secret_name {
        status.data_secret_name = Some(name);
        status.initialization.data_secret_created = Some(true);
    }
    let generation = view.basics.config.metadata.generation;
    for draft in facts.conditions {
        condition::set_in(&mut status.conditions, generation, draft, view.basics.now);
    }
    if let Ok(ready) = READY.of(&status.conditions) {
        condition::set_in(&mut status.conditions, generation, ready, view.basics.now);
    }
    let old = &mut status.deprecated.v1beta1.conditions;
    let summary = v1beta1::Summary {
        types: &[
            v1beta1::Type::DataSecretAvailable,
            v1beta1::Type::CertificatesAvailable,
        ],
        steps: v1beta1::StepCounter::Off,
    };
    let drafts = facts.old_conditions.into_iter().map(Some);
    *old = v1beta1::with_summary(old, drafts, summary, view.basics.now);
    status
}

/// What a pass found out. Conditions that it says nothing about stay as they are.
#[derive(Default)]
struct Facts {
    data_secret_name: Option<String>,
    conditions: Vec<Draft>,
    old_conditions: Vec<v1beta1::Draft>,
}

fn facts(view: &View, stored: bool) -> Facts {
    match &view.stage {
        Stage::Idle => Facts::default(),
        Stage::WaitingForInfrastructure => Facts {
            conditions: vec![no_data(
                "Waiting for Cluster status.infrastructureReady to be true",
            )],
            old_conditions: vec![old_waiting(v1beta1::Reason::WaitingForClusterInfrastructure)],
            ..Facts::default()
        },
        Stage::Recovered(name) => available(Some(name.clone())),
        Stage::Created { .. } => available(None),
        Stage::WaitingForControlPlane | Stage::WaitingForInit { .. } => waiting(view),
        Stage::Init => {
            let mut facts = waiting(view);
            facts.extend(rendering(view, stored));
            facts
        }
        Stage::JoinControlPlane | Stage::JoinWorker => rendering(view, stored),
    }
}

impl Facts {
    fn extend(&mut self, later: Self) {
        self.data_secret_name = later.data_secret_name.or(self.data_secret_name.take());
        self.conditions.extend(later.conditions);
        self.old_conditions.extend(later.old_conditions);
    }
}

/// The control plane is not initialised. Said only where nothing was said before, so that what failed stays readable.
fn waiting(view: &View) -> Facts {
    let conditions = view
        .basics
        .config
        .status
        .as_ref()
        .map(|it| it.conditions.as_slice())
        .unwrap_or_default();
    if condition::find(conditions, Type::DataSecretAvailable)
        .is_some_and(|it| !is_about_infrastructure(&it.message))
    {
        return Facts::default();
    }
    Facts {
        conditions: vec![no_data("Waiting for Cluster control plane to be initialized")],
        old_conditions: vec![old_waiting(v1beta1::Reason::WaitingForControlPlaneAvailable)],
        ..Facts::default()
    }
}

/// The wait for the infrastructure is over once the control plane is waited for.
// Differs: upstream leaves the older wait in the condition, which then names what is there already.
fn is_about_infrastructure(message: &str) -> bool {
    message.starts_with("Waiting for Cluster status.infrastructureReady")
}

/// What became of the data in a pass that meant to make it.
fn rendering(view: &View, stored: bool) -> Facts {
    let blocked = match prepare(view) {
        Ok(prepared) if !prepared.missing.is_empty() => return Facts::default(),
        Ok(_) => None,
        Err(blocked) => Some(blocked),
    };
    if let Some(Blocked::Certificates(why)) = &blocked {
        let old = if view.stage == Stage::Init {
            (
                v1beta1::Reason::CertificatesGenerationFailed,
                v1beta1::Severity::Warning,
            )
        } else {
            (v1beta1::Reason::CertificatesCorrupted, v1beta1::Severity::Error)
        };
        return Facts {
            conditions: vec![Draft::internal_error(Type::CertificatesAvailable)],
            old_conditions: vec![v1beta1::Draft::no(
                v1beta1::Type::CertificatesAvailable,
                old.0,
                old.1,
                why,
            )],
            ..Facts::default()
        };
    }
    let mut facts = Facts {
        conditions: vec![Draft::new(
            Type::CertificatesAvailable,
            Status::True,
            Reason::Available,
            "",
        )],
        old_conditions: vec![v1beta1::Draft::yes(v1beta1::Type::CertificatesAvailable)],
        ..Facts::default()
    };
    if let Some(blocked) = &blocked {
        facts.conditions.push(no_data(&blocked.message()));
        facts.old_conditions.push(v1beta1::Draft::no(
            v1beta1::Type::DataSecretAvailable,
            v1beta1::Reason::DataSecretGenerationFailed,
            v1beta1::Severity::Warning,
            blocked.detail(),
        ));
    } else if stored {
        facts.extend(available(Some(view.basics.config.name_any())));
    }
    facts
}

fn available(data_secret_name: Option<String>) -> Facts {
    Facts {
        data_secret_name,
        conditions: vec![
            Draft::new(Type::DataSecretAvailable, Status::True, Reason::Available, ""),
            Draft::new(Type::CertificatesAvailable, Status::True, Reason::Available, ""),
        ],
        old_conditions: vec![v1beta1::Draft::yes(v1beta1::Type::DataSecretAvailable)],
    }
}

fn no_data(message: &str) -> Draft {
    Draft::new(
        Type::DataSecretAvailable,
        Status::False,
        Reason::NotAvailable,
        message,
    )
}

fn old_waiting(reason: v1beta1::Reason) -> v1beta1::Draft {
    v1beta1::Draft::no(
        v1beta1::Type::DataSecretAvailable,
        reason,
        v1beta1::Severity::Info,
        "",
    )
}

/// Did this pass keep the data?
fn is_stored(plan: &Plan<Action>, trail: &Trail<ActError>) -> bool {
    let mut outcomes = plan.steps.iter().zip(&trail.outcomes);
    outcomes.any(|(step, outcome)| {
        matches!(step.action, Action::StoreData { .. }) && matches!(outcome, Outcome::Done)
    })
}
