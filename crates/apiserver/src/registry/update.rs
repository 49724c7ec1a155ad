//! Updates: one loop for replace, patch, status, scale and finalize.

use std::sync::Arc;

use capstan_store::{Expect, Record, Write};
use serde_json::{Value, json};

use super::{
    ATTEMPTS, CONFLICT, Part, Registry, Request, Target, Written, commit_error, create::DUPLICATE_OWNERS,
    create::check_place, finish::Ownership, kinds, lost_race,
};
use crate::{
    codec::{Body, encode},
    object::{Meta, MetaMut},
    resource::Generation,
    seams::Operation,
    wire::status::{ApiError, Result},
};

/// What a request makes of the current object.
pub(super) struct Draft {
    /// The new object, decoded, in the version of the request.
    pub(super) object: Value,
    /// Whether ownership is computed already.
    pub(super) ownership: Ownership,
    /// What the client should know.
    pub(super) warnings: Vec<String>,
}

/// Makes a draft of the current object (in the version of the request, with its resourceVersion). Called again after
/// every lost race.
pub(super) type Produce<'a> = dyn Fn(&Value) -> Result<Draft> + Send + Sync + 'a;

/// The outcome of one attempt.
enum Attempt {
    Done(Written),
    LostRace,
}

impl Registry {
    /// Replaces an object by a request body.
    ///
    /// # Errors
    /// Whatever is wrong with the request or the object.
    pub async fn update(&self, request: Request<'_>, body: Body) -> Result<Written> {
        let target = request.target;
        if target.part == Part::Scale {
            return self.update_scale(request, &body.value).await;
        }
        let mut warnings = Vec::new();
        let codec = self.codec(&target.resource);
        let object = codec.decode(
            target.version(),
            body,
            request.options.field_validation,
            &mut warnings,
        )?;
        check_place(target, &object)?;
        let meta = Meta::of(&object);
        if meta.name().is_empty() {
            return Err(ApiError::bad_request("the name of the object must be given"));
        }
        let strategy = target.resource.strategy;
        if meta.resource_version().is_empty() && !strategy.unconditional_update {
            let path = capstan_base::field::Path::new("metadata.resourceVersion");
            let error = capstan_base::field::Error::invalid(&path, "", "must be specified for an update");
            let (group, kind) = (&target.resource.group, &target.resource.kind);
            return Err(ApiError::invalid(group, kind, meta.name(), &[error]));
        }
        if strategy.create_on_update && target.part == Part::Main && !self.exists(target) {
            return self.insert(request, object, Ownership::Track, warnings).await;
        }
        let produce = |_: &Value| {
            Ok(Draft {
                object: object.clone(),
                ownership: Ownership::Track,
                warnings: warnings.clone(),
            })
        };
        self.modify(request, &produce).await
    }

    /// Changes an object by what `produce` makes of it, again until no other write comes in between.
    pub(super) async fn modify(&self, request: Request<'_>, produce: &Produce<'_>) -> Result<Written> {
        let target = request.target;
        let _definitions = self.definitions_lock(&target.resource).await;
        for _ in 0..ATTEMPTS {
            let record = Self::record(&self.store.snapshot(), target)?;
            let old = self.codec(&target.resource).read(&record, target.version())?;
            let draft = produce(&old)?;
            if let Attempt::Done(written) = self.replace(request, &record, &old, draft).await? {
                return Ok(written);
            }
        }
        Err(target.conflict(CONFLICT))
    }

    async fn replace(
        &self,
        request: Request<'_>,
        record: &Arc<Record>,
        old: &Value,
        draft: Draft,
    ) -> Result<Attempt> {
        let target = request.target;
        let resource = &target.resource;
        let codec = self.codec(resource);
        let now = self.now();
        let Draft {
            object: mut new,
            ownership,
            mut warnings,
        } = draft;
        check_identity(target, &new, old)?;
        keep_system_metadata(&mut new, old);
        if MetaMut::of(&mut new).drop_duplicate_owners() > 0 {
            warnings.push(DUPLICATE_OWNERS.to_owned());
        }
        let mut new = keep_other_parts(target, new, old);
        if target.part == Part::Main {
            kinds::prepare_update(resource, &mut new, old);
        }
        if ownership == Ownership::Track {
            new = self.track(request, old, new, now);
        }
        let mut stored = codec.to_storage(new)?;
        let old_stored: Value = match codec.storage_version() {
            Some(version) => codec.read(record, version)?,
            None => codec.to_storage(old.clone())?,
        };
        self.admit(
            request,
            Operation::Update,
            Some(&old_stored),
            &mut stored,
            &mut warnings,
        )?;
        // Counted after admission: what admission fills in again is no change.
        count_generation(target, &mut stored, &old_stored);
        self.complete(target, &mut stored, Some(&old_stored))?;
        self.check_update(request, &stored, &old_stored, &mut warnings)?;
        capstan_merge::managed::revert_timestamps(&old_stored, &mut stored);
        MetaMut::of(&mut stored).remove("resourceVersion");
        self.store_replacement(request, record, stored, warnings).await
    }

