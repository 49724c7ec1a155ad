//! Patches: the four formats, applied to the current object in the version of the request.
//! Source: apiserver `pkg/endpoints/handlers/patch.go`.

use capstan_base::field::{Error, Path};
use capstan_merge::{PatchError, json_patch, managed, managed::ApplyError, merge_patch, strategic};
use http::StatusCode;
use serde_json::{Value, json};

use super::{
    Part, Registry, Request, Target, Written,
    create::check_place,
    finish::{Ownership, with_operation},
    update::Draft,
};
use crate::{
    codec::{Body, parse_body},
    wire::{
        negotiate::{MediaRange, Syntax},
        options::FieldValidation,
        status::{ApiError, Result},
    },
};

/// Most operations of a JSON patch.
const OPERATIONS_LIMIT: usize = 10_000;

/// The format of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchFormat {
    /// RFC 6902.
    Json,
    /// RFC 7386.
    Merge,
    /// Kubernetes' own, for built-in kinds.
    StrategicMerge,
    /// Server-side apply.
    Apply,
}

impl PatchFormat {
    /// The format of a content type.
    ///
    /// # Errors
    /// 415 if this resource does not take it.
    pub fn parse(target: &Target, content_type: Option<&str>) -> Result<Self> {
        let text = content_type.unwrap_or_default();
        let taken = taken(target.resource.strategy.strategic_merge);
        let format = match MediaRange::parse(text).media_type.as_str() {
            "application/json-patch+json" => Self::Json,
            "application/merge-patch+json" => Self::Merge,
            "application/strategic-merge-patch+json" if target.resource.strategy.strategic_merge => {
                Self::StrategicMerge
            }
            "application/apply-patch+yaml" => Self::Apply,
            _ => return Err(ApiError::unsupported_media_type(text, taken)),
        };
        Ok(format)
    }
}

/// The content types of patches.
pub(crate) fn taken(strategic: bool) -> &'static [&'static str] {
    const ALL: &[&str] = &[
        "application/apply-patch+yaml",
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
    ];
    if strategic { ALL } else { &ALL[..3] }
}

impl Registry {
    /// Patches an object; an apply creates it if it is absent.
    ///
    /// # Errors
    /// Whatever is wrong with the request, the patch or the outcome.
    pub async fn patch(&self, request: Request<'_>, format: PatchFormat, bytes: &[u8]) -> Result<Written> {
        check_options(request, format)?;
        if format == PatchFormat::Apply {
            let body = parse_body(bytes, Syntax::Yaml)?;
            return self.apply(request, body).await;
        }
        let body = parse_body(bytes, Syntax::Json)?;
        if let (PatchFormat::Json, Some(operations)) = (format, body.value.as_array())
            && operations.len() > OPERATIONS_LIMIT
        {
            return Err(ApiError::too_large(format!(
                "The allowed maximum operations in a JSON patch is {OPERATIONS_LIMIT}, got {}",
                operations.len()
            )));
        }
        if request.target.part == Part::Scale {
            return self
                .patch_scale(request, &|scale| {
                    patched(request.target, format, scale, &body.value)
                })
                .await;
        }
        let produce = |old: &Value| {
            let value = patched(request.target, format, old, &body.value)?;
            let mut warnings = Vec::new();
            let object = self.redecode(request, value, body.duplicates.clone(), &mut warnings)?;
            Ok(Draft {
                object,
                ownership: Ownership::Track,
                warnings,
            })
        };
        self.modify(request, &produce).await
    }

    /// Decodes the outcome of a patch; unknown fields in it make the object invalid.
    fn redecode(
        &self,
        request: Request<'_>,
        value: Value,
        duplicates: Vec<String>,
        warnings: &mut Vec<String>,
    ) -> Result<Value> {
        let target = request.target;
        let validation = request.options.field_validation;
        let body = Body { value, duplicates };
        let is_strict = validation == FieldValidation::Strict;
        self.codec(&target.resource)
            .decode(target.version(), body, validation, warnings)
            .map_err(
                |error| match error.message.split_once(": strict decoding error: ") {
                    Some((_, why)) if is_strict => {
                        let error =
                            Error::invalid(&Path::new("patch"), "", format!("strict decoding error: {why}"));
                        ApiError::invalid(
                            &target.resource.group,
                            &target.resource.kind,
                            &target.name,
                            &[error],
                        )
                    }
                    _ => error,
                },
            )
    }

