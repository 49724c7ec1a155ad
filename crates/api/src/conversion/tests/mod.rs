//! Round trips of random objects through every conversion, and the conversions of a few objects written down.

mod examples;
mod objects;

use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use serde_json::Value;

use super::{DATA_ANNOTATION, ReferenceVersions, convert, kinds};
use crate::crd;

/// Random objects per kind and direction.
const CASES: usize = 24;

/// Everything fulfils its contract in v1.
struct AlwaysV1;

impl ReferenceVersions for AlwaysV1 {
    fn api_version(&self, group: &str, _: &str) -> Option<String> {
        Some(format!("{group}/v1"))
    }
}

/// What spokes say and the hub does not keep: paths without the positions in lists, from their end.
const LOST_ON_THE_WAY_UP: [&str; 26] = [
    "clusterConfiguration.apiVersion",
    "clusterConfiguration.kind",
    "clusterConfiguration.clusterName",
    "clusterConfiguration.kubernetesVersion",
    "clusterConfiguration.networking",
    "initConfiguration.apiVersion",
    "initConfiguration.kind",
    "joinConfiguration.apiVersion",
    "joinConfiguration.kind",
    "spec.useExperimentalRetryJoin",
    "kubeadmConfigSpec.useExperimentalRetryJoin",
    "topology.rolloutAfter",
    "variables.definitionFrom",
    "overrides.definitionFrom",
    "spec.revisionHistoryLimit",
    "spec.progressDeadlineSeconds",
    // A reference is local to the namespace of the object and has no more than group, kind and name.
    "ef.namespace",
    "Template.namespace",
    "fieldPath",
    "resourceVersion",
    "uid",
    "nodeRef.kind",
    "nodeRef.apiVersion",
    // Computed from other fields on the way down.
    "status.ready",
    "rolloutStrategy.type",
    "layout",
];

/// Where a round trip begins.
#[derive(Clone, Copy)]
enum From {
    Hub,
    Spoke,
}

fn each_conversion(from: From, check: fn(&crd::Definition, &str, &Value)) {
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    for conversion in kinds::ALL {
        let definition = crd::kinds()
            .iter()
            .find(|definition| definition.kind == conversion.kind)
            .unwrap();
        let start = match from {
            From::Hub => "v1beta2",
            From::Spoke => conversion.spoke,
        };
        let version = definition.version(start).unwrap();
        let api_version = format!("{}/{start}", definition.group);
        let objects = objects::objects(&api_version, conversion.kind, version);
        for _ in 0..CASES {
            check(
                definition,
                conversion.spoke,
                &objects.new_tree(&mut runner).unwrap().current(),
            );
        }
    }
}

fn change(definition: &crd::Definition, from: &str, to: &str, value: Value) -> Value {
    convert(&definition.group, &definition.kind, from, to, value, &AlwaysV1).unwrap()
}

fn there_and_back(definition: &crd::Definition, spoke: &str, before: &Value) {
    let there = change(definition, "v1beta2", spoke, before.clone());
    let back = change(definition, spoke, "v1beta2", there.clone());
    let (wanted, got) = (without_empty_objects(before.clone()), without_empty_objects(back));
    assert!(
        wanted == got,
        "{} by way of {}",
        differences(&wanted, &got),
        pretty(&there)
    );
}

fn up_and_down(definition: &crd::Definition, spoke: &str, before: &Value) {
    let hub = change(definition, spoke, "v1beta2", before.clone());
    let back = change(definition, "v1beta2", spoke, hub.clone());
    let (wanted, got) = (essence(before.clone(), ""), essence(back, ""));
    assert!(
        wanted == got,
        "{} by way of {}",
        differences(&wanted, &got),
        pretty(&hub)
    );
}

#[test]
fn objects_of_the_hub_survive_every_spoke() {
    each_conversion(From::Hub, there_and_back);
}

#[test]
fn objects_of_a_spoke_survive_the_hub() {
    each_conversion(From::Spoke, up_and_down);
}

/// The lines that only one of two objects has.
fn differences(wanted: &Value, got: &Value) -> String {
    let (wanted, got) = (pretty(wanted), pretty(got));
    let only = |these: &str, others: &str, sign: char| -> Vec<String> {
        let others: Vec<&str> = others.lines().collect();
        these
            .lines()
            .filter(|line| !others.contains(line))
            .map(|line| format!("{sign}{line}"))
            .collect()
    };
    [only(&wanted, &got, '-'), only(&got, &wanted, '+')]
        .concat()
        .join("\n")
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

/// Objects without fields mean nothing where they can be left out; all other values count.
fn without_empty_objects(mut value: Value) -> Value {
    match &mut value {
        Value::Object(object) => {
            for inner in object.values_mut() {
                *inner = without_empty_objects(inner.take());
            }
            object.retain(|_, inner| inner.as_object().is_none_or(|inner| !inner.is_empty()));
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| *item = without_empty_objects(item.take())),
        _ => {}
    }
    value
}

/// What a spoke means: without zero values, which its readers take for absent ones, and without what gets lost.
fn essence(mut value: Value, path: &str) -> Value {
    match &mut value {
        Value::Object(object) => {
            for (name, inner) in object.iter_mut() {
                *inner = essence(inner.take(), &format!("{path}.{name}"));
            }
            object.retain(|name, inner| {
                let path = format!("{path}.{name}");
                let zero = match inner {
                    Value::Null => true,
                    Value::Bool(set) => !*set,
                    Value::Number(number) => number.as_i64() == Some(0),
                    Value::String(text) => text.is_empty() || text == "0s",
                    Value::Array(items) => items.is_empty(),
                    Value::Object(fields) => fields.is_empty(),
                };
                !zero
                    && name != DATA_ANNOTATION
                    && !LOST_ON_THE_WAY_UP.iter().any(|lost| path.ends_with(lost))
            });
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| *item = essence(item.take(), path)),
        _ => {}
    }
    value
}
