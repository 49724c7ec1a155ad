//! Reads what a decision about a DevCluster needs.

use std::sync::Arc;

use capstan_api::{core, infrastructure::DevCluster, owner, well_known::annotation};
use capstan_engine::{Cache, Context, ObjectKey};
use kube::ResourceExt;

use super::view::View;
use crate::backend::Backend;

/// Where views come from.
#[derive(Debug)]
pub(super) struct Sources {
    pub(super) backend: Backend,
    pub(super) clusters: Cache<core::Cluster>,
    pub(super) dev_clusters: Cache<DevCluster>,
}

/// The Cluster that owns a DevCluster.
pub(crate) fn owner_of(object: &DevCluster) -> Option<ObjectKey> {
    let reference = owner::of_kind(&object.metadata, core::GROUP, core::Cluster::KIND)?;
    Some(ObjectKey::new(
        object.namespace().unwrap_or_default(),
        reference.name.as_str(),
    ))
}

impl Sources {
    pub(super) fn view(&self, object: Arc<DevCluster>, context: &Context) -> View {
        let uid = object.uid().unwrap_or_default();
        let owner = owner_of(&object);
        let mut taken_ports: Vec<u16> = self
            .dev_clusters
            .all()
            .iter()
            .filter(|it| it.uid().as_ref() != Some(&uid))
            .filter_map(|it| u16::try_from(it.spec.control_plane_endpoint.port).ok())
            .filter(|it| *it != 0)
            .collect();
        taken_ports.sort_unstable();
        View {
            now: context.now,
            is_open: owner.as_ref().is_some_and(|it| self.backend.is_open(it, &uid)),
            is_externally_managed: object.annotations().contains_key(annotation::MANAGED_BY),
            owner,
            taken_ports,
            object,
        }
    }
}
