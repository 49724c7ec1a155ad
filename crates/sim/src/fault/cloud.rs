//! The gate to the dev provider's world: counts calls, and fails them as the schedule says.

use std::sync::Arc;

use capstan_infra_dev::backend::{BackendError, Effect, Gate, Passage};

use super::{Fault, Faults, Life, When};
use crate::Planted;

/// The gate of one set of controllers.
#[derive(Debug)]
pub(crate) struct CloudGate {
    pub(crate) life: Arc<Life>,
    pub(crate) faults: Arc<Faults>,
    /// What strikes the call that is under way. Calls of one process do not overlap where it is read.
    pub(crate) pending: parking_lot::Mutex<std::collections::BTreeMap<String, Fault>>,
}

impl CloudGate {
    pub(crate) fn new(life: Arc<Life>, faults: Arc<Faults>) -> Self {
        Self {
            life,
            faults,
            pending: parking_lot::Mutex::default(),
        }
    }
}

fn refused(effect: &Effect, why: &str) -> BackendError {
    BackendError::Refused {
        effect: format!("{} {}", effect.name, effect.target),
        why: why.to_owned(),
    }
}

impl Gate for CloudGate {
    fn before(&self, effect: &Effect) -> Result<Passage, BackendError> {
        if self.life.is_dead() {
            return Err(refused(effect, "the process is dead"));
        }
        if self.faults.planted == Some(Planted::SwallowedDeletion) && effect.name == "stop-vm" {
            return Ok(Passage::Swallowed);
        }
        match self.faults.at_call() {
            Some(Fault::CrashAtCall {
                when: When::Before, ..
            }) => {
                self.life.end();
                Err(refused(effect, "the process is dead"))
            }
            Some(
                Fault::FailCall {
                    when: When::Before, ..
                }
                | Fault::Outage { .. },
            ) => Err(refused(effect, "the service is not available")),
            Some(fault) => {
                self.pending.lock().insert(format!("{effect:?}"), fault);
                Ok(Passage::Open)
            }
            None => Ok(Passage::Open),
        }
    }

    fn after(&self, effect: &Effect) -> Result<(), BackendError> {
        let line = format!("{} {}", effect.name, effect.target);
        *self.faults.audit.lock().entry(line).or_default() += 1;
        match self.pending.lock().remove(&format!("{effect:?}")) {
            Some(Fault::CrashAtCall { .. }) => {
                self.life.end();
                Err(refused(effect, "the process is dead"))
            }
            Some(_) => Err(refused(effect, "no answer")),
            None => Ok(()),
        }
    }
}
