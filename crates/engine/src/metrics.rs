//! Counters of all controllers, under controller-runtime's names where those exist.

use std::{collections::BTreeMap, fmt::Write, sync::Arc};

use parking_lot::Mutex;

use crate::queue::Queue;

/// How a pass ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ending {
    Success,
    Waiting,
    Error,
    /// Turned back at the barrier.
    Stale,
}

impl Ending {
    fn label(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Waiting => "requeue_after",
            Self::Error => "error",
            Self::Stale => "stale_cache",
        }
    }
}

#[derive(Default)]
struct State {
    passes: BTreeMap<(&'static str, Ending), u64>,
    status_patches: BTreeMap<&'static str, u64>,
    queues: BTreeMap<&'static str, Arc<Queue>>,
}

/// The counters of one engine. Clones count into the same place.
#[derive(Clone, Default)]
pub struct Metrics(Arc<Mutex<State>>);

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Metrics {
    pub(crate) fn add_queue(&self, controller: &'static str, queue: Arc<Queue>) {
        self.0.lock().queues.insert(controller, queue);
    }

    pub(crate) fn passed(&self, controller: &'static str, ending: Ending) {
        *self.0.lock().passes.entry((controller, ending)).or_default() += 1;
    }

    pub(crate) fn patched_status(&self, controller: &'static str) {
        *self.0.lock().status_patches.entry(controller).or_default() += 1;
    }

    /// The counters in Prometheus' text form.
    pub fn text(&self) -> String {
        let state = self.0.lock();
        let mut text = String::new();
        let head = |text: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        };
        let name = "controller_runtime_reconcile_total";
        head(
            &mut text,
            name,
            "counter",
            "Passes over objects, by controller and result.",
        );
        for ((controller, ending), count) in &state.passes {
            let _ = writeln!(
                text,
                "{name}{{controller=\"{controller}\",result=\"{}\"}} {count}",
                ending.label()
            );
        }
        let name = "capstan_status_patches_total";
        head(&mut text, name, "counter", "Status patches sent, by controller.");
        for (controller, count) in &state.status_patches {
            let _ = writeln!(text, "{name}{{controller=\"{controller}\"}} {count}");
        }
        let name = "workqueue_depth";
        head(
            &mut text,
            name,
            "gauge",
            "Objects that wait for a pass, by controller.",
        );
        for (controller, queue) in &state.queues {
            let _ = writeln!(text, "{name}{{name=\"{controller}\"}} {}", queue.depth());
        }
        text
    }
}
