//! Applies a manifest of several documents, server-side, in an order in which nothing has to wait for what follows.

use anyhow::{Context as _, bail};
use kube::{
    Api, Client, ResourceExt as _,
    api::{DynamicObject, Patch, PatchParams},
    core::GroupVersionKind,
    discovery::{self, Scope},
};
use serde_json::Value;

use crate::failure::Advised;

/// Who applies.
const MANAGER: &str = "capstan-demo";

/// The documents of a manifest as objects, in the order in which they are to be applied. `source` names the manifest in
/// errors.
pub(crate) fn parse(manifest: &str, source: &str) -> anyhow::Result<Vec<DynamicObject>> {
    let documents: Vec<Value> =
        serde_saphyr::from_multiple(manifest).with_context(|| format!("failed to parse {source}"))?;
    let mut objects = Vec::new();
    for (index, document) in documents.into_iter().filter(|it| !it.is_null()).enumerate() {
        let object: DynamicObject = serde_json::from_value(document)
            .with_context(|| format!("failed to read document {} of {source}", index + 1))?;
        if object.types.is_none() || object.metadata.name.is_none() {
            bail!(
                "document {} of {source} lacks apiVersion, kind or metadata.name",
                index + 1
            );
        }
        objects.push(object);
    }
    if objects.is_empty() {
        bail!("there is no object in {source}");
    }
    objects.sort_by_key(|it| rank(&kind(it)));
    Ok(objects)
}

/// What others live in comes first, then what others are made from, then the rest as written, and Clusters last, so that
/// a cluster finds all its parts.
fn rank(kind: &str) -> u8 {
    match kind {
        "Namespace" | "CustomResourceDefinition" => 0,
        "Secret" | "ConfigMap" => 1,
        _ if kind.ends_with("Template") || kind == "ClusterClass" => 2,
        "Cluster" => 4,
        _ => 3,
    }
}

fn kind(object: &DynamicObject) -> String {
    object
        .types
        .as_ref()
        .map(|it| it.kind.clone())
        .unwrap_or_default()
}

/// Applies the objects in their order; those without a namespace go to `default`. Calls `applied` after each.
pub(crate) async fn apply(
    client: &Client,
    objects: &[DynamicObject],
    mut applied: impl FnMut(&str),
) -> anyhow::Result<()> {
    for object in objects {
        let what = format!("{} {}", kind(object), object.name_any());
        let api = api_of(client, object)
            .await
            .with_context(|| format!("failed to apply the {what}"))?;
        let mut parameters = PatchParams::apply(MANAGER).force();
        parameters.field_validation = Some(kube::api::ValidationDirective::Strict);
        api.patch(&object.name_any(), &parameters, &Patch::Apply(object))
            .await
            .with_context(|| format!("failed to apply the {what}"))?;
        applied(&what);
    }
    Ok(())
}

async fn api_of(client: &Client, object: &DynamicObject) -> anyhow::Result<Api<DynamicObject>> {
    let types = object.types.clone().unwrap_or_default();
    let kind = GroupVersionKind::try_from(&types)
        .with_context(|| format!("{:?} is no API version", types.api_version))?;
    let found = discovery::pinned_kind(client, &kind).await;
    let (resource, capabilities) = found.map_err(|error| {
        anyhow::Error::new(error).context(Advised::new(
            format!(
                "the management plane does not know {} in {}",
                types.kind, types.api_version
            ),
            "`kubectl api-resources` shows what it knows",
        ))
    })?;
    let namespace = object.namespace().unwrap_or_else(|| "default".to_owned());
    Ok(match capabilities.scope {
        Scope::Namespaced => Api::namespaced_with(client.clone(), &namespace, &resource),
        Scope::Cluster => Api::all_with(client.clone(), &resource),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(manifest: &str) -> Vec<String> {
        let objects = parse(manifest, "test").unwrap();
        objects
            .iter()
            .map(|it| format!("{} {}", kind(it), it.name_any()))
            .collect()
    }

    #[test]
    fn documents_are_applied_from_the_ground_up() {
        let document = |kind: &str, name: &str| {
            format!("---\n# a comment\napiVersion: v1\nkind: {kind}\nmetadata:\n  name: {name}\n")
        };
        let manifest = [
            document("Cluster", "c"),
            document("MachineDeployment", "b"),
            document("DevMachineTemplate", "t"),
            document("DevCluster", "a"),
            document("Namespace", "space"),
        ];
        assert_eq!(
            order(&format!("{}---\n", manifest.concat())),
            [
                "Namespace space",
                "DevMachineTemplate t",
                "MachineDeployment b",
                "DevCluster a",
                "Cluster c"
            ]
        );
    }

    #[test]
    fn what_is_no_manifest_is_named() {
        let error = |manifest: &str| parse(manifest, "x.yaml").unwrap_err().to_string();
        assert_eq!(error("# nothing\n"), "there is no object in x.yaml");
        assert_eq!(
            error("apiVersion: v1\nkind: Secret\nmetadata: {}\n"),
            "document 1 of x.yaml lacks apiVersion, kind or metadata.name"
        );
        assert_eq!(error("a: [\n"), "failed to parse x.yaml");
    }

    #[test]
    fn the_examples_are_manifests() {
        for (name, objects) in [("cluster", 7), ("cluster-v1beta1", 7), ("introduction", 8)] {
            let path = format!("{}/../../examples/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
            let manifest = std::fs::read_to_string(&path).unwrap();
            assert_eq!(parse(&manifest, name).unwrap().len(), objects, "{name}");
        }
    }
}
