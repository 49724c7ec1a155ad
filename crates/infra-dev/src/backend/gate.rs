//! A gate in front of the dev provider's world: a simulation decides there which effects fail, and how.

use std::fmt;

use super::{Backend, BackendError};

/// One effect on the world, as a cloud's audit log would name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// What, like `start-vm`.
    pub name: &'static str,
    /// On what: the machine or the cluster.
    pub target: String,
}

/// How an effect that was let through takes place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passage {
    /// As it should.
    Open {
        /// The number under which the gate knows the effect.
        number: u64,
    },
    /// It is acknowledged and does not take place: what a lying cloud does.
    Swallowed,
}

/// Asked before and after every effect.
pub trait Gate: Send + Sync + fmt::Debug {
    /// Before an effect: an error refuses it.
    fn before(&self, effect: &Effect) -> Result<Passage, BackendError>;
    /// After an effect took place: an error hides that it did.
    fn after(&self, effect: &Effect, number: u64) -> Result<(), BackendError>;
}

impl Backend {
    /// The same world behind a gate.
    #[must_use]
    pub fn behind(&self, gate: std::sync::Arc<dyn Gate>) -> Self {
        Self {
            gate: Some(gate),
            ..self.clone()
        }
    }

    /// Lets an effect take place if the gate does.
    pub(crate) async fn effect<T: Default>(
        &self,
        name: &'static str,
        target: String,
        take_place: impl Future<Output = Result<T, BackendError>>,
    ) -> Result<T, BackendError> {
        let Some(gate) = &self.gate else {
            return take_place.await;
        };
        let effect = Effect { name, target };
        match gate.before(&effect)? {
            Passage::Swallowed => Ok(T::default()),
            Passage::Open { number } => {
                let outcome = take_place.await?;
                gate.after(&effect, number)?;
                Ok(outcome)
            }
        }
    }
}
