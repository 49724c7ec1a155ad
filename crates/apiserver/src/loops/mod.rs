//! Background loops: what the control plane around an API server does to stored objects. Each is a task that follows
//! the store; none keeps anything that cannot be read again.

mod bootstrap;
mod definitions;
mod events;
mod garbage;
mod namespaces;
mod service_accounts;

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use tokio::task::AbortHandle;

pub(crate) use bootstrap::bootstrap;

use crate::{
    registry::{Registry, Target},
    resource::Resource,
};

/// How soon a step that failed, or that waits for something that tells nobody, is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// Starts all loops as tasks of the current runtime.
pub(crate) fn start(registry: &Arc<Registry>) -> Vec<AbortHandle> {
    vec![
        tokio::spawn(garbage::run(Arc::clone(registry))).abort_handle(),
        tokio::spawn(namespaces::run(Arc::clone(registry))).abort_handle(),
        tokio::spawn(definitions::run(Arc::clone(registry))).abort_handle(),
        tokio::spawn(service_accounts::run(Arc::clone(registry))).abort_handle(),
        tokio::spawn(events::run(Arc::clone(registry))).abort_handle(),
    ]
}

/// The resource whose objects the store keeps under `store_name`.
fn resource_of(registry: &Registry, store_name: &str) -> Option<Arc<Resource>> {
    let (group, plural) = store_name.split_once('/')?;
    let group = if group == "core" { "" } else { group };
    registry.resources().get(group, plural).cloned()
}

/// The target of an object of a built-in resource.
fn built_in(registry: &Registry, group: &str, plural: &str, namespace: &str, name: &str) -> Option<Target> {
    let resource = Arc::clone(registry.resources().get(group, plural)?);
    Target::stored(&resource, namespace, name)
}

/// The stored objects of a resource, as JSON.
fn stored(registry: &Registry, store_name: &str) -> Vec<Value> {
    let snapshot = registry.store().snapshot();
    snapshot
        .range(store_name, None)
        .filter_map(|record| serde_json::from_slice(&record.value).ok())
        .collect()
}
