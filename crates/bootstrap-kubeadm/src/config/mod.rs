//! The KubeadmConfig controller.
//! Source of the behaviour: upstream `bootstrap/kubeadm/reconcilers/kubeadmconfig`.

mod act;
mod decide;
mod observe;
mod prepare;
mod report;
mod stage;
#[cfg(test)]
mod tests;
mod view;
mod wiring;

pub use wiring::{KubeadmConfigReconciler, Settings, start};
