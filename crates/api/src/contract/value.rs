//! Reading one field of a foreign object: there, not there, or not what the contract says.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// A field of a provider's object that is not what the contract says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("failed to read {path}: expected {expected}")]
pub struct ContractError {
    /// Where, as `.status.ready`.
    pub path: String,
    /// What the contract says.
    pub expected: &'static str,
}

/// The field at `path` (names below the object's root), or `None` if it is absent or null.
pub(super) fn read<T: DeserializeOwned>(
    object: &Value,
    path: &[&str],
    expected: &'static str,
) -> Result<Option<T>, ContractError> {
    let error = || ContractError {
        path: format!(".{}", path.join(".")),
        expected,
    };
    let mut value = object;
    for name in path {
        match value {
            Value::Object(members) => match members.get(*name) {
                None | Some(Value::Null) => return Ok(None),
                Some(member) => value = member,
            },
            _ => return Err(error()),
        }
    }
    T::deserialize(value).map(Some).map_err(|_| error())
}

pub(super) fn text(object: &Value, path: &[&str]) -> Result<Option<String>, ContractError> {
    read(object, path, "a string")
}

pub(super) fn claim(object: &Value, path: &[&str]) -> Result<Option<bool>, ContractError> {
    read(object, path, "a boolean")
}

pub(super) fn number(object: &Value, path: &[&str]) -> Result<Option<i32>, ContractError> {
    read(object, path, "a 32-bit integer")
}
