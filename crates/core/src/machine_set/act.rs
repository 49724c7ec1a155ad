//! What the MachineSet controller does to the world, one effect per action.

use capstan_api::core::{Machine, MachineSet};
use capstan_contract::{CreationError, create_group};
use capstan_engine::{
    Classified, Context, EventKind, ObjectKey, ObjectRef, Preconditions, Retry, WriteError,
};
use kube::{
    ResourceExt,
    core::{ApiResource, DynamicObject},
};
use serde_json::Value;

/// One effect.
#[derive(Debug, Clone)]
pub enum Action {
    /// Creates a Machine and, before it, what it is made of. Objects of these names that an earlier attempt left behind
    /// are taken as created; if the server refuses one for good, those before it are removed again.
    CloneMachine {
        /// The name of all of them.
        name: String,
        /// Bootstrap object, host and Machine.
        objects: Vec<(ApiResource, DynamicObject)>,
    },
    /// Deletes a Machine.
    DeleteMachine {
        /// The Machine.
        key: ObjectKey,
        /// What must still be true of it.
        preconditions: Preconditions,
    },
    /// Patches a Machine.
    PatchMachine {
        /// The Machine.
        key: ObjectKey,
        /// A JSON merge patch.
        patch: Value,
    },
    /// Patches the status of a Machine.
    PatchMachineStatus {
        /// The Machine.
        key: ObjectKey,
        /// A JSON merge patch, guarded by the revision.
        patch: Value,
    },
    /// Says on an unhealthy Machine that it is deleted for its repair, and deletes it.
    Remediate {
        /// The Machine.
        key: ObjectKey,
        /// A JSON merge patch of its status, guarded by the revision; none if that is said already.
        patch: Option<Value>,
        /// What must still be true of it.
        preconditions: Preconditions,
    },
    /// Patches the metadata of a template.
    PatchExternal {
        /// Its kind.
        kind: ApiResource,
        /// The template.
        key: ObjectKey,
        /// A JSON merge patch, guarded by the revision.
        patch: Value,
    },
}

/// What can fail.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    /// A write.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A creation.
    #[error(transparent)]
    Creation(#[from] CreationError),
}

impl Classified for ActError {
    fn retry(&self) -> Retry {
        match self {
            Self::Write(error) => error.retry(),
            Self::Creation(error) => error.retry(),
        }
    }
}

/// Performs one action.
pub(super) async fn act(set: &MachineSet, action: &Action, context: &Context) -> Result<(), ActError> {
    let tell =
        |kind, reason: &str, message| context.events.publish(&ObjectRef::of(set), kind, reason, message);
    match action {
        Action::CloneMachine { name, objects } => {
            let uid = set.uid().unwrap_or_default();
            if let Err(error) = create_group(&context.writer, objects, &uid, Machine::KIND).await {
                tell(
                    EventKind::Warning,
                    "FailedCreate",
                    format!("Failed to create machine {name:?}: {error}"),
                );
                return Err(error.into());
            }
            tell(
                EventKind::Normal,
                "SuccessfulCreate",
                format!("Created machine {name:?}"),
            );
        }
        Action::DeleteMachine { key, preconditions } => {
            context
                .writer
                .delete::<Machine>(&(), key, preconditions.clone())
                .await?;
            tell(
                EventKind::Normal,
                "SuccessfulDelete",
                format!("Deleted machine {:?}", key.name),
            );
        }
        Action::PatchMachine { key, patch } => {
            context.writer.merge_patch::<Machine>(&(), key, patch).await?;
        }
        Action::PatchMachineStatus { key, patch } => {
            context
                .writer
                .merge_patch_status::<Machine>(&(), key, patch)
                .await?;
        }
        Action::Remediate {
            key,
            patch,
            preconditions,
        } => {
            if let Some(patch) = patch {
                context
                    .writer
                    .merge_patch_status::<Machine>(&(), key, patch)
                    .await?;
            }
            context
                .writer
                .delete::<Machine>(&(), key, preconditions.clone())
                .await?;
        }
        Action::PatchExternal { kind, key, patch } => {
            context
                .writer
                .merge_patch::<DynamicObject>(kind, key, patch)
                .await?;
        }
    }
    Ok(())
}
