//! Several conditions of one object, summed up in one.

use std::{collections::BTreeSet, fmt};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use super::{Draft, Priority, Reason, Reasons, Status, indent::indented};

/// Says how bad a condition is, or leaves that to its status.
pub type Judge = dyn Fn(&Draft) -> Option<Priority>;

/// How conditions of one object are summed up.
///
/// The order of `types` is the order in which they are told. A summary is `True` if all is well.
#[derive(Clone, Copy, Default)]
pub struct Summary<'a> {
    /// The type of the summary.
    pub target: &'a str,
    /// The types that are summed up. One that is not there counts as unknown.
    pub types: &'a [&'a str],
    /// Those of which `False` is the good status.
    pub negative: &'a [&'a str],
    /// Those that may be absent.
    pub ignore_if_missing: &'a [&'a str],
    /// Conditions that are told otherwise than they are stored.
    pub overrides: &'a [Draft],
    /// Conditions that are better or worse than their status says.
    pub priority: Option<&'a Judge>,
    /// A change of the lines before they are joined.
    pub transform: Option<fn(Vec<String>) -> Vec<String>>,
    /// The reasons of the summary.
    pub reasons: Reasons,
}

/// Why nothing can be summed up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SummaryError {
    /// None of the types is there or expected.
    #[error("there is no condition to sum up for {0}")]
    NothingInScope(String),
    /// A summary of itself.
    #[error("{0} cannot be summed up in itself")]
    OfItself(String),
    /// An override of a condition that is not there.
    #[error("condition {0} is overridden but not there")]
    OverrideOfNothing(String),
}

impl fmt::Debug for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Summary")
            .field("target", &self.target)
            .field("types", &self.types)
            .finish_non_exhaustive()
    }
}

impl Summary<'_> {
    /// The summary of `conditions`.
    // Parity: cluster-api util/conditions/summary.go:NewSummaryCondition
    pub fn of(&self, conditions: &[Condition]) -> Result<Draft, SummaryError> {
        if self.types.contains(&self.target) {
            return Err(SummaryError::OfItself(self.target.to_owned()));
        }
        let scope = self.scope(conditions)?;
        let worst = scope.iter().map(|it| self.priority_of(it)).min();
        let Some(worst) = worst else {
            return Err(SummaryError::NothingInScope(self.target.to_owned()));
        };
        let status = worst.status(false);
        let lines: Vec<String> = scope.iter().filter_map(|it| self.line(it, status)).collect();
        let lines = self
            .transform
            .map_or_else(|| lines.clone(), |transform| transform(lines.clone()));
        Ok(Draft::new(
            self.target,
            status,
            self.reasons.of(worst),
            lines.join("\n"),
        ))
    }

    /// The conditions to sum up, in the order of `types`, with stand-ins for missing ones.
    fn scope(&self, conditions: &[Condition]) -> Result<Vec<Draft>, SummaryError> {
        for each in self.overrides {
            if !conditions.iter().any(|it| it.type_ == each.type_) {
                return Err(SummaryError::OverrideOfNothing(each.type_.clone()));
            }
        }
        let mut seen = BTreeSet::new();
        let mut scope = Vec::new();
        for type_ in self.types.iter().filter(|it| seen.insert(**it)) {
            let overridden = self.overrides.iter().find(|it| it.type_ == **type_).cloned();
            let stored = conditions.iter().find(|it| it.type_ == **type_).map(Draft::from);
            match overridden.or(stored) {
                Some(condition) => scope.push(condition),
                None if self.ignore_if_missing.contains(type_) => {}
                None => scope.push(Draft::new(
                    *type_,
                    Status::Unknown,
                    Reason::NotYetReported,
                    "Condition not yet reported",
                )),
            }
        }
        Ok(scope)
    }

    fn priority_of(&self, condition: &Draft) -> Priority {
        let negative = self.negative.contains(&condition.type_.as_str());
        self.priority
            .and_then(|special| special(condition))
            .unwrap_or_else(|| Priority::of(condition, negative))
    }

    /// The line about one condition. What is well is told only if all is, and only if it says something.
    fn line(&self, condition: &Draft, status: Status) -> Option<String> {
        let untold = status != Status::True || condition.message.is_empty();
        if self.priority_of(condition) == Priority::Info && untold {
            return None;
        }
        let told = if condition.message.is_empty() {
            format!(" {}", condition.reason)
        } else {
            indented(&condition.message)
        };
        Some(format!("* {}:{told}", condition.type_))
    }
}

/// Says once what all control plane components of a Machine say alike: a change of a summary's lines.
// Parity: cluster-api core/reconcilers/machine/machine_controller_status.go:transformControlPlaneAndEtcdConditions
pub fn group_control_plane_components(lines: Vec<String>) -> Vec<String> {
    let component = |line: &str| -> Option<String> {
        let (name, message) = line.split_once(':')?;
        let known = ["* APIServer", "* ControllerManager", "* Scheduler"]
            .iter()
            .any(|it| name.starts_with(it));
        (known || name == "* EtcdPodHealthy").then(|| message.to_owned())
    };
    let messages: Vec<String> = lines.iter().filter_map(|it| component(it)).collect();
    let Some(first) = messages.first() else {
        return lines;
    };
    if messages.len() < 2 || messages.iter().any(|it| it != first) {
        return lines;
    }
    let mut grouped = Vec::new();
    let mut told = false;
    for line in lines {
        if component(&line).is_none() {
            grouped.push(line);
        } else if !told {
            told = true;
            grouped.push(format!("* Control plane components:{first}"));
        }
    }
    grouped
}

