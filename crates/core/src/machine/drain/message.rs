//! How a drain stands, as the `Deleting` condition tells it.
// Parity: upstream core/reconcilers/machine/drain/drain.go:ConditionMessage

use std::collections::BTreeMap;

use capstan_base::Timestamp;

use super::{Disposition, Found, Judged};

/// How many pods a line names.
const PODS: usize = 3;
/// How many reasons are told.
const REASONS: usize = 5;
/// How a disruption budget's refusal begins, and how it is told.
const BUDGET: &str = "Cannot evict pod as it would violate the pod's disruption budget.";

/// How the drain stands; `failures` says of pods, by `namespace/name`, why they could not be evicted in this pass.
pub(in crate::machine) fn message(
    found: &Found,
    started: Timestamp,
    failures: &BTreeMap<String, String>,
) -> String {
    let first = found.first_order();
    let (mut going, mut waited, mut evicted_later, mut waited_later) = (vec![], vec![], vec![], vec![]);
    let mut failed: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for it in &found.pods {
        match it.disposition {
            Disposition::Skip => {}
            Disposition::WaitCompleted if first == 0 => waited.push(it.name()),
            Disposition::WaitCompleted => waited_later.push(it.name()),
            Disposition::Drain(_) if it.is_going() => going.push(it.name()),
            Disposition::Drain(order) if order != first => evicted_later.push(it.name()),
            Disposition::Drain(_) => match failures.get(&it.name()) {
                Some(why) => failed.entry(why.clone()).or_default().push(it.name()),
                None => going.push(it.name()),
            },
        }
    }
    let mut lines = vec![format!(
        "Drain not completed yet (started at {}):",
        started.strftime("%Y-%m-%dT%H:%M:%SZ")
    )];
    if !going.is_empty() {
        lines.push(format!(
            "* {}: deletionTimestamp set, but still not removed from the Node",
            named(&going)
        ));
    }
    for (why, pods) in failed.iter().take(REASONS) {
        let why = match why.strip_prefix(BUDGET) {
            Some(rest) => format!("cannot evict pod as it would violate the pod's disruption budget.{rest}"),
            None => format!("failed to evict Pod, {why}"),
        };
        lines.push(format!("* {}: {why}", named(pods)));
    }
    match failed.values().skip(REASONS).map(Vec::len).sum() {
        0 => {}
        1 => lines.push("* 1 Pod with other issues".to_owned()),
        more => lines.push(format!("* {more} Pods with other issues")),
    }
    if !waited.is_empty() {
        lines.push(format!("* {}: waiting for completion", named(&waited)));
    }
    let after = "After above Pods have been removed from the Node,";
    if !evicted_later.is_empty() {
        lines.push(format!(
            "{after} the following Pods will be evicted: {}",
            listed(&evicted_later, PODS)
        ));
    }
    if !waited_later.is_empty() {
        let pods = listed(&waited_later, PODS);
        lines.push(format!(
            "{after} waiting for the following Pods to complete without eviction: {pods}"
        ));
    }
    lines.join("\n")
}

fn named(pods: &[String]) -> String {
    let word = if pods.len() > 1 { "Pods" } else { "Pod" };
    format!("{word} {}", listed(pods, PODS))
}

/// The first names, and how many more there are.
pub(super) fn listed(names: &[String], most: usize) -> String {
    let shown = names.iter().take(most).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown}, ... ({more} more)"),
    }
}

/// The pods whose claims do not hold a node back.
pub(super) fn skipped(pods: &[Judged]) -> impl Iterator<Item = &Judged> {
    pods.iter().filter(|it| it.disposition == Disposition::Skip)
}
