//! A client of the etcd cluster under a workload cluster's control plane: members, status, alarms, leadership.
//!
//! The way there is the API server's port-forward to the static pod `etcd-<node>`, TLS inside of it with a client
//! certificate signed by the cluster's etcd CA, and etcd's own gRPC API inside of that.

mod client;
mod error;
mod tunnel;
pub mod wire;

pub use client::{Alarm, AlarmKind, Client, Limits, Member, MemberId, Members, Status};
pub use error::Error;
pub use tunnel::{Credentials, PORT};
