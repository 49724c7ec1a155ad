//! The state of a management plane in a form in which two runs can be compared: without revisions, times, UIDs,
//! addresses, and with what a name was made for in the place of the name.

use std::collections::BTreeMap;

use capstan_store::Store;
use serde_json::{Map, Value};

/// Fields that differ from run to run and mean nothing.
const VOLATILE: [&str; 12] = [
    "uid",
    "resourceVersion",
    "generation",
    "observedGeneration",
    "creationTimestamp",
    "deletionTimestamp",
    "managedFields",
    "lastTransitionTime",
    "lastUpdated",
    "port",
    "addresses",
    "nodeInfo",
];

/// One line per object of Cluster API and per secret, sorted. Secrets show which keys they have, not what is in them.
pub fn end_state(store: &Store) -> Vec<String> {
    let snapshot = store.snapshot();
    let resources: Vec<String> = snapshot
        .counts()
        .map(|(resource, _)| resource.to_owned())
        .filter(|it| it.contains("cluster.x-k8s.io/") || it == "core/secrets")
        .filter(|it| !it.starts_with("apiextensions"))
        .collect();
    let names = Names::of(&snapshot);
    let mut lines = Vec::new();
    for resource in &resources {
        for record in snapshot.range(resource, None) {
            let mut value: Value = serde_json::from_slice(&record.value).unwrap_or_default();
            if resource == "core/secrets" {
                let keys: Vec<String> = value["data"]
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(key, _)| key.clone())
                    .collect();
                value["data"] = Value::from(keys);
            }
            normalise(&mut value, &names);
            lines.push(format!("{resource} {value}"));
        }
    }
    lines.sort();
    lines
}

/// What generated names stand for, the longest first.
struct Names(Vec<(String, String)>);

impl Names {
    fn of(snapshot: &capstan_store::Snapshot) -> Self {
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        for (resource, mark) in [
            ("cluster.x-k8s.io/machinesets", "<set>"),
            ("cluster.x-k8s.io/machines", "<machine>"),
        ] {
            for record in snapshot.range(resource, None) {
                let is_control_plane =
                    String::from_utf8_lossy(&record.value).contains("cluster.x-k8s.io/control-plane\"");
                let mark = if is_control_plane {
                    "<control plane machine>"
                } else {
                    mark
                };
                found.insert(record.key.name().to_owned(), mark.to_owned());
                let value: Value = serde_json::from_slice(&record.value).unwrap_or_default();
                if let Some(hash) = value["metadata"]["labels"]["machine-template-hash"].as_str() {
                    found.insert(hash.to_owned(), "<hash>".to_owned());
                }
            }
        }
        let mut names: Vec<(String, String)> = found.into_iter().collect();
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Self(names)
    }

    fn replaced(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, mark) in &self.0 {
            if text.contains(name.as_str()) {
                text = text.replace(name.as_str(), mark);
            }
        }
        text
    }
}

fn normalise(value: &mut Value, names: &Names) {
    match value {
        Value::Object(fields) => {
            let kept: Map<String, Value> = std::mem::take(fields)
                .into_iter()
                .filter(|(key, _)| !VOLATILE.contains(&key.as_str()))
                .map(|(key, mut value)| {
                    normalise(&mut value, names);
                    (names.replaced(&key), value)
                })
                .collect();
            *fields = kept;
        }
        Value::Array(items) => items.iter_mut().for_each(|it| normalise(it, names)),
        Value::String(text) => {
            let shown = names.replaced(text);
            *text = if is_volatile(&shown) {
                "*".to_owned()
            } else {
                without_port(&shown)
            };
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The text without the port of a simulated API server in it.
fn without_port(text: &str) -> String {
    const HOST: &str = "127.0.0.1:";
    match text.split_once(HOST) {
        Some((before, after)) => {
            let rest = after.trim_start_matches(|it: char| it.is_ascii_digit());
            format!("{before}{HOST}*{rest}")
        }
        None => text.to_owned(),
    }
}

/// A time, or a token to join with.
fn is_volatile(text: &str) -> bool {
    let is_time =
        text.len() >= 20 && text.ends_with('Z') && text.as_bytes()[4] == b'-' && text.as_bytes()[10] == b'T';
    let is_token = text.len() == 23 && text.as_bytes()[6] == b'.' && !text.contains(' ');
    let is_hash = text.starts_with("sha256:");
    is_time || is_token || is_hash
}
