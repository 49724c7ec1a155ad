//! Changes of conditions on Machines by controllers other than the Machine's own, in both styles.

use capstan_api::{
    Condition,
    condition::{self, Draft, Type, v1beta1},
    core::{Conditioned, Machine, V1Beta1Condition},
};
use capstan_base::Timestamp;
use kube::ResourceExt;
use serde_json::{Map, Value, json};

/// The conditions of a Machine as they shall become.
#[derive(Debug, Clone)]
pub struct MachineConditions<'a> {
    machine: &'a Machine,
    now: Timestamp,
    conditions: Vec<Condition>,
    old_style: Vec<V1Beta1Condition>,
}

impl<'a> MachineConditions<'a> {
    /// The conditions as they are.
    pub fn of(machine: &'a Machine, now: Timestamp) -> Self {
        Self {
            machine,
            now,
            conditions: machine.conditions().to_vec(),
            old_style: machine.v1beta1_conditions().to_vec(),
        }
    }

    /// Sets a condition.
    pub fn set(&mut self, draft: Draft) {
        condition::set_in(
            &mut self.conditions,
            self.machine.metadata.generation,
            draft,
            self.now,
        );
    }

    /// Sets a condition that readers of v1beta1 see.
    pub fn set_v1beta1(&mut self, draft: v1beta1::Draft) {
        v1beta1::set_in(&mut self.old_style, draft, self.now);
    }

    /// Removes a condition.
    pub fn remove(&mut self, kind: Type) {
        condition::remove(&mut self.conditions, kind);
    }

    /// Removes a condition that readers of v1beta1 see.
    pub fn remove_v1beta1(&mut self, kind: v1beta1::Type) {
        v1beta1::remove(&mut self.old_style, kind);
    }

    /// The patch of the Machine's status that makes it so, guarded by the revision; none if it is so.
    pub fn patch(&self) -> Option<Value> {
        let mut status = Map::new();
        if self.conditions != self.machine.conditions() {
            status.insert("conditions".to_owned(), json!(self.conditions));
        }
        if self.old_style != self.machine.v1beta1_conditions() {
            let list = json!({ "v1beta1": { "conditions": self.old_style } });
            status.insert("deprecated".to_owned(), list);
        }
        let revision = self.machine.resource_version();
        (!status.is_empty()).then(|| json!({ "metadata": { "resourceVersion": revision }, "status": status }))
    }
}
