//! What creates and updates have in common: ownership, admission, validation.

use std::collections::BTreeMap;

use capstan_base::Timestamp;
use capstan_merge::{
    PathElement, Set,
    managed::{self, Operation as ManagedOperation},
};
use serde_json::{Value, json};

use super::{Part, Registry, Request, Target, kinds};
use crate::{
    codec::Codec,
    object::{Meta, validate},
    resource::{GroupVersionKind, GroupVersionResource, Resource, Version},
    seams::{AdmissionRequest, Denied, Operation},
    wire::status::{ApiError, Result},
};

/// Whether `metadata.managedFields` is still to be computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ownership {
    /// Compare with the live object and record who changed what.
    Track,
    /// The object carries its managed fields already.
    Done,
}

/// The words for a write in the storage version, which is what admission sees.
struct Words {
    resource: GroupVersionResource,
    kind: GroupVersionKind,
}

impl Words {
    fn of(resource: &Resource) -> Self {
        let (group, version) = resource.storage.clone();
        Self {
            kind: GroupVersionKind {
                group: group.clone(),
                version: version.clone(),
                kind: resource.kind.clone(),
            },
            resource: GroupVersionResource {
                group,
                version,
                resource: resource.plural.clone(),
            },
        }
    }
}

impl Registry {
    /// Records who owns what in `new`, which replaces `old`. Failures are logged: they never stop a write.
    pub(super) fn track(&self, request: Request<'_>, old: &Value, new: Value, now: Timestamp) -> Value {
        let codec = self.codec(&request.target.resource);
        let manager = request.manager();
        let updated = with_operation(&codec, request, &manager, now, |operation| {
            managed::update(operation, old, new)
        });
        if let Some(failure) = updated.failure {
            tracing::warn!(%failure, resource = request.target.resource.qualified(), "managed fields are not tracked");
        }
        updated.object
    }

    /// Lets admission complete and judge a write. `stored` is in the storage version.
    pub(super) fn admit(
        &self,
        request: Request<'_>,
        operation: Operation,
        old: Option<&Value>,
        stored: &mut Value,
        warnings: &mut Vec<String>,
    ) -> Result<()> {
        let words = Words::of(&request.target.resource);
        let name = Meta::of(stored).name().to_owned();
        let admission = admission_request(request, operation, &words, &name, old);
        self.seams
            .admission
            .mutate(&admission, stored, warnings)
            .map_err(|denied| refused(request.target, denied))
    }

    /// Lets admission judge a write after all changes.
    pub(super) fn judge(
        &self,
        request: Request<'_>,
        operation: Operation,
        old: Option<&Value>,
        stored: Option<&Value>,
        warnings: &mut Vec<String>,
    ) -> Result<()> {
        let words = Words::of(&request.target.resource);
        let name = stored
            .or(old)
            .map(|object| Meta::of(object).name().to_owned())
            .unwrap_or_default();
        let admission = admission_request(request, operation, &words, &name, old);
        self.seams
            .admission
            .validate(&admission, stored, warnings)
            .map_err(|denied| refused(request.target, denied))
    }

    /// After admission: brings the object into the form of its storage schema again, and lets kinds that the server
    /// itself completes have their way.
    pub(super) fn complete(&self, target: &Target, stored: &mut Value, old: Option<&Value>) -> Result<()> {
        let codec = self.codec(&target.resource);
        if let Some(version) = codec.storage_version() {
            codec.normalize(version, version.schema.compiled(), stored)?;
        }
        self.complete_definition(target, stored, old);
        Ok(())
    }

    /// Validates a new object, in the storage version.
    pub(super) fn check_create(
        &self,
        request: Request<'_>,
        stored: &Value,
        warnings: &mut Vec<String>,
    ) -> Result<()> {
        let resource = &request.target.resource;
        let mut errors = validate::create(resource, stored);
        if let Some(version) = self.codec(resource).storage_version() {
            errors.extend(schema_errors(version, Part::Main, stored, None, warnings));
        }
        errors.extend(kinds::validate(resource, stored, None));
        errors.extend(crate::crd::validate_definition(resource, stored, None));
        invalid_if(resource, Meta::of(stored).name(), &errors)?;
        self.judge(request, Operation::Create, None, Some(stored), warnings)
    }