    async fn apply(&self, request: Request<'_>, body: Body) -> Result<Written> {
        let target = request.target;
        let version = target.version();
        let codec = self.codec(&target.resource);
        let mut warnings = Vec::new();
        let mut config = body.value;
        if config["apiVersion"].as_str().unwrap_or_default().is_empty()
            || config["kind"].as_str().unwrap_or_default().is_empty()
        {
            return Err(ApiError::bad_request(
                "apiVersion and kind of the applied object must be set",
            ));
        }
        codec.check_kind(version, &mut config)?;
        check_place(target, &config)?;
        // Unknown fields are told from a decoding of the configuration alone; what is merged is what was sent.
        let checked = Body {
            value: config.clone(),
            duplicates: body.duplicates,
        };
        codec.decode(version, checked, request.options.field_validation, &mut warnings)?;
        capstan_schema::prune(
            &mut config,
            version.schema.compiled().structural(),
            capstan_schema::Level::Resource,
        );
        let force = request.options.force.unwrap_or(false);
        let now = self.now();
        let manager = request.options.field_manager.clone();
        let merge = |live: &Value| {
            with_operation(&codec, request, &manager, now, |operation| {
                managed::apply(operation, live, &config, force)
            })
            .map_err(|error| apply_error(target, error))
        };
        let decode = |merged: Value| {
            codec.decode(
                version,
                Body::from(merged),
                FieldValidation::Ignore,
                &mut Vec::new(),
            )
        };
        for _ in 0..super::ATTEMPTS {
            if !self.exists(target) && target.part == Part::Main {
                let mut empty = json!({ "apiVersion": target.api_version(), "kind": target.resource.kind });
                empty["metadata"] = json!({ "name": target.name });
                let object = decode(merge(&empty)?)?;
                match self
                    .insert(request, object, Ownership::Done, warnings.clone())
                    .await
                {
                    Err(error) if error.reason == "AlreadyExists" => continue,
                    outcome => return outcome,
                }
            }
            let produce = |old: &Value| {
                let object = decode(merge(old)?)?;
                Ok(Draft {
                    object,
                    ownership: Ownership::Done,
                    warnings: warnings.clone(),
                })
            };
            match self.modify(request, &produce).await {
                Err(error) if error.is_not_found() && target.part == Part::Main => {}
                outcome => return outcome,
            }
        }
        Err(target.conflict(super::CONFLICT))
    }
}

fn check_options(request: Request<'_>, format: PatchFormat) -> Result<()> {
    let mut errors = Vec::new();
    let path = Path::new("fieldManager");
    if format == PatchFormat::Apply {
        if request.options.field_manager.is_empty() {
            errors.push(Error::required(&path, "is required for apply patch"));
        }
    } else if request.options.force.is_some() {
        errors.push(Error::forbidden(
            &Path::new("force"),
            "may not be specified for non-apply patch",
        ));
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(ApiError::invalid("meta.k8s.io", "PatchOptions", "", &errors))
    }
}

fn patched(target: &Target, format: PatchFormat, object: &Value, patch: &Value) -> Result<Value> {
    let outcome = match format {
        PatchFormat::Json => json_patch::apply(object, patch),
        PatchFormat::Merge | PatchFormat::Apply => merge_patch::apply(object, patch),
        PatchFormat::StrategicMerge => {
            strategic::apply(target.version().schema.compiled().merge(), object, patch)
        }
    };
    outcome.map_err(|error| match error {
        PatchError::Malformed(why) => ApiError::bad_request(why),
        PatchError::Failed(why) => ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "Invalid",
            format!("the server rejected our request due to an error in our request: {why}"),
        )
        .about(&target.resource.group, &target.resource.plural, &target.name),
        PatchError::Internal(why) => ApiError::internal(why),
    })
}

fn apply_error(target: &Target, error: ApplyError) -> ApiError {
    match error {
        ApplyError::BadRequest(why) => ApiError::bad_request(why),
        ApplyError::Conflict(conflicts) => {
            let mut error = ApiError::new(StatusCode::CONFLICT, "Conflict", conflicts.to_string());
            for cause in conflicts.causes() {
                error = error.caused_by("FieldManagerConflict", &cause.message, &cause.field);
            }
            error
        }
        ApplyError::Failure(failure) => {
            let mut error = ApiError::internal(&failure);
            error.message = failure.to_string();
            error.reason = "";
            error.details = Box::default();
            tracing::debug!(name = target.name, error = error.message, "apply failed");
            error
        }
    }
}
