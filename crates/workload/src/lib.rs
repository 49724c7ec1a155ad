//! One shared connection per workload cluster: client, health probe, caches of nodes and control-plane pods, and a
//! client of the etcd that the cluster stands on.
//!
//! ```text
//!   Cluster + kubeconfig Secret ──► Workloads ── one task per cluster ──► Connector ──► kube::Client
//!                                      │                                      │
//!          controllers ◄── Notice ─────┘                                 probe, caches
//!          controllers ── connection(key) ──► Remote<Connection> ──► etcd::Client (port-forward, TLS, gRPC)
//! ```
//!
//! It does not know who asks, nor any kind of Cluster API: what a cluster is and when it may be connected to is told
//! by [`Workloads::follow`]'s caller.

mod connect;
mod connection;
pub mod etcd;
mod life;
mod pipe;
mod remote;
mod tls;
mod workloads;

pub use connect::{Call, ConnectError, Connector, LiveConnector};
pub use connection::Connection;
pub use life::{Schedule, Target};
pub use pipe::{Dial, PipeConnector};
pub use remote::{NotTried, Remote};
pub use tls::ClockTime;
pub use workloads::{Health, News, Notice, Workloads};
