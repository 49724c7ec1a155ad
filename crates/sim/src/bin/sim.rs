//! The simulator on the command line: `cargo xtask sim`.

use std::{
    process::ExitCode,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use capstan_sim::{Report, Run, SCENARIOS, Scenario, crash_points, fault, once, reference, scenario, shrink};
use clap::{Args, Parser, Subcommand};

/// Whole lives of clusters under every fault, from a seed.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask sim", args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    seeds: Seeds,
}

#[derive(Debug, Args)]
struct Seeds {
    /// One scenario; all of them if it is left out.
    #[arg(long)]
    scenario: Option<String>,
    /// The seeds, from A to B without B.
    #[arg(long = "seeds", default_value = "1..21", value_name = "A..B")]
    range: String,
    /// Begin no new run after so many minutes.
    #[arg(long, value_name = "N")]
    minutes: Option<u64>,
    /// Show what was written, of the first run.
    #[arg(long)]
    trace: bool,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run one seed again and show what befalls.
    Replay {
        /// The seed.
        seed: u64,
        /// The scenario.
        #[arg(long)]
        scenario: String,
        /// Show what was written.
        #[arg(long)]
        trace: bool,
    },
    /// Kill the controllers at each of their writes and cloud calls, one run each.
    CrashSweep {
        /// One scenario; all of them if it is left out.
        #[arg(long)]
        scenario: Option<String>,
        /// How many pairs of crashes to add per scenario.
        #[arg(long, default_value_t = 20)]
        pairs: u64,
        /// Begin no new run after so many minutes.
        #[arg(long, value_name = "N")]
        minutes: Option<u64>,
    },
    /// The scenarios.
    List,
}

fn main() -> ExitCode {
    match work(&Arguments::parse()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Does what was asked and says how many runs failed.
fn work(arguments: &Arguments) -> anyhow::Result<usize> {
    match &arguments.verb {
        None => seeds(&arguments.seeds),
        Some(Verb::Replay {
            seed,
            scenario,
            trace,
        }) => replay(find(scenario)?, *seed, *trace),
        Some(Verb::CrashSweep {
            scenario,
            pairs,
            minutes,
        }) => sweep(scenario.as_deref(), *pairs, *minutes),
        Some(Verb::List) => {
            for it in SCENARIOS {
                println!("{:24} {}", it.name, it.about);
            }
            println!("{} scenarios", SCENARIOS.len());
            Ok(0)
        }
    }
}

fn find(name: &str) -> anyhow::Result<&'static Scenario> {
    scenario(name)
        .with_context(|| format!("--scenario {name}: there is none of that name, see `cargo xtask sim list`"))
}

fn chosen(name: Option<&str>) -> anyhow::Result<Vec<&'static Scenario>> {
    match name {
        Some(name) => Ok(vec![find(name)?]),
        None => Ok(SCENARIOS.iter().collect()),
    }
}

fn range(text: &str) -> anyhow::Result<std::ops::Range<u64>> {
    let parsed = text
        .split_once("..")
        .and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    match parsed {
        Some(range) if range.start < range.end => Ok(range),
        _ => bail!("--seeds {text}: expected A..B with A below B, like 1..1001"),
    }
}

/// One run that is to be made, compared with the reference of that index.
struct Task {
    scenario: &'static Scenario,
    reference: usize,
    seed: u64,
    faults: Vec<fault::Fault>,
}

fn seeds(asked: &Seeds) -> anyhow::Result<usize> {
    let scenarios = chosen(asked.scenario.as_deref())?;
    let range = range(&asked.range)?;
    let references = references(&scenarios)?;
    let mut tasks = Vec::new();
    for seed in range {
        for (index, scenario) in scenarios.iter().enumerate() {
            let (writes, calls) = references[index].counts;
            tasks.push(Task {
                scenario,
                reference: index,
                seed,
                faults: fault::draw(seed, writes, calls),
            });
        }
    }
    if asked.trace
        && let Some(first) = tasks.first()
    {
        show(&run(first, &references[first.reference], false), true);
    }
    Ok(run_all(&tasks, &references, asked.minutes, "sim"))
}

