//! What kubelets and kubeadm write into a workload cluster.

mod addons;
mod leftovers;
mod node;
mod pods;
mod rbac;

use capstan_apiserver::Identity;
use kube::{
    Client, Resource, ResourceExt,
    api::{Patch, PatchParams, PostParams},
    core::Request,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::BackendError;

pub(super) use leftovers::{Leftovers, leave_behind};
pub(super) use node::{register_node, remove_machine, report_node};
pub(super) use pods::{CONTROL_PLANE, ETCD, run_static_pod};

/// The identity under which machines write.
pub(super) fn kubelet() -> Identity {
    Identity::internal("system:node")
}

/// A failed request.
pub(super) fn failed(verb: &'static str, kind: &str, name: &str, source: kube::Error) -> BackendError {
    BackendError::Object {
        verb,
        kind: kind.to_owned(),
        name: name.to_owned(),
        source: Box::new(source),
    }
}

/// A kind that is written here.
pub(super) trait Written: Resource<DynamicType = ()> + Serialize + DeserializeOwned + Clone {}
impl<K: Resource<DynamicType = ()> + Serialize + DeserializeOwned + Clone> Written for K {}

/// Creates an object unless there is one of its name.
pub(super) async fn ensure<K: Written>(client: &Client, object: Value) -> Result<(), BackendError> {
    create::<K>(client, object).await.map(|_| ())
}

/// Creates an object; says whether it was missing.
pub(super) async fn create<K: Written>(client: &Client, object: Value) -> Result<bool, BackendError> {
    let kind = K::kind(&()).into_owned();
    let object: K = serde_json::from_value(object)
        .map_err(|it| failed("create", &kind, "", kube::Error::SerdeError(it)))?;
    let name = shown(&object);
    let fail = |it| failed("create", &kind, &name, it);
    let body = serde_json::to_vec(&object).map_err(|it| fail(kube::Error::SerdeError(it)))?;
    let request = Request::new(K::url_path(&(), object.namespace().as_deref()))
        .create(&PostParams::default(), body)
        .map_err(|it| fail(kube::Error::BuildRequest(it)))?;
    match client.request::<K>(request).await {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.reason == "AlreadyExists" => Ok(false),
        Err(error) => Err(fail(error)),
    }
}

/// Merges into the status of an object; says whether the object is there.
pub(super) async fn merge_status<K: Written>(
    client: &Client,
    namespace: Option<&str>,
    name: &str,
    status: &Value,
) -> Result<bool, BackendError> {
    let kind = K::kind(&()).into_owned();
    let fail = |it| failed("update the status of", &kind, name, it);
    let patch = Patch::Merge(serde_json::json!({ "status": status }));
    let request = Request::new(K::url_path(&(), namespace))
        .patch_subresource("status", name, &PatchParams::default(), &patch)
        .map_err(|it| fail(kube::Error::BuildRequest(it)))?;
    match client.request::<K>(request).await {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(false),
        Err(error) => Err(fail(error)),
    }
}

/// Deletes an object at once. One that is gone is success.
pub(super) async fn remove<K: Written>(
    client: &Client,
    namespace: Option<&str>,
    name: &str,
) -> Result<(), BackendError> {
    let kind = K::kind(&()).into_owned();
    let fail = |it| failed("delete", &kind, name, it);
    let params = kube::api::DeleteParams {
        grace_period_seconds: Some(0),
        ..Default::default()
    };
    let request = Request::new(K::url_path(&(), namespace))
        .delete(name, &params)
        .map_err(|it| fail(kube::Error::BuildRequest(it)))?;
    match client.request_status::<K>(request).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(fail(error)),
    }
}

fn shown<K: Resource>(object: &K) -> String {
    object
        .namespace()
        .map_or_else(|| object.name_any(), |it| format!("{it}/{}", object.name_any()))
}
