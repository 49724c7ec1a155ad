//! The only way to write: every write names its object in errors and enters the barrier's ledger.

use std::sync::Arc;

use kube::{
    Client, Resource, ResourceExt,
    api::{DeleteParams, GetParams, Patch, PatchParams, PostParams},
    core::Request,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    barrier::Ledger,
    object::ObjectKey,
    reconciler::{Classified, Retry},
};

/// A write that failed: the operation, the object, and the server's answer as the source.
#[derive(Debug, thiserror::Error)]
#[error("failed to {verb} {kind} {key}")]
pub struct WriteError {
    /// What was tried, as a verb.
    pub verb: &'static str,
    /// The object's kind.
    pub kind: String,
    /// The object.
    pub key: ObjectKey,
    /// The answer.
    #[source]
    pub source: kube::Error,
}

impl WriteError {
    fn has_reason(&self, reason: &str) -> bool {
        matches!(&self.source, kube::Error::Api(status) if status.reason == reason)
    }

    /// The object is not there.
    pub fn is_not_found(&self) -> bool {
        self.has_reason("NotFound")
    }

    /// An object of that name is there already.
    pub fn is_already_exists(&self) -> bool {
        self.has_reason("AlreadyExists")
    }

    /// The object changed since it was read, or a precondition does not hold.
    pub fn is_conflict(&self) -> bool {
        self.has_reason("Conflict")
    }

    /// The server refused the object's content.
    pub fn is_invalid(&self) -> bool {
        self.has_reason("Invalid") || self.has_reason("BadRequest")
    }
}

impl Classified for WriteError {
    fn retry(&self) -> Retry {
        if self.is_conflict() || self.is_already_exists() {
            Retry::Soon
        } else {
            Retry::Backoff
        }
    }
}

/// What must still be true of an object when it is deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preconditions {
    /// It has this UID.
    pub uid: Option<String>,
    /// It has this resourceVersion.
    pub resource_version: Option<String>,
}

/// Writes on behalf of one pass of one controller.
#[derive(Clone)]
pub struct Writer {
    client: Client,
    ledger: Arc<Ledger>,
    field_manager: String,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer")
            .field("field_manager", &self.field_manager)
            .finish_non_exhaustive()
    }
}

/// A kind as the writer needs it.
pub trait Writable: Resource + Serialize + DeserializeOwned + Clone {}
impl<K: Resource + Serialize + DeserializeOwned + Clone> Writable for K {}

impl Writer {
    pub(crate) fn new(client: Client, ledger: Arc<Ledger>, field_manager: String) -> Self {
        Self {
            client,
            ledger,
            field_manager,
        }
    }

    /// The client behind this writer, for reads that no cache serves.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Creates an object and returns it as stored.
    pub async fn create<K: Writable>(&self, kind: &K::DynamicType, object: &K) -> Result<K, WriteError> {
        let key = ObjectKey::of(object);
        let fail = |source| failure::<K>("create", kind, &key, source);
        let body = serde_json::to_vec(object).map_err(|it| fail(kube::Error::SerdeError(it)))?;
        let params = PostParams {
            field_manager: Some(self.field_manager.clone()),
            ..PostParams::default()
        };
        let request = request::<K>(kind, &key).create(&params, body);
        self.send(kind, request).await.map_err(fail)
    }

    /// Applies a JSON merge patch to an object and returns the result.
    pub async fn merge_patch<K: Writable>(
        &self,
        kind: &K::DynamicType,
        key: &ObjectKey,
        patch: &Value,
    ) -> Result<K, WriteError> {
        let fail = |source| failure::<K>("patch", kind, key, source);
        let request = request::<K>(kind, key).patch(&key.name, &self.patch_params(), &Patch::Merge(patch));
        self.send(kind, request).await.map_err(fail)
    }

    /// Applies a JSON merge patch to an object's status and returns the result.
    pub async fn merge_patch_status<K: Writable>(
        &self,
        kind: &K::DynamicType,
        key: &ObjectKey,
        patch: &Value,
    ) -> Result<K, WriteError> {
        let fail = |source| failure::<K>("patch the status of", kind, key, source);
        let request = request::<K>(kind, key).patch_subresource(
            "status",
            &key.name,
            &self.patch_params(),
            &Patch::Merge(patch),
        );
        self.send(kind, request).await.map_err(fail)
    }

