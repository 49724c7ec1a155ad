//! Making an object from a provider's template.

use std::collections::BTreeMap;

use capstan_api::{core::ContractReference, well_known};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::core::{ApiResource, DynamicObject, TypeMeta};
use serde_json::{Map, Value};

/// What an object is made from, and whose it becomes.
#[derive(Debug, Clone)]
pub struct TemplateClone<'a> {
    /// The template.
    pub template: &'a DynamicObject,
    /// The reference through which the template was found; it becomes the clone's memory of where it is from.
    pub reference: &'a ContractReference,
    /// The clone's namespace.
    pub namespace: &'a str,
    /// The clone's name.
    pub name: &'a str,
    /// The cluster it belongs to.
    pub cluster_name: &'a str,
    /// Its owner.
    pub owner: Option<OwnerReference>,
    /// Labels besides those of the template.
    pub labels: &'a BTreeMap<String, String>,
    /// Annotations besides those of the template.
    pub annotations: &'a BTreeMap<String, String>,
}

/// A template that cannot be cloned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CloneError {
    /// The kind of a template ends in `Template`.
    #[error("{kind} {namespace}/{name} is no template: its kind does not end in Template")]
    NotATemplate {
        /// The kind.
        kind: String,
        /// The namespace.
        namespace: String,
        /// The name.
        name: String,
    },
}

impl TemplateClone<'_> {
    /// The object, and the kind it is created under.
    ///
    /// The spec is the template's `spec.template.spec`, labels and annotations are those of `spec.template.metadata`
    /// with the caller's over them, and two annotations say which template it is from.
    // Parity: upstream controllers/external/util.go:GenerateTemplate
    pub fn object(&self) -> Result<(ApiResource, DynamicObject), CloneError> {
        let types = self.template.types.clone().unwrap_or_default();
        let Some(kind) = types.kind.strip_suffix("Template").filter(|it| !it.is_empty()) else {
            return Err(CloneError::NotATemplate {
                kind: types.kind,
                namespace: self.namespace.to_owned(),
                name: self.reference.name.clone(),
            });
        };
        let template = self
            .template
            .data
            .pointer("/spec/template")
            .cloned()
            .unwrap_or_default();
        let map = |name: &str| -> BTreeMap<String, String> {
            let found = template.pointer(&format!("/metadata/{name}")).cloned();
            found
                .and_then(|it| serde_json::from_value(it).ok())
                .unwrap_or_default()
        };
        let mut labels = map("labels");
        labels.extend(self.labels.clone());
        labels.insert(
            well_known::label::CLUSTER_NAME.to_owned(),
            self.cluster_name.to_owned(),
        );
        let mut annotations = map("annotations");
        annotations.extend(self.annotations.clone());
        annotations.insert(
            well_known::annotation::CLONED_FROM_NAME.to_owned(),
            self.reference.name.clone(),
        );
        annotations.insert(
            well_known::annotation::CLONED_FROM_GROUP_KIND.to_owned(),
            format!("{}.{}", self.reference.kind, self.reference.api_group),
        );
        // A template may name another API version for its clones.
        let api_version = template
            .get("apiVersion")
            .and_then(Value::as_str)
            .unwrap_or(&types.api_version)
            .to_owned();
        let mut data = Map::new();
        if let Some(spec) = template.get("spec") {
            data.insert("spec".to_owned(), spec.clone());
        }
        let object = DynamicObject {
            types: Some(TypeMeta {
                api_version: api_version.clone(),
                kind: kind.to_owned(),
            }),
            metadata: ObjectMeta {
                name: Some(self.name.to_owned()),
                namespace: Some(self.namespace.to_owned()),
                labels: Some(labels),
                annotations: Some(annotations),
                owner_references: self.owner.clone().map(|it| vec![it]),
                ..ObjectMeta::default()
            },
            data: Value::Object(data),
        };
        Ok((resource(&api_version, kind), object))
    }
}

/// The run-time kind of an apiVersion and kind, with the plural that contracts prescribe.
pub(crate) fn resource(api_version: &str, kind: &str) -> ApiResource {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        plural: capstan_api::contract::plural(kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn template(kind: &str) -> DynamicObject {
        serde_json::from_value(json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": kind,
            "metadata": { "name": "small", "namespace": "ns" },
            "spec": { "template": { "metadata": { "labels": { "a": "1", "b": "1" } }, "spec": { "size": "s" } } }
        }))
        .expect("a template")
    }

    fn cloned(template: &DynamicObject) -> Result<(ApiResource, DynamicObject), CloneError> {
        let reference =
            ContractReference::new("infrastructure.cluster.x-k8s.io", "DevMachineTemplate", "small");
        TemplateClone {
            template,
            reference: &reference,
            namespace: "ns",
            name: "m-1",
            cluster_name: "c",
            owner: None,
            labels: &BTreeMap::from([("b".to_owned(), "2".to_owned())]),
            annotations: &BTreeMap::new(),
        }
        .object()
    }

    #[test]
    fn a_clone_has_the_templates_spec_and_remembers_where_it_is_from() {
        let (kind, object) = cloned(&template("DevMachineTemplate")).expect("a clone");
        assert_eq!(kind.plural, "devmachines");
        assert_eq!(
            serde_json::to_value(object).expect("json"),
            json!({
                "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "DevMachine",
                "metadata": { "name": "m-1", "namespace": "ns",
                    "labels": { "a": "1", "b": "2", "cluster.x-k8s.io/cluster-name": "c" },
                    "annotations": { "cluster.x-k8s.io/cloned-from-name": "small",
                        "cluster.x-k8s.io/cloned-from-groupkind": "DevMachineTemplate.infrastructure.cluster.x-k8s.io" } },
                "spec": { "size": "s" }
            })
        );
    }

    #[test]
    fn only_a_template_can_be_cloned() {
        let error = cloned(&template("DevMachine")).expect_err("no template");
        assert_eq!(
            error.to_string(),
            "DevMachine ns/small is no template: its kind does not end in Template"
        );
    }
}
