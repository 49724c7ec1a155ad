//! Metrics in Prometheus' text format, with upstream's names.

use std::{collections::BTreeMap, fmt::Write, sync::Arc};

use http::StatusCode;
use parking_lot::Mutex;

use crate::{
    registry::Registry,
    wire::{query::Query, request::ResourcePath},
};

/// Adds lines to `/metrics`: what the process around the server knows.
pub trait MetricSource: Send + Sync + 'static {
    /// Appends complete lines.
    fn write(&self, text: &mut String);
}

/// The labels of `apiserver_request_total`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Labels {
    verb: &'static str,
    group: String,
    version: String,
    resource: String,
    subresource: String,
    scope: &'static str,
    code: u16,
    dry_run: &'static str,
}

/// Running watches by group, version and resource.
type Gauges = BTreeMap<(String, String, String), i64>;

/// The counters of a server.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    requests: Mutex<BTreeMap<Labels, u64>>,
    running: Arc<Mutex<Gauges>>,
}

/// Counts as a running watch until it is dropped.
pub(crate) struct Running {
    all: Arc<Mutex<Gauges>>,
    key: (String, String, String),
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(count) = self.all.lock().get_mut(&self.key) {
            *count -= 1;
        }
    }
}

impl Metrics {
    /// Counts an answered request about a resource that is served: paths of others would let clients make labels up.
    pub(crate) fn count(&self, verb: &str, path: &ResourcePath, query: &Query, code: StatusCode) {
        let labels = Labels {
            verb: verb_label(verb),
            group: path.group.clone(),
            version: path.version.clone(),
            resource: path.resource.clone(),
            subresource: path.subresource.clone(),
            scope: scope(path),
            code: code.as_u16(),
            dry_run: if query.get("dryRun").is_some() { "All" } else { "" },
        };
        *self.requests.lock().entry(labels).or_insert(0) += 1;
    }

    /// Counts a watch for as long as the result lives.
    pub(crate) fn long_running(&self, path: &ResourcePath) -> Running {
        let key = (path.group.clone(), path.version.clone(), path.resource.clone());
        *self.running.lock().entry(key.clone()).or_insert(0) += 1;
        Running {
            all: Arc::clone(&self.running),
            key,
        }
    }

    /// All metrics of the server and its store.
    pub(crate) fn text(&self, registry: &Registry) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text, registry);
        text
    }

    fn write(&self, text: &mut String, registry: &Registry) -> std::fmt::Result {
        writeln!(
            text,
            "# HELP apiserver_request_total Counter of apiserver requests."
        )?;
        writeln!(text, "# TYPE apiserver_request_total counter")?;
        for (labels, count) in self.requests.lock().iter() {
            let Labels {
                verb,
                group,
                version,
                resource,
                subresource,
                scope,
                code,
                dry_run,
            } = labels;
            writeln!(
                text,
                "apiserver_request_total{{code=\"{code}\",component=\"apiserver\",dry_run=\"{dry_run}\",\
                 group={group:?},resource={resource:?},scope=\"{scope}\",subresource={subresource:?},\
                 verb=\"{verb}\",version={version:?}}} {count}"
            )?;
        }
        writeln!(
            text,
            "# HELP apiserver_longrunning_requests Gauge of all active long-running requests."
        )?;
        writeln!(text, "# TYPE apiserver_longrunning_requests gauge")?;
        for ((group, version, resource), count) in self.running.lock().iter() {
            writeln!(
                text,
                "apiserver_longrunning_requests{{component=\"apiserver\",group={group:?},resource={resource:?},\
                 verb=\"WATCH\",version={version:?}}} {count}"
            )?;
        }
        let store = registry.store().metrics();
        for (name, kind, help, value) in [
            (
                "puts_total",
                "counter",
                "Objects created or changed since the start.",
                store.puts_total,
            ),
            (
                "removals_total",
                "counter",
                "Objects removed since the start.",
                store.removals_total,
            ),
            (
                "commits_total",
                "counter",
                "Durable transactions since the start.",
                store.commits_total,
            ),
            (
                "log_bytes_total",
                "counter",
                "Bytes handed to the log since the start.",
                store.log_bytes_total,
            ),
            (
                "revision",
                "gauge",
                "The revision of the last write.",
                store.revision,
            ),
        ] {
            writeln!(text, "# HELP capstan_store_{name} {help}")?;
            writeln!(text, "# TYPE capstan_store_{name} {kind}")?;
            writeln!(text, "capstan_store_{name} {value}")?;
        }
        writeln!(
            text,
            "# HELP apiserver_storage_objects Number of stored objects by resource."
        )?;
        writeln!(text, "# TYPE apiserver_storage_objects gauge")?;
        for (resource, count) in &store.objects {
            writeln!(text, "apiserver_storage_objects{{resource={resource:?}}} {count}")?;
        }
        Ok(())
    }
}

fn verb_label(verb: &str) -> &'static str {
    match verb {
        "get" => "GET",
        "list" => "LIST",
        "watch" => "WATCH",
        "create" => "POST",
        "update" => "PUT",
        "patch" => "PATCH",
        "delete" => "DELETE",
        "deletecollection" => "DELETECOLLECTION",
        _ => "other",
    }
}

fn scope(path: &ResourcePath) -> &'static str {
    match (path.name.is_empty(), path.namespace.is_empty()) {
        (false, _) => "resource",
        (true, false) => "namespace",
        (true, true) => "cluster",
    }
}
