//! What the Cluster controller does to the world, one effect per action.

use capstan_api::core::{Cluster, Machine, MachineDeployment, MachineSet};
use capstan_engine::{
    Classified, Context, EventKind, ObjectKey, ObjectRef, Preconditions, Retry, WriteError,
};
use kube::core::{ApiResource, DynamicObject};
use serde_json::Value;

/// One effect.
#[derive(Debug, Clone)]
pub enum Action {
    /// Patches the Cluster's own spec.
    PatchCluster {
        /// The Cluster.
        key: ObjectKey,
        /// A JSON merge patch.
        patch: Value,
    },
    /// Patches the metadata of the infrastructure or control plane object.
    PatchExternal {
        /// Its kind.
        kind: ApiResource,
        /// The object.
        key: ObjectKey,
        /// A JSON merge patch, guarded by the revision.
        patch: Value,
    },
    /// Deletes a descendant.
    Delete {
        /// Which kind.
        descendant: Descendant,
        /// The object.
        key: ObjectKey,
        /// What must still be true of it.
        preconditions: Preconditions,
    },
    /// Deletes the infrastructure or control plane object.
    DeleteExternal {
        /// Its kind.
        kind: ApiResource,
        /// The object.
        key: ObjectKey,
        /// What must still be true of it.
        preconditions: Preconditions,
    },
    /// Publishes an event on the Cluster.
    Announce {
        /// The event's reason.
        reason: &'static str,
        /// The event's message.
        message: String,
    },
}

/// The kinds below a Cluster that it deletes itself, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Descendant {
    /// A MachineDeployment.
    MachineDeployment,
    /// A MachineSet without a MachineDeployment.
    MachineSet,
    /// A worker Machine without a MachineSet.
    Worker,
    /// A control plane Machine of a Cluster without a control plane object.
    ControlPlaneMachine,
}

impl Descendant {
    /// The kind's plural, as messages list it.
    pub fn plural(self) -> &'static str {
        match self {
            Self::MachineDeployment => "MachineDeployments",
            Self::MachineSet => "MachineSets",
            Self::Worker => "Worker Machines",
            Self::ControlPlaneMachine => "Control plane Machines",
        }
    }
}

/// What can fail.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    /// A write to the management plane.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Classified for ActError {
    fn retry(&self) -> Retry {
        let Self::Write(error) = self;
        error.retry()
    }
}

/// Performs one action.
pub(super) async fn act(cluster: &Cluster, action: &Action, context: &Context) -> Result<(), ActError> {
    let writer = &context.writer;
    match action {
        Action::PatchCluster { key, patch } => {
            writer.merge_patch::<Cluster>(&(), key, patch).await?;
        }
        Action::PatchExternal { kind, key, patch } => {
            writer.merge_patch::<DynamicObject>(kind, key, patch).await?;
        }
        Action::Delete {
            descendant,
            key,
            preconditions,
        } => match descendant {
            Descendant::MachineDeployment => {
                writer
                    .delete::<MachineDeployment>(&(), key, preconditions.clone())
                    .await?;
            }
            Descendant::MachineSet => {
                writer
                    .delete::<MachineSet>(&(), key, preconditions.clone())
                    .await?
            }
            Descendant::Worker | Descendant::ControlPlaneMachine => {
                writer.delete::<Machine>(&(), key, preconditions.clone()).await?;
            }
        },
        Action::DeleteExternal {
            kind,
            key,
            preconditions,
        } => {
            writer
                .delete::<DynamicObject>(kind, key, preconditions.clone())
                .await?;
        }
        Action::Announce { reason, message } => {
            context.events.publish(
                &ObjectRef::of(cluster),
                EventKind::Normal,
                reason,
                message.clone(),
            );
        }
    }
    Ok(())
}
