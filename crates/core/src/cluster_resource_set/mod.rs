//! The ClusterResourceSet controller: applies manifests to the clusters that it selects.

mod act;
mod bindings;
mod conditions;
mod decide;
mod manifests;
mod observe;
mod report;
#[cfg(test)]
mod tests;
mod view;
mod wiring;

pub use act::{ActError, Action, ToApply};
pub use manifests::Manifests;
pub use view::{Resource, Target, View};
pub use wiring::{ClusterResourceSetReconciler, start};
