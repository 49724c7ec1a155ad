//! Setting and finding conditions.

use capstan_base::Timestamp;
use jiff::Unit;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::Resource;

use super::{
    Draft, Status,
    types::{Type, place},
};
use crate::core::Conditioned;

/// Sets a condition of `object`. Says whether anything changed.
///
/// The transition time changes only with the status: to the draft's own time if it has one, else to `now`, in whole
/// seconds. The observed generation is the object's. The list is kept in its order.
pub fn set<K: Conditioned + Resource>(object: &mut K, draft: Draft, now: Timestamp) -> bool {
    let generation = object.meta().generation;
    set_in(object.conditions_mut(), generation, draft, now)
}

/// Sets a condition in a list. See [`set`].
// Parity: cluster-api util/conditions/setter.go:Set
pub fn set_in(
    conditions: &mut Vec<Condition>,
    generation: Option<i64>,
    draft: Draft,
    now: Timestamp,
) -> bool {
    let since = Time(whole_seconds(draft.since.unwrap_or(now)));
    let observed_generation = generation.filter(|it| *it > 0);
    let status = draft.status.as_str().to_owned();
    let present = conditions.iter_mut().find(|it| it.type_ == draft.type_);
    let Some(present) = present else {
        conditions.push(Condition {
            type_: draft.type_,
            status,
            reason: draft.reason,
            message: draft.message,
            last_transition_time: since,
            observed_generation,
        });
        sort(conditions);
        return true;
    };
    let last_transition_time = if present.status == status {
        present.last_transition_time.clone()
    } else {
        since
    };
    let wanted = Condition {
        type_: draft.type_,
        status,
        reason: draft.reason,
        message: draft.message,
        last_transition_time,
        observed_generation,
    };
    if *present == wanted {
        return false;
    }
    *present = wanted;
    sort(conditions);
    true
}

/// Removes the condition of type `type_`. Says whether there was one.
pub fn remove(conditions: &mut Vec<Condition>, type_: impl Into<String>) -> bool {
    let type_ = type_.into();
    let before = conditions.len();
    conditions.retain(|it| it.type_ != type_);
    before != conditions.len()
}

/// Brings a list into its order: see [`Type`]; types of others by name.
pub fn sort(conditions: &mut [Condition]) {
    conditions.sort_by(|one, other| {
        let places: (Type, Type) = (place(&one.type_), place(&other.type_));
        places.0.cmp(&places.1).then_with(|| one.type_.cmp(&other.type_))
    });
}

/// The condition of type `type_`.
pub fn find(conditions: &[Condition], type_: impl AsRef<str>) -> Option<&Condition> {
    conditions.iter().find(|it| it.type_ == type_.as_ref())
}

/// Whether the condition is there and `True`.
pub fn is_true(conditions: &[Condition], type_: impl AsRef<str>) -> bool {
    find(conditions, type_).is_some_and(|it| it.status == Status::True.as_str())
}

/// Whether the condition is there and `False`.
pub fn is_false(conditions: &[Condition], type_: impl AsRef<str>) -> bool {
    find(conditions, type_).is_some_and(|it| it.status == Status::False.as_str())
}

/// Whether the condition is absent or `Unknown`.
pub fn is_unknown(conditions: &[Condition], type_: impl AsRef<str>) -> bool {
    find(conditions, type_).is_none_or(|it| it.status == Status::Unknown.as_str())
}

impl AsRef<str> for Type {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

/// `time` without what is less than a second, as the wire has no room for it.
pub(super) fn whole_seconds(time: Timestamp) -> Timestamp {
    time.round(
        jiff::TimestampRound::new()
            .smallest(Unit::Second)
            .mode(jiff::RoundMode::Floor),
    )
    .unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{condition::Reason, core::Machine};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    fn ready(status: Status, message: &str) -> Draft {
        Draft::new(Type::Ready, status, Reason::Ready, message)
    }

    #[test]
    fn the_transition_time_changes_only_with_the_status() {
        let mut machine = Machine::new("ns", "m");
        machine.metadata.generation = Some(3);
        let time = |machine: &Machine| {
            find(machine.conditions(), Type::Ready)
                .expect("ready")
                .last_transition_time
                .0
                .as_second()
        };
        assert!(set(&mut machine, ready(Status::True, ""), at(10)));
        assert!(!set(&mut machine, ready(Status::True, ""), at(20)));
        assert!(set(
            &mut machine,
            ready(Status::True, "new words").since(at(15)),
            at(20)
        ));
        assert_eq!(time(&machine), 10);
        assert!(set(&mut machine, ready(Status::False, ""), at(30)));
        assert_eq!(time(&machine), 30);
        assert!(set(
            &mut machine,
            ready(Status::Unknown, "").since(at(25)),
            at(40)
        ));
        assert_eq!(time(&machine), 25);
        assert_eq!(machine.conditions()[0].observed_generation, Some(3));
    }

    #[test]
    fn a_list_is_in_upstreams_order() {
        let mut conditions = Vec::new();
        for type_ in [
            "Deleting",
            "example.com/Gate",
            "Paused",
            "MachinesReady",
            "DataSecretAvailable",
            "Ready",
            "Available",
        ] {
            set_in(
                &mut conditions,
                None,
                Draft::new(type_, Status::True, "Any", ""),
                at(0),
            );
        }
        let order: Vec<&str> = conditions.iter().map(|it| it.type_.as_str()).collect();
        assert_eq!(
            order,
            [
                "Available",
                "Ready",
                "MachinesReady",
                "DataSecretAvailable",
                "example.com/Gate",
                "Paused",
                "Deleting"
            ]
        );
    }
}
