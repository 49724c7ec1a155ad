//! Summing up and aggregating by the rules of v1beta1: the worst group of conditions decides.

use kube::{Resource, ResourceExt};

use super::{Draft, Severity, Type, find, key};
use crate::{
    condition::Status,
    core::{Conditioned, V1Beta1Condition},
};

/// A condition and the object it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Localized {
    /// The object's kind.
    pub kind: String,
    /// The object's name.
    pub name: String,
    /// Its `Ready` condition, if it has one.
    pub ready: Option<Draft>,
}

impl Localized {
    /// `object`, with its `Ready` condition.
    pub fn of<K: Conditioned + Resource<DynamicType = ()>>(object: &K) -> Self {
        Self {
            kind: K::kind(&()).into_owned(),
            name: object.name_any(),
            ready: find(object.v1beta1_conditions(), Type::Ready).map(Draft::from),
        }
    }
}

/// Whether a summary counts steps (`1 of 2 completed`) instead of telling a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StepCounter<'a> {
    /// It does not.
    #[default]
    Off,
    /// It counts all types of the summary.
    All,
    /// It counts these types, unless a condition of another type is there.
    OnlyIf(&'a [Type]),
}

/// How conditions of one object are summed up as `Ready`. Types that are not there are left out.
#[derive(Debug, Clone, Copy)]
pub struct Summary<'a> {
    /// The types; the first of the worst ones gives reason and message.
    pub types: &'a [Type],
    /// Whether steps are counted.
    pub steps: StepCounter<'a>,
}

impl Summary<'_> {
    /// The summary of `conditions`; `None` if none of the types is there.
    // Parity: cluster-api util/conditions/deprecated/v1beta1/getter.go:summary
    pub fn of(&self, conditions: &[V1Beta1Condition]) -> Option<Draft> {
        let scope: Vec<Entry> = conditions
            .iter()
            .filter(|it| it.type_ != Type::Ready.as_str())
            .filter(|it| self.types.iter().any(|type_| type_.as_str() == it.type_))
            .map(|it| Entry {
                condition: it.into(),
                kind: String::new(),
                name: String::new(),
            })
            .collect();
        let steps = match self.steps {
            StepCounter::Off => None,
            StepCounter::All => Some(self.types.len()),
            StepCounter::OnlyIf(types) => {
                let only = scope
                    .iter()
                    .all(|it| types.iter().any(|type_| type_.as_str() == it.condition.type_));
                only.then_some(types.len())
            }
        };
        merge(scope, Type::Ready, self.types, steps, false)
    }
}

/// The aggregate of the `Ready` conditions of several objects; objects without one count as steps not done. The reason
/// says which object it is from. `None` if no object has one.
// Parity: cluster-api util/conditions/deprecated/v1beta1/getter.go:aggregate with AddSourceRef
pub fn aggregate(objects: Vec<Localized>, target: Type) -> Option<Draft> {
    let steps = objects.len();
    let scope: Vec<Entry> = objects
        .into_iter()
        .filter_map(|it| {
            it.ready.map(|condition| Entry {
                condition,
                kind: it.kind,
                name: it.name,
            })
        })
        .collect();
    merge(scope, target, &[], Some(steps), true)
}

struct Entry {
    condition: Draft,
    kind: String,
    name: String,
}

impl Entry {
    /// Which group decides: errors, warnings, infos, then `True`, then `Unknown`.
    fn priority(&self) -> u8 {
        match (self.condition.status, self.condition.severity) {
            (Status::False, Some(Severity::Error)) => 0,
            (Status::False, Some(Severity::Warning)) => 1,
            (Status::False, Some(Severity::Info)) => 2,
            (Status::True, _) => 3,
            (Status::Unknown, _) => 4,
            (Status::False, None) => 99,
        }
    }
}

// Parity: cluster-api util/conditions/deprecated/v1beta1/merge.go:merge
fn merge(
    scope: Vec<Entry>,
    target: Type,
    order: &[Type],
    steps: Option<usize>,
    with_source: bool,
) -> Option<Draft> {
    let done = scope
        .iter()
        .filter(|it| it.condition.status == Status::True)
        .count();
    let top = scope.iter().map(Entry::priority).min()?;
    let mut group: Vec<Entry> = scope.into_iter().filter(|it| it.priority() == top).collect();
    group.sort_by(|one, other| {
        let keys = (key(&one.condition.type_), key(&other.condition.type_));
        keys.0.cmp(&keys.1).then_with(|| one.name.cmp(&other.name))
    });
    let in_order = order
        .iter()
        .find_map(|type_| group.iter().find(|it| it.condition.type_ == type_.as_str()));
    let first = in_order.or(group.first())?;
    if first.condition.status == Status::True {
        return Some(Draft::yes(target));
    }
    let reason = if with_source && !first.condition.reason.contains('@') {
        format!("{} @ {}/{}", first.condition.reason, first.kind, first.name)
    } else {
        first.condition.reason.clone()
    };
    let message = match steps {
        Some(steps) => format!("{done} of {steps} completed"),
        None => first.condition.message.clone(),
    };
    Some(Draft {
        status: first.condition.status,
        severity: first.condition.severity,
        reason,
        message,
        ..Draft::yes(target)
    })
}

