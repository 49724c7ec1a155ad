//! Deletes.
//! Source: apiserver `pkg/registry/generic/registry/store.go`.

use std::sync::Arc;

use capstan_store::{Expect, Record, Write};
use serde_json::Value;

use super::{ATTEMPTS, CONFLICT, Caller, Registry, Request, Target, commit_error, kinds, lost_race};
use crate::{
    codec::encode,
    object::{
        Meta, MetaMut,
        metadata::{FOREGROUND_FINALIZER, ORPHAN_FINALIZER, seconds},
    },
    seams::Operation,
    wire::{
        options::{DeleteOptions, ListOptions, Propagation, WriteOptions},
        status::{ApiError, Result},
    },
};

/// The outcome of a delete: the object's last state, in the version of the request.
#[derive(Debug, Clone, PartialEq)]
pub enum Deleted {
    /// It is gone.
    Gone(Value),
    /// It is marked and waits for its finalizers.
    Pending(Value),
}

impl Registry {
    /// Deletes an object, or marks it if something has to be done first.
    ///
    /// # Errors
    /// 404, a failed precondition, a refusal by admission.
    pub async fn delete(
        &self,
        target: &Target,
        caller: Caller<'_>,
        options: &DeleteOptions,
    ) -> Result<Deleted> {
        let write_options = WriteOptions {
            dry_run: options.dry_run,
            ..WriteOptions::default()
        };
        let request = Request {
            target,
            caller,
            options: &write_options,
        };
        let _definitions = self.definitions_lock(&target.resource).await;
        for _ in 0..ATTEMPTS {
            let record = Self::record(&self.store.snapshot(), target)?;
            if let Some(deleted) = self.delete_once(request, options, &record).await? {
                return Ok(deleted);
            }
        }
        Err(target.conflict(CONFLICT))
    }

    /// Deletes in the server's own name.
    ///
    /// # Errors
    /// As [`Registry::delete`].
    pub async fn remove(&self, target: &Target, manager: &str, options: &DeleteOptions) -> Result<Deleted> {
        let identity = crate::auth::Identity::internal(manager);
        self.delete(
            target,
            Caller {
                identity: &identity,
                user_agent: manager,
            },
            options,
        )
        .await
    }

    async fn delete_once(
        &self,
        request: Request<'_>,
        options: &DeleteOptions,
        record: &Arc<Record>,
    ) -> Result<Option<Deleted>> {
        let target = request.target;
        let resource = &target.resource;
        let codec = self.codec(resource);
        let mut stored: Value = match codec.storage_version() {
            Some(version) => codec.read(record, version)?,
            None => codec.to_storage(codec.read(record, target.version())?)?,
        };
        check_preconditions(target, options, &stored)?;
        if let Some(why) = kinds::undeletable(resource, &target.name) {
            return Err(ApiError::forbidden(
                &resource.group,
                &resource.plural,
                &target.name,
                why,
            ));
        }
        let mut warnings = Vec::new();
        self.judge(request, Operation::Delete, Some(&stored), None, &mut warnings)?;
        MetaMut::of(&mut stored).remove("resourceVersion");
        let before = encode(&stored);
        let mut finalizers = finalizers_after(&stored, options.propagation);
        if crate::crd::is_definitions(resource) && Meta::of(&stored).deletion_timestamp().is_none() {
            // The objects of a definition go before it does.
            finalizers.push(crate::crd::CLEANUP_FINALIZER.to_owned());
        }
        let waits = !finalizers.is_empty() || kinds::has_content(resource, &stored);
        if waits {
            let finalizers: Vec<&str> = finalizers.iter().map(String::as_str).collect();
            self.mark(target, &mut stored, &finalizers);
        }
        let bytes = encode(&stored);
        let in_request_version = |stored: Value, revision: u64| -> Result<Value> {
            let mut object = codec.convert(stored, &target.api_version())?;
            MetaMut::of(&mut object).set("resourceVersion", revision.to_string());
            Ok(object)
        };
        if options.dry_run || (waits && bytes == before) {
            let object = in_request_version(stored, record.revision)?;
            return Ok(Some(if waits {
                Deleted::Pending(object)
            } else {
                Deleted::Gone(object)
            }));
        }
        let write = Write {
            key: target.key(),
            expect: Expect::Revision(record.revision),
            value: waits.then_some(bytes),
        };
        let committed = match self.store.commit(write).await {
            Ok(committed) => committed,
            Err(error) if lost_race(&error) => return Ok(None),
            Err(error) => return Err(commit_error(target, &error)),
        };
        self.definition_written(resource, &committed.record, waits);
        let object = in_request_version(stored, committed.revision)?;
        Ok(Some(if waits {
            Deleted::Pending(object)
        } else {
            Deleted::Gone(object)
        }))
    }

