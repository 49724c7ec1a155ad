//! Conversion between the versions of a kind, and reading what is stored.

use std::sync::Arc;

use bytes::Bytes;
use capstan_merge::managed::{ConversionError, Versions};
use capstan_store::Record;
use serde_json::{Map, Value, json};

use super::{TypeSchema, stored::Stored};
use crate::{
    object::MetaMut,
    resource::{Resource, Version},
    seams::Converter,
    wire::status::{ApiError, Result},
};

/// What it takes to read and write the objects of one resource.
#[derive(Clone, Copy)]
pub(crate) struct Codec<'a> {
    pub(crate) resource: &'a Resource,
    pub(crate) converter: &'a dyn Converter,
}

impl Codec<'_> {
    /// The storage version, if the resource's own group has one (events of the new group are stored as core events).
    pub(crate) fn storage_version(&self) -> Option<&Version> {
        (self.resource.storage.0 == self.resource.group)
            .then(|| self.resource.version(&self.resource.storage.1))?
    }

    /// A stored object in the version `api_version` of its resource.
    pub(crate) fn convert(&self, object: Value, api_version: &str) -> Result<Value> {
        self.try_convert(object, api_version).map_err(|why| {
            let kind = self.resource.qualified_kind();
            ApiError::internal(format!("conversion of {kind} to {api_version} failed: {why}"))
        })
    }

    fn try_convert(&self, mut object: Value, api_version: &str) -> Result<Value, String> {
        if object["apiVersion"] == api_version {
            return Ok(object);
        }
        let resource = self.resource;
        if resource.plural == "events" && !resource.is_custom() {
            return Ok(events::convert(object, api_version));
        }
        if !self.converter.handles(&resource.group, &resource.kind) {
            object["apiVersion"] = json!(api_version);
            return Ok(object);
        }
        let metadata = object["metadata"].clone();
        let version = api_version.rsplit('/').next().unwrap_or(api_version);
        let mut converted = self.converter.convert(object, version)?;
        converted["apiVersion"] = json!(api_version);
        converted["kind"] = json!(resource.kind);
        let own = |field: &str| converted["metadata"].get(field).cloned();
        let mut restored = metadata;
        for field in ["labels", "annotations"] {
            match own(field) {
                Some(value) => restored[field] = value,
                None => {
                    MetaMut::of_metadata(&mut restored).remove(field);
                }
            }
        }
        converted["metadata"] = restored;
        Ok(converted)
    }

    /// An object of a request in the version in which it is stored. One that has no such form is the client's mistake.
    pub(crate) fn to_storage(self, object: Value) -> Result<Value> {
        let kind = &self.resource.kind;
        let version = object["apiVersion"].as_str().unwrap_or_default().to_owned();
        self.try_convert(object, &self.resource.storage_api_version())
            .map_err(|why| {
                ApiError::bad_request(format!("{kind} in version {version:?} cannot be stored: {why}"))
            })
    }

    /// The object of `record` in `version`, with its resourceVersion: pruned and defaulted by the schema that it was
    /// stored under and by that of `version`.
    pub(crate) fn read(&self, record: &Record, version: &Version) -> Result<Value> {
        self.read_bytes(&record.value, record.revision, version)
    }

    fn read_bytes(&self, bytes: &[u8], revision: u64, version: &Version) -> Result<Value> {
        let mut object: Value = serde_json::from_slice(bytes)
            .map_err(|error| ApiError::internal(format!("stored object is not JSON: {error}")))?;
        let stored_as = object["apiVersion"].as_str().unwrap_or_default().to_owned();
        let asked = self.resource.api_version(&version.name);
        if stored_as != asked {
            let stored = stored_as.rsplit('/').next().unwrap_or_default();
            if let Some(stored) = self
                .resource
                .version(stored)
                .filter(|_| self.resource.is_custom())
            {
                refresh(&mut object, stored.schema.compiled());
            }
            object = self.convert(object, &asked)?;
        }
        refresh(&mut object, version.schema.compiled());
        MetaMut::of(&mut object).set("resourceVersion", revision.to_string());
        Ok(object)
    }

    /// The encoded object of `record` in `version`, with its resourceVersion. Encoded once per record and version.
    pub(crate) fn served(&self, record: &Record, version: &Version) -> Result<Bytes> {
        let stored = Stored::of(record);
        let id = version.schema.compiled().id();
        if let Some(bytes) = stored.served(id) {
            return Ok(bytes);
        }
        let bytes = encode(&self.read(record, version)?);
        stored.keep(id, bytes.clone());
        Ok(bytes)
    }
}

/// What a schema that changed since the object was stored makes of it.
fn refresh(object: &mut Value, schema: &TypeSchema) {
    if schema.is_built_in() {
        return;
    }
    schema.schema().revive(object);
}

/// The canonical JSON of an object.
pub(crate) fn encode(object: &Value) -> Bytes {
    Bytes::from(serde_json::to_vec(object).expect("invariant: JSON values encode"))
}

impl Versions for Codec<'_> {
    fn schema(&self, api_version: &str) -> Option<Arc<capstan_merge::Schema>> {
        let version = self
            .resource
            .versions
            .iter()
            .find(|it| self.resource.api_version(&it.name) == api_version)?;
        Some(Arc::clone(version.schema.compiled().merge()))
    }

    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, ConversionError> {
        Codec::convert(self, object.clone(), api_version).map_err(|error| ConversionError(error.message))
    }
}

/// Events of the core group and of `events.k8s.io` are the same objects under other names of fields.
/// Source: kubernetes `pkg/apis/events/v1/conversion.go`.
mod events {
    use super::{Map, Value, json};

    /// Names in the core group, and in `events.k8s.io`.
    const NAMES: [(&str, &str); 7] = [
        ("involvedObject", "regarding"),
        ("message", "note"),
        ("reportingComponent", "reportingController"),
        ("source", "deprecatedSource"),
        ("firstTimestamp", "deprecatedFirstTimestamp"),
        ("lastTimestamp", "deprecatedLastTimestamp"),
        ("count", "deprecatedCount"),
    ];

    pub(super) fn convert(event: Value, api_version: &str) -> Value {
        let to_core = api_version == "v1";
        let Value::Object(mut fields) = event else {
            return event;
        };
        let mut converted = Map::new();
        for (core, new) in NAMES {
            let (from, to) = if to_core { (new, core) } else { (core, new) };
            if let Some(value) = fields.remove(from) {
                converted.insert(to.to_owned(), value);
            }
        }
        converted.extend(fields);
        converted.insert("apiVersion".to_owned(), json!(api_version));
        if to_core {
            converted.entry("involvedObject").or_insert_with(|| json!({}));
        }
        Value::Object(converted)
    }
}
