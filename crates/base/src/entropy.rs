//! Chance as an argument: the one place that reads the system's random source.

use std::{
    fmt::Debug,
    sync::{Mutex, PoisonError},
};

use rand::{RngCore, SeedableRng, rngs::StdRng};

/// A source of random bytes. Everything that draws is handed one of these, so that the simulator can replace it
/// with a seeded one.
pub trait Entropy: Debug + Send + Sync + 'static {
    /// Fills `bytes` with random data.
    fn fill(&self, bytes: &mut [u8]);

    /// A random number, uniform over all of `u64`.
    fn number(&self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// A random (version 4) UUID in its usual text form.
    fn uuid(&self) -> String {
        let mut b = [0_u8; 16];
        self.fill(&mut b);
        b[6] = (b[6] & 0x0f) | 0x40;
        b[8] = (b[8] & 0x3f) | 0x80;
        let hex = format!("{:032x}", u128::from_be_bytes(b));
        format!(
            "{}-{}-{}-{}-{}",
            &hex[..8],
            &hex[8..12],
            &hex[12..16],
            &hex[16..20],
            &hex[20..]
        )
    }

    /// `length` characters of the alphabet that Kubernetes uses for random name suffixes.
    fn suffix(&self, length: usize) -> String {
        (0..length)
            .map(|_| crate::naming::suffix_letter(self.number()))
            .collect()
    }
}

/// The operating system's random source.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    #[expect(clippy::disallowed_methods, reason = "the one door to system randomness")]
    fn fill(&self, bytes: &mut [u8]) {
        rand::rng().fill_bytes(bytes);
    }
}

/// A reproducible source: the same seed gives the same draws in the same order.
#[derive(Debug)]
pub struct SeededEntropy(Mutex<StdRng>);

impl SeededEntropy {
    /// A source that starts from `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(StdRng::seed_from_u64(seed)))
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .fill_bytes(bytes);
    }
}
