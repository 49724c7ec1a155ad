//! Clusters in containers: the network and the load balancer in front of the API servers.

mod act;
mod decide;
mod observe;
mod report;
mod view;
mod wiring;

#[cfg(test)]
mod tests;

pub(crate) use wiring::wire;
