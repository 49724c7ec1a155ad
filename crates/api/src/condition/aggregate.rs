//! One condition of several objects, aggregated in one.

use std::collections::{BTreeMap, BTreeSet};

use capstan_base::Timestamp;
use kube::{Resource, ResourceExt};

use super::{Draft, Priority, Reason, Reasons, Status, find, indent::indented};
use crate::{
    contract::pluralize,
    core::{Conditioned, Machine},
    well_known::label,
};

/// How many different messages an aggregate tells, and how many objects it names for each.
const LIMIT: usize = 3;

/// How one condition of several objects is aggregated.
#[derive(Debug, Clone, Copy)]
pub struct Aggregate<'a> {
    /// The type of the objects' condition.
    pub source: &'a str,
    /// The type of the aggregate.
    pub target: &'a str,
    /// Whether `False` is the good status, of the source and therefore of the aggregate.
    pub negative: bool,
    /// The reasons of the aggregate.
    pub reasons: Reasons,
}

/// One of the objects whose condition is aggregated.
#[derive(Debug, Clone)]
pub struct Member {
    kind: String,
    name: String,
    is_control_plane: bool,
    condition: Option<Draft>,
}

impl Member {
    /// `object`, with its condition of type `source`.
    pub fn of<K: Conditioned + Resource<DynamicType = ()>>(object: &K, source: &str) -> Self {
        let kind = K::kind(&()).into_owned();
        let is_control_plane = kind == Machine::KIND && object.labels().contains_key(label::CONTROL_PLANE);
        let condition = find(object.conditions(), source).map(Draft::from);
        Self {
            kind,
            name: object.name_any(),
            is_control_plane,
            condition,
        }
    }

    /// A foreign object, with the condition that was found in it.
    pub fn foreign(kind: &str, name: &str, condition: Option<Draft>) -> Self {
        Self {
            kind: kind.to_owned(),
            name: name.to_owned(),
            is_control_plane: false,
            condition,
        }
    }
}

/// What is known of one message over all objects.
struct Message {
    priority: Priority,
    from_control_plane: bool,
}

impl Aggregate<'_> {
    /// The aggregate over `members`; `None` if there is none.
    // Parity: cluster-api util/conditions/aggregate.go:NewAggregateCondition
    pub fn of(&self, members: impl IntoIterator<Item = Member>) -> Option<Draft> {
        let mut members: Vec<(Member, Draft)> = members
            .into_iter()
            .map(|member| {
                let condition = member.condition.clone().unwrap_or_else(|| self.missing());
                (member, condition)
            })
            .collect();
        // The oldest state first; what has no time is older than all.
        members.sort_by_key(|(_, condition)| condition.since.unwrap_or(Timestamp::MIN));
        let priority = |condition: &Draft| Priority::of(condition, self.negative);
        let worst = members.iter().map(|(_, condition)| priority(condition)).min()?;
        let only_info = worst == Priority::Info;
        // Issues, then unknown ones; what is well is told only if all is, and only if it says something.
        let mut told: Vec<(Priority, Member, String)> = members
            .into_iter()
            .map(|(member, condition)| (priority(&condition), member, condition.message))
            .filter(|(priority, _, message)| {
                if only_info {
                    !message.is_empty()
                } else {
                    *priority != Priority::Info
                }
            })
            .collect();
        told.sort_by_key(|(priority, ..)| *priority);
        let message = lines(&told).join("\n");
        Some(Draft::new(
            self.target,
            worst.status(self.negative),
            self.reasons.of(worst),
            message,
        ))
    }

    fn missing(&self) -> Draft {
        let message = format!("Condition {} not yet reported", self.source);
        Draft::new(self.source, Status::Unknown, Reason::NotYetReported, message)
    }
}

/// The lines of an aggregate: for each kind at most [`LIMIT`] messages in total, each with at most [`LIMIT`] names.
// Parity: cluster-api util/conditions/merge_strategies.go:aggregateMessages
fn lines(told: &[(Priority, Member, String)]) -> Vec<String> {
    let mut messages: BTreeMap<&str, Message> = BTreeMap::new();
    let mut names: BTreeMap<&str, BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    let mut control_plane: BTreeSet<&str> = BTreeSet::new();
    for (priority, member, message) in told {
        let known = messages.entry(message).or_insert(Message {
            priority: *priority,
            from_control_plane: member.is_control_plane,
        });
        known.priority = known.priority.min(*priority);
        known.from_control_plane |= member.is_control_plane;
        names
            .entry(&member.kind)
            .or_default()
            .entry(message)
            .or_default()
            .push(&member.name);
        if member.is_control_plane {
            control_plane.insert(&member.name);
        }
    }
    let mut room = LIMIT;
    let mut lines = Vec::new();
    for (kind, by_message) in names {
        let mut order: Vec<(&str, Vec<&str>)> = by_message.into_iter().collect();
        order.sort_by_cached_key(|(message, names)| {
            let known = &messages[message];
            (
                !known.from_control_plane,
                known.priority,
                std::cmp::Reverse(names.len()),
                names.join(","),
            )
        });
        let mut others: BTreeMap<Priority, usize> = BTreeMap::new();
        for (message, mut names) in order {
            if room == 0 {
                *others.entry(messages[message].priority).or_default() += names.len();
                continue;
            }
            names.sort_by_key(|name| (!control_plane.contains(name), *name));
            lines.push(format!("* {}:{}", named(kind, &names), indented(message)));
            room -= 1;
        }
        lines.extend(
            others
                .into_iter()
                .map(|(priority, count)| leftover(kind, priority, count)),
        );
    }
    lines
}