#[cfg(test)]
mod tests {
    use capstan_base::Timestamp;

    use super::*;
    use crate::condition::v1beta1::{Reason, set_in};

    const TYPES: &[Type] = &[
        Type::InfrastructureReady,
        Type::BootstrapReady,
        Type::HealthCheckSucceeded,
    ];

    fn list(drafts: Vec<Draft>) -> Vec<V1Beta1Condition> {
        let mut list = Vec::new();
        for draft in drafts {
            set_in(&mut list, draft, Timestamp::UNIX_EPOCH);
        }
        list
    }

    fn info(type_: Type, reason: Reason) -> Draft {
        Draft::no(type_, reason, Severity::Info, format!("about {type_}"))
    }

    #[test]
    fn the_worst_group_and_in_it_the_first_type_decide() {
        let summary = Summary {
            types: TYPES,
            steps: StepCounter::Off,
        };
        let infra = info(Type::InfrastructureReady, Reason::WaitingForInfrastructure);
        let boot = info(Type::BootstrapReady, Reason::WaitingForDataSecret);
        let sick = Draft::no(
            Type::HealthCheckSucceeded,
            Reason::UnhealthyNode,
            Severity::Warning,
            "sick",
        );
        assert_eq!(
            summary.of(&list(vec![boot.clone(), infra.clone()])),
            Some(Draft {
                type_: "Ready".to_owned(),
                ..infra.clone()
            })
        );
        assert_eq!(
            summary.of(&list(vec![boot, infra, sick.clone()])),
            Some(Draft {
                type_: "Ready".to_owned(),
                ..sick
            })
        );
        assert_eq!(
            summary.of(&list(vec![Draft::yes(Type::BootstrapReady)])),
            Some(Draft::yes(Type::Ready))
        );
        assert_eq!(summary.of(&list(vec![Draft::yes(Type::NodeHealthy)])), None);
        // What is not known counts less than what is well, as it always did in v1beta1.
        let unknown = Draft::unknown(Type::InfrastructureReady, "Any", "");
        assert_eq!(
            summary.of(&list(vec![unknown, Draft::yes(Type::BootstrapReady)])),
            Some(Draft::yes(Type::Ready))
        );
    }

    #[test]
    fn steps_are_counted_only_while_provisioning() {
        let first = [Type::InfrastructureReady, Type::BootstrapReady];
        let summary = Summary {
            types: TYPES,
            steps: StepCounter::OnlyIf(&first),
        };
        let infra = info(Type::InfrastructureReady, Reason::WaitingForInfrastructure);
        let boot = Draft::yes(Type::BootstrapReady);
        let message = |drafts: Vec<Draft>| summary.of(&list(drafts)).map(|it| it.message).unwrap_or_default();
        assert_eq!(message(vec![infra.clone(), boot.clone()]), "1 of 2 completed");
        assert_eq!(
            message(vec![infra, boot, Draft::yes(Type::HealthCheckSucceeded)]),
            "about InfrastructureReady"
        );
    }

    #[test]
    fn an_aggregate_names_its_source() {
        let object = |name: &str, ready: Option<Draft>| Localized {
            kind: "Machine".to_owned(),
            name: name.to_owned(),
            ready,
        };
        let down = info(Type::Ready, Reason::WaitingForInfrastructure);
        assert_eq!(
            aggregate(
                vec![
                    object("m2", Some(down.clone())),
                    object("m1", Some(down)),
                    object("m0", Some(Draft::yes(Type::Ready))),
                    object("m3", None),
                ],
                Type::MachinesReady
            ),
            Some(Draft::no(
                "MachinesReady",
                "WaitingForInfrastructure @ Machine/m1",
                Severity::Info,
                "1 of 4 completed"
            ))
        );
        assert_eq!(aggregate(vec![object("m", None)], Type::MachinesReady), None);
    }
}
