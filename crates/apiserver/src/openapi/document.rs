//! The documents themselves.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{META, as_object, schema_name};
use crate::{
    registry::taken,
    resource::{REFERENCE_PREFIX, Resource, ResourceTable, SchemaSource, Version, definitions},
};

/// The version 3 document of one group version.
pub(super) fn v3(table: &ResourceTable, group: &str, version: &str) -> Value {
    let mut paths = Map::new();
    let mut schemas: BTreeMap<String, Value> = BTreeMap::new();
    let mut roots: Vec<String> = ["ObjectMeta", "ListMeta", "DeleteOptions", "Status"]
        .map(|it| format!("{META}{it}"))
        .into();
    for (resource, version) in table.in_version(group, version) {
        let name = match &version.schema {
            SchemaSource::BuiltIn(schema) => {
                roots.push(schema.definition.to_owned());
                schema.definition.to_owned()
            }
            SchemaSource::Custom { published, .. } => {
                let name = schema_name(group, &version.name, &resource.kind);
                schemas.insert(
                    name.clone(),
                    as_object(published, group, &version.name, &resource.kind),
                );
                name
            }
        };
        schemas.insert(format!("{name}List"), list_schema(resource, version, &name));
        add_paths(&mut paths, resource, version, &name);
    }
    for (name, schema) in definitions().closure(roots.iter().map(String::as_str)) {
        schemas.insert(name.to_owned(), schema.clone());
    }
    json!({
        "openapi": "3.0.0",
        "info": { "title": "Kubernetes", "version": "unversioned" },
        "paths": paths,
        "components": { "schemas": schemas },
    })
}

/// The version 2 document: the same schemas, with references in its form, and no paths.
pub(super) fn v2(table: &ResourceTable) -> Value {
    let mut schemas = Map::new();
    for (group, versions) in table.groups() {
        for version in versions {
            let document = v3(table, &group, &version);
            if let Value::Object(found) = &document["components"]["schemas"] {
                schemas.extend(
                    found
                        .iter()
                        .map(|(name, schema)| (name.clone(), v2_schema(schema))),
                );
            }
        }
    }
    json!({
        "swagger": "2.0",
        "info": { "title": "Kubernetes", "version": "unversioned" },
        "paths": {},
        "definitions": schemas,
    })
}

/// A schema in the form of version 2, which knows neither `nullable` nor choices between schemas.
fn v2_schema(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let mut result = Map::new();
            for (key, value) in map {
                match key.as_str() {
                    "$ref" => {
                        let name = value
                            .as_str()
                            .and_then(|it| it.strip_prefix(REFERENCE_PREFIX))
                            .unwrap_or_default();
                        result.insert(key.clone(), json!(format!("#/definitions/{name}")));
                    }
                    "allOf" => match value.as_array().map(Vec::as_slice) {
                        Some([only]) if only.get("$ref").is_some() => {
                            if let Value::Object(reference) = v2_schema(only) {
                                result.extend(reference);
                            }
                        }
                        _ => {}
                    },
                    "nullable" | "oneOf" | "anyOf" | "not" => {}
                    _ => {
                        result.insert(key.clone(), v2_schema(value));
                    }
                }
            }
            Value::Object(result)
        }
        Value::Array(items) => items.iter().map(v2_schema).collect(),
        other => other.clone(),
    }
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("{REFERENCE_PREFIX}{name}") })
}

fn list_schema(resource: &Resource, version: &Version, item: &str) -> Value {
    let list = json!({
        "description": format!("{} is a list of {}", resource.list_kind, resource.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "items": { "type": "array", "items": { "allOf": [reference(item)], "default": {} } },
        },
    });
    let mut list = as_object(&list, &resource.group, &version.name, &resource.list_kind);
    list["properties"]["metadata"] = json!({ "allOf": [reference(&format!("{META}ListMeta"))] });
    list
}

fn parameter(name: &str, place: &str, kind: &str, description: &str) -> Value {
    let mut parameter = json!({ "name": name, "in": place, "description": description, "schema": { "type": kind, "uniqueItems": true } });
    if place == "path" {
        parameter["required"] = json!(true);
    }
    parameter
}