/// `Machine a`, `Machines a, b` or `Machines a, b, c, ... (2 more)`.
pub fn named(kind: &str, names: &[&str]) -> String {
    match names {
        [one] => format!("{kind} {one}"),
        few if few.len() <= LIMIT => format!("{} {}", pluralize(kind), few.join(", ")),
        many => {
            let (first, rest) = many.split_at(LIMIT);
            format!(
                "{} {}, ... ({} more)",
                pluralize(kind),
                first.join(", "),
                rest.len()
            )
        }
    }
}

fn leftover(kind: &str, priority: Priority, count: usize) -> String {
    let kind = if count == 1 {
        kind.to_owned()
    } else {
        pluralize(kind)
    };
    let how = match priority {
        Priority::Issue => "with other issues",
        Priority::Unknown => "with status unknown",
        Priority::Info => "with additional info",
    };
    format!("And {count} {kind} {how}")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::condition::{Type, set};

    const READY: Aggregate<'static> = Aggregate {
        source: "Ready",
        target: "MachinesReady",
        negative: false,
        reasons: Reasons {
            issue: Reason::NotReady,
            unknown: Reason::ReadyUnknown,
            info: Reason::Ready,
        },
    };

    /// Machines from `name:status:message`; a name in capitals is a control plane machine.
    fn machines(given: &[&str]) -> Vec<Member> {
        given
            .iter()
            .map(|text| {
                let mut parts = text.splitn(3, ':');
                let name = parts.next().unwrap_or_default();
                let mut machine = Machine::new("ns", &name.to_lowercase());
                if name.chars().all(|it| !it.is_lowercase()) {
                    machine.metadata.labels = Some([(label::CONTROL_PLANE.to_owned(), String::new())].into());
                }
                if let Some(status) = parts.next() {
                    let status = status.parse().expect("a status");
                    let draft = Draft::new(Type::Ready, status, "Any", parts.next().unwrap_or_default());
                    set(&mut machine, draft, Timestamp::UNIX_EPOCH);
                }
                Member::of(&machine, "Ready")
            })
            .collect()
    }

    fn shown(aggregate: &Aggregate<'_>, members: Vec<Member>) -> String {
        aggregate.of(members).map_or_else(String::new, |it| {
            format!("{} {} {}\n{}", it.type_, it.status, it.reason, it.message)
        })
    }

    #[test]
    fn at_most_three_messages_are_told_control_plane_and_issues_first() {
        let members = machines(&[
            "w1:False:disk",
            "w2:False:disk",
            "w3:False:disk",
            "w4:False:disk",
            "C1:Unknown:no contact",
            "w5:False:net",
            "w6:False:cpu",
            "w7:True:fine",
            "w8",
        ]);
        expect![[r"
            MachinesReady False NotReady
            * Machine c1: no contact
            * Machines w1, w2, w3, ... (1 more): disk
            * Machine w5: net
            And 1 Machine with other issues
            And 1 Machine with status unknown"]]
        .assert_eq(&shown(&READY, members));
    }

    #[test]
    fn a_missing_condition_is_unknown() {
        expect![[r"
            MachinesReady Unknown ReadyUnknown
            * Machines a, b: Condition Ready not yet reported"]]
        .assert_eq(&shown(&READY, machines(&["b", "a", "c:True"])));
    }

    #[test]
    fn what_is_well_is_told_if_all_is_and_says_something() {
        expect![[r"
            MachinesReady True Ready
            * Machine a: note"]]
        .assert_eq(&shown(&READY, machines(&["a:True:note", "b:True"])));
        assert!(READY.of([]).is_none());
    }

    #[test]
    fn bullets_inside_are_indented_and_control_plane_machines_named_first() {
        let members = machines(&[
            "a:False:* NodeHealthy: x\n* Deleting: y",
            "B:False:* NodeHealthy: x\n* Deleting: y",
        ]);
        expect![[r"
            MachinesReady False NotReady
            * Machines b, a:
              * NodeHealthy: x
              * Deleting: y"]]
        .assert_eq(&shown(&READY, members));
    }

    #[test]
    fn kinds_are_told_by_name_and_share_the_room() {
        let negative = Aggregate {
            source: "ScalingUp",
            target: "ScalingUp",
            negative: true,
            reasons: Reasons::default(),
        };
        let member = |kind: &str, name: &str, status: Status, message: &str| {
            Member::foreign(kind, name, Some(Draft::new("ScalingUp", status, "Any", message)))
        };
        let members = vec![
            member("MachineSet", "s1", Status::True, "from 0 to 1"),
            member("MachineSet", "s2", Status::True, "from 1 to 2"),
            member("MachineDeployment", "d1", Status::True, "from 0 to 1"),
            member("KubeadmControlPlane", "k", Status::True, "from 1 to 3"),
            member("MachineDeployment", "d2", Status::False, ""),
        ];
        expect![[r"
            ScalingUp True IssuesReported
            * KubeadmControlPlane k: from 1 to 3
            * MachineDeployment d1: from 0 to 1
            * MachineSet s1: from 0 to 1
            And 1 MachineSet with other issues"]]
        .assert_eq(&shown(&negative, members));
    }
}
