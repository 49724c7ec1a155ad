//! What the MachineDeployment controller does to the world, one effect per action.

use capstan_api::core::{MachineDeployment, MachineSet};
use capstan_contract::{CreationError, create_or_adopt};
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
    /// Creates a MachineSet; one of that name that is ours already is taken as created.
    CreateMachineSet {
        /// The set.
        set: Box<MachineSet>,
    },
    /// Patches a MachineSet.
    PatchMachineSet {
        /// The set.
        key: ObjectKey,
        /// A JSON merge patch; guarded by the revision if it scales.
        patch: Value,
        /// Replicas before and after, if it scales.
        scaled: Option<(i32, i32)>,
    },
    /// Deletes a MachineSet.
    DeleteMachineSet {
        /// The set.
        key: ObjectKey,
        /// What must still be true of it.
        preconditions: Preconditions,
    },
    /// Patches the MachineDeployment's own metadata.
    PatchMachineDeployment {
        /// The MachineDeployment.
        key: ObjectKey,
        /// A JSON merge patch.
        patch: Value,
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
pub(super) async fn act(
    deployment: &MachineDeployment,
    action: &Action,
    context: &Context,
) -> Result<(), ActError> {
    let writer = &context.writer;
    let tell = |kind, reason: &str, message| {
        context
            .events
            .publish(&ObjectRef::of(deployment), kind, reason, message)
    };
    match action {
        Action::CreateMachineSet { set } => {
            let uid = deployment.uid().unwrap_or_default();
            let is_ours = |it: &MachineSet| it.owner_references().iter().any(|it| it.uid == uid);
            if let Err(error) = create_or_adopt::<MachineSet>(writer, &(), set, is_ours).await {
                tell(
                    EventKind::Warning,
                    "FailedCreate",
                    format!("Failed to create MachineSet {:?}: {error}", set.name_any()),
                );
                return Err(error.into());
            }
            tell(
                EventKind::Normal,
                "SuccessfulCreate",
                format!("Created MachineSet {:?}", set.name_any()),
            );
        }
        Action::PatchMachineSet { key, patch, scaled } => {
            writer.merge_patch::<MachineSet>(&(), key, patch).await?;
            if let Some((before, after)) = scaled {
                let message = format!("Scaled MachineSet {:?}: {before} -> {after}", key.name);
                tell(EventKind::Normal, "SuccessfulScale", message);
            }
        }
        Action::DeleteMachineSet { key, preconditions } => {
            writer
                .delete::<MachineSet>(&(), key, preconditions.clone())
                .await?;
            tell(
                EventKind::Normal,
                "SuccessfulDelete",
                format!("Deleted MachineSet {:?}", key.name),
            );
        }
        Action::PatchMachineDeployment { key, patch } => {
            writer.merge_patch::<MachineDeployment>(&(), key, patch).await?;
        }
        Action::PatchExternal { kind, key, patch } => {
            writer.merge_patch::<DynamicObject>(kind, key, patch).await?;
        }
    }
    Ok(())
}
