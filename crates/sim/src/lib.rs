//! The deterministic simulator: a whole management plane, its controllers, the dev provider's machines and the workload
//! clusters, on one thread, a virtual clock and one seed. Nobody ships it.
//!
//! Virtual time jumps from timer to timer, so a life of hours takes moments; the seed fixes keys, UIDs, and which of
//! several ready objects a controller takes next. The same seed gives the same [`Trace`].

mod manifests;
mod trace;
mod world;

pub use manifests::{ManifestError, documents};
pub use trace::Trace;
pub use world::{Stuck, World, run};
