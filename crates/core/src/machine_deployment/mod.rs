//! The MachineDeployment controller: rolls a pool of machines from one MachineSet to the next.

mod act;
mod decide;
mod intent;
mod observe;
mod report;
pub mod rollout;
mod up_to_date;
mod v1beta1;
mod view;
mod wiring;

pub use act::{ActError, Action};
pub use up_to_date::differences;
pub use view::View;
pub use wiring::{MachineDeploymentReconciler, start};
