//! KubeadmControlPlane: a control plane of machines that kubeadm sets up. Pure planners, and the controller.

mod act;
mod decide;
mod intent;
mod observe;
pub mod pod_health;
pub mod quorum;
mod report;
pub mod selection;
mod up_to_date;
mod view;
mod wiring;

pub use act::{ActError, Action};
pub use view::{Component, Etcd, Member, View};
pub use wiring::{KubeadmControlPlaneReconciler, start};
