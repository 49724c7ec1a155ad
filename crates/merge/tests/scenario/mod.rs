//! Runs a scenario: writes by several managers to one object, from creation on.
//!
//! A scenario has the `schema` of the kind (null: none) and the definitions `defs` it refers to, the fields `ignored`
//! per version, and `ops`: `update`, `apply`, `force` (apply by force) and `extract` (force apply of the configuration
//! merged with what the manager applied before), or `schema`, which replaces the schema. All versions have the same
//! schema, and converting between them changes nothing.

use std::{collections::BTreeMap, sync::Arc};

use capstan_merge::{
    Schema, Set,
    managed::{ApplyError, ConversionError, Operation, Versions, apply, update},
    typed,
};
use serde_json::{Value, json};

struct SameInAll {
    schema: Arc<Schema>,
}

impl Versions for SameInAll {
    fn schema(&self, _: &str) -> Option<Arc<Schema>> {
        Some(Arc::clone(&self.schema))
    }

    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, ConversionError> {
        let mut object = object.clone();
        object["apiVersion"] = json!(api_version);
        Ok(object)
    }
}

fn compile(scenario: &Value, schema: &Value) -> Arc<Schema> {
    if schema.is_null() {
        return Schema::deduced();
    }
    Schema::for_object(schema, &|name| scenario["defs"].get(name))
        .expect("the schema of the scenario compiles")
}

/// What each operation leads to: the object without its managers, and the managers without their times; or the
/// message and causes of the error, after which the object is as before; or null for a change of the schema.
pub(crate) fn run(scenario: &Value) -> Vec<Value> {
    let mut versions = SameInAll {
        schema: compile(scenario, &scenario["schema"]),
    };
    let ignored = scenario["ignored"].as_object().expect("ignored is an object");
    let reset_fields: BTreeMap<String, Set> = ignored
        .iter()
        .map(|(version, set)| {
            (
                format!("test.io/{version}"),
                Set::from_fields_v1(set).expect("a field set"),
            )
        })
        .collect();
    let mut live: Option<Value> = None;
    let mut results = Vec::new();
    for op in scenario["ops"].as_array().expect("ops is a list") {
        if op["op"] == "schema" {
            versions.schema = compile(scenario, &op["schema"]);
            results.push(Value::Null);
            continue;
        }
        let api_version = format!("test.io/{}", op["version"].as_str().unwrap_or_default());
        let empty = json!({"apiVersion": api_version, "kind": "Thing"});
        let operation = Operation {
            manager: op["manager"].as_str().unwrap_or_default(),
            subresource: op["subresource"].as_str().unwrap_or_default(),
            api_version: &api_version,
            kind: "Thing",
            empty: &empty,
            versions: &versions,
            reset_fields: &reset_fields,
            now: jiff::Timestamp::constant(1_700_000_000, 0),
        };
        match write(&operation, op, live.as_ref()) {
            Ok(mut object) => {
                object["metadata"]["uid"] = json!("u");
                results.push(shown(&object));
                live = Some(object);
            }
            Err(error) => results.push(shown_error(&error)),
        }
    }
    results
}

fn write(operation: &Operation<'_>, op: &Value, live: Option<&Value>) -> Result<Value, ApplyError> {
    let mut object = op["object"].clone();
    let current = live.unwrap_or(operation.empty);
    match op["op"].as_str() {
        Some("update") => {
            if live.is_some() {
                object["metadata"]["uid"] = json!("u");
            }
            let updated = update(operation, current, object);
            updated
                .failure
                .map_or(Ok(updated.object), |failure| Err(failure.into()))
        }
        Some("extract") => {
            let entries = current["metadata"]["managedFields"]
                .as_array()
                .map_or(&[][..], Vec::as_slice);
            let own = entries.iter().find(|entry| {
                entry["manager"] == operation.manager
                    && entry["operation"] == "Apply"
                    && entry["subresource"].as_str().unwrap_or_default() == operation.subresource
            });
            let set = own.map_or_else(Set::new, |own| {
                Set::from_fields_v1(&own["fieldsV1"])
                    .expect("a field set")
                    .leaves()
            });
            let schema = operation
                .versions
                .schema(operation.api_version)
                .expect("every version has a schema");
            let extracted = typed::extract(&schema, current, &set);
            let config = typed::merge(&schema, &extracted, &object).unwrap_or(object);
            apply(operation, current, &config, true)
        }
        kind => apply(operation, current, &object, kind == Some("force")),
    }
}

fn shown(object: &Value) -> Value {
    let mut object = object.clone();
    let managers = object["metadata"]
        .as_object_mut()
        .and_then(|metadata| metadata.remove("managedFields"));
    let mut managers = managers.unwrap_or_else(|| json!([]));
    for manager in managers.as_array_mut().into_iter().flatten() {
        manager.as_object_mut().map(|manager| manager.remove("time"));
    }
    json!({"object": object, "managed": managers})
}

fn shown_error(error: &ApplyError) -> Value {
    match error {
        ApplyError::Conflict(conflicts) => {
            let causes: Vec<_> = conflicts
                .causes()
                .into_iter()
                .map(|cause| json!([cause.message, cause.field]))
                .collect();
            json!({"error": error.to_string(), "causes": causes})
        }
        _ => json!({"error": error.to_string()}),
    }
}
