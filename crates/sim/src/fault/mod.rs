//! Faults, as a schedule: what happens at which write, cloud call or time. The doors through which controllers reach
//! the world ([`Door`], [`CloudGate`]) read it.
// Source: the fault model F1 to F10 of the project's performance specification.

mod cloud;
mod door;
mod draw;
mod watch;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{sync::Notify, time::Instant};

pub(crate) use cloud::CloudGate;
pub(crate) use door::{Audit, Door};
pub use draw::draw;

/// Before or after the effect that a fault strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum When {
    /// The effect does not take place.
    Before,
    /// The effect takes place, and whoever asked for it does not learn of it.
    After,
}

/// How a write is answered instead of truly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// 409 Conflict.
    Conflict,
    /// 429 Too Many Requests, with a pause of a second.
    TooManyRequests,
    /// 500 Internal Server Error.
    InternalError,
    /// 503 Service Unavailable.
    Unavailable,
    /// No answer: the connection breaks.
    Broken,
}

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The controllers die at their write of that number, and come back a second later.
    CrashAtWrite {
        /// The number, from 1.
        write: u64,
        /// Is the write lost or its answer?
        when: When,
    },
    /// The controllers die at their cloud call of that number.
    CrashAtCall {
        /// The number, from 1.
        call: u64,
        /// Is the call lost or its answer?
        when: When,
    },
    /// A write is refused, or done and said to be refused.
    RefuseWrite {
        /// The number, from 1.
        write: u64,
        /// The answer.
        with: Refusal,
        /// Did it take place all the same?
        when: When,
    },
    /// A cloud call fails, or is done and said to have failed.
    FailCall {
        /// The number, from 1.
        call: u64,
        /// Did it take place all the same?
        when: When,
    },
    /// The cloud refuses everything for a while.
    Outage {
        /// Since when, from the beginning.
        from: Duration,
        /// For how long.
        lasts: Duration,
    },
    /// A kind's watches deliver nothing for a while, then everything.
    StallWatch {
        /// The resource, like `machines`.
        resource: &'static str,
        /// Since when, from the beginning.
        from: Duration,
        /// For how long.
        lasts: Duration,
    },
    /// A kind's watch ends at its event of that number.
    CutWatch {
        /// The resource.
        resource: &'static str,
        /// The number, from 1.
        event: u64,
        /// Does it end with "too old resource version", so that everything is listed anew?
        expired: bool,
    },
    /// A kind's event is delivered twice.
    RepeatEvent {
        /// The resource.
        resource: &'static str,
        /// The number, from 1.
        event: u64,
    },
    /// A second set of controllers runs beside the first for a while, as after a lost lease that nobody noticed.
    SecondLeader {
        /// Since when, from the beginning.
        from: Duration,
        /// For how long.
        lasts: Duration,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// One life of a set of controllers: dead, it reaches nothing any more.
#[derive(Debug, Default)]
pub(crate) struct Life {
    dead: AtomicBool,
    died: Notify,
}

impl Life {
    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }

    pub(crate) fn end(&self) {
        self.dead.store(true, Ordering::SeqCst);
        self.died.notify_one();
    }

    pub(crate) async fn ended(&self) {
        self.died.notified().await;
    }
}

/// The schedule of one run, and how far the run is.
#[derive(Debug)]
pub(crate) struct Faults {
    schedule: Vec<Fault>,
    begun: Instant,
    writes: AtomicU64,
    calls: AtomicU64,
    events: Mutex<BTreeMap<String, u64>>,
    /// What an auditor saw that must never be.
    pub(crate) seen: Mutex<Vec<String>>,
    /// A bug that is planted on purpose, to test the oracles.
    pub(crate) planted: Option<crate::Planted>,
}

impl Faults {
    pub(crate) fn new(schedule: Vec<Fault>, planted: Option<crate::Planted>) -> Arc<Self> {
        Arc::new(Self {
            schedule,
            begun: Instant::now(),
            writes: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            events: Mutex::default(),
            seen: Mutex::default(),
            planted,
        })
    }

    pub(crate) fn schedule(&self) -> &[Fault] {
        &self.schedule
    }

    /// How many writes and cloud calls the controllers have made.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (
            self.writes.load(Ordering::SeqCst),
            self.calls.load(Ordering::SeqCst),
        )
    }

    /// Counts a write and says what strikes it.
    fn at_write(&self) -> Option<Fault> {
        let number = self.writes.fetch_add(1, Ordering::SeqCst) + 1;
        let strikes = |it: &&Fault| matches!(it, Fault::CrashAtWrite { write, .. } | Fault::RefuseWrite { write, .. } if *write == number);
        self.schedule.iter().find(strikes).cloned()
    }

    /// Counts a cloud call.
    fn next_call(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// What strikes the cloud call of a number.
    fn at_call(&self, number: u64) -> Option<&Fault> {
        let strikes = |it: &&Fault| matches!(it, Fault::CrashAtCall { call, .. } | Fault::FailCall { call, .. } if *call == number);
        self.schedule.iter().find(strikes)
    }

    /// Does the cloud refuse everything now?
    fn is_out(&self) -> bool {
        let now = self.begun.elapsed();
        let covers = |it: &Fault| matches!(it, Fault::Outage { from, lasts } if (*from..*from + *lasts).contains(&now));
        self.schedule.iter().any(covers)
    }

    /// Counts an event of a resource's watches and says what strikes it.
    fn at_event(&self, resource: &str) -> Option<Fault> {
        let number = {
            let mut events = self.events.lock();
            let count = events.entry(resource.to_owned()).or_default();
            *count += 1;
            *count
        };
        let strikes = |it: &&Fault| match it {
            Fault::CutWatch {
                resource: of, event, ..
            }
            | Fault::RepeatEvent { resource: of, event } => *of == resource && *event == number,
            _ => false,
        };
        self.schedule.iter().find(strikes).cloned()
    }

    /// Until when a resource's watches deliver nothing.
    fn stalled_until(&self, resource: &str) -> Option<Instant> {
        let now = self.begun.elapsed();
        let ends = self.schedule.iter().filter_map(|it| match it {
            Fault::StallWatch {
                resource: of,
                from,
                lasts,
            } if *of == resource && (*from..*from + *lasts).contains(&now) => Some(*from + *lasts),
            _ => None,
        });
        ends.max().map(|it| self.begun + it)
    }

    /// When the last fault that has a time is over, from the beginning.
    pub(crate) fn over(&self) -> Instant {
        let ends = self.schedule.iter().filter_map(|it| match it {
            Fault::Outage { from, lasts }
            | Fault::StallWatch { from, lasts, .. }
            | Fault::SecondLeader { from, lasts } => Some(*from + *lasts),
            _ => None,
        });
        self.begun + ends.max().unwrap_or_default()
    }
}
