//! What the MachineHealthCheck controller does to the world, one effect per action.

use std::sync::Arc;

use capstan_api::core::{Machine, MachineHealthCheck};
use capstan_engine::{
    Classified, Context, EventKind, ObjectKey, ObjectRef, Preconditions, Retry, WriteError,
};
use kube::core::{ApiResource, DynamicObject};
use serde_json::Value;

/// One effect.
#[derive(Debug, Clone)]
pub enum Action {
    /// Patches the health check's own metadata.
    PatchHealthCheck {
        /// A JSON merge patch, guarded by the revision.
        patch: Value,
    },
    /// Says of a Machine whether it is healthy.
    PatchMachineStatus {
        /// The Machine.
        machine: Arc<Machine>,
        /// A JSON merge patch of its status, guarded by the revision.
        patch: Value,
        /// It is not, which is worth an event.
        is_unhealthy: bool,
    },
    /// Creates the repair request of a Machine, and says on the Machine how that went.
    RequestRemediation {
        /// The Machine.
        machine: Arc<Machine>,
        /// The kind of the request.
        kind: ApiResource,
        /// The request.
        object: Box<DynamicObject>,
        /// The patch of the Machine's status if it is there; none if the status says so already.
        created: Option<Value>,
        /// The patch if it could not be created.
        failed: Option<Value>,
    },
    /// Deletes a repair request.
    DeleteRequest {
        /// Its kind.
        kind: ApiResource,
        /// The request.
        key: ObjectKey,
        /// What must still be true of it.
        preconditions: Preconditions,
    },
    /// Tells that repairs are not allowed.
    Announce {
        /// Why.
        message: String,
    },
}

/// What can fail.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    /// A write.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The creation of a repair request.
    #[error(transparent)]
    Request(WriteError),
}

impl Classified for ActError {
    fn retry(&self) -> Retry {
        match self {
            Self::Write(error) | Self::Request(error) => error.retry(),
        }
    }
}

/// Performs one action.
pub(super) async fn act(
    check: &MachineHealthCheck,
    action: &Action,
    context: &Context,
) -> Result<(), ActError> {
    let writer = &context.writer;
    match action {
        Action::PatchHealthCheck { patch } => {
            writer
                .merge_patch::<MachineHealthCheck>(&(), &ObjectKey::of(check), patch)
                .await?;
        }
        Action::PatchMachineStatus {
            machine,
            patch,
            is_unhealthy,
        } => {
            writer
                .merge_patch_status::<Machine>(&(), &ObjectKey::of(&**machine), patch)
                .await?;
            if *is_unhealthy {
                mark(check, machine, context);
            }
        }
        Action::RequestRemediation {
            machine,
            kind,
            object,
            created,
            failed,
        } => {
            let outcome = match writer.create::<DynamicObject>(kind, object).await {
                Err(error) if !error.is_already_exists() => Err(ActError::Request(error)),
                _ => Ok(()),
            };
            let patch = if outcome.is_ok() { created } else { failed };
            if let Some(patch) = patch {
                writer
                    .merge_patch_status::<Machine>(&(), &ObjectKey::of(&**machine), patch)
                    .await?;
                mark(check, machine, context);
            }
            outcome?;
        }
        Action::DeleteRequest {
            kind,
            key,
            preconditions,
        } => {
            writer
                .delete::<DynamicObject>(kind, key, preconditions.clone())
                .await?;
        }
        Action::Announce { message } => {
            let object = ObjectRef::of(check);
            context.events.publish(
                &object,
                EventKind::Warning,
                "RemediationRestricted",
                message.clone(),
            );
        }
    }
    Ok(())
}

fn mark(check: &MachineHealthCheck, machine: &Machine, context: &Context) {
    let (key, by) = (ObjectKey::of(machine), ObjectKey::of(check));
    let message = format!("Machine {key} has been marked as unhealthy by {by}");
    let object = ObjectRef::of(machine);
    context
        .events
        .publish(&object, EventKind::Normal, "MachineMarkedUnhealthy", message);
}
