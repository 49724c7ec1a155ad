//! Performs what was decided about a DevMachine.

use capstan_engine::{Classified, Context, ObjectKey, Retry, WriteError};
use serde_json::json;

use super::{decide::Action, view::View};
use crate::backend::{Backend, BackendError};
use capstan_api::infrastructure::DevMachine;

/// What can fail.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    /// In the dev provider's world.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// In the management plane.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Classified for ActError {
    fn retry(&self) -> Retry {
        match self {
            Self::Backend(error) => error.retry(),
            Self::Write(error) => error.retry(),
        }
    }
}

pub(super) async fn act(
    backend: &Backend,
    view: &View,
    action: &Action,
    context: &Context,
) -> Result<(), ActError> {
    if let Action::RecordProviderId(id) = action {
        let patch = json!({ "spec": { "providerID": id } });
        context
            .writer
            .merge_patch::<DevMachine>(&(), &ObjectKey::of(&*view.object), &patch)
            .await?;
        return Ok(());
    }
    let Some(cluster) = &view.cluster_key else {
        return Ok(());
    };
    let take_place = async {
        match action {
            Action::RecordProviderId(_) => Ok(()),
            Action::StartVm(intent) => backend.start_vm(cluster, intent),
            Action::RegisterNode(node, bootstrap, authorities) => {
                backend
                    .register_node(cluster, node, bootstrap.as_ref(), authorities)
                    .await
            }
            Action::StartEtcd(node, authorities) => backend.start_etcd(cluster, node, authorities).await,
            Action::StartControlPlane(node, bootstrap, authorities) => {
                backend
                    .start_control_plane(cluster, node, bootstrap, authorities)
                    .await
            }
            Action::StopVm => backend.stop_vm(cluster, &view.name(), &view.uid()).await,
        }
    };
    Ok(backend.effect(action.name(), view.name(), take_place).await?)
}