#[cfg(test)]
mod tests {
    use capstan_base::Timestamp;
    use expect_test::expect;

    use super::*;
    use crate::condition::{Type, set_in};

    fn conditions(given: &[(&str, Status, &str)]) -> Vec<Condition> {
        let mut list = Vec::new();
        for (type_, status, message) in given {
            let draft = Draft::new(*type_, *status, format!("{type_}Reason"), *message);
            set_in(&mut list, None, draft, Timestamp::UNIX_EPOCH);
        }
        list
    }

    fn shown(summary: &Summary<'_>, given: &[(&str, Status, &str)]) -> String {
        match summary.of(&conditions(given)) {
            Ok(draft) => format!(
                "{} {} {}\n{}",
                draft.type_, draft.status, draft.reason, draft.message
            ),
            Err(error) => error.to_string(),
        }
    }

    const READY: Summary<'static> = Summary {
        target: "Ready",
        types: &["Deleting", "B", "A"],
        negative: &["Deleting"],
        ignore_if_missing: &["Deleting"],
        overrides: &[],
        priority: None,
        transform: None,
        reasons: Reasons {
            issue: Reason::NotReady,
            unknown: Reason::ReadyUnknown,
            info: Reason::Ready,
        },
    };

    #[test]
    fn issues_are_told_before_all_in_the_order_of_types() {
        let given = [
            ("A", Status::False, "a is down"),
            ("B", Status::Unknown, "* x\n* y"),
            ("Deleting", Status::True, ""),
        ];
        expect![[r"
            Ready False NotReady
            * Deleting: DeletingReason
            * B:
              * x
              * y
            * A: a is down"]]
        .assert_eq(&shown(&READY, &given));
    }

    #[test]
    fn a_missing_condition_is_unknown_and_what_is_well_is_left_out() {
        let given = [("A", Status::True, "a is up"), ("Deleting", Status::False, "")];
        expect![[r"
            Ready Unknown ReadyUnknown
            * B: Condition not yet reported"]]
        .assert_eq(&shown(&READY, &given));
    }

    #[test]
    fn messages_are_told_when_all_is_well() {
        let given = [("A", Status::True, "a is up"), ("B", Status::True, "")];
        expect![[r"
            Ready True Ready
            * A: a is up"]]
        .assert_eq(&shown(&READY, &given));
    }

    #[test]
    fn a_condition_can_be_better_than_its_status() {
        let better = |it: &Draft| (it.type_ == "B").then_some(Priority::Info);
        let summary = Summary {
            priority: Some(&better),
            ..READY
        };
        let given = [("A", Status::True, ""), ("B", Status::Unknown, "gone")];
        expect![[r"
            Ready True Ready
            * B: gone"]]
        .assert_eq(&shown(&summary, &given));
    }

    #[test]
    fn an_override_replaces_what_is_stored() {
        let overrides = [Draft::new("A", Status::False, "Other", "told otherwise")];
        let summary = Summary {
            overrides: &overrides,
            ..READY
        };
        let given = [("A", Status::True, ""), ("B", Status::True, "")];
        expect![[r"
            Ready False NotReady
            * A: told otherwise"]]
        .assert_eq(&shown(&summary, &given));
        expect!["condition A is overridden but not there"].assert_eq(&shown(&summary, &given[1..]));
    }

    #[test]
    fn a_summary_of_nothing_or_itself_is_refused() {
        let nothing = Summary {
            types: &["Deleting"],
            ..READY
        };
        expect!["there is no condition to sum up for Ready"].assert_eq(&shown(&nothing, &[]));
        let itself = Summary {
            types: &["Ready"],
            ..READY
        };
        expect!["Ready cannot be summed up in itself"].assert_eq(&shown(&itself, &[]));
    }

    #[test]
    fn components_that_say_the_same_are_grouped() {
        let line = |type_: Type, message: &str| format!("* {type_}: {message}");
        let other = line(Type::NodeHealthy, "x");
        let same = vec![
            other.clone(),
            line(Type::ApiServerPodHealthy, "m"),
            line(Type::EtcdPodHealthy, "m"),
            line(Type::EtcdMemberHealthy, "m"),
        ];
        assert_eq!(
            group_control_plane_components(same),
            [
                other.as_str(),
                "* Control plane components: m",
                "* EtcdMemberHealthy: m"
            ]
        );
        for unchanged in [
            vec![
                line(Type::ApiServerPodHealthy, "m"),
                line(Type::SchedulerPodHealthy, "n"),
            ],
            vec![line(Type::ApiServerPodHealthy, "m")],
            vec![other],
        ] {
            assert_eq!(group_control_plane_components(unchanged.clone()), unchanged);
        }
    }
}
