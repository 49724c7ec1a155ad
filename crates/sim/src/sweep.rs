//! The crash sweep: one run per write and cloud call of a scenario, killed there and started again with empty memory.

use capstan_base::{Entropy, SeededEntropy};

use crate::fault::{Fault, When};

/// The faults of each run of a sweep over a scenario that makes so many writes and cloud calls: each write done and not known, every
/// third one lost before it is done, each cloud call both ways, and `pairs` pairs within five writes of each other.
pub fn crash_points(writes: u64, calls: u64, pairs: u64) -> Vec<Vec<Fault>> {
    let mut points = Vec::new();
    let mut add = |faults| points.push(faults);
    for write in 1..=writes {
        add(vec![Fault::CrashAtWrite {
            write,
            when: When::After,
        }]);
        if write % 3 == 0 {
            add(vec![Fault::CrashAtWrite {
                write,
                when: When::Before,
            }]);
        }
    }
    for call in 1..=calls {
        for when in [When::Before, When::After] {
            add(vec![Fault::CrashAtCall { call, when }]);
        }
    }
    let dice = SeededEntropy::new(5);
    for _ in 0..pairs {
        let write = dice.number() % writes.max(1) + 1;
        let next = write + dice.number() % 5 + 1;
        add(vec![
            Fault::CrashAtWrite {
                write,
                when: When::After,
            },
            Fault::CrashAtWrite {
                write: next,
                when: When::After,
            },
        ]);
    }
    points
}
