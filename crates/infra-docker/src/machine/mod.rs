//! Machines in containers: a node container, its bootstrap, and its end.

mod act;
mod decide;
mod observe;
mod report;
mod stage;
mod v1beta1;
mod view;
mod wiring;

#[cfg(test)]
mod tests;

pub(crate) use wiring::{MachineSettings, wire};
