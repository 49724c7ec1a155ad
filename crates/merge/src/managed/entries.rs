//! Reading and writing `metadata.managedFields`.

use std::{cmp::Ordering, collections::BTreeMap};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::set::{FieldsError, Set};

/// How a manager came to own its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Verb {
    /// By server-side apply.
    Apply,
    /// By any other write.
    Update,
}

/// What tells the entries of `managedFields` apart. Ordered as conflicts list managers: entries of a subresource come
/// before the object's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagerId {
    /// The field manager's name.
    pub manager: String,
    /// Apply or Update.
    pub verb: Verb,
    /// The version written with; empty for appliers, who have one entry whatever the version.
    pub api_version: String,
    /// The subresource written through, empty for the object itself.
    pub subresource: String,
}

impl Ord for ManagerId {
    fn cmp(&self, other: &Self) -> Ordering {
        let own = (
            &self.manager,
            self.verb,
            &self.api_version,
            self.subresource.is_empty(),
            &self.subresource,
        );
        own.cmp(&(
            &other.manager,
            other.verb,
            &other.api_version,
            other.subresource.is_empty(),
            &other.subresource,
        ))
    }
}

impl PartialOrd for ManagerId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What a manager owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owned {
    /// The version the set's paths are of.
    pub(super) api_version: String,
    pub(super) set: Set,
    pub(super) time: Option<Timestamp>,
}

/// All managers of an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Managers(pub(super) BTreeMap<ManagerId, Owned>);

/// Why `managedFields` cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManagedFieldsError {
    /// An entry is not an entry at all.
    #[error("invalid managed fields: {0}")]
    Malformed(String),
    /// An entry has neither verb.
    #[error("operation must be `Apply` or `Update`")]
    Verb,
    /// An entry has no version.
    #[error("apiVersion must not be empty")]
    ApiVersion,
    /// An entry has no fields type.
    #[error("missing fieldsType in managed fields entry {0}")]
    MissingFieldsType(usize),
    /// An entry has a fields type other than `FieldsV1`.
    #[error("invalid fieldsType {fields_type:?} in managed fields entry {index}")]
    FieldsType {
        /// What it has.
        fields_type: String,
        /// Which entry.
        index: usize,
    },
    /// An entry's fields cannot be read.
    #[error("error decoding set: {0}")]
    Fields(#[from] FieldsError),
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Entry {
    api_version: String,
    fields_type: String,
    #[serde(rename = "fieldsV1", skip_serializing_if = "Option::is_none")]
    fields_v1: Option<Value>,
    manager: String,
    operation: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    subresource: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
}

/// Checks that `managedFields` can be read, as is done after admission changed an object.
///
/// # Errors
/// The first thing that is wrong.
pub fn validate(managed_fields: &Value) -> Result<(), ManagedFieldsError> {
    Managers::decode(Some(managed_fields)).map(|_| ())
}

/// The `managedFields` of an object, if it has any.
pub(super) fn managed_fields(object: &Value) -> Option<&Value> {
    object.get("metadata")?.get("managedFields")
}

/// The object without its `managedFields`.
pub(super) fn strip(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}

impl Managers {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn decode(managed_fields: Option<&Value>) -> Result<Self, ManagedFieldsError> {
        let entries = match managed_fields {
            None | Some(Value::Null) => return Ok(Self::default()),
            Some(Value::Array(entries)) => entries,
            Some(other) => {
                return Err(ManagedFieldsError::Malformed(format!(
                    "expected a list, got {other}"
                )));
            }
        };
        let mut managers = Self::default();
        for (index, entry) in entries.iter().enumerate() {
            let (id, owned) = Self::decode_entry(index, entry)?;
            managers.0.insert(id, owned);
        }
        Ok(managers)
    }

    fn decode_entry(index: usize, entry: &Value) -> Result<(ManagerId, Owned), ManagedFieldsError> {
        let malformed = |error: String| ManagedFieldsError::Malformed(format!("entry {index}: {error}"));
        let entry = Entry::deserialize(entry).map_err(|error| malformed(error.to_string()))?;
        let verb = match entry.operation.as_str() {
            "Apply" => Verb::Apply,
            "Update" => Verb::Update,
            _ => return Err(ManagedFieldsError::Verb),
        };
        if entry.api_version.is_empty() {
            return Err(ManagedFieldsError::ApiVersion);
        }
        match entry.fields_type.as_str() {
            "FieldsV1" => {}
            "" => return Err(ManagedFieldsError::MissingFieldsType(index)),
            _ => {
                return Err(ManagedFieldsError::FieldsType {
                    fields_type: entry.fields_type,
                    index,
                });
            }
        }
        let time = entry.time.map(|time| {
            time.parse()
                .map_err(|error: jiff::Error| malformed(error.to_string()))
        });
        let set = entry.fields_v1.as_ref().map(Set::from_fields_v1).transpose()?;
        let api_version = if verb == Verb::Apply {
            String::new()
        } else {
            entry.api_version.clone()
        };
        let id = ManagerId {
            manager: entry.manager,
            verb,
            api_version,
            subresource: entry.subresource,
        };
        let owned = Owned {
            api_version: entry.api_version,
            set: set.unwrap_or_default(),
            time: time.transpose()?,
        };
        Ok((id, owned))
    }

    /// The wire form: sorted by verb, time, manager, version, subresource; `None` without managers.
    pub(super) fn encode(&self) -> Option<Value> {
        if self.is_empty() {
            return None;
        }
        let mut sorted: Vec<_> = self.0.iter().collect();
        let seconds = |owned: &Owned| owned.time.map_or(0, Timestamp::as_second);
        sorted.sort_by(|(left, left_owned), (right, right_owned)| {
            (
                left.verb,
                seconds(left_owned),
                &left.manager,
                &left_owned.api_version,
                &left.subresource,
            )
                .cmp(&(
                    right.verb,
                    seconds(right_owned),
                    &right.manager,
                    &right_owned.api_version,
                    &right.subresource,
                ))
        });
        let entries = sorted.into_iter().map(|(id, owned)| {
            let entry = Entry {
                api_version: owned.api_version.clone(),
                fields_type: "FieldsV1".to_owned(),
                fields_v1: Some(owned.set.to_fields_v1()),
                manager: id.manager.clone(),
                operation: if id.verb == Verb::Apply { "Apply" } else { "Update" }.to_owned(),
                subresource: id.subresource.clone(),
                time: owned
                    .time
                    .map(|time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
            };
            serde_json::to_value(entry).unwrap_or_default()
        });
        Some(Value::Array(entries.collect()))
    }

    /// Writes the managers into the object, replacing what it has.
    pub(super) fn store(&self, object: &mut Value) {
        strip(object);
        let (Some(encoded), Some(object)) = (self.encode(), object.as_object_mut()) else {
            return;
        };
        let metadata = object
            .entry("metadata")
            .or_insert_with(|| Value::Object(serde_json::Map::new()));
        if metadata.is_null() {
            *metadata = Value::Object(serde_json::Map::new());
        }
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.insert("managedFields".to_owned(), encoded);
        }
    }
}
