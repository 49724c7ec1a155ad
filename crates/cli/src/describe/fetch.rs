//! Everything that belongs to a cluster, read from the management plane: the cluster, then lists by its label, then the
//! few objects that references point to and no list had.

use std::collections::BTreeMap;

use anyhow::{Context as _, anyhow};
use capstan_api::{
    addons::ClusterResourceSetBinding,
    contract::{self, Contract},
    core::{Cluster, Machine, MachineDeployment, MachinePool, MachineSet},
    well_known::label,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, Resource,
    api::{ApiResource, DynamicObject, ListParams},
    core::NamespaceResourceScope,
};
use serde_json::Value;

use crate::failure::Advised;

/// A reference by contract: group, kind and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reference {
    pub(super) group: String,
    pub(super) kind: String,
    pub(super) name: String,
}

impl Reference {
    /// The reference in a field; none if it is empty.
    pub(super) fn read(field: Option<&Value>) -> Option<Self> {
        let text = |name: &str| {
            field?
                .get(name)?
                .as_str()
                .filter(|it| !it.is_empty())
                .map(str::to_owned)
        };
        Some(Self {
            group: text("apiGroup")?,
            kind: text("kind")?,
            name: text("name")?,
        })
    }
}

/// Everything that belongs to a cluster. Lists are sorted by name.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    pub(super) cluster: Value,
    pub(super) infrastructure: Option<Value>,
    pub(super) control_plane: Option<(Value, Contract)>,
    pub(super) machines: Vec<Value>,
    pub(super) machine_sets: Vec<Value>,
    pub(super) machine_deployments: Vec<Value>,
    pub(super) machine_pools: Vec<Value>,
    /// Infrastructure and bootstrap objects of machines and pools.
    pub(super) parts: BTreeMap<Reference, Value>,
    /// The names of the ClusterResourceSets that apply; none if they were not asked for or there is no binding.
    pub(super) resource_sets: Option<Vec<String>>,
}

impl Facts {
    /// The namespace of everything.
    pub(super) fn namespace(&self) -> &str {
        self.cluster["metadata"]["namespace"].as_str().unwrap_or_default()
    }
}

/// The owner reference of an object's controller.
pub(super) fn controller(object: &Value) -> Option<&Value> {
    let owners = object["metadata"]["ownerReferences"].as_array()?;
    owners.iter().find(|it| it["controller"] == true)
}

/// The kind of an owner.
pub(super) fn owner_kind(owner: &Value) -> &str {
    owner["kind"].as_str().unwrap_or_default()
}

/// Reads everything that belongs to the cluster.
pub(super) async fn fetch(
    client: &Client,
    namespace: &str,
    name: &str,
    with_resource_sets: bool,
) -> anyhow::Result<Facts> {
    let reader = Reader {
        client,
        namespace,
        cluster: name,
    };
    let cluster = reader
        .get(&ApiResource::erase::<Cluster>(&()), name)
        .await?
        .ok_or_else(|| {
            anyhow!(Advised::new(
                format!("there is no Cluster {namespace}/{name}"),
                "`kubectl get clusters --all-namespaces` shows those that exist",
            ))
        })?;
    let mut facts = Facts {
        machines: reader.list_of::<Machine>().await?,
        machine_sets: reader.list_of::<MachineSet>().await?,
        machine_deployments: reader.list_of::<MachineDeployment>().await?,
        machine_pools: reader.list_of::<MachinePool>().await?,
        cluster,
        ..Facts::default()
    };
    let infrastructure = Reference::read(facts.cluster.pointer("/spec/infrastructureRef"));
    facts.infrastructure = reader.external(infrastructure).await?.map(|(object, _)| object);
    let control_plane = Reference::read(facts.cluster.pointer("/spec/controlPlaneRef"));
    facts.control_plane = reader.external(control_plane).await?;
    facts.parts = reader.parts(&facts).await?;
    if with_resource_sets {
        facts.resource_sets = reader.resource_sets().await?;
    }
    Ok(facts)
}

/// Reads in one namespace, for one cluster.
struct Reader<'a> {
    client: &'a Client,
    namespace: &'a str,
    cluster: &'a str,
}

