//! The dev provider: machines and whole workload clusters inside this process.
//!
//! Each workload cluster is a real instance of the API server on a store of its own, with what kubeadm leaves behind,
//! and an etcd double that speaks etcd's gRPC API through the API server's port-forward. Machines boot on timings that
//! their DevMachine sets, so that everything above sees what it would see on real hosts, only faster.
//!
//! ```text
//!   DevCluster ──► dev_cluster ──┐            ┌── endpoint: TLS listener, or in-process pipes
//!                                ├──► Backend ┤── one API server and etcd double per cluster
//!   DevMachine ──► dev_machine ──┘            └── ledger of VMs
//! ```

pub mod backend;
pub mod bootstrap;
pub mod dev_cluster;
pub mod dev_machine;
pub mod etcd;
pub mod timeline;
