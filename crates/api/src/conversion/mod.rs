//! Conversion of objects between API versions, as pure functions on JSON.
//!
//! v1beta2 is the hub: it is stored, and every other version (a spoke) is converted to and from it. What a spoke can
//! not express is kept in its `cluster.x-k8s.io/conversion-data` annotation: the whole hub object without its
//! metadata. On the way back the annotation is consumed, and what the spoke left open is restored from it, above all
//! whether a false or a zero was meant or is merely what an absent value looks like in the older versions.
//!
//! The conversion of a kind is a list of [`rules`], each of which works in both directions. Rules are applied in
//! order on the way up (to the hub) and in reverse order on the way down, so a list reads like the way up. When they
//! are through, the schema of the target decides what is left: fields that it does not know are dropped.
//!
//! Parity: upstream `api/*/v1beta1/conversion.go` and `*/webhooks/conversion`.

mod apply;
mod finish;
mod kinds;
mod paths;
pub mod rules;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::crd::{self, Definition};

/// The annotation that holds the hub object while an object is in another version.
pub const DATA_ANNOTATION: &str = "cluster.x-k8s.io/conversion-data";

/// Gives versions to references that name a kind by group only.
pub trait ReferenceVersions {
    /// The `apiVersion` in which the kind fulfils the contract of the spoke, from the labels of its definition.
    fn api_version(&self, group: &str, kind: &str) -> Option<String>;
}

/// Why an object can not be converted.
#[derive(Debug, thiserror::Error)]
pub enum ConversionError {
    /// The kind is not among those with conversions.
    #[error("{kind}.{group} has no conversions")]
    UnknownKind {
        /// API group.
        group: String,
        /// Kind.
        kind: String,
    },
    /// The kind does not have the version.
    #[error("{kind} has no version {version}")]
    UnknownVersion {
        /// Kind.
        kind: String,
        /// The version that is asked for.
        version: String,
    },
    /// The value is not an object.
    #[error("a {kind} has to be a JSON object")]
    NotAnObject {
        /// Kind.
        kind: String,
    },
    /// A duration does not parse.
    #[error("failed to convert {object}: {path} is not a duration")]
    Duration {
        /// The object: kind and `namespace/name`.
        object: String,
        /// Path of the field, from the object that the rule is about.
        path: String,
        /// What is wrong with it.
        source: capstan_base::duration::ParseDurationError,
    },
    /// A reference is to a kind whose version is not known.
    #[error("failed to convert {object}: no version of {kind}.{group} is known to fulfil the contract")]
    Reference {
        /// The object: kind and `namespace/name`.
        object: String,
        /// Group of the kind that is referred to.
        group: String,
        /// The kind that is referred to.
        kind: String,
    },
    /// The annotation with the hub object does not parse.
    #[error("failed to convert {object}: the annotation {DATA_ANNOTATION} is not the JSON of an object")]
    Data {
        /// The object: kind and `namespace/name`.
        object: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// Converts an object of a core kind from one version to another.
///
/// `versions` is asked only on the way down from the hub, for references whose version the hub does not keep.
///
/// # Errors
///
/// When the kind or a version is not known, or when the object has a duration, a reference or an annotation that
/// can not be converted.
pub fn convert(
    group: &str,
    kind: &str,
    from: &str,
    to: &str,
    value: Value,
    versions: &dyn ReferenceVersions,
) -> Result<Value, ConversionError> {
    let definition = crd::kinds()
        .iter()
        .find(|definition| definition.group == group && definition.kind == kind)
        .ok_or_else(|| ConversionError::UnknownKind {
            group: group.to_owned(),
            kind: kind.to_owned(),
        })?;
    convert_kind(definition, from, to, value, versions)
}

fn convert_kind(
    definition: &Definition,
    from: &str,
    to: &str,
    value: Value,
    versions: &dyn ReferenceVersions,
) -> Result<Value, ConversionError> {
    let hub = definition.storage();
    let find = |version: &str| {
        let conversion = kinds::ALL
            .iter()
            .find(|conversion| conversion.kind == definition.kind && conversion.spoke == version);
        match (conversion, definition.version(version)) {
            (Some(conversion), Some(target)) => Ok((conversion, target)),
            _ => Err(ConversionError::UnknownVersion {
                kind: definition.kind.clone(),
                version: version.to_owned(),
            }),
        }
    };
    if from == to {
        return Ok(value);
    }
    let mut value = value;
    if from != hub.name {
        let (conversion, _) = find(from)?;
        value = apply::up(definition, conversion, hub, value)?;
    }
    if to != hub.name {
        let (conversion, spoke) = find(to)?;
        value = apply::down(definition, conversion, spoke, value, versions)?;
    }
    Ok(value)
}
