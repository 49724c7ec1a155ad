//! What a control plane keeps in order inside its workload cluster: kubeadm's configuration and role bindings before
//! machines of another version join, kube-proxy and CoreDNS after all machines are up to date.
//!
//! ```text
//!   due            is anything to be looked at now, and which half        (pure)
//!   read           the objects of that half in the workload cluster       (the only reads)
//!   decide         what has to change                                     (pure)
//!   act            one change
//! ```
// Parity: upstream controlplane/kubeadm/reconcilers/kubeadmcontrolplane/update.go, pkg/workload_cluster*.go

mod act;
mod addons;
mod configuration;
mod decide;
mod image;
mod read;

use capstan_workload::Remote;
use k8s_openapi::api::{
    apps::v1::{DaemonSet, Deployment},
    core::v1::ConfigMap,
};

pub use act::Change;
pub(crate) use act::{ChangeError, perform};
pub(crate) use decide::{after_rollout, before_rollout, due, is_settled};
pub(crate) use read::read;

/// The half of the upkeep that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Half {
    /// kubeadm's configuration and role bindings, before a machine of another version joins.
    BeforeRollout,
    /// kube-proxy and CoreDNS, once all machines are up to date.
    AfterRollout,
}

/// What was seen of the half that is due.
#[derive(Debug, Clone, PartialEq)]
pub enum Upkeep {
    /// Nothing is due, or it was seen in order a short while ago.
    Settled,
    /// Before a rollout.
    BeforeRollout(Remote<Preparation>),
    /// After one.
    AfterRollout(Remote<Addons>),
}

/// What kubeadm needs to be true of the cluster before a machine of another version joins.
#[derive(Debug, Clone, PartialEq)]
pub struct Preparation {
    /// `kube-system/kubeadm-config`.
    pub configuration: Option<ConfigMap>,
    /// Role bindings of newer versions of kubeadm that are not there.
    pub missing_bindings: Vec<Binding>,
}

/// The add-ons that kubeadm has installed. Clusters without them are fine.
#[derive(Debug, Clone, PartialEq)]
pub struct Addons {
    /// `kube-system/kube-proxy`.
    pub kube_proxy: Option<Box<DaemonSet>>,
    /// `kube-system/coredns`.
    pub dns: Option<Box<Deployment>>,
    /// `kube-system/kubeadm-config`, which names `CoreDNS`'s image too.
    pub configuration: Option<ConfigMap>,
}

/// A cluster role binding that newer versions of kubeadm expect, and clusters made by older ones lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    /// Its name.
    pub name: &'static str,
    /// The cluster role.
    pub role: &'static str,
    /// `User` or `Group`.
    pub subject_kind: &'static str,
    /// Who gets the role.
    pub subject: &'static str,
}

/// The bindings, in the order in which kubeadm came to need them: since 1.29 and since 1.37.
// Parity: upstream controlplane/kubeadm/pkg/workload_cluster_rbac.go:EnsureKubeadmPermissions
pub(crate) const BINDINGS: [Binding; 2] = [
    Binding {
        name: "kubeadm:cluster-admins",
        role: "cluster-admin",
        subject_kind: "Group",
        subject: "kubeadm:cluster-admins",
    },
    Binding {
        name: "kubeadm:apiserver-kubelet-client",
        role: "system:kubelet-api-admin",
        subject_kind: "User",
        subject: "kube-apiserver-kubelet-client",
    },
];

/// The namespace of everything here.
pub(crate) const NAMESPACE: &str = "kube-system";
/// kubeadm's ConfigMap.
pub(crate) const KUBEADM_CONFIG: &str = "kubeadm-config";
/// The DaemonSet, and its container.
pub(crate) const KUBE_PROXY: &str = "kube-proxy";
/// The Deployment, and its container.
pub(crate) const COREDNS: &str = "coredns";
