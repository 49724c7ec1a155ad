//! What the Machine controller does to the world, one effect per action.

use capstan_engine::{
    Classified, Context, EventKind, ObjectKey, ObjectRef, Preconditions, Retry, WriteError,
};
use capstan_workload::Workloads;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{
    Api,
    api::{DeleteParams, EvictParams, Patch, PatchParams},
    core::{ApiResource, DynamicObject},
};
use serde_json::Value;

use capstan_api::core::Machine;

use super::decide::DRAIN_FAILED_RETRY;

/// One effect.
#[derive(Debug, Clone)]
pub enum Action {
    /// Patches the Machine's own metadata and spec.
    PatchMachine {
        /// The Machine.
        key: ObjectKey,
        /// A JSON merge patch.
        patch: Value,
    },
    /// Patches the metadata of the bootstrap or infrastructure object.
    PatchExternal {
        /// Its kind.
        kind: ApiResource,
        /// The object.
        key: ObjectKey,
        /// A JSON merge patch, guarded by the revision.
        patch: Value,
    },
    /// Deletes the bootstrap or infrastructure object.
    DeleteExternal {
        /// Its kind.
        kind: ApiResource,
        /// The object.
        key: ObjectKey,
        /// What must still be true of it.
        preconditions: Preconditions,
    },
    /// Patches the Node.
    PatchNode {
        /// The workload cluster.
        cluster: ObjectKey,
        /// The Node.
        node: String,
        /// A JSON merge patch, guarded by the revision.
        patch: Value,
    },
    /// Evicts a pod from the Node.
    Evict {
        /// The workload cluster.
        cluster: ObjectKey,
        /// The pod.
        pod: ObjectKey,
        /// How long the pod may take to end, in seconds; none for its own time.
        grace_seconds: Option<i64>,
    },
    /// Deletes the Node.
    DeleteNode {
        /// The workload cluster.
        cluster: ObjectKey,
        /// The Node.
        node: String,
    },
    /// Publishes an event on the Machine.
    Announce {
        /// The event's reason.
        reason: &'static str,
        /// The event's message.
        message: String,
    },
}

/// What can fail.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    /// A write to the management plane.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A write to a Node.
    #[error("failed to {verb} Node {node} of cluster {cluster}")]
    Node {
        /// What was tried.
        verb: &'static str,
        /// The Node.
        node: String,
        /// The workload cluster.
        cluster: ObjectKey,
        /// The answer.
        #[source]
        source: kube::Error,
    },
    /// A pod cannot be evicted, mostly because a disruption budget forbids it.
    #[error("failed to evict Pod {pod}: {why}")]
    Evict {
        /// The pod.
        pod: ObjectKey,
        /// What the workload cluster answered.
        why: String,
    },
    /// The workload cluster is not connected.
    #[error("cluster {cluster} is not connected")]
    NotConnected {
        /// The workload cluster.
        cluster: ObjectKey,
    },
}

impl Classified for ActError {
    fn retry(&self) -> Retry {
        match self {
            Self::Write(error) => error.retry(),
            Self::Node {
                source: kube::Error::Api(status),
                ..
            } if status.code == 409 => Retry::Soon,
            Self::Node { .. } => Retry::Backoff,
            Self::Evict { .. } => Retry::After(DRAIN_FAILED_RETRY),
            // A connection that comes back wakes the Machine.
            Self::NotConnected { .. } => Retry::OnChange,
        }
    }
}

/// Performs one action.
pub(super) async fn act(
    workloads: &Workloads,
    machine: &Machine,
    action: &Action,
    context: &Context,
) -> Result<(), ActError> {
    match action {
        Action::PatchMachine { key, patch } => {
            context.writer.merge_patch::<Machine>(&(), key, patch).await?;
        }
        Action::PatchExternal { kind, key, patch } => {
            context
                .writer
                .merge_patch::<DynamicObject>(kind, key, patch)
                .await?;
        }
        Action::DeleteExternal {
            kind,
            key,
            preconditions,
        } => {
            context
                .writer
                .delete::<DynamicObject>(kind, key, preconditions.clone())
                .await?;
        }
        Action::PatchNode { cluster, node, patch } => {
            let fail = |source| ActError::Node {
                verb: "patch",
                node: node.clone(),
                cluster: cluster.clone(),
                source,
            };
            let nodes = nodes(workloads, cluster)?;
            nodes
                .patch(node, &PatchParams::default(), &Patch::Merge(patch))
                .await
                .map_err(fail)?;
        }
        Action::Evict {
            cluster,
            pod,
            grace_seconds,
        } => evict(workloads, cluster, pod, *grace_seconds).await?,
        Action::DeleteNode { cluster, node } => {
            let fail = |source| ActError::Node {
                verb: "delete",
                node: node.clone(),
                cluster: cluster.clone(),
                source,
            };
            match nodes(workloads, cluster)?
                .delete(node, &DeleteParams::default())
                .await
            {
                Ok(_) => {}
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                Err(source) => return Err(fail(source)),
            }
        }
        Action::Announce { reason, message } => {
            context.events.publish(
                &ObjectRef::of(machine),
                EventKind::Normal,
                reason,
                message.clone(),
            );
        }
    }
    Ok(())
}

async fn evict(
    workloads: &Workloads,
    cluster: &ObjectKey,
    pod: &ObjectKey,
    grace_seconds: Option<i64>,
) -> Result<(), ActError> {
    let connection = workloads.connection(cluster);
    let connection = connection.found().ok_or_else(|| ActError::NotConnected {
        cluster: cluster.clone(),
    })?;
    let pods = Api::<Pod>::namespaced(connection.client().clone(), &pod.namespace);
    let parameters = EvictParams {
        delete_options: grace_seconds.map(|it| DeleteParams {
            grace_period_seconds: u32::try_from(it).ok(),
            ..DeleteParams::default()
        }),
        ..EvictParams::default()
    };
    let why = match pods.evict(&pod.name, &parameters).await {
        Ok(_) => return Ok(()),
        Err(kube::Error::Api(status)) if status.code == 404 => return Ok(()),
        Err(kube::Error::Api(status)) => refusal(&status),
        Err(error) => error.to_string(),
    };
    Err(ActError::Evict {
        pod: pod.clone(),
        why,
    })
}

/// Why an eviction was refused, with the disruption budget that did it.
fn refusal(status: &kube::core::Status) -> String {
    let causes = status.details.iter().flat_map(|it| &it.causes);
    let causes: Vec<&str> = causes.clone().map(|it| it.message.as_str()).collect();
    match status.code {
        429 => format!("{} {}", status.message, causes.join(",")),
        403 if status.message.contains("is being terminated") => {
            "Cannot evict pod from terminating namespace: unable to create eviction (kube-controller-manager should set \
             deletionTimestamp)"
                .to_owned()
        }
        _ => status.message.clone(),
    }
}

fn nodes(workloads: &Workloads, cluster: &ObjectKey) -> Result<Api<Node>, ActError> {
    let connection = workloads.connection(cluster);
    let connection = connection.found().ok_or_else(|| ActError::NotConnected {
        cluster: cluster.clone(),
    })?;
    Ok(Api::all(connection.client().clone()))
}
