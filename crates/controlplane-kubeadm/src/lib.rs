//! KubeadmControlPlane: a control plane of machines that kubeadm sets up. Pure planners, and the controller.

mod act;
mod adoption;
mod decide;
mod intent;
mod membership;
mod observe;
pub mod pod_health;
mod preflight;
pub mod quorum;
mod remediation;
mod report;
pub mod selection;
mod up_to_date;
pub mod upkeep;
mod view;
mod wiring;

#[cfg(test)]
mod tests;

pub use act::{ActError, Action};
pub use adoption::Orphan;
pub use view::{Component, Etcd, Member, View};
pub use wiring::{KubeadmControlPlaneReconciler, start};
