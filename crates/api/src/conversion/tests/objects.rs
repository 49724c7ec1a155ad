//! Random valid objects, made from the schemas themselves.

use std::collections::BTreeSet;

use proptest::{
    collection::vec,
    option::weighted,
    prelude::*,
    sample::select,
    strategy::{BoxedStrategy, Union},
};
use regex::Regex;
use serde_json::{Map, Value, json};

use crate::crd::{Bounds, Field, IntegerFormat, ListKind, Schema, Shape, TextFormat, Version};

/// Texts that patterns and lengths choose from.
const TEXTS: [&str; 10] = [
    "a",
    "b1",
    "ready",
    "example.com",
    "example.com/v1",
    "[1-3]",
    "Kind",
    "10",
    "",
    "True",
];

/// Durations in the form in which they are written.
const DURATIONS: [&str; 5] = ["0s", "1s", "5m0s", "1h0m0s", "26h3m4s"];

/// Fields of the older versions that are texts to the schema, but durations to the conversion.
const DURATION_FIELDS: [&str; 10] = [
    "minHealthyPeriod",
    "nodeDeletionTimeout",
    "nodeDrainTimeout",
    "nodeStartupTimeout",
    "nodeVolumeDetachTimeout",
    "retryPeriod",
    "timeout",
    "timeoutForControlPlane",
    "ttl",
    "bootstrapTimeout",
];

/// Keys by which conversions find items again; the schemas do not all say that they are unique.
const UNIQUE: [&str; 4] = ["name", "path", "hostPath", "from"];

/// Objects of a version, with metadata.
pub(super) fn objects(api_version: &str, kind: &str, version: &Version) -> BoxedStrategy<Value> {
    let head = json!({ "apiVersion": api_version, "kind": kind });
    (
        values(&version.schema, ""),
        select(vec!["team", "other"]),
        any::<bool>(),
    )
        .prop_map(move |(mut object, namespace, labelled)| {
            for (name, value) in head.as_object().unwrap() {
                object[name] = value.clone();
            }
            object["metadata"] = json!({ "namespace": namespace, "name": "thing" });
            if labelled {
                object["metadata"]["annotations"] = json!({ "note": "kept" });
                if let Some(name) = object["spec"].get("clusterName").cloned() {
                    object["metadata"]["labels"] = json!({ "cluster.x-k8s.io/cluster-name": name });
                }
            }
            object
        })
        .boxed()
}

fn values(schema: &Schema, name: &str) -> BoxedStrategy<Value> {
    match &schema.shape {
        Shape::Object {
            fields, properties, ..
        } => object(fields, *properties),
        Shape::Map { values: inner, .. } => vec((select(vec!["a", "b.c", "d-e"]), values(inner, "")), 0..3)
            .prop_map(|entries| Value::Object(entries.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()))
            .boxed(),
        Shape::List { items, count, kind } => list(items, *count, kind),
        Shape::Text {
            format,
            length,
            pattern,
            values,
        } => text(name, *format, *length, pattern.as_deref(), values),
        Shape::Integer { format, value } => integer(*format, *value),
        Shape::Number => select(vec![json!(0), json!(1.5)]).boxed(),
        Shape::Boolean => any::<bool>().prop_map(Value::from).boxed(),
        Shape::IntOrText { pattern: None } => select(vec![json!(0), json!(3), json!("25%")]).boxed(),
        Shape::IntOrText { pattern: Some(_) } => select(vec![json!(1), json!("2")]).boxed(),
        Shape::Any => select(vec![
            json!("text"),
            json!(0),
            json!([1, "a"]),
            json!({ "type": "object", "uniqueItems": false }),
            json!({ "a": { "x-kubernetes-int-or-string": true, "not": { "exclusiveMinimum": false } } }),
        ])
        .boxed(),
    }
}

