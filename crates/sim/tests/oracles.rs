//! The oracles are tested themselves: bugs that are planted on purpose are found, each within a few seeds, and the same
//! seed gives the same trace under faults too.

use capstan_sim::{Planted, Run, fault, fault::Fault, fault::When, once, reference, scenario};

/// What is wrong with the first of `seeds` runs that is not good, under the faults that `faults` gives for a seed.
fn found(
    name: &str,
    planted: Option<Planted>,
    seeds: u64,
    faults: impl Fn(u64, u64) -> Vec<Fault>,
) -> Option<String> {
    let scenario = scenario(name).expect("a scenario of that name");
    let reference = reference(scenario, 1).expect("a run without faults is good");
    (1..=seeds).find_map(|seed| {
        let run = Run {
            scenario,
            seed,
            faults: faults(seed, reference.counts.0),
            planted,
            with_logs: false,
        };
        once(&run, Some(&reference.reference)).violations.first().cloned()
    })
}

/// A crash at a write that the seed chooses.
fn crash(seed: u64, writes: u64) -> Vec<Fault> {
    vec![Fault::CrashAtWrite {
        write: seed * 7 % writes + 1,
        when: When::After,
    }]
}

#[test]
fn a_machine_under_a_random_name_is_found() {
    let violation = found("create-1-1", Some(Planted::RandomName), 20, crash);
    assert!(violation.is_some(), "not found within 20 seeds");
}

#[test]
fn a_dropped_finalizer_is_found_as_a_vm_that_is_left_over() {
    let violation = found("delete", Some(Planted::DroppedFinalizer), 1, |_, _| Vec::new());
    assert!(violation.is_some(), "not found in one run");
}

#[test]
fn a_cloud_that_does_not_do_what_it_says_is_found() {
    let violation = found("machine-deleted", Some(Planted::SwallowedDeletion), 1, |_, _| {
        Vec::new()
    });
    let violation = violation.expect("not found in one run");
    assert!(violation.contains("left over"), "{violation}");
}

#[test]
fn without_a_planted_bug_the_same_runs_are_good() {
    assert_eq!(found("create-1-1", None, 3, crash), None);
}

#[test]
fn the_same_seed_gives_the_same_trace_under_faults() {
    let scenario = scenario("machine-deleted").expect("a scenario of that name");
    let lived = || {
        let run = Run {
            scenario,
            seed: 3,
            faults: fault::draw(3, 300, 20),
            planted: None,
            with_logs: false,
        };
        once(&run, None).trace
    };
    let (one, two) = (lived(), lived());
    let differing = one.lines.iter().zip(&two.lines).find(|(a, b)| a != b);
    assert_eq!(differing, None);
    assert_eq!(one.digest, two.digest);
}