    /// Marks an object as being deleted: the time and the next generation only once.
    fn mark(&self, target: &Target, stored: &mut Value, finalizers: &[&str]) {
        let generation = Meta::of(stored).generation();
        let is_first = Meta::of(stored).deletion_timestamp().is_none();
        let mut meta = MetaMut::of(stored);
        meta.set_finalizers(finalizers);
        if is_first {
            meta.set("deletionTimestamp", seconds(self.now()));
            meta.set("deletionGracePeriodSeconds", 0);
            if generation > 0 {
                meta.set("generation", generation + 1);
            }
            kinds::mark_deleted(&target.resource, stored);
        }
        self.complete_definition(target, stored, None);
    }

    /// Deletes every object of a collection that the options select. Returns the objects, as they were.
    ///
    /// # Errors
    /// The first failure; objects deleted until then stay deleted.
    pub async fn delete_collection(
        &self,
        target: &Target,
        caller: Caller<'_>,
        selection: &ListOptions,
        options: &DeleteOptions,
    ) -> Result<Vec<Value>> {
        let mut deleted = Vec::new();
        let codec = self.codec(&target.resource);
        for record in self.list(target, selection)?.records {
            let one = target.object(record.key.namespace(), record.key.name());
            match self.delete(&one, caller, options).await {
                Ok(_) => deleted.push(codec.read(&record, target.version())?),
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(deleted)
    }
}

fn check_preconditions(target: &Target, options: &DeleteOptions, stored: &Value) -> Result<()> {
    let meta = Meta::of(stored);
    if let Some(uid) = options.uid.as_deref().filter(|uid| *uid != meta.uid()) {
        let why = format!(
            "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
            meta.uid()
        );
        return Err(target.conflict(&why));
    }
    let Some(version) = options.resource_version.as_deref() else {
        return Ok(());
    };
    if version == meta.resource_version() {
        return Ok(());
    }
    let why = format!(
        "Precondition failed: ResourceVersion in precondition: {version}, ResourceVersion in object meta: {}",
        meta.resource_version()
    );
    Err(target.conflict(&why))
}

/// The finalizers of an object that is deleted: those of garbage collection follow the policy.
fn finalizers_after(stored: &Value, propagation: Option<Propagation>) -> Vec<String> {
    let mut finalizers: Vec<String> = Meta::of(stored)
        .finalizers()
        .into_iter()
        .map(str::to_owned)
        .collect();
    let Some(propagation) = propagation else {
        return finalizers;
    };
    let wanted = match propagation {
        Propagation::Orphan => Some(ORPHAN_FINALIZER),
        Propagation::Foreground => Some(FOREGROUND_FINALIZER),
        Propagation::Background => None,
    };
    finalizers.retain(|it| {
        !matches!(it.as_str(), ORPHAN_FINALIZER | FOREGROUND_FINALIZER) || Some(it.as_str()) == wanted
    });
    if let Some(wanted) = wanted
        && !finalizers.iter().any(|it| it == wanted)
    {
        finalizers.push(wanted.to_owned());
    }
    finalizers
}
