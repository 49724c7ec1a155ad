//! Finding providers' objects: from (group, kind) to the API version that the contract labels of the CRD name, and
//! from there to the object in a shared cache.

use std::{collections::BTreeSet, sync::Arc};

use capstan_api::{
    contract::{self, BootstrapConfig, Contract, ControlPlane, InfrastructureCluster, InfrastructureMachine},
    core::{ContractReference, Machine},
};
use capstan_engine::{Cache, Engine, Foreign, Lookup, ObjectKey, ReadFailure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    ResourceExt,
    core::{ApiResource, DynamicObject, PartialObjectMeta},
};

use crate::clone::resource;

/// A provider's object, with the contract it is read under.
#[derive(Debug, Clone)]
pub struct External {
    /// Its run-time kind, in the version that the contract chose.
    pub kind: ApiResource,
    /// The contract it follows.
    pub contract: Contract,
    /// The object.
    pub object: Arc<DynamicObject>,
}

impl External {
    /// The object read as an infrastructure cluster.
    pub fn infrastructure_cluster(&self) -> InfrastructureCluster<'_> {
        InfrastructureCluster::new(&self.object.data, self.contract)
    }

    /// The object read as an infrastructure machine.
    pub fn infrastructure_machine(&self) -> InfrastructureMachine<'_> {
        InfrastructureMachine::new(&self.object.data, self.contract)
    }

    /// The object read as a bootstrap config.
    pub fn bootstrap_config(&self) -> BootstrapConfig<'_> {
        BootstrapConfig::new(&self.object.data, self.contract)
    }

    /// The object read as a control plane.
    pub fn control_plane(&self) -> ControlPlane<'_> {
        ControlPlane::new(&self.object.data, self.contract)
    }

    /// Is the object being deleted?
    pub fn is_deleting(&self) -> bool {
        self.object.metadata.deletion_timestamp.is_some()
    }
}

/// The way to all providers' objects. Clones share the same caches.
#[derive(Debug, Clone)]
pub struct Providers {
    foreign: Foreign,
    definitions: Cache<PartialObjectMeta<CustomResourceDefinition>>,
}

impl Providers {
    /// The providers' objects as `engine` sees them. Of CRDs only the metadata is read and kept.
    pub fn new(engine: &Engine) -> Self {
        Self {
            foreign: engine.foreign().clone(),
            definitions: engine.cache(),
        }
    }

    /// The caches of providers' kinds, for subscriptions.
    pub fn foreign(&self) -> &Foreign {
        &self.foreign
    }

    /// The run-time kind and contract behind (group, kind).
    ///
    /// # Errors
    /// A sentence that names the CRD: it is not installed, or its labels name no contract that is understood.
    pub async fn kind(&self, group: &str, kind: &str) -> Result<(ApiResource, Contract), ReadFailure> {
        self.definitions.synced().await;
        let name = contract::crd_name(group, kind);
        let definition = self
            .definitions
            .get(&ObjectKey::new("", &name))
            .ok_or_else(|| ReadFailure(format!(
                    "CustomResourceDefinition {name} is not installed: install the provider, or correct the reference"
                )))?;
        let labels = definition.metadata.labels.clone().unwrap_or_default();
        let (contract, version) = contract::choose_version(&labels).ok_or_else(|| {
            ReadFailure(format!(
                "CustomResourceDefinition {name} has no label cluster.x-k8s.io/v1beta2 or cluster.x-k8s.io/v1beta1 \
                 that names an API version"
            ))
        })?;
        Ok((resource(&format!("{group}/{version}"), kind), contract))
    }

    /// An object of a kind in the API version that its user wrote down: templates and requests of repairs are referred to
    /// so. A kind that is not installed has no objects.
    pub async fn get_at(
        &self,
        api_version: &str,
        kind: &str,
        key: &ObjectKey,
    ) -> (ApiResource, Lookup<Arc<DynamicObject>>) {
        let found = resource(api_version, kind);
        self.definitions.synced().await;
        let name = contract::crd_name(&found.group, kind);
        if self.definitions.get(&ObjectKey::new("", &name)).is_none() {
            return (found, Lookup::Absent);
        }
        let object = self.foreign.get(&found, key).await;
        (found, object)
    }

    /// What is left of the object behind a reference of something that is being deleted. A kind that is not installed has
    /// no objects, so nothing waits for them.
    // Differs: upstream's deletion hangs once a provider was removed first.
    pub async fn get_left(&self, reference: &ContractReference, namespace: &str) -> Lookup<External> {
        self.definitions.synced().await;
        let name = contract::crd_name(&reference.api_group, &reference.kind);
        if self.definitions.get(&ObjectKey::new("", &name)).is_none() {
            return Lookup::Absent;
        }
        self.get(reference, namespace).await
    }

    /// The names under which an owner's earlier attempts to make a Machine have left objects behind: clones of
    /// `templates` that no Machine has taken over, while there is no Machine of that name. Sorted. A reference may name
    /// the kind of the clones itself; a kind that cannot be read has none.
    pub async fn unclaimed(
        &self,
        templates: &[&ContractReference],
        namespace: &str,
        owner_uid: &str,
        machines: &Cache<Machine>,
    ) -> Vec<String> {
        let is_unclaimed = |it: &DynamicObject| {
            it.metadata.namespace.as_deref() == Some(namespace)
                && it.metadata.deletion_timestamp.is_none()
                && it.owner_references().iter().all(|it| it.kind != Machine::KIND)
        };
        let mut names = BTreeSet::new();
        for template in templates {
            let kind = template.kind.trim_end_matches("Template");
            let Ok((kind, _)) = self.kind(&template.api_group, kind).await else {
                continue;
            };
            let cache = self.foreign.cache(&kind);
            cache.synced().await;
            let clones = cache.owned_by(owner_uid);
            names.extend(
                clones
                    .iter()
                    .filter(|it| is_unclaimed(it))
                    .map(|it| it.name_any()),
            );
        }
        names.retain(|it| machines.get(&ObjectKey::new(namespace, it)).is_none());
        names.into_iter().collect()
    }

    /// The object behind a reference, in `namespace`.
    pub async fn get(&self, reference: &ContractReference, namespace: &str) -> Lookup<External> {
        let (kind, contract) = match self.kind(&reference.api_group, &reference.kind).await {
            Ok(found) => found,
            Err(why) => return Lookup::Unreadable(why),
        };
        let found = self
            .foreign
            .get(&kind, &ObjectKey::new(namespace, &reference.name))
            .await;
        found.map(|object| External {
            kind,
            contract,
            object,
        })
    }
}
