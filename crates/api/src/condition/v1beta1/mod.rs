//! The conditions kept in `status.deprecated.v1beta1.conditions`: with a severity, and merged by other rules.
//! Source: cluster-api `util/conditions/deprecated/v1beta1`.

mod merge;
mod words;

pub use merge::{Localized, StepCounter, Summary, aggregate};
pub use words::{Reason, Severity, Type};

use capstan_base::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::Value;

use super::{Status, set::whole_seconds};
use crate::core::{Conditioned, V1Beta1Condition};

/// A condition before it is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The type.
    pub type_: String,
    /// The status.
    pub status: Status,
    /// How bad a `False` is; `None` for the other statuses.
    pub severity: Option<Severity>,
    /// Why, in one word; may be empty.
    pub reason: String,
    /// Why, in sentences; may be empty.
    pub message: String,
    /// When the status changed, if that is known better than by when it is set. Used only for a new condition.
    pub since: Option<Timestamp>,
}

impl Draft {
    /// `type_` is `True`.
    pub fn yes(type_: impl Into<String>) -> Self {
        Self {
            type_: type_.into(),
            status: Status::True,
            severity: None,
            reason: String::new(),
            message: String::new(),
            since: None,
        }
    }

    /// `type_` is `False`.
    pub fn no(
        type_: impl Into<String>,
        reason: impl Into<String>,
        severity: Severity,
        message: impl Into<String>,
    ) -> Self {
        Self {
            status: Status::False,
            severity: Some(severity),
            reason: reason.into(),
            message: message.into(),
            ..Self::yes(type_)
        }
    }

    /// `type_` is `Unknown`.
    pub fn unknown(type_: impl Into<String>, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            status: Status::Unknown,
            reason: reason.into(),
            message: message.into(),
            ..Self::yes(type_)
        }
    }

    fn says_the_same_as(&self, condition: &V1Beta1Condition) -> bool {
        condition.type_ == self.type_
            && condition.status == self.status.as_str()
            && condition.severity == self.severity.map_or("", Severity::as_str)
            && condition.reason == self.reason
            && condition.message == self.message
    }
}

impl From<&V1Beta1Condition> for Draft {
    fn from(condition: &V1Beta1Condition) -> Self {
        Self {
            type_: condition.type_.clone(),
            status: condition.status.parse().unwrap_or(Status::Unknown),
            severity: condition.severity.parse().ok(),
            reason: condition.reason.clone(),
            message: condition.message.clone(),
            since: Some(condition.last_transition_time.0),
        }
    }
}

/// Sets a condition of `object`. See [`set_in`].
pub fn set<K: Conditioned>(object: &mut K, draft: Draft, now: Timestamp) -> bool {
    set_in(object.v1beta1_conditions_mut(), draft, now)
}

/// Sets a condition in a list: `Ready` first, the rest by name. Says whether anything changed.
///
/// Other than with the conditions of v1beta2, the transition time changes with the status, reason, severity or message.
// Parity: cluster-api util/conditions/deprecated/v1beta1/setter.go:Set
pub fn set_in(conditions: &mut Vec<V1Beta1Condition>, draft: Draft, now: Timestamp) -> bool {
    let present = conditions.iter().position(|it| it.type_ == draft.type_);
    if present.is_some_and(|index| draft.says_the_same_as(&conditions[index])) {
        return false;
    }
    let since = if present.is_some() {
        now
    } else {
        draft.since.unwrap_or(now)
    };
    let condition = V1Beta1Condition {
        type_: draft.type_,
        status: draft.status.into(),
        severity: draft.severity.map(String::from).unwrap_or_default(),
        reason: draft.reason,
        message: draft.message,
        last_transition_time: Time(whole_seconds(since)),
    };
    match present {
        Some(index) => conditions[index] = condition,
        None => conditions.push(condition),
    }
    conditions.sort_by(|one, other| key(&one.type_).cmp(&key(&other.type_)));
    true
}

/// `before` with the drafts set, and `Ready` as their summary.
pub fn with_summary(
    before: &[V1Beta1Condition],
    drafts: impl IntoIterator<Item = Option<Draft>>,
    summary: Summary<'_>,
    now: Timestamp,
) -> Vec<V1Beta1Condition> {
    let mut conditions = before.to_vec();
    for draft in drafts.into_iter().flatten() {
        set_in(&mut conditions, draft, now);
    }
    if let Some(ready) = summary.of(&conditions) {
        set_in(&mut conditions, ready, now);
    }
    conditions
}

