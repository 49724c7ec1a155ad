//! What a drain does with one pod.
// Parity: upstream core/reconcilers/machine/drain/filters.go

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use capstan_api::{
    LabelSelector,
    core::{Cluster, DrainBehavior, Machine, MachineDrainRule},
    selector::Selector,
    well_known::label,
};
use capstan_base::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;

/// What a drain does with a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// It may stay.
    Skip,
    /// It is waited for.
    WaitCompleted,
    /// It is evicted; lower numbers first.
    Drain(i32),
}

/// What the judgement needs besides the pod.
#[derive(Debug, Clone)]
pub(in crate::machine) struct Context {
    pub now: Timestamp,
    /// The kubelet has fallen silent.
    pub is_unreachable: bool,
    /// The daemon sets that there are, `namespace/name`.
    pub daemon_sets: BTreeSet<String>,
    /// The labels of the namespaces.
    pub namespaces: BTreeMap<String, BTreeMap<String, String>>,
    /// The rules for this Machine, by name.
    pub rules: Vec<Arc<MachineDrainRule>>,
}

/// How long ago a pod on a silent node must have been deleted to be given up, in seconds.
const GIVEN_UP_SECONDS: i64 = 1;

/// The annotation of pods that the kubelet runs from files.
const MIRROR: &str = "kubernetes.io/config.mirror";

/// Judges a pod.
pub(in crate::machine) fn disposition(pod: &Pod, context: &Context) -> Disposition {
    let deleted = pod.metadata.deletion_timestamp.as_ref().map(|it| it.0);
    let is_given_up = deleted.is_some_and(|it| context.now.duration_since(it).as_secs() > GIVEN_UP_SECONDS);
    if context.is_unreachable && is_given_up {
        return Disposition::Skip;
    }
    let phase = pod.status.as_ref().and_then(|it| it.phase.as_deref());
    let is_finished = matches!(phase, Some("Succeeded" | "Failed"));
    let namespace = pod.namespace().unwrap_or_default();
    let controller = pod
        .owner_references()
        .iter()
        .find(|it| it.controller == Some(true));
    let is_of_daemon_set = controller.is_some_and(|it| {
        it.kind == "DaemonSet" && context.daemon_sets.contains(&format!("{namespace}/{}", it.name))
    });
    if is_of_daemon_set && !is_finished || pod.annotations().contains_key(MIRROR) {
        return Disposition::Skip;
    }
    let found = match pod
        .labels()
        .get(label::DRAIN)
        .map(|it| it.to_lowercase())
        .as_deref()
    {
        Some("skip") => Disposition::Skip,
        Some("wait-completed" | "waitcompleted") => Disposition::WaitCompleted,
        _ => by_rules(pod, &namespace, context),
    };
    // Differs: upstream waits until somebody deletes a pod that has completed.
    if found == Disposition::WaitCompleted && is_finished {
        return Disposition::Skip;
    }
    found
}

/// The first rule that is about the pod decides; without one it is drained with all others.
fn by_rules(pod: &Pod, namespace: &str, context: &Context) -> Disposition {
    let none = BTreeMap::new();
    let namespace = context.namespaces.get(namespace).unwrap_or(&none);
    let is_about = |rule: &MachineDrainRule| {
        rule.spec.pods.is_empty()
            || rule.spec.pods.iter().any(|it| {
                matches(it.selector.as_ref(), pod.labels())
                    && matches(it.namespace_selector.as_ref(), namespace)
            })
    };
    let Some(rule) = context.rules.iter().find(|it| is_about(it)) else {
        return Disposition::Drain(0);
    };
    match rule.spec.drain.behavior {
        Some(DrainBehavior::Skip) => Disposition::Skip,
        Some(DrainBehavior::WaitCompleted) => Disposition::WaitCompleted,
        Some(DrainBehavior::Drain) | None => Disposition::Drain(rule.spec.drain.order.unwrap_or(0)),
    }
}

/// Is a rule about this Machine?
pub(in crate::machine) fn is_for_machine(
    rule: &MachineDrainRule,
    machine: &Machine,
    cluster: &Cluster,
) -> bool {
    rule.spec.machines.is_empty()
        || rule.spec.machines.iter().any(|it| {
            matches(it.selector.as_ref(), machine.labels())
                && matches(it.cluster_selector.as_ref(), cluster.labels())
        })
}

/// A selector that is absent or empty selects everything; one that is malformed nothing, and admission let none in.
fn matches(selector: Option<&LabelSelector>, labels: &BTreeMap<String, String>) -> bool {
    selector.is_none_or(|it| Selector::new(it).is_ok_and(|it| it.is_empty() || it.matches(labels)))
}
