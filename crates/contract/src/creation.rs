//! Creating objects whose names follow from an intent: a create that finds its object there already has been issued
//! before, unless the name belongs to somebody else. And undoing a group of creations of which one is refused.

use capstan_engine::{Classified, ObjectKey, Preconditions, Retry, Writable, WriteError, Writer};
use kube::{
    Resource, ResourceExt,
    core::{ApiResource, DynamicObject},
};
use serde_json::Value;

/// A creation that did not happen.
#[derive(Debug, thiserror::Error)]
pub enum CreationError {
    /// The write failed.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// An object of that name is there and belongs to somebody else, or is going.
    #[error("{kind} {key} exists already and is not ours")]
    NameTaken {
        /// The kind.
        kind: String,
        /// The object.
        key: ObjectKey,
    },
}

impl Classified for CreationError {
    fn retry(&self) -> Retry {
        match self {
            Self::Write(error) => error.retry(),
            Self::NameTaken { .. } => Retry::Backoff,
        }
    }
}

impl CreationError {
    /// The server refused the object's content: trying again will not help.
    fn is_refusal(&self) -> bool {
        matches!(self, Self::Write(error) if error.is_invalid())
    }
}

/// Creates an object, or finds that it was created before: `is_ours` says whether an object of that name is.
pub async fn create_or_adopt<K: Writable>(
    writer: &Writer,
    kind: &K::DynamicType,
    object: &K,
    is_ours: impl Fn(&K) -> bool,
) -> Result<K, CreationError> {
    let error = match writer.create::<K>(kind, object).await {
        Ok(stored) => return Ok(stored),
        Err(error) if error.is_already_exists() => error,
        Err(error) => return Err(error.into()),
    };
    let key = ObjectKey::of(object);
    let Some(present) = writer.read::<K>(kind, &key).await? else {
        return Err(error.into());
    };
    if is_ours(&present) && present.meta().deletion_timestamp.is_none() {
        Ok(present)
    } else {
        Err(CreationError::NameTaken {
            kind: K::kind(kind).into_owned(),
            key,
        })
    }
}

/// Whether an object was made for an owner: it names the owner, or the object of its own name that took it over.
pub fn is_made_for<K: Resource>(object: &K, owner_uid: &str, heir_kind: &str) -> bool {
    let name = object.name_any();
    object
        .owner_references()
        .iter()
        .any(|it| it.uid == owner_uid || (it.kind == heir_kind && it.name == name))
}

/// Creates objects in their order, all of them or none: if the server refuses one for good, those before it are deleted
/// again. After a failure that may pass, they stay, since the next attempt finds them.
pub async fn create_group(
    writer: &Writer,
    objects: &[(ApiResource, DynamicObject)],
    owner_uid: &str,
    heir_kind: &str,
) -> Result<(), CreationError> {
    let mut made: Vec<(&ApiResource, DynamicObject)> = Vec::new();
    for (kind, object) in objects {
        match create_or_adopt(writer, kind, object, |it| is_made_for(it, owner_uid, heir_kind)).await {
            Ok(stored) => made.push((kind, stored)),
            Err(error) => {
                if error.is_refusal() {
                    undo(writer, &made).await;
                }
                return Err(error);
            }
        }
    }
    Ok(())
}

async fn undo(writer: &Writer, made: &[(&ApiResource, DynamicObject)]) {
    for (kind, object) in made.iter().rev() {
        let preconditions = Preconditions {
            uid: object.uid(),
            resource_version: None,
        };
        if let Err(error) = writer
            .delete::<DynamicObject>(kind, &ObjectKey::of(object), preconditions)
            .await
        {
            tracing::warn!(error = %error, "failed to undo a creation");
        }
    }
}

/// A typed object in the form that [`create_group`] takes.
///
/// # Errors
/// The object does not serialise, which a kind of ours always does.
pub fn dynamic<K: Resource<DynamicType = ()> + serde::Serialize>(
    object: &K,
) -> Result<(ApiResource, DynamicObject), serde_json::Error> {
    let value: Value = serde_json::to_value(object)?;
    Ok((ApiResource::erase::<K>(&()), serde_json::from_value(value)?))
}
