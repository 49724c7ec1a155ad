//! The Machine controller: bootstrap data → infrastructure → node, and back again on deletion.

mod act;
mod conditions;
mod decide;
mod drain;
mod node_sync;
mod observe;
mod report;
#[cfg(test)]
mod tests;
mod v1beta1;
mod view;
mod wiring;

pub use act::{ActError, Action};
pub use decide::{Stage, stage};
pub use drain::{Attached, Disposition, Drain, Found, Judged};
pub use view::View;
pub use wiring::{MachineReconciler, start};