/// The conditions for people to read, one a line: `type status severity | reason | message`.
pub fn lines(conditions: &[V1Beta1Condition]) -> String {
    let line = |it: &V1Beta1Condition| {
        let words = [&it.severity, &it.reason, &it.message].map(String::as_str);
        let said: Vec<&str> = words.into_iter().filter(|it| !it.is_empty()).collect();
        format!("{} {} {}", it.type_, it.status, said.join(" | "))
            .trim_end()
            .to_owned()
            + "\n"
    };
    conditions.iter().map(line).collect()
}

/// Removes the condition of type `type_`. Says whether there was one.
pub fn remove(conditions: &mut Vec<V1Beta1Condition>, type_: Type) -> bool {
    let before = conditions.len();
    conditions.retain(|it| it.type_ != type_.as_str());
    before != conditions.len()
}

/// The condition of type `type_`.
pub fn find(conditions: &[V1Beta1Condition], type_: Type) -> Option<&V1Beta1Condition> {
    conditions.iter().find(|it| it.type_ == type_.as_str())
}

/// Whether the condition is there and `True`.
pub fn is_true(conditions: &[V1Beta1Condition], type_: Type) -> bool {
    find(conditions, type_).is_some_and(|it| it.status == Status::True.as_str())
}

/// The mirror of a `Ready` condition under another type; of `fallback` if it is not there.
// Parity: cluster-api util/conditions/deprecated/v1beta1/getter.go:mirror
pub fn mirror(ready: Option<Draft>, target: Type, fallback: Option<Draft>) -> Option<Draft> {
    let found = ready.or(fallback)?;
    Some(Draft {
        type_: target.into(),
        ..found
    })
}

/// The `Ready` condition of a foreign object: from `status.deprecated.v1beta1.conditions` if there is such a list, else
/// from `status.conditions`. What cannot be read counts as absent.
pub fn foreign_ready(object: &Value) -> Option<Draft> {
    let list = ["/status/deprecated/v1beta1/conditions", "/status/conditions"]
        .iter()
        .find_map(|pointer| object.pointer(pointer).and_then(Value::as_array))?;
    let ready = list
        .iter()
        .find(|it| it.get("type").and_then(Value::as_str) == Some(Type::Ready.as_str()))?;
    let text = |name: &str| {
        ready
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    Some(Draft {
        type_: Type::Ready.into(),
        status: text("status").parse().unwrap_or(Status::Unknown),
        severity: text("severity").parse().ok(),
        reason: text("reason"),
        message: text("message"),
        since: text("lastTransitionTime").parse().ok(),
    })
}

/// The key by which conditions are sorted: `Ready` first, the rest by name.
fn key(type_: &str) -> (bool, &str) {
    (type_ != Type::Ready.as_str(), type_)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    #[test]
    fn the_transition_time_changes_with_anything_said() {
        let mut list = Vec::new();
        let no = |message: &str| Draft::no(Type::Resized, Reason::ScalingUp, Severity::Warning, message);
        assert!(set_in(&mut list, no("a"), at(1)));
        assert!(!set_in(&mut list, no("a"), at(2)));
        assert_eq!(list[0].last_transition_time.0, at(1));
        assert!(set_in(
            &mut list,
            Draft {
                since: Some(at(1)),
                ..no("b")
            },
            at(3)
        ));
        assert_eq!(list[0].last_transition_time.0, at(3));
    }

    #[test]
    fn ready_comes_first() {
        let mut list = Vec::new();
        for type_ in [Type::Resized, Type::Available, Type::Ready] {
            set_in(&mut list, Draft::yes(type_), at(0));
        }
        let order: Vec<&str> = list.iter().map(|it| it.type_.as_str()).collect();
        assert_eq!(order, ["Ready", "Available", "Resized"]);
    }

    #[test]
    fn a_foreign_ready_condition_is_mirrored_or_replaced() {
        let foreign = foreign_ready(&json!({ "status": { "conditions": [
            { "type": "Ready", "status": "False", "severity": "Info", "reason": "Booting", "message": "m" }
        ] } }));
        assert_eq!(
            mirror(foreign, Type::InfrastructureReady, None),
            Some(Draft::no("InfrastructureReady", "Booting", Severity::Info, "m"))
        );
        let fallback = Draft::no(Type::Ready, Reason::WaitingForInfrastructure, Severity::Info, "");
        assert_eq!(
            mirror(
                foreign_ready(&json!({})),
                Type::InfrastructureReady,
                Some(fallback)
            ),
            Some(Draft::no(
                "InfrastructureReady",
                "WaitingForInfrastructure",
                Severity::Info,
                ""
            ))
        );
        assert_eq!(mirror(None, Type::InfrastructureReady, None), None);
    }
}
