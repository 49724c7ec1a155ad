//! From a request's JSON to an object of a kind: type and name checks, pruning, defaulting.
//! Source: apiextensions-apiserver `customresource_handler.go`, apiserver `pkg/endpoints/handlers/create.go`.

use capstan_base::field::Kind;
use capstan_schema::decode::strict_messages;
use serde_json::{Value, json};

use super::{Body, TypeSchema, convert::Codec};
use crate::{
    resource::Version,
    wire::{
        options::FieldValidation,
        status::{ApiError, Result},
    },
};

impl Codec<'_> {
    /// An object of this kind in `version` from a request. Warnings and errors about unknown and duplicate fields
    /// follow `validation`.
    pub(crate) fn decode(
        &self,
        version: &Version,
        body: Body,
        validation: FieldValidation,
        warnings: &mut Vec<String>,
    ) -> Result<Value> {
        let Body {
            mut value,
            duplicates,
        } = body;
        self.check_kind(version, &mut value)?;
        let schema = version.schema.compiled();
        let unknown = self.normalize(version, schema, &mut value)?;
        let problems = strict_messages(&duplicates, &unknown);
        match validation {
            FieldValidation::Ignore => {}
            FieldValidation::Warn => warnings.extend(problems),
            FieldValidation::Strict if problems.is_empty() => {}
            FieldValidation::Strict => {
                return Err(self.unusable(
                    version,
                    &format!("strict decoding error: {}", problems.join(", ")),
                ));
            }
        }
        Ok(value)
    }

    /// Checks that a body is an object of this kind; one that does not say so is taken at the URL's word.
    pub(crate) fn check_kind(&self, version: &Version, value: &mut Value) -> Result<()> {
        let expected = self.resource.api_version(&version.name);
        let Value::Object(map) = value else {
            return Err(ApiError::bad_request(format!(
                "couldn't get version/kind; json parse error: expected an object, got {}",
                if value.is_null() {
                    "nothing"
                } else {
                    "something else"
                }
            )));
        };
        let found = |field: &str| {
            map.get(field)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let (api_version, kind) = (found("apiVersion"), found("kind"));
        if !kind.is_empty() && kind != self.resource.kind {
            return Err(ApiError::bad_request(format!(
                "the kind in the data ({kind}) does not match the expected kind ({})",
                self.resource.kind
            )));
        }
        if !api_version.is_empty() && api_version != expected {
            return Err(ApiError::bad_request(format!(
                "the API version in the data ({api_version}) does not match the expected API version ({expected})"
            )));
        }
        map.insert("apiVersion".to_owned(), json!(expected));
        map.insert("kind".to_owned(), json!(self.resource.kind));
        Ok(())
    }

    /// Brings an object into the form of its schema. Returns the paths of the unknown fields that were dropped.
    pub(crate) fn normalize(
        &self,
        version: &Version,
        schema: &TypeSchema,
        value: &mut Value,
    ) -> Result<Vec<String>> {
        let is_reset = value["metadata"]["managedFields"] == json!([]);
        if schema.is_built_in() {
            drop_nulls(value);
        }
        let unknown = schema
            .schema()
            .admit(value)
            .map_err(|error| self.unusable(version, &error.to_string()))?;
        if !value["metadata"].is_object() {
            value["metadata"] = json!({});
        }
        if is_reset {
            value["metadata"]["managedFields"] = json!([]);
        }
        if schema.is_built_in() {
            self.check_types(version, schema, value)?;
        }
        Ok(unknown)
    }

    /// Built-in kinds are decoded into Go types upstream: a value of the wrong type is a malformed request.
    fn check_types(&self, version: &Version, schema: &TypeSchema, value: &Value) -> Result<()> {
        let errors = capstan_schema::validate(value, schema.structural(), &capstan_base::field::Path::root());
        match errors.iter().find(|error| error.kind == Kind::TypeInvalid) {
            Some(error) => Err(self.unusable(version, &error.to_string())),
            None => Ok(()),
        }
    }

    fn unusable(&self, version: &Version, why: &str) -> ApiError {
        let kind = &self.resource.kind;
        ApiError::bad_request(format!(
            "{kind} in version {:?} cannot be handled as a {kind}: {why}",
            version.name
        ))
    }
}

/// Nulls are zero values of Go types: absent. Free-form parts keep theirs, but the built-in kinds have none where null
/// means something.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, child| !child.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}
