//! The reconciler frame: queue, caches, gates, barrier, status patching, events and metrics around
//! observe → decide → act → report. It knows Kubernetes objects, and no kind of Cluster API.
//!
//! ```text
//!   Cache<K> ── change ──► Queue ── key ──► Pass: finalizer gate → pause gate → barrier
//!      ▲                                      observe → decide → act* → report → one status patch → wake
//!      └────────── watch ◄── API server ◄── Writer (every write is entered into the barrier's ledger)
//! ```
//!
//! The live driver is a tokio runtime; the simulated one is the same code on a single-threaded runtime with a paused
//! clock and a seeded [`Chooser`], so reconcilers cannot tell them apart.

mod barrier;
mod cache;
mod chooser;
mod clock;
mod controller;
mod engine;
mod events;
mod foreign;
mod gate;
mod lookup;
mod metrics;
mod object;
mod pass;
mod plan;
mod queue;
mod reconciler;
mod status;
mod writer;

pub use cache::{Cache, Cached, Change, Source};
pub use chooser::{Chooser, Fifo, Seeded};
pub use clock::RuntimeClock;
pub use controller::{ControllerBuilder, Trigger};
pub use engine::{Engine, Settings as EngineSettings};
pub use events::{EventKind, Recorder};
pub use foreign::Foreign;
pub use lookup::{Lookup, ReadFailure};
pub use metrics::Metrics;
pub use object::{ObjectKey, ObjectRef};
pub use plan::{OnError, Outcome, Plan, Step, Trail, Wake, Why};
pub use queue::Urgency;
pub use reconciler::{Classified, ConditionList, Context, Pause, Reconciler, Retry, Settings};
pub use status::merge_conditions;
pub use writer::{Preconditions, Writable, WriteError, Writer};
