//! Words that every other crate uses: time, chance, field errors, names. No API kinds, no I/O, no async.

pub mod clock;
pub mod entropy;
pub mod field;
pub mod naming;

pub use clock::{Clock, ManualClock, SystemClock};
pub use entropy::{Entropy, SeededEntropy, SystemEntropy};
pub use jiff::Timestamp;
