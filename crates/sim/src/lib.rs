//! The deterministic simulator: a whole management plane, its controllers, the dev provider's machines and the workload
//! clusters, on one thread, a virtual clock and one seed. Nobody ships it.
//!
//! Virtual time jumps from timer to timer, so a life of hours takes moments; the seed fixes keys, UIDs, and which of
//! several ready objects a controller takes next. The same seed gives the same [`Trace`].
//!
//! ```text
//!   Scenario ── what a user does ──►  World  ◄── what befalls it ── Fault schedule, drawn from the seed
//!                                       │
//!                        oracles: what must be true whatever befell
//! ```

pub mod fault;
mod manifests;
mod oracle;
mod panics;
mod runner;
mod scenario;
pub mod sight;
mod sweep;
mod trace;
mod world;

pub use manifests::{ManifestError, cluster, documents};
pub use oracle::{Reference, end_state, leaked};
pub use runner::{Report, Run, once, reference, shrink};
pub use scenario::{SCENARIOS, Scenario, scenario};
pub use sweep::crash_points;
pub use trace::Trace;
pub use world::{Fate, Stuck, World, lived, run, run_with};

/// A bug that is put into a run on purpose, to see that the oracles find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planted {
    /// Machines get a random name: a create that is issued twice makes two.
    RandomName,
    /// DevMachines have no finalizer: nobody stops the VM.
    DroppedFinalizer,
    /// The cloud says that a VM is stopped, and goes on running it.
    SwallowedDeletion,
}