fn write_parameters() -> Vec<Value> {
    vec![
        parameter(
            "dryRun",
            "query",
            "string",
            "When present, indicates that modifications should not be persisted.",
        ),
        parameter(
            "fieldManager",
            "query",
            "string",
            "The name of the actor that makes these changes.",
        ),
        parameter(
            "fieldValidation",
            "query",
            "string",
            "What to do about unknown or duplicate fields: Ignore, Warn, Strict.",
        ),
    ]
}

fn list_parameters() -> Vec<Value> {
    let text = |name: &str| parameter(name, "query", "string", "");
    vec![
        text("continue"),
        text("fieldSelector"),
        text("labelSelector"),
        parameter("limit", "query", "integer", ""),
        text("resourceVersion"),
        text("resourceVersionMatch"),
        parameter("timeoutSeconds", "query", "integer", ""),
        parameter("watch", "query", "boolean", ""),
    ]
}

fn add_paths(paths: &mut Map<String, Value>, resource: &Resource, version: &Version, schema: &str) {
    let root = match resource.group.as_str() {
        "" => format!("/api/{}", version.name),
        group => format!("/apis/{group}/{}", version.name),
    };
    let collection = if resource.is_namespaced() {
        format!("{root}/namespaces/{{namespace}}/{}", resource.plural)
    } else {
        format!("{root}/{}", resource.plural)
    };
    let kind = json!({ "group": resource.group, "version": version.name, "kind": resource.kind });
    let operation = |action: &str, parameters: Vec<Value>, answer: &str, body: Option<Value>| {
        let mut operation = json!({
            "tags": [resource.group],
            "operationId": format!("{action}{}{}", version.name, resource.kind),
            "parameters": parameters,
            "responses": {
                "200": { "description": "OK", "content": { "application/json": { "schema": reference(answer) } } },
            },
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": kind,
        });
        if let Some(body) = body {
            operation["requestBody"] = json!({ "required": true, "content": body });
        }
        operation
    };
    let own_body = || Some(json!({ "application/json": { "schema": reference(schema) } }));
    let mut place = Vec::new();
    if resource.is_namespaced() {
        place.push(parameter(
            "namespace",
            "path",
            "string",
            "object name and auth scope, such as for teams and projects",
        ));
    }
    let verbs = resource.verbs();
    let mut of_collection = json!({ "parameters": place });
    if verbs.contains(&"list") {
        of_collection["get"] = operation("list", list_parameters(), &format!("{schema}List"), None);
    }
    if verbs.contains(&"create") {
        of_collection["post"] = operation("post", write_parameters(), schema, own_body());
    }
    if verbs.contains(&"deletecollection") {
        let status = format!("{META}Status");
        of_collection["delete"] = operation("deletecollection", list_parameters(), &status, None);
    }
    paths.insert(collection.clone(), of_collection);
    if !verbs.contains(&"get") {
        return;
    }
    place.push(parameter(
        "name",
        "path",
        "string",
        &format!("name of the {}", resource.kind),
    ));
    let mut of_object = json!({ "parameters": place });
    of_object["get"] = operation("get", Vec::new(), schema, None);
    of_object["put"] = operation("put", write_parameters(), schema, own_body());
    let mut patch_parameters = write_parameters();
    patch_parameters.push(parameter(
        "force",
        "query",
        "boolean",
        "Force apply: take fields over from other managers.",
    ));
    let patches: Map<String, Value> = taken(resource.strategy.strategic_merge)
        .iter()
        .map(|media_type| {
            (
                (*media_type).to_owned(),
                json!({ "schema": { "type": "object" } }),
            )
        })
        .collect();
    of_object["patch"] = operation("patch", patch_parameters, schema, Some(Value::Object(patches)));
    of_object["delete"] = operation("delete", write_parameters(), &format!("{META}Status"), None);
    paths.insert(format!("{collection}/{{name}}"), of_object);
}
