//! The Cluster controller: infrastructure, control plane, endpoint, phases, and the ordered deletion of everything.

mod act;
mod conditions;
mod counters;
mod decide;
mod observe;
mod report;
mod v1beta1;
mod view;
mod wiring;

pub use act::{ActError, Action};
pub use decide::{Stage, stage};
pub use view::View;
pub use wiring::{ClusterReconciler, start};
