//! The MachineHealthCheck controller: finds Machines that are not healthy and asks for their repair.

mod act;
mod check;
mod conditions;
mod decide;
mod limit;
mod observe;
mod report;
#[cfg(test)]
mod tests;
mod view;
mod wiring;

pub use act::{ActError, Action};
pub use view::{Target, View};
pub use wiring::{MachineHealthCheckReconciler, start};
