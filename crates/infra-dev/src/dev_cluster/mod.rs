//! The DevCluster controller: hands out the control plane's endpoint and opens the workload cluster behind it.

mod act;
mod decide;
mod observe;
mod report;
mod view;
mod wiring;

pub use wiring::{DevClusterReconciler, wire};