fn sweep(name: Option<&str>, pairs: u64, minutes: Option<u64>) -> anyhow::Result<usize> {
    let scenarios = chosen(name)?;
    let references = references(&scenarios)?;
    let mut tasks = Vec::new();
    for (index, scenario) in scenarios.iter().enumerate() {
        let (writes, calls) = references[index].counts;
        for faults in crash_points(writes, calls, pairs) {
            tasks.push(Task {
                scenario,
                reference: index,
                seed: 1,
                faults,
            });
        }
    }
    Ok(run_all(&tasks, &references, minutes, "crash-sweep"))
}

fn references(scenarios: &[&'static Scenario]) -> anyhow::Result<Vec<Report>> {
    scenarios
        .iter()
        .map(|it| reference(it, 1).map_err(anyhow::Error::msg))
        .collect()
}

fn run(task: &Task, reference: &Report, with_logs: bool) -> Report {
    once(&asked(task, with_logs), Some(&reference.reference))
}

fn asked(task: &Task, with_logs: bool) -> Run<'static> {
    Run {
        scenario: task.scenario,
        seed: task.seed,
        faults: task.faults.clone(),
        planted: None,
        with_logs,
    }
}

/// Makes all runs on as many threads as there are cores, and ends in a line of counts.
#[expect(
    clippy::disallowed_methods,
    reason = "how long the runs really take decides how many are made"
)]
fn run_all(tasks: &[Task], references: &[Report], minutes: Option<u64>, name: &str) -> usize {
    let begun = Instant::now();
    let limit = minutes.map(|it| Duration::from_secs(it * 60));
    let (next, made, failed, writes) = (
        AtomicUsize::new(0),
        AtomicUsize::new(0),
        AtomicUsize::new(0),
        AtomicUsize::new(0),
    );
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::SeqCst);
                    let Some(task) = tasks.get(index) else { return };
                    if limit.is_some_and(|it| begun.elapsed() > it) {
                        return;
                    }
                    // Logs are searched in every sixteenth run: it takes as long as the run.
                    let reference = &references[task.reference];
                    let report = run(task, reference, index % 16 == 0);
                    made.fetch_add(1, Ordering::SeqCst);
                    writes.fetch_add(usize::try_from(report.counts.0).unwrap_or(0), Ordering::SeqCst);
                    if !report.violations.is_empty() {
                        // The first few are told in full; a bug often fails many.
                        if failed.fetch_add(1, Ordering::SeqCst) < 10 {
                            tell(task, &report, reference);
                        }
                    }
                }
            });
        }
    });
    let (made, failed) = (made.into_inner(), failed.into_inner());
    let left_out = tasks.len() - made;
    println!(
        "{name}: {made} runs of {} scenarios, {} writes, {failed} failed, {left_out} not begun in time, {:.0} s",
        references.len(),
        writes.into_inner(),
        begun.elapsed().as_secs_f64()
    );
    failed
}

fn tell(task: &Task, report: &Report, reference: &Report) {
    let shortest = shrink(&asked(task, false), &reference.reference);
    let lines: Vec<String> = shortest.iter().map(|it| format!("    {it}")).collect();
    println!(
        "FAILED {} seed {}:\n    {}\n  needs only:\n{}\n  replay: cargo xtask sim replay {} --scenario {}",
        task.scenario.name,
        task.seed,
        report.violations.join("\n    "),
        lines.join("\n"),
        task.seed,
        task.scenario.name
    );
}

fn replay(scenario: &'static Scenario, seed: u64, trace: bool) -> anyhow::Result<usize> {
    let reference = reference(scenario, 1).map_err(anyhow::Error::msg)?;
    let (writes, calls) = reference.counts;
    let task = Task {
        scenario,
        reference: 0,
        seed,
        faults: fault::draw(seed, writes, calls),
    };
    for fault in &task.faults {
        println!("  {fault}");
    }
    let report = run(&task, &reference, true);
    show(&report, trace);
    if !report.violations.is_empty() {
        tell(&task, &report, &reference);
    }
    println!(
        "replay: 1 run, {} violations, trace {}",
        report.violations.len(),
        report.trace.digest
    );
    Ok(report.violations.len())
}

fn show(report: &Report, trace: bool) {
    if trace {
        for line in &report.trace.lines {
            println!("{line}");
        }
    }
}
