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
}

fn refused(effect: &Effect, why: &str) -> BackendError {
    BackendError::Refused {
        effect: format!("{} {}", effect.name, effect.target),
        why: why.to_owned(),
    }
}

impl CloudGate {
    /// What a fault at a moment of a call makes of it.
    fn strike(&self, effect: &Effect, fault: Option<&Fault>, now: When) -> Result<(), BackendError> {
        match fault {
            Some(Fault::CrashAtCall { when, .. }) if *when == now => {
                self.life.end();
                Err(refused(effect, "the process is dead"))
            }
            Some(Fault::FailCall { when, .. }) if *when == now => {
                Err(refused(effect, "the service does not answer"))
            }
            _ => Ok(()),
        }
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
        let number = self.faults.next_call();
        self.strike(effect, self.faults.at_call(number), When::Before)?;
        if self.faults.is_out() {
            return Err(refused(effect, "the service is not available"));
        }
        Ok(Passage::Open { number })
    }

    fn after(&self, effect: &Effect, number: u64) -> Result<(), BackendError> {
        self.strike(effect, self.faults.at_call(number), When::After)
    }
}
