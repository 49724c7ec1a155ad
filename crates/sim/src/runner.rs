//! One run: a scenario, a seed, a schedule of faults, and what the oracles say of it.

use std::sync::Arc;

use parking_lot::Mutex;
use tracing_subscriber::fmt::MakeWriter;

use crate::{
    Fate, Planted, Reference, Scenario, Trace, World, fault::Fault, oracle, panics, world::run_with,
};

/// What is run.
#[derive(Debug, Clone)]
pub struct Run<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The seed.
    pub seed: u64,
    /// The faults besides those of the scenario.
    pub faults: Vec<Fault>,
    /// A bug that is put in on purpose.
    pub planted: Option<Planted>,
    /// Are the logs searched for secrets too? That costs time.
    pub with_logs: bool,
}

/// What came of it.
#[derive(Debug)]
pub struct Report {
    /// Everything that must not be; empty if the run is good.
    pub violations: Vec<String>,
    /// How many writes and cloud calls the controllers made.
    pub counts: (u64, u64),
    /// What was written.
    pub trace: Trace,
    /// How it ended.
    pub reference: Reference,
}

/// A run of a scenario without further faults: what others are compared with.
///
/// # Errors
/// What is wrong with it already.
pub fn reference(scenario: &Scenario, seed: u64) -> Result<Report, String> {
    let run = Run {
        scenario,
        seed,
        faults: Vec::new(),
        planted: None,
        with_logs: false,
    };
    let report = once(&run, None);
    if report.violations.is_empty() {
        Ok(report)
    } else {
        Err(format!(
            "{} without faults: {}",
            scenario.name,
            report.violations.join("; ")
        ))
    }
}

/// Runs once and asks the oracles.
pub fn once(run: &Run<'_>, reference: Option<&Reference>) -> Report {
    panics::forget();
    let mut faults = (run.scenario.befalls)();
    faults.extend(run.faults.iter().cloned());
    let fate = Fate {
        faults,
        planted: run.planted,
    };
    let logs = Logs::default();
    let live = || run_with(run.seed, fate, |world| lived(run.scenario, world));
    let ((mut violations, counts, end, store), trace) = if run.with_logs {
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::DEBUG)
            .with_ansi(false)
            .with_writer(logs.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, live)
    } else {
        live()
    };
    let leaked = oracle::leaked(&store, &String::from_utf8_lossy(&logs.0.lock()));
    violations.extend(leaked);
    violations.extend(panics::seen().into_iter().map(|it| format!("panic: {it}")));
    let own = Reference {
        end,
        turnover: oracle::turnover(&trace),
    };
    if let Some(reference) = reference {
        violations.extend(differences(reference, &own, run.scenario.is_exact));
    }
    Report {
        violations,
        counts,
        trace,
        reference: own,
    }
}

type Lived = (Vec<String>, (u64, u64), Vec<String>, capstan_store::Store);

async fn lived(scenario: &Scenario, world: Arc<World>) -> Lived {
    let mut violations = Vec::new();
    if let Err(error) = (scenario.life)(Arc::clone(&world)).await {
        violations.push(format!("the life did not go on: {error:#}"));
    }
    if let Err(error) = oracle::settle(&world).await {
        violations.push(error);
    }
    violations.extend(oracle::cloud(&world));
    violations.extend(world.faults().seen.lock().clone());
    let end = oracle::end_state(world.store());
    (violations, world.faults().counts(), end, world.store().clone())
}

/// How a run differs from the reference.
fn differences(reference: &Reference, own: &Reference, is_exact: bool) -> Vec<String> {
    let mut found = Vec::new();
    let missing = reference
        .end
        .iter()
        .find(|it| count(&reference.end, it) > count(&own.end, it));
    let extra = own
        .end
        .iter()
        .find(|it| count(&own.end, it) > count(&reference.end, it));
    if missing.is_some() || extra.is_some() {
        found.push(difference(missing, extra));
    }
    if is_exact && reference.turnover != own.turnover {
        let keys = reference.turnover.keys().chain(own.turnover.keys());
        let differing = keys
            .filter(|it| reference.turnover.get(*it) != own.turnover.get(*it))
            .map(|it| {
                format!(
                    "{it} {:?} instead of {:?}",
                    own.turnover.get(it),
                    reference.turnover.get(it)
                )
            });
        let mut lines: Vec<String> = differing.collect();
        lines.sort();
        lines.dedup();
        found.push(format!("made and deleted: {}", lines.join(", ")));
    }
    found
}

/// How the end differs: the first object that one has and the other has not, from where they part on.
fn difference(there: Option<&String>, here: Option<&String>) -> String {
    let (there, here) = (
        there.map_or("nothing", String::as_str),
        here.map_or("nothing", String::as_str),
    );
    let same = there
        .bytes()
        .zip(here.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let from = there
        .char_indices()
        .map(|(at, _)| at)
        .take_while(|at| *at + 60 < same)
        .last()
        .unwrap_or(0);
    let part = |text: &str| text.chars().skip(from).take(300).collect::<String>();
    let object: String = there.chars().take(60).collect();
    format!(
        "the end differs from the reference run's: {object}\n      there: …{}\n      here:  …{}",
        part(there),
        part(here)
    )
}

fn count(lines: &[String], line: &String) -> usize {
    lines.iter().filter(|it| *it == line).count()
}

/// The shortest schedule that still fails: faults are taken out one by one as long as what is left fails.
pub fn shrink(run: &Run<'_>, reference: &Reference) -> Vec<Fault> {
    let mut faults = run.faults.clone();
    let mut place = 0;
    while place < faults.len() {
        let mut fewer = faults.clone();
        fewer.remove(place);
        let attempt = Run {
            faults: fewer.clone(),
            ..run.clone()
        };
        if once(&attempt, Some(reference)).violations.is_empty() {
            place += 1;
        } else {
            faults = fewer;
        }
    }
    faults
}

/// Collects what is logged.
#[derive(Clone, Default)]
struct Logs(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Logs {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Logs {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
