//! Performs what was decided about a DevCluster.

use capstan_api::{core::ApiEndpoint, infrastructure::DevCluster};
use capstan_engine::{Classified, Context, ObjectKey, Retry, WriteError};
use kube::ResourceExt;
use serde_json::json;

use super::{decide::Action, view::View};
use crate::backend::{Backend, BackendError};

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
    match action {
        Action::ClaimEndpoint { uid, port, taken } => claim(backend, view, uid, *port, taken, context).await,
        Action::Open {
            cluster,
            uid,
            endpoint,
        } => {
            let take_place = async { backend.open_cluster(cluster, uid, endpoint) };
            Ok(backend
                .effect("open-cluster", cluster.to_string(), take_place)
                .await?)
        }
        Action::Close { cluster, uid } => {
            let take_place = backend.close_cluster(cluster, uid);
            Ok(backend
                .effect("close-cluster", cluster.to_string(), take_place)
                .await?)
        }
    }
}

async fn claim(
    backend: &Backend,
    view: &View,
    uid: &str,
    port: i32,
    taken: &[u16],
    context: &Context,
) -> Result<(), ActError> {
    let endpoint = if port == 0 {
        let take_place = backend.claim_endpoint(uid, taken);
        backend
            .effect("claim-endpoint", view.object.name_any(), take_place)
            .await?
    } else {
        ApiEndpoint {
            host: backend.advertised_host().to_owned(),
            port,
        }
    };
    let patch = json!({ "spec": { "controlPlaneEndpoint": endpoint } });
    context
        .writer
        .merge_patch::<DevCluster>(&(), &ObjectKey::of(&*view.object), &patch)
        .await?;
    Ok(())
}
