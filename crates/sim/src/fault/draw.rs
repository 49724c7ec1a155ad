//! Schedules drawn from a seed.

use std::time::Duration;

use capstan_base::{Entropy, SeededEntropy};

use super::{Fault, Refusal, When};

/// The resources whose watches stall and break.
const WATCHED: [&str; 7] = [
    "machines",
    "clusters",
    "machinesets",
    "devmachines",
    "kubeadmconfigs",
    "kubeadmcontrolplanes",
    "secrets",
];

/// The most faults of one run.
const MOST: u64 = 8;

struct Dice(SeededEntropy);

impl Dice {
    fn below(&self, bound: u64) -> u64 {
        self.0.number() % bound.max(1)
    }

    fn of<T: Copy>(&self, choices: &[T]) -> T {
        let index = usize::try_from(self.below(choices.len() as u64)).unwrap_or(0);
        choices[index]
    }

    fn seconds(&self, from: u64, to: u64) -> Duration {
        Duration::from_secs(from + self.below(to - from))
    }

    fn when(&self) -> When {
        self.of(&[When::Before, When::After])
    }

    fn fault(&self, writes: u64, calls: u64) -> Fault {
        let (write, call) = (self.below(writes) + 1, self.below(calls) + 1);
        let resource = self.of(&WATCHED);
        match self.below(10) {
            0 | 1 => Fault::CrashAtWrite {
                write,
                when: self.when(),
            },
            2 => Fault::CrashAtCall {
                call,
                when: self.when(),
            },
            // These two are said before anything is done; the others may come after it.
            3 => Fault::RefuseWrite {
                write,
                with: self.of(&[Refusal::Conflict, Refusal::TooManyRequests]),
                when: When::Before,
            },
            4 => Fault::RefuseWrite {
                write,
                with: self.of(&[Refusal::InternalError, Refusal::Unavailable, Refusal::Broken]),
                when: self.when(),
            },
            5 => Fault::FailCall {
                call,
                when: self.when(),
            },
            6 => Fault::Outage {
                from: self.seconds(0, 30),
                lasts: self.seconds(1, 300),
            },
            7 => Fault::StallWatch {
                resource,
                from: self.seconds(0, 30),
                lasts: self.seconds(1, 60),
            },
            8 if self.below(2) == 0 => Fault::RepeatEvent {
                resource,
                event: self.below(40) + 1,
            },
            8 => Fault::CutWatch {
                resource,
                event: self.below(40) + 1,
                expired: self.below(2) == 0,
            },
            _ => Fault::SecondLeader {
                from: self.seconds(0, 20),
                lasts: self.seconds(5, 120),
            },
        }
    }
}

/// A schedule of one to eight faults for a scenario that makes so many writes and cloud calls without any.
pub fn draw(seed: u64, writes: u64, calls: u64) -> Vec<Fault> {
    let dice = Dice(SeededEntropy::new(seed ^ 0x5eed_fa17));
    let count = dice.below(MOST) + 1;
    let mut faults: Vec<Fault> = (0..count).map(|_| dice.fault(writes, calls)).collect();
    faults.sort();
    faults
}