    async fn store_replacement(
        &self,
        request: Request<'_>,
        record: &Arc<Record>,
        stored: Value,
        warnings: Vec<String>,
    ) -> Result<Attempt> {
        let target = request.target;
        let codec = self.codec(&target.resource);
        let bytes = encode(&stored);
        if bytes == record.value {
            let object = codec.read(record, target.version())?;
            return Ok(Attempt::Done(Written {
                object,
                created: false,
                warnings,
            }));
        }
        let is_last = is_finished(target, &stored);
        if request.options.dry_run {
            let mut object = codec.convert(stored, &target.api_version())?;
            MetaMut::of(&mut object).set("resourceVersion", record.revision.to_string());
            return Ok(Attempt::Done(Written {
                object,
                created: false,
                warnings,
            }));
        }
        let write = Write {
            key: target.key(),
            expect: Expect::Revision(record.revision),
            value: (!is_last).then_some(bytes),
        };
        let committed = match self.store.commit(write).await {
            Ok(committed) => committed,
            Err(error) if lost_race(&error) => return Ok(Attempt::LostRace),
            Err(error) => return Err(commit_error(target, &error)),
        };
        self.definition_written(&target.resource, &committed.record, !is_last);
        let object = if is_last {
            let mut object = codec.convert(stored, &target.api_version())?;
            MetaMut::of(&mut object).set("resourceVersion", committed.revision.to_string());
            object
        } else {
            codec.read(&committed.record, target.version())?
        };
        Ok(Attempt::Done(Written {
            object,
            created: false,
            warnings,
        }))
    }

    /// Changes an object in the server's own name: `change` gets the object in its storage version and says whether it
    /// changed anything. An absent object is left alone.
    ///
    /// # Errors
    /// Whatever is wrong with the outcome.
    pub async fn change(
        &self,
        target: &Target,
        manager: &str,
        change: &(dyn Fn(&mut Value) -> bool + Send + Sync),
    ) -> Result<Option<Value>> {
        let identity = crate::auth::Identity::internal(manager);
        let options = crate::wire::options::WriteOptions {
            field_manager: manager.to_owned(),
            ..Default::default()
        };
        let caller = super::Caller {
            identity: &identity,
            user_agent: manager,
        };
        let request = Request {
            target,
            caller,
            options: &options,
        };
        let produce = |old: &Value| {
            let mut object = old.clone();
            change(&mut object);
            Ok(Draft {
                object,
                ownership: Ownership::Track,
                warnings: Vec::new(),
            })
        };
        match self.modify(request, &produce).await {
            Ok(written) => Ok(Some(written.object)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// UID and resourceVersion that the request carries must be the object's.
fn check_identity(target: &Target, new: &Value, old: &Value) -> Result<()> {
    let (given, live) = (Meta::of(new), Meta::of(old));
    check_place(target, new)?;
    if !given.uid().is_empty() && given.uid() != live.uid() {
        let why = format!(
            "Precondition failed: UID in precondition: {}, UID in object meta: {}",
            given.uid(),
            live.uid()
        );
        return Err(target.conflict(&why));
    }
    if !given.resource_version().is_empty() && given.resource_version() != live.resource_version() {
        return Err(target.conflict(CONFLICT));
    }
    Ok(())
}

/// What clients leave out of the metadata that the server keeps is filled in; what they change is for validation to
/// refuse.
fn keep_system_metadata(new: &mut Value, old: &Value) {
    let live = Meta::of(old);
    let mut meta = MetaMut::of(new);
    for field in [
        "uid",
        "name",
        "namespace",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        if meta.is_absent(field) {
            meta.copy(field, live);
        }
    }
    meta.copy("generation", live);
    meta.copy("resourceVersion", live);
    meta.remove("selfLink");
}

/// Everything that the part does not cover stays as it is.
fn keep_other_parts(target: &Target, mut new: Value, old: &Value) -> Value {
    let take = |object: &mut Value, from: &Value, field: &str| match from.get(field) {
        Some(value) => object[field] = value.clone(),
        None => {
            object.as_object_mut().map(|map| map.remove(field));
        }
    };
    match target.part {
        Part::Main if target.version().status => {
            take(&mut new, old, "status");
            new
        }
        Part::Main | Part::Scale => new,
        Part::Status | Part::Finalize => {
            let mut object = old.clone();
            if target.part == Part::Status {
                take(&mut object, &new, "status");
            } else {
                object["spec"]["finalizers"] = new["spec"]
                    .get("finalizers")
                    .cloned()
                    .unwrap_or_else(|| json!([]));
            }
            MetaMut::of(&mut object).copy("managedFields", Meta::of(&new));
            object
        }
    }
}

/// A change of content is a new generation.
fn count_generation(target: &Target, new: &mut Value, old: &Value) {
    if target.resource.strategy.generation == Generation::None || target.part == Part::Status {
        return;
    }
    let content = |object: &Value| {
        let mut object = object.clone();
        if let Some(map) = object.as_object_mut() {
            map.remove("metadata");
            if target.version().status {
                map.remove("status");
            }
        }
        object
    };
    if content(new) != content(old) {
        MetaMut::of(new).set("generation", Meta::of(old).generation() + 1);
    }
}

/// Whether nothing keeps an object any more that was only waiting to go.
fn is_finished(target: &Target, stored: &Value) -> bool {
    let meta = Meta::of(stored);
    meta.deletion_timestamp().is_some()
        && meta.finalizers().is_empty()
        && !kinds::has_content(&target.resource, stored)
}
