//! Which of the ready objects comes next: first come first served when live, drawn from a seed in the simulator.

use std::{fmt::Debug, sync::Arc};

use capstan_base::{Entropy, SeededEntropy};

/// Picks one of `count` equally urgent ready objects, which are in the order of their arrival.
pub trait Chooser: Debug + Send + Sync + 'static {
    /// An index below `count`; `count` is at least 1.
    fn choose(&self, count: usize) -> usize;
}

/// First come, first served.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fifo;

impl Chooser for Fifo {
    fn choose(&self, _count: usize) -> usize {
        0
    }
}

/// Any of them, as the seed says.
#[derive(Debug, Clone)]
pub struct Seeded(Arc<SeededEntropy>);

impl Seeded {
    /// A chooser that draws from `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(SeededEntropy::new(seed)))
    }
}

impl Chooser for Seeded {
    fn choose(&self, count: usize) -> usize {
        usize::try_from(self.0.number() % (count as u64)).unwrap_or(0)
    }
}
