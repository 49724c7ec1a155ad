//! What the ClusterResourceSet controller does to the world, one effect per action.

use capstan_api::{
    Time,
    addons::{
        ClusterResourceSet, ClusterResourceSetBinding, ResourceBinding, ResourceKind, ResourceReference,
    },
};
use capstan_base::Timestamp;
use capstan_engine::{Classified, Context, ObjectKey, Preconditions, Retry, WriteError};
use capstan_workload::Workloads;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{
    Api, Client, ResourceExt,
    api::{Patch, PatchParams, PostParams},
    core::{DynamicObject, GroupVersionKind},
    discovery::{self, Scope},
};
use serde_json::Value;

use super::{bindings, decide::named};

/// One effect.
#[derive(Debug, Clone)]
pub enum Action {
    /// Patches the metadata of a resource.
    PatchResource {
        /// Secret or ConfigMap.
        kind: Option<ResourceKind>,
        /// The resource.
        key: ObjectKey,
        /// A JSON merge patch, guarded by the revision.
        patch: Value,
    },
    /// Applies resources to a cluster and records how that went: whatever failed, the record says so.
    Apply {
        /// The cluster.
        cluster: ObjectKey,
        /// Its binding as it is; none if there is none yet.
        binding: Option<Box<ClusterResourceSetBinding>>,
        /// What to apply; may be nothing.
        resources: Vec<ToApply>,
        /// Objects that are there already are updated.
        updates: bool,
    },
    /// Takes a set out of a binding.
    PatchBinding {
        /// The binding.
        key: ObjectKey,
        /// A JSON merge patch, guarded by the revision.
        patch: Value,
    },
    /// Deletes a binding.
    DeleteBinding {
        /// The binding.
        key: ObjectKey,
        /// What must still be true of it.
        preconditions: Preconditions,
    },
}

/// One resource to apply.
#[derive(Debug, Clone, PartialEq)]
pub struct ToApply {
    /// Which one.
    pub reference: ResourceReference,
    /// The hash of what it holds.
    pub hash: String,
    /// What it holds, or what is wrong with it.
    pub objects: Result<Vec<Value>, String>,
}

/// What can fail.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    /// A write to the management plane.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Objects could not be applied.
    #[error("failed to apply resources to Cluster {cluster}: {}", problems.join("; "))]
    Apply {
        /// The cluster.
        cluster: ObjectKey,
        /// What failed, by object.
        problems: Vec<String>,
    },
}

impl Classified for ActError {
    fn retry(&self) -> Retry {
        match self {
            Self::Write(error) => error.retry(),
            Self::Apply { .. } => Retry::Backoff,
        }
    }
}

/// Performs one action.
pub(super) async fn act(
    workloads: &Workloads,
    set: &ClusterResourceSet,
    action: &Action,
    context: &Context,
) -> Result<(), ActError> {
    let writer = &context.writer;
    match action {
        Action::PatchResource { kind, key, patch } => match kind {
            Some(ResourceKind::Secret) => {
                writer.merge_patch::<Secret>(&(), key, patch).await?;
            }
            _ => {
                writer.merge_patch::<ConfigMap>(&(), key, patch).await?;
            }
        },
        Action::Apply {
            cluster,
            binding,
            resources,
            updates,
        } => {
            let mut problems = Vec::new();
            let mut records = bindings::recorded(binding.as_deref(), &set.name_any()).to_vec();
            for resource in resources {
                let failed = apply(workloads, cluster, resource, *updates).await;
                records = bindings::with(records, record(resource, failed.is_empty(), context.now));
                problems.extend(failed);
            }
            match binding {
                Some(binding) => {
                    if let Some(patch) = bindings::patch(binding, set, records) {
                        let key = ObjectKey::of(&**binding);
                        writer
                            .merge_patch::<ClusterResourceSetBinding>(&(), &key, &patch)
                            .await?;
                    }
                }
                None => {
                    let binding = bindings::new(set, &cluster.name, records);
                    writer.create(&(), &binding).await?;
                }
            }
            if !problems.is_empty() {
                return Err(ActError::Apply {
                    cluster: cluster.clone(),
                    problems,
                });
            }
        }
        Action::PatchBinding { key, patch } => {
            writer
                .merge_patch::<ClusterResourceSetBinding>(&(), key, patch)
                .await?;
        }
        Action::DeleteBinding { key, preconditions } => {
            writer
                .delete::<ClusterResourceSetBinding>(&(), key, preconditions.clone())
                .await?;
        }
    }
    Ok(())
}

fn record(resource: &ToApply, applied: bool, now: Timestamp) -> ResourceBinding {
    let seconds = Timestamp::from_second(now.as_second()).unwrap_or(now);
    ResourceBinding {
        name: resource.reference.name.clone(),
        kind: resource.reference.kind,
        hash: resource.objects.is_ok().then(|| resource.hash.clone()),
        last_applied_time: Some(Time(seconds)),
        applied: Some(applied),
    }
}

/// Applies all objects of a resource; one that fails does not hold the others up. Returns what failed.
async fn apply(workloads: &Workloads, cluster: &ObjectKey, resource: &ToApply, updates: bool) -> Vec<String> {
    let objects = match &resource.objects {
        Ok(objects) => objects,
        Err(why) => return vec![format!("{}: {why}", named(&resource.reference))],
    };
    let connection = workloads.connection(cluster);
    let Some(connection) = connection.found() else {
        return vec!["the workload cluster is not connected".to_owned()];
    };
    let mut problems = Vec::new();
    for object in objects {
        if let Err(error) = apply_one(connection.client(), object, updates).await {
            let text = |pointer: &str| {
                object
                    .pointer(pointer)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            let why = match &error {
                kube::Error::Api(status) => status.message.clone(),
                error => error.to_string(),
            };
            problems.push(format!("{} {}: {why}", text("/kind"), text("/metadata/name")));
        }
    }
    problems
}

async fn apply_one(client: &Client, object: &Value, updates: bool) -> Result<(), kube::Error> {
    let object: DynamicObject = serde_json::from_value(object.clone()).map_err(kube::Error::SerdeError)?;
    let types = object.types.clone().unwrap_or_default();
    let (group, version) = types
        .api_version
        .split_once('/')
        .unwrap_or(("", &types.api_version));
    let kind = GroupVersionKind::gvk(group, version, &types.kind);
    let (resource, capabilities) = discovery::pinned_kind(client, &kind).await?;
    let api: Api<DynamicObject> = match capabilities.scope {
        Scope::Cluster => Api::all_with(client.clone(), &resource),
        Scope::Namespaced => {
            let namespace = object.namespace().unwrap_or_else(|| "default".to_owned());
            Api::namespaced_with(client.clone(), &namespace, &resource)
        }
    };
    let name = object.name_any();
    if updates && api.get_metadata_opt(&name).await?.is_some() {
        api.patch(&name, &PatchParams::default(), &Patch::Merge(&object))
            .await?;
        return Ok(());
    }
    match api.create(&PostParams::default(), &object).await {
        Err(kube::Error::Api(status)) if status.reason == "AlreadyExists" => Ok(()),
        other => other.map(|_| ()),
    }
}
