//! From a definition to a resource of the table.

use std::sync::Arc;

use capstan_schema::jsonpath;
use serde_json::{Value, json};
use thiserror::Error;

use crate::{
    codec::{CompileError, TypeSchema},
    object::Meta,
    resource::{
        Backing, Cell, Column, Generation, Origin, Resource, ResourceTable, ScalePaths, SchemaSource, Scope,
        Strategy, Version, version_order,
    },
};

/// Why a definition cannot be served.
#[derive(Debug, Error)]
pub enum DefinitionError {
    /// A version's schema does not compile.
    #[error("failed to compile the schema of version {version}")]
    Schema {
        /// The version.
        version: String,
        /// Why.
        #[source]
        source: CompileError,
    },
    /// No version is marked as the one to store.
    #[error("failed to find the storage version")]
    NoStorageVersion,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// The resource that a definition defines.
pub(super) fn resource(definition: &Value) -> Result<Resource, DefinitionError> {
    let spec = &definition["spec"];
    let names = &definition["status"]["acceptedNames"];
    let group = text(&spec["group"]);
    let plural = text(&names["plural"]);
    let raw = spec["versions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut versions = raw.iter().map(version).collect::<Result<Vec<_>, _>>()?;
    versions.sort_by(|left, right| version_order(&left.name, &right.name));
    let storage = raw
        .iter()
        .find(|it| it["storage"] == json!(true))
        .ok_or(DefinitionError::NoStorageVersion)?;
    Ok(Resource {
        store_name: format!("{group}/{plural}"),
        storage: (group.clone(), text(&storage["name"])),
        group,
        plural,
        singular: text(&names["singular"]),
        kind: text(&names["kind"]),
        list_kind: text(&names["listKind"]),
        short_names: texts(&names["shortNames"]),
        categories: texts(&names["categories"]),
        scope: if spec["scope"] == "Cluster" {
            Scope::Cluster
        } else {
            Scope::Namespaced
        },
        backing: Backing::Stored,
        versions,
        strategy: Strategy {
            generation: Generation::Content,
            unconditional_update: false,
            create_on_update: false,
            delete_returns_object: false,
            strategic_merge: false,
        },
        extra_subresources: &[],
        origin: Origin::Custom {
            definition: Meta::of(definition).name().to_owned(),
            terminating: Meta::of(definition).deletion_timestamp().is_some(),
        },
    })
}

fn version(raw: &Value) -> Result<Version, DefinitionError> {
    let name = text(&raw["name"]);
    let published = match &raw["schema"]["openAPIV3Schema"] {
        Value::Null => json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true }),
        schema => schema.clone(),
    };
    let published = Arc::new(published);
    let compiled = TypeSchema::custom(Arc::clone(&published)).map_err(|source| DefinitionError::Schema {
        version: name.clone(),
        source,
    })?;
    let is_deprecated = raw["deprecated"] == json!(true);
    Ok(Version {
        served: raw["served"] == json!(true),
        status: raw["subresources"]["status"].is_object(),
        scale: scale(&raw["subresources"]["scale"]),
        schema: SchemaSource::Custom {
            published,
            compiled: Arc::new(compiled),
        },
        columns: columns(&raw["additionalPrinterColumns"]),
        selectable_fields: raw["selectableFields"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|field| text(&field["jsonPath"]).trim_start_matches('.').to_owned())
            .collect(),
        deprecation: is_deprecated.then(|| text(&raw["deprecationWarning"])),
        name,
    })
}

fn scale(raw: &Value) -> Option<ScalePaths> {
    raw.is_object().then(|| ScalePaths {
        spec_replicas: text(&raw["specReplicasPath"]),
        status_replicas: text(&raw["statusReplicasPath"]),
        label_selector: raw["labelSelectorPath"].as_str().map(str::to_owned),
    })
}

/// The printer columns of a version; the age where it names none. A column whose path does not parse is left out.
fn columns(raw: &Value) -> Vec<Column> {
    let age = json!([{ "name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp" }]);
    let list = raw
        .as_array()
        .filter(|list| !list.is_empty())
        .or_else(|| age.as_array());
    list.into_iter()
        .flatten()
        .filter_map(|column| {
            let kind = text(&column["type"]);
            let cell =
                jsonpath::Column::new(jsonpath::ColumnType::parse(&kind)?, column["jsonPath"].as_str()?);
            Some(Column {
                name: text(&column["name"]),
                kind,
                format: text(&column["format"]),
                description: text(&column["description"]),
                priority: column["priority"]
                    .as_i64()
                    .and_then(|it| i32::try_from(it).ok())
                    .unwrap_or(0),
                cell: Cell::Path(cell.ok()?),
            })
        })
        .collect()
}

/// Which names of a definition another resource of its group has already.
/// Source: apiextensions-apiserver `pkg/controller/status/naming_controller.go`.
pub(super) fn name_conflicts(table: &ResourceTable, definition: &Value) -> Vec<String> {
    let spec = &definition["spec"];
    let own = Meta::of(definition).name();
    let group = spec["group"].as_str().unwrap_or_default();
    let names = &spec["names"];
    let others = table.all().filter(|resource| {
        resource.group == group
            && !matches!(&resource.origin, Origin::Custom { definition, .. } if definition == own)
    });
    let (mut resources, mut kinds) = (Vec::new(), Vec::new());
    for other in others {
        resources.extend([other.plural.clone(), other.singular.clone()]);
        resources.extend(other.short_names.iter().cloned());
        kinds.extend([other.kind.clone(), other.list_kind.clone()]);
    }
    let mut wanted = vec![text(&names["plural"]), text(&names["singular"])];
    wanted.extend(texts(&names["shortNames"]));
    let taken = wanted
        .iter()
        .filter(|name| !name.is_empty() && resources.contains(name));
    let kinds_taken = [text(&names["kind"]), text(&names["listKind"])];
    let kinds_taken = kinds_taken.iter().filter(|name| kinds.contains(name));
    taken
        .chain(kinds_taken)
        .map(|name| format!("{name:?} is already in use"))
        .collect()
}
