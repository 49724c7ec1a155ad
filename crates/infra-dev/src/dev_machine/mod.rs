//! The DevMachine controller: boots a VM, lets its node join, runs its part of the control plane, and takes it away.

mod act;
mod decide;
mod observe;
mod report;
mod v1beta1;
mod view;
mod wiring;

#[cfg(test)]
mod tests;

pub use wiring::{DevMachineReconciler, wire};