    /// Validates a changed object, in the storage version.
    pub(super) fn check_update(
        &self,
        request: Request<'_>,
        stored: &Value,
        old: &Value,
        warnings: &mut Vec<String>,
    ) -> Result<()> {
        let resource = &request.target.resource;
        let mut errors = validate::update(stored, old);
        if let Some(version) = self.codec(resource).storage_version() {
            errors.extend(schema_errors(
                version,
                request.target.part,
                stored,
                Some(old),
                warnings,
            ));
        }
        errors.extend(kinds::validate(resource, stored, Some(old)));
        errors.extend(crate::crd::validate_definition(resource, stored, Some(old)));
        invalid_if(resource, Meta::of(stored).name(), &errors)?;
        self.judge(request, Operation::Update, Some(old), Some(stored), warnings)
    }
}

fn invalid_if(resource: &Resource, name: &str, errors: &[capstan_base::field::Error]) -> Result<()> {
    if errors.is_empty() {
        Ok(())
    } else {
        Err(ApiError::invalid(&resource.group, &resource.kind, name, errors))
    }
}

fn admission_request<'a>(
    request: Request<'a>,
    operation: Operation,
    words: &'a Words,
    name: &'a str,
    old: Option<&'a Value>,
) -> AdmissionRequest<'a> {
    AdmissionRequest {
        operation,
        resource: &words.resource,
        kind: &words.kind,
        subresource: request.target.part.name(),
        namespace: &request.target.namespace,
        name,
        old,
        user: request.caller.identity,
        dry_run: request.options.dry_run,
    }
}

fn refused(target: &Target, denied: Denied) -> ApiError {
    let resource = &target.resource;
    let mut error = ApiError::new(denied.code, denied.reason, denied.message).about(
        &resource.group,
        if denied.reason == "Invalid" {
            &resource.kind
        } else {
            &resource.plural
        },
        &target.name,
    );
    error.details.causes = denied.causes;
    error
}

/// Runs `work` with the description of the write that the ownership computation needs.
pub(super) fn with_operation<T>(
    codec: &Codec<'_>,
    request: Request<'_>,
    manager: &str,
    now: Timestamp,
    work: impl FnOnce(&ManagedOperation<'_>) -> T,
) -> T {
    let target = request.target;
    let api_version = target.api_version();
    let empty = json!({ "apiVersion": api_version, "kind": target.resource.kind });
    let reset_fields = reset_fields(target);
    work(&ManagedOperation {
        manager,
        subresource: target.part.name(),
        api_version: &api_version,
        kind: &target.resource.kind,
        empty: &empty,
        versions: codec,
        reset_fields: &reset_fields,
        now,
    })
}

/// The fields that a write through this part leaves as they are.
/// Source: `GetResetFields` of upstream's strategies.
fn reset_fields(target: &Target) -> BTreeMap<String, Set> {
    let names: &[&str] = match target.part {
        Part::Main => &["status"],
        Part::Status => &["spec"],
        Part::Scale | Part::Finalize => &[],
    };
    let mut fields = BTreeMap::new();
    for version in &target.resource.versions {
        if version.status {
            let set: Set = names.iter().map(|name| vec![PathElement::field(*name)]).collect();
            fields.insert(target.resource.api_version(&version.name), set);
        }
    }
    fields
}

/// What the schema finds wrong with `object`, which replaces `old`.
fn schema_errors(
    version: &Version,
    part: Part,
    object: &Value,
    old: Option<&Value>,
    warnings: &mut Vec<String>,
) -> Vec<capstan_base::field::Error> {
    let schema = version.schema.compiled().schema();
    let report = match old {
        None => schema.validate(object),
        Some(old) if part == Part::Status => schema.validate_status_update(object, old),
        Some(old) => schema.validate_update(object, old),
    };
    warnings.extend(report.warnings);
    report.errors
}
