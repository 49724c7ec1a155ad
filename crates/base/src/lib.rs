//! Words that every other crate uses: time, chance, versions, amounts, field errors, names. No API kinds, no I/O, no async.

pub mod clock;
pub mod duration;
pub mod entropy;
pub mod field;
pub mod int_or_percent;
pub mod names;
pub mod naming;
pub mod template;
pub mod version;

pub use clock::{Clock, ManualClock, SystemClock};
pub use entropy::{Entropy, SeededEntropy, SystemEntropy};
pub use int_or_percent::{IntOrPercent, Rounding};
pub use jiff::Timestamp;
pub use version::Version;
