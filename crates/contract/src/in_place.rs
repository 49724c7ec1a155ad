//! What reaches live Machines without replacing them: labels, annotations, gates, taints and timeouts of the template.

use std::collections::BTreeMap;

use capstan_api::core::{ConditionGate, Machine, MachineTaint, NodeTimeouts};
use kube::ResourceExt;
use serde_json::{Map, Value, json};

/// The timeout of a Node's deletion that a Machine is defaulted to: being defaulted is not a difference.
const NODE_DELETION_TIMEOUT: i32 = 10;

/// What a Machine's owner wants of it, as far as it changes in place.
#[derive(Debug, Clone)]
pub struct InPlace<'a> {
    /// Labels that it has to carry; others stay.
    pub labels: &'a BTreeMap<String, String>,
    /// Annotations that it has to carry; others stay.
    pub annotations: &'a BTreeMap<String, String>,
    /// `spec.minReadySeconds`.
    pub min_ready_seconds: Option<i32>,
    /// `spec.readinessGates`.
    pub readiness_gates: &'a [ConditionGate],
    /// `spec.taints`.
    pub taints: &'a [MachineTaint],
    /// `spec.deletion`.
    pub deletion: &'a NodeTimeouts,
}

impl InPlace<'_> {
    /// The merge patch that brings a Machine in step; none if it is. Of a Machine that is being deleted only the spec
    /// follows.
    pub fn patch(&self, machine: &Machine) -> Option<Value> {
        let mut patch = Map::new();
        if machine.metadata.deletion_timestamp.is_none() {
            let mut metadata = Map::new();
            missing(machine.labels(), self.labels, "labels", &mut metadata);
            missing(
                machine.annotations(),
                self.annotations,
                "annotations",
                &mut metadata,
            );
            if !metadata.is_empty() {
                patch.insert("metadata".to_owned(), Value::Object(metadata));
            }
        }
        let spec = self.spec_changes(machine);
        if !spec.is_empty() {
            patch.insert("spec".to_owned(), Value::Object(spec));
        }
        (!patch.is_empty()).then_some(Value::Object(patch))
    }

    fn spec_changes(&self, machine: &Machine) -> Map<String, Value> {
        let current = &machine.spec;
        let mut changes = Map::new();
        let mut compare = |name: &str, current: Value, wanted: Value| {
            if current != wanted {
                changes.insert(
                    name.to_owned(),
                    if wanted == json!([]) { Value::Null } else { wanted },
                );
            }
        };
        compare(
            "minReadySeconds",
            json!(current.min_ready_seconds),
            json!(self.min_ready_seconds),
        );
        compare(
            "readinessGates",
            json!(current.readiness_gates),
            json!(self.readiness_gates),
        );
        compare("taints", json!(current.taints), json!(self.taints));
        compare("deletion", timeouts(&current.deletion), timeouts(self.deletion));
        changes
    }
}

fn missing(
    current: &BTreeMap<String, String>,
    wanted: &BTreeMap<String, String>,
    name: &str,
    metadata: &mut Map<String, Value>,
) {
    let missing: Map<String, Value> = wanted
        .iter()
        .filter(|(key, value)| current.get(*key) != Some(value))
        .map(|(key, value)| (key.clone(), json!(value)))
        .collect();
    if !missing.is_empty() {
        metadata.insert(name.to_owned(), Value::Object(missing));
    }
}

fn timeouts(timeouts: &NodeTimeouts) -> Value {
    json!({
        "nodeDrainTimeoutSeconds": timeouts.node_drain_timeout_seconds,
        "nodeVolumeDetachTimeoutSeconds": timeouts.node_volume_detach_timeout_seconds,
        "nodeDeletionTimeoutSeconds": timeouts.node_deletion_timeout_seconds.unwrap_or(NODE_DELETION_TIMEOUT),
    })
}
