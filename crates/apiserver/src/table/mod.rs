//! Tables: the rows and columns that `kubectl get` prints.
//! Source: apiextensions-apiserver `pkg/registry/customresource/tableconvertor`, apiserver
//! `pkg/endpoints/handlers/response.go`.

mod columns;

use capstan_base::Timestamp;
use serde_json::{Map, Value, json};

pub use columns::built_in_columns;

use crate::{
    resource::{Cell, Column},
    wire::{
        negotiate::MetaVersion,
        status::{ApiError, Result},
    },
};

const NAME_DESCRIPTION: &str = "Name must be unique within a namespace. Is required when creating resources, although \
                                some resources may allow a client to request the generation of an appropriate name \
                                automatically.";

/// What rows carry beside their cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IncludeObject {
    /// Nothing.
    None,
    /// The object's metadata.
    #[default]
    Metadata,
    /// The whole object.
    Object,
}

impl IncludeObject {
    /// The value of the query parameter `includeObject`.
    ///
    /// # Errors
    /// 400 for anything else.
    pub fn parse(text: Option<&str>) -> Result<Self> {
        match text {
            None | Some("Metadata") => Ok(Self::Metadata),
            Some("None") => Ok(Self::None),
            Some("Object") => Ok(Self::Object),
            Some(other) => Err(ApiError::bad_request(format!(
                "unrecognized includeObject value: {other:?}"
            ))),
        }
    }
}

/// A Table of `objects`. `metadata` is that of the list; `headings` says whether the columns are described.
pub fn table(
    version: MetaVersion,
    columns: &[Column],
    include: IncludeObject,
    objects: &[Value],
    metadata: &Value,
    headings: bool,
    now: Timestamp,
) -> Value {
    let definitions: Vec<Value> = if headings {
        std::iter::once(definition("Name", "string", "name", NAME_DESCRIPTION, 0))
            .chain(
                columns
                    .iter()
                    .map(|it| definition(&it.name, &it.kind, &it.format, &it.description, it.priority)),
            )
            .collect()
    } else {
        Vec::new()
    };
    let rows: Vec<Value> = objects
        .iter()
        .map(|object| row(version, columns, include, object, now))
        .collect();
    json!({
        "kind": "Table",
        "apiVersion": version.api_version(),
        "metadata": metadata,
        "columnDefinitions": definitions,
        "rows": rows,
    })
}

fn definition(name: &str, kind: &str, format: &str, description: &str, priority: i32) -> Value {
    json!({ "name": name, "type": kind, "format": format, "description": description, "priority": priority })
}

fn row(
    version: MetaVersion,
    columns: &[Column],
    include: IncludeObject,
    object: &Value,
    now: Timestamp,
) -> Value {
    let cells: Vec<Value> = std::iter::once(object["metadata"]["name"].clone())
        .chain(columns.iter().map(|column| match &column.cell {
            Cell::Path(path) => path.cell(object, now),
            Cell::Computed(compute) => compute(object, now),
        }))
        .collect();
    match include {
        IncludeObject::None => json!({ "cells": cells }),
        IncludeObject::Metadata => json!({ "cells": cells, "object": partial(version, object) }),
        IncludeObject::Object => json!({ "cells": cells, "object": object }),
    }
}

/// The `PartialObjectMetadata` of an object.
pub fn partial(version: MetaVersion, object: &Value) -> Value {
    let mut partial = Map::new();
    partial.insert("kind".to_owned(), json!("PartialObjectMetadata"));
    partial.insert("apiVersion".to_owned(), json!(version.api_version()));
    partial.insert("metadata".to_owned(), object["metadata"].clone());
    Value::Object(partial)
}