    /// Server-side applies `object` under the field manager `manager`, taking over conflicting fields.
    pub async fn apply<K: Writable>(
        &self,
        kind: &K::DynamicType,
        manager: &str,
        object: &K,
    ) -> Result<K, WriteError> {
        let key = ObjectKey::of(object);
        let fail = |source| failure::<K>("apply", kind, &key, source);
        let params = PatchParams::apply(manager).force();
        let request = request::<K>(kind, &key).patch(&key.name, &params, &Patch::Apply(object));
        self.send(kind, request).await.map_err(fail)
    }

    /// Deletes an object in the background, if the preconditions hold. An object that is gone already is success.
    pub async fn delete<K: Writable>(
        &self,
        kind: &K::DynamicType,
        key: &ObjectKey,
        preconditions: Preconditions,
    ) -> Result<(), WriteError> {
        let fail = |source| failure::<K>("delete", kind, key, source);
        let uid = preconditions.uid.clone();
        let params = DeleteParams {
            preconditions: Some(kube::api::Preconditions {
                uid: preconditions.uid,
                resource_version: preconditions.resource_version,
            })
            .filter(|it| it.uid.is_some() || it.resource_version.is_some()),
            ..DeleteParams::background()
        };
        let request = request::<K>(kind, key)
            .delete(&key.name, &params)
            .map_err(kube::Error::BuildRequest);
        match self.client.request_status::<K>(request.map_err(fail)?).await {
            Ok(answer) => {
                match (answer.left(), uid) {
                    (Some(pending), _) => self.enter::<K>(kind, &pending),
                    (None, Some(uid)) => self.ledger.enter_gone(resource::<K>(kind), key.clone(), uid),
                    (None, None) => {}
                }
                Ok(())
            }
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            Err(source) => Err(fail(source)),
        }
    }

    /// Reads an object from the server, past all caches; none if it is not there.
    pub async fn read<K: Writable>(
        &self,
        kind: &K::DynamicType,
        key: &ObjectKey,
    ) -> Result<Option<K>, WriteError> {
        let fail = |source| failure::<K>("read", kind, key, source);
        let request = request::<K>(kind, key)
            .get(&key.name, &GetParams::default())
            .map_err(kube::Error::BuildRequest);
        match self.client.request(request.map_err(fail)?).await {
            Ok(object) => Ok(Some(object)),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
            Err(source) => Err(fail(source)),
        }
    }

    fn patch_params(&self) -> PatchParams {
        PatchParams {
            field_manager: Some(self.field_manager.clone()),
            ..PatchParams::default()
        }
    }

    async fn send<K: Writable>(
        &self,
        kind: &K::DynamicType,
        request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<K, kube::Error> {
        let stored: K = self
            .client
            .request(request.map_err(kube::Error::BuildRequest)?)
            .await?;
        self.enter::<K>(kind, &stored);
        Ok(stored)
    }

    fn enter<K: Writable>(&self, kind: &K::DynamicType, stored: &K) {
        if let Some(revision) = stored.resource_version().and_then(|it| it.parse().ok()) {
            self.ledger.enter(resource::<K>(kind), revision);
        }
    }
}

fn failure<K: Resource>(
    verb: &'static str,
    kind: &K::DynamicType,
    key: &ObjectKey,
    source: kube::Error,
) -> WriteError {
    WriteError {
        verb,
        kind: K::kind(kind).into_owned(),
        key: key.clone(),
        source,
    }
}

fn resource<K: Resource>(kind: &K::DynamicType) -> String {
    format!("{}/{}", K::group(kind), K::plural(kind))
}

fn request<K: Resource>(kind: &K::DynamicType, key: &ObjectKey) -> Request {
    let namespace = (!key.namespace.is_empty()).then_some(key.namespace.as_str());
    Request::new(K::url_path(kind, namespace))
}
