//! What the plane adds to `/metrics`: the process it runs in, and its controllers.

use std::{
    fmt::Write as _,
    fs,
    sync::{Arc, OnceLock},
};

use capstan_apiserver::MetricSource;
use capstan_base::Timestamp;
use capstan_engine::Metrics;

/// The unit of the times in `/proc/self/stat`. The kernel gives them to user space in hundredths of a second on every
/// architecture this runs on.
const TICKS_PER_SECOND: f64 = 100.0;

/// The lines of a plane. The engine comes after the server, hence the slot. Clones share it.
#[derive(Debug, Clone)]
pub struct PlaneMetrics {
    start: Timestamp,
    engine: Arc<OnceLock<Metrics>>,
}

impl PlaneMetrics {
    /// The metrics of a plane that starts at a time.
    pub fn starting_at(start: Timestamp) -> Self {
        Self {
            start,
            engine: Arc::default(),
        }
    }

    /// Shows the counters of its controllers too.
    pub fn set_engine(&self, metrics: Metrics) {
        // Only the start of a plane calls this, once.
        let _ = self.engine.set(metrics);
    }
}

impl MetricSource for PlaneMetrics {
    fn write(&self, text: &mut String) {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a start time in seconds fits a float for ages"
        )]
        let start = self.start.as_millisecond() as f64 / 1000.0;
        let own = |path: &str| fs::read_to_string(path).unwrap_or_default();
        process(text, start, &own("/proc/self/stat"), &own("/proc/self/status"));
        if let Some(engine) = self.engine.get() {
            text.push_str(&engine.text());
        }
    }
}

/// The metrics of a process under the names of the Prometheus clients. Where the system does not say, there is no line.
fn process(text: &mut String, start: f64, stat: &str, status: &str) {
    let mut line = |name: &str, kind: &str, help: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
    };
    if let Some(seconds) = cpu_seconds(stat) {
        line(
            "process_cpu_seconds_total",
            "counter",
            "Total user and system CPU time spent in seconds.",
            format!("{seconds:.2}"),
        );
    }
    if let Some(bytes) = resident_bytes(status) {
        line(
            "process_resident_memory_bytes",
            "gauge",
            "Resident memory size in bytes.",
            bytes.to_string(),
        );
    }
    line(
        "process_start_time_seconds",
        "gauge",
        "Start time of the process since unix epoch in seconds.",
        format!("{start:.3}"),
    );
}

/// User and system time of `/proc/self/stat`: fields 14 and 15. The second field is the command in parentheses, which
/// may hold spaces.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u32>().ok();
    let (user, system) = (next()?, next()?);
    Some((f64::from(user) + f64::from(system)) / TICKS_PER_SECOND)
}

/// The resident set of `/proc/self/status`, which counts in KiB.
fn resident_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_is_measured_by_what_proc_says() {
        let stat = "42 (a (b) c) S 1 42 42 0 -1 4194560 900 0 0 0 150 25 0 0 20 0 9 0 100 1 1 1";
        let status = "Name:\tcapstan\nVmPeak:\t  9000 kB\nVmRSS:\t  2048 kB\n";
        let mut text = String::new();
        process(&mut text, 1_767_323_045.5, stat, status);
        let values: Vec<_> = text.lines().filter(|it| !it.starts_with('#')).collect();
        assert_eq!(
            values,
            [
                "process_cpu_seconds_total 1.75",
                "process_resident_memory_bytes 2097152",
                "process_start_time_seconds 1767323045.500",
            ]
        );
    }

    #[test]
    fn where_proc_says_nothing_there_is_no_line() {
        let mut text = String::new();
        process(&mut text, 1.0, "", "");
        let values: Vec<_> = text.lines().filter(|it| !it.starts_with('#')).collect();
        assert_eq!(values, ["process_start_time_seconds 1.000"]);
    }
}
