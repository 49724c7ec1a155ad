//! Creates.

use capstan_store::{Expect, Write};
use serde_json::{Value, json};

use super::{Registry, Request, Target, Written, commit_error, finish::Ownership, kinds};
use crate::{
    codec::{Body, encode},
    object::{Meta, MetaMut, metadata::seconds},
    resource::{Backing, Generation, Origin},
    seams::Operation,
    wire::status::{ApiError, Result},
};

/// How often a generated name that is taken is drawn again.
const GENERATE_ATTEMPTS: usize = 8;
/// A generated name is the base, cut to this, and five letters.
const GENERATE_BASE: usize = 58;

impl Registry {
    /// Creates an object from a request body.
    ///
    /// # Errors
    /// Whatever is wrong with the request or the object.
    pub async fn create(&self, request: Request<'_>, body: Body) -> Result<Written> {
        let mut warnings = Vec::new();
        let target = request.target;
        let codec = self.codec(&target.resource);
        let object = codec.decode(
            target.version(),
            body,
            request.options.field_validation,
            &mut warnings,
        )?;
        self.insert(request, object, Ownership::Track, warnings).await
    }

    /// Stores a decoded object that should not be there yet.
    pub(super) async fn insert(
        &self,
        request: Request<'_>,
        mut object: Value,
        ownership: Ownership,
        mut warnings: Vec<String>,
    ) -> Result<Written> {
        let target = request.target;
        debug_assert_eq!(target.resource.backing, Backing::Stored);
        check_place(target, &object)?;
        self.check_room(target)?;
        if !Meta::of(&object).resource_version().is_empty() {
            return Err(ApiError::new(
                http::StatusCode::INTERNAL_SERVER_ERROR,
                "",
                "resourceVersion should not be set on objects to be created",
            ));
        }
        let mut meta = MetaMut::of(&mut object);
        for field in [
            "uid",
            "creationTimestamp",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "selfLink",
            "generation",
        ] {
            meta.remove(field);
        }
        if target.resource.is_namespaced() {
            meta.set("namespace", target.namespace.as_str());
        }
        if !target.name.is_empty() {
            meta.set("name", target.name.as_str());
        }
        if meta.drop_duplicate_owners() > 0 {
            warnings.push(DUPLICATE_OWNERS.to_owned());
        }
        let meta = Meta::of(&object);
        let base: Option<String> = (meta.name().is_empty() && !meta.generate_name().is_empty())
            .then(|| meta.generate_name().chars().take(GENERATE_BASE).collect());
        let Some(base) = base else {
            return self.insert_named(request, object, ownership, warnings).await;
        };
        for _ in 0..GENERATE_ATTEMPTS {
            let mut named = object.clone();
            MetaMut::of(&mut named).set("name", format!("{base}{}", self.entropy.suffix(5)));
            match self
                .insert_named(request, named, ownership, warnings.clone())
                .await
            {
                Err(error) if error.reason == "AlreadyExists" => {}
                outcome => return outcome,
            }
        }
        let mut error = ApiError::already_exists(&target.resource.group, &target.resource.plural, &base);
        error.message = format!(
            "{} {base:?} already exists, the server was not able to generate a unique name for the object",
            target.resource.qualified()
        );
        error.details.retry_after_seconds = 1;
        Err(error)
    }

