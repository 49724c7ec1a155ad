//! The MachineSet controller: keeps a number of alike machines.

mod act;
mod decide;
mod deletion_order;
mod intent;
mod observe;
mod preflight;
mod remediation;
mod report;
#[cfg(test)]
mod tests;
mod v1beta1;
mod view;
mod wiring;

pub use act::{ActError, Action};
pub(crate) use report::{machines_ready, remediating, up_to_date, versions};
pub use view::View;
pub use wiring::{MachineSetReconciler, start};