fn object(fields: &[Field], properties: Bounds) -> BoxedStrategy<Value> {
    if fields.is_empty() {
        return Just(json!({})).boxed();
    }
    let required: Vec<bool> = fields.iter().map(|field| field.required).collect();
    let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
    let least = usize::try_from(properties.low.unwrap_or_default()).unwrap();
    let parts: Vec<_> = fields
        .iter()
        .map(|field| {
            let value = values(&field.schema, &field.name);
            if field.required {
                value.prop_map(Some).boxed()
            } else {
                weighted(0.4, value).boxed()
            }
        })
        .collect();
    let fallback = values(&fields[0].schema, &fields[0].name);
    (parts, fallback)
        .prop_map(move |(parts, fallback)| {
            let mut object: Map<String, Value> = Map::new();
            for (index, part) in parts.into_iter().enumerate() {
                if let Some(part) = part {
                    object.insert(names[index].clone(), part);
                }
            }
            if object.len() < least {
                object.insert(names[0].clone(), fallback);
            }
            if let Some(layout) = names.iter().position(|name| name == "layout")
                && !required[layout]
            {
                // In the hub a partition has either of the two.
                if object.contains_key("diskLayout") {
                    object.remove("layout");
                } else {
                    object.entry("layout").or_insert(json!(false));
                }
            }
            Value::Object(object)
        })
        .boxed()
}

fn list(items: &Schema, count: Bounds, kind: &ListKind) -> BoxedStrategy<Value> {
    let least = usize::try_from(count.low.unwrap_or_default()).unwrap();
    let keys = match kind {
        ListKind::Map(keys) => keys.clone(),
        ListKind::Set | ListKind::Atomic | ListKind::Unset => Vec::new(),
    };
    vec(values(items, ""), least..least + 3)
        .prop_map(move |items| {
            let mut seen = BTreeSet::new();
            let items = items.into_iter().filter(|item| {
                let unique = UNIQUE.iter().find_map(|key| item.get(key));
                let identity = match unique {
                    Some(value) => value.to_string(),
                    None if keys.is_empty() => return true,
                    None => keys.iter().map(|key| item[key].to_string()).collect(),
                };
                seen.insert(identity)
            });
            Value::Array(items.collect())
        })
        .boxed()
}

fn text(
    name: &str,
    format: TextFormat,
    length: Bounds,
    pattern: Option<&str>,
    values: &[String],
) -> BoxedStrategy<Value> {
    let choices: Vec<String> = if format == TextFormat::Time {
        vec![
            "2024-02-29T12:00:00Z".to_owned(),
            "2025-01-01T00:00:00Z".to_owned(),
        ]
    } else if format == TextFormat::Bytes {
        vec!["YWJj".to_owned()]
    } else if DURATION_FIELDS.contains(&name) {
        DURATIONS.map(str::to_owned).to_vec()
    } else if name == "apiVersion" && pattern.is_none() {
        vec!["example.com/v1".to_owned(), "infra.example.com/v1".to_owned()]
    } else if values.is_empty() {
        let pattern = pattern.map(|pattern| Regex::new(pattern).unwrap());
        let fits = |text: &&&str| {
            let size = i64::try_from(text.len()).unwrap();
            let low = if name == "kind" || name == "name" {
                1
            } else {
                length.low.unwrap_or_default()
            };
            size >= low
                && length.high.is_none_or(|high| size <= high)
                && pattern.as_ref().is_none_or(|pattern| pattern.is_match(text))
        };
        TEXTS.iter().filter(fits).map(|text| (*text).to_owned()).collect()
    } else {
        values.to_vec()
    };
    assert!(!choices.is_empty(), "no text fits {name} {pattern:?}");
    select(choices).prop_map(Value::from).boxed()
}

fn integer(format: IntegerFormat, value: Bounds) -> BoxedStrategy<Value> {
    let low = value
        .low
        .unwrap_or(if format == IntegerFormat::Plain { 0 } else { -1 })
        .max(0);
    let high = value.high.unwrap_or(i64::from(i32::MAX));
    Union::new([
        Just(low).boxed(),
        (low..=high.min(low + 5)).boxed(),
        Just(high).boxed(),
    ])
    .prop_map(Value::from)
    .boxed()
}