    async fn insert_named(
        &self,
        request: Request<'_>,
        mut object: Value,
        ownership: Ownership,
        mut warnings: Vec<String>,
    ) -> Result<Written> {
        let now = self.now();
        let name = Meta::of(&object).name().to_owned();
        let target = &request.target.object(&request.target.namespace, &name);
        let request = Request { target, ..request };
        let resource = &target.resource;
        let mut meta = MetaMut::of(&mut object);
        meta.set("uid", self.entropy.uuid());
        meta.set("creationTimestamp", seconds(now));
        if resource.strategy.generation == Generation::Content {
            meta.set("generation", 1);
        }
        if target.version().status && !kinds::keeps_status_on_create(resource) {
            object.as_object_mut().map(|map| map.remove("status"));
        }
        kinds::prepare_create(resource, &mut object);
        let empty = json!({ "apiVersion": target.api_version(), "kind": resource.kind });
        if ownership == Ownership::Track {
            object = self.track(request, &empty, object, now);
        }
        let definitions = self.definitions_lock(resource).await;
        let mut stored = self.codec(resource).to_storage(object)?;
        self.admit(request, Operation::Create, None, &mut stored, &mut warnings)?;
        self.complete(target, &mut stored, None)?;
        self.check_create(request, &stored, &mut warnings)?;
        MetaMut::of(&mut stored).remove("resourceVersion");
        let snapshot = self.store.snapshot();
        if let Some(record) = snapshot.get(&target.key()) {
            return Err(taken(target, &record.value));
        }
        if request.options.dry_run {
            let object = self.codec(resource).convert(stored, &target.api_version())?;
            return Ok(Written {
                object,
                created: true,
                warnings,
            });
        }
        let write = Write {
            key: target.key(),
            expect: Expect::Absent,
            value: Some(encode(&stored)),
        };
        let committed = self
            .store
            .commit(write)
            .await
            .map_err(|error| commit_error(target, &error))?;
        self.definition_written(resource, &committed.record, true);
        drop(definitions);
        let object = self.codec(resource).read(&committed.record, target.version())?;
        Ok(Written {
            object,
            created: true,
            warnings,
        })
    }

    /// Whether there is a place for a new object: its namespace exists and stays, its kind stays.
    fn check_room(&self, target: &Target) -> Result<()> {
        let resource = &target.resource;
        if matches!(
            resource.origin,
            Origin::Custom {
                terminating: true,
                ..
            }
        ) {
            let why = "create not allowed while custom resource definition is terminating";
            return Err(ApiError::forbidden(
                &resource.group,
                &resource.plural,
                &target.name,
                why,
            ));
        }
        if !resource.is_namespaced() {
            return Ok(());
        }
        let key = capstan_store::Key::new("core/namespaces", "", target.namespace.as_str());
        let snapshot = self.store.snapshot();
        let Some(record) = snapshot.get(&key) else {
            return Err(ApiError::not_found("", "namespaces", &target.namespace));
        };
        let namespace: Value = serde_json::from_slice(&record.value).unwrap_or_default();
        if Meta::of(&namespace).deletion_timestamp().is_none() {
            return Ok(());
        }
        let why = format!(
            "unable to create new content in namespace {} because it is being terminated",
            target.namespace
        );
        let message = format!("namespace {} is being terminated", target.namespace);
        Err(
            ApiError::forbidden(&resource.group, &resource.plural, &target.name, &why).caused_by(
                "NamespaceTerminating",
                &message,
                "metadata.namespace",
            ),
        )
    }
}

pub(super) const DUPLICATE_OWNERS: &str = ".metadata.ownerReferences contains duplicate entries; API server dedups \
                                           owner references in 1.20+, and may reject such requests as early as 1.24; \
                                           please fix your requests";

/// Name and namespace in the body must be those of the URL, or absent.
pub(super) fn check_place(target: &Target, object: &Value) -> Result<()> {
    let meta = Meta::of(object);
    if !target.name.is_empty() && !meta.name().is_empty() && meta.name() != target.name {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({}) does not match the name on the URL ({})",
            meta.name(),
            target.name
        )));
    }
    if !meta.namespace().is_empty() && meta.namespace() != target.namespace {
        return Err(ApiError::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    Ok(())
}

fn taken(target: &Target, stored: &[u8]) -> ApiError {
    let mut error = ApiError::already_exists(&target.resource.group, &target.resource.plural, &target.name);
    let object: Value = serde_json::from_slice(stored).unwrap_or_default();
    if Meta::of(&object).deletion_timestamp().is_some() {
        error.message = format!("object is being deleted: {}", error.message);
    }
    error
}
