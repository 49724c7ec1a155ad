//! When each part of a machine comes up: a pure function of the machine's identity, its timings and its start.
//!
//! ```text
//!   start ── vm ──► VM runs ── node ──► node is ready ─┬─ etcd ──────► etcd member runs
//!                                                      └─ apiServer ─► API server runs
//! ```

use std::time::Duration;

use capstan_base::{Timestamp, naming};

use capstan_api::infrastructure::{Component, InMemoryMachineBackend, parse_duration, parse_jitter};

/// How long each component of one machine takes, chance included: drawn from the machine's UID, so that the same
/// machine always takes as long and a restart changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timings {
    /// From the start until the VM runs.
    pub vm: Duration,
    /// From the running VM until the node is ready.
    pub node: Duration,
    /// From the node until the etcd member runs.
    pub etcd: Duration,
    /// From the node until the API server runs.
    pub api_server: Duration,
}

impl Timings {
    /// The timings of the machine of that UID. Texts that cannot be read count as zero; validation refuses them.
    pub fn of(uid: &str, backend: &InMemoryMachineBackend) -> Self {
        Self {
            vm: duration(uid, "vm", backend.vm.as_ref()),
            node: duration(uid, "node", backend.node.as_ref()),
            etcd: duration(uid, "etcd", backend.etcd.as_ref()),
            api_server: duration(uid, "apiServer", backend.api_server.as_ref()),
        }
    }
}

fn duration(uid: &str, component: &str, settings: Option<&Component>) -> Duration {
    let Some(settings) = settings else {
        return Duration::ZERO;
    };
    let least = parse_duration(&settings.provisioning.startup_duration).unwrap_or_default();
    let jitter = parse_jitter(&settings.provisioning.startup_jitter).unwrap_or_default();
    let share = f64::from(naming::fnv32a(format!("{uid}/{component}").as_bytes())) / f64::from(u32::MAX);
    least + Duration::try_from_secs_f64(least.as_secs_f64() * jitter * share).unwrap_or_default()
}

/// The moments at which the parts of one machine come up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeline {
    /// The VM runs.
    pub vm: Timestamp,
    /// The node is ready.
    pub node: Timestamp,
    /// The etcd member runs; only on control-plane machines.
    pub etcd: Timestamp,
    /// The API server runs, and with it controller manager and scheduler; only on control-plane machines.
    pub api_server: Timestamp,
}

/// The parts of a machine that are up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "four independent parts")]
pub struct Parts {
    /// The VM runs.
    pub vm: bool,
    /// The node is registered and ready.
    pub node: bool,
    /// The etcd member runs.
    pub etcd: bool,
    /// The API server, controller manager and scheduler run.
    pub api_server: bool,
}

impl Timeline {
    /// The moments of a machine that was started at `start`.
    pub fn new(start: Timestamp, timings: Timings) -> Self {
        let vm = start + timings.vm;
        let node = vm + timings.node;
        Self {
            vm,
            node,
            etcd: node + timings.etcd,
            api_server: node + timings.api_server,
        }
    }

    /// The moments of a machine whose VM is known to have come up at `vm`.
    pub fn from_vm(vm: Timestamp, timings: Timings) -> Self {
        Self::new(
            vm,
            Timings {
                vm: Duration::ZERO,
                ..timings
            },
        )
    }

    /// What is due by `now`.
    pub fn due(&self, now: Timestamp, is_control_plane: bool) -> Parts {
        Parts {
            vm: self.vm <= now,
            node: self.node <= now,
            etcd: is_control_plane && self.etcd <= now,
            api_server: is_control_plane && self.api_server <= now,
        }
    }

    /// The next moment after `now` at which something comes up.
    pub fn next(&self, now: Timestamp, is_control_plane: bool) -> Option<Timestamp> {
        let moments = [
            Some(self.vm),
            Some(self.node),
            is_control_plane.then_some(self.etcd),
            is_control_plane.then_some(self.api_server),
        ];
        moments.into_iter().flatten().filter(|it| *it > now).min()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn backend() -> InMemoryMachineBackend {
        serde_json::from_value(json!({
            "vm": { "provisioning": { "startupDuration": "10s" } },
            "node": { "provisioning": { "startupDuration": "2s" } },
            "etcd": { "provisioning": { "startupDuration": "3s" } },
            "apiServer": { "provisioning": { "startupDuration": "5s" } },
        }))
        .expect("a backend")
    }

    fn up(second: i64, is_control_plane: bool) -> String {
        let at = |second| Timestamp::from_second(second).expect("a time");
        let timeline = Timeline::new(at(0), Timings::of("uid", &backend()));
        let due = timeline.due(at(second), is_control_plane);
        let parts = [
            ("vm", due.vm),
            ("node", due.node),
            ("etcd", due.etcd),
            ("apiServer", due.api_server),
        ];
        let parts: Vec<&str> = parts.iter().filter(|it| it.1).map(|it| it.0).collect();
        let next = timeline
            .next(at(second), is_control_plane)
            .map(Timestamp::as_second);
        format!("{} then {next:?}", parts.join(" "))
    }

    #[test]
    fn a_control_plane_machine_comes_up_part_by_part() {
        let table = [
            (0, " then Some(10)"),
            (9, " then Some(10)"),
            (10, "vm then Some(12)"),
            (12, "vm node then Some(15)"),
            (15, "vm node etcd then Some(17)"),
            (17, "vm node etcd apiServer then None"),
        ];
        for (second, expected) in table {
            assert_eq!(up(second, true), expected, "after {second} s");
        }
    }

    #[test]
    fn a_worker_has_a_vm_and_a_node() {
        assert_eq!(up(10, false), "vm then Some(12)");
        assert_eq!(up(100, false), "vm node then None");
    }

    #[test]
    fn jitter_adds_up_to_its_share_and_is_the_same_for_the_same_machine() {
        let mut backend = backend();
        backend.vm = serde_json::from_value(json!({
            "provisioning": { "startupDuration": "10s", "startupJitter": "0.5" }
        }))
        .ok();
        let drawn: Vec<Duration> = (0..100)
            .map(|it| Timings::of(&format!("uid-{it}"), &backend).vm)
            .collect();
        assert!(
            drawn.iter().all(|it| (10.0..=15.0).contains(&it.as_secs_f64())),
            "{drawn:?}"
        );
        let spread = drawn
            .iter()
            .max()
            .expect("some")
            .saturating_sub(*drawn.iter().min().expect("some"));
        assert!(spread > Duration::from_secs(3), "{spread:?}");
        assert_eq!(Timings::of("uid-1", &backend), Timings::of("uid-1", &backend));
    }

    #[test]
    fn a_machine_without_timings_is_up_at_once() {
        assert_eq!(
            Timings::of("uid", &InMemoryMachineBackend::default()),
            Timings::default()
        );
    }
}