impl Reader<'_> {
    fn api(&self, kind: &ApiResource) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), self.namespace, kind)
    }

    async fn get(&self, kind: &ApiResource, name: &str) -> anyhow::Result<Option<Value>> {
        let what = || format!("failed to read the {} {}/{name}", kind.kind, self.namespace);
        let object = self.api(kind).get_opt(name).await.with_context(what)?;
        object.map(|it| to_value(it, kind)).transpose()
    }

    /// All objects of a kind that carry the cluster's label.
    async fn list(&self, kind: &ApiResource) -> anyhow::Result<Vec<Value>> {
        let parameters = ListParams::default().labels(&format!("{}={}", label::CLUSTER_NAME, self.cluster));
        let what = || format!("failed to list the {} of cluster {}", kind.plural, self.cluster);
        let list = self.api(kind).list(&parameters).await.with_context(what)?;
        list.items.into_iter().map(|it| to_value(it, kind)).collect()
    }

    async fn list_of<K: Resource<DynamicType = (), Scope = NamespaceResourceScope>>(
        &self,
    ) -> anyhow::Result<Vec<Value>> {
        self.list(&ApiResource::erase::<K>(&())).await
    }

    /// The version and contract of a provider's kind; none if it is not installed.
    async fn kind(&self, reference: &Reference) -> anyhow::Result<Option<(ApiResource, Contract)>> {
        let name = contract::crd_name(&reference.group, &reference.kind);
        let definitions = Api::<CustomResourceDefinition>::all(self.client.clone());
        let what = || format!("failed to read the CustomResourceDefinition {name}");
        let metadata = definitions.get_metadata_opt(&name).await.with_context(what)?;
        let labels = metadata.and_then(|it| it.metadata.labels).unwrap_or_default();
        Ok(contract::choose_version(&labels).map(|(contract, version)| {
            let Reference { group, kind, .. } = reference;
            let resource = ApiResource {
                group: group.clone(),
                api_version: format!("{group}/{version}"),
                version,
                kind: kind.clone(),
                plural: contract::plural(kind),
            };
            (resource, contract)
        }))
    }

    /// The object behind a reference. Upstream too passes over references that lead nowhere.
    async fn external(&self, reference: Option<Reference>) -> anyhow::Result<Option<(Value, Contract)>> {
        let Some(reference) = reference else {
            return Ok(None);
        };
        let Some((kind, contract)) = self.kind(&reference).await? else {
            return Ok(None);
        };
        Ok(self
            .get(&kind, &reference.name)
            .await?
            .map(|object| (object, contract)))
    }

    /// The infrastructure and bootstrap objects of all machines and pools: one list per kind, and single reads for those
    /// that lack the cluster's label.
    async fn parts(&self, facts: &Facts) -> anyhow::Result<BTreeMap<Reference, Value>> {
        let pointers = ["/spec/infrastructureRef", "/spec/bootstrap/configRef"];
        let of_machines = facts
            .machines
            .iter()
            .flat_map(|machine| pointers.map(|it| Reference::read(machine.pointer(it))));
        let of_pools = facts.machine_pools.iter().flat_map(|pool| {
            pointers.map(|it| Reference::read(pool.pointer(&format!("/spec/template{it}"))))
        });
        let mut wanted: BTreeMap<(String, String), Vec<Reference>> = BTreeMap::new();
        for reference in of_machines.chain(of_pools).flatten() {
            wanted
                .entry((reference.group.clone(), reference.kind.clone()))
                .or_default()
                .push(reference);
        }
        let mut parts = BTreeMap::new();
        for references in wanted.into_values() {
            let Some((kind, _)) = self.kind(&references[0]).await? else {
                continue;
            };
            let listed = self.list(&kind).await?;
            for reference in references {
                let is_it = |it: &&Value| it["metadata"]["name"] == reference.name.as_str();
                let found = match listed.iter().find(is_it) {
                    Some(object) => Some(object.clone()),
                    None => self.get(&kind, &reference.name).await?,
                };
                parts.extend(found.map(|it| (reference, it)));
            }
        }
        Ok(parts)
    }

    async fn resource_sets(&self) -> anyhow::Result<Option<Vec<String>>> {
        let binding = self
            .get(
                &ApiResource::erase::<ClusterResourceSetBinding>(&()),
                self.cluster,
            )
            .await?;
        let name = |it: &Value| {
            it["clusterResourceSetName"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        Ok(binding.map(|it| {
            let bindings = it.pointer("/spec/bindings").and_then(Value::as_array);
            bindings.into_iter().flatten().map(name).collect()
        }))
    }
}

/// Items of lists lack their kind.
fn to_value(object: DynamicObject, kind: &ApiResource) -> anyhow::Result<Value> {
    let mut value = serde_json::to_value(object).context("failed to read an object")?;
    value["kind"] = kind.kind.clone().into();
    value["apiVersion"] = kind.api_version.clone().into();
    Ok(value)
}
