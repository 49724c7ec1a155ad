//! One kind's brain and hands. Queueing, gates, patching, events and metrics belong to the engine.

use std::{fmt::Debug, future::Future, sync::Arc, time::Duration};

use capstan_base::Timestamp;
use serde::Serialize;

use crate::{
    cache::Cached,
    events::Recorder,
    plan::{Plan, Trail},
    writer::Writer,
};

/// When a failed pass is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Not until something changes.
    OnChange,
    /// At once, at the queue's minimum spacing: the world moved, and looking again is enough.
    Soon,
    /// With growing pauses.
    Backoff,
    /// After this long.
    After(Duration),
}

/// An error that knows when trying again makes sense.
pub trait Classified {
    /// When to try again.
    fn retry(&self) -> Retry;
}

/// Whether an object may be reconciled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pause {
    /// Go on.
    Running,
    /// Leave it alone, deletion included; the sentence says who asked for it.
    Paused(String),
}

/// A list of conditions in the status, and which of its types this controller owns. Other types in the list belong to
/// others and are kept as they are.
#[derive(Debug, Clone, Copy)]
pub struct ConditionList {
    /// JSON pointer from the object's root, like `/status/conditions`.
    pub pointer: &'static str,
    /// The types this controller owns.
    pub owned: &'static [&'static str],
}

/// What a controller wants of the engine.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The finalizer that is put on every object that is not being deleted, before anything else is done.
    pub finalizer: Option<&'static str>,
    /// The condition lists this controller writes to. The engine sets `Paused` in the first one if that list owns it.
    pub conditions: &'static [ConditionList],
    /// Whether the status has an `observedGeneration`, which the engine moves after every pass without a failure.
    pub observed_generation: bool,
    /// How many objects are worked on at once.
    pub workers: usize,
    /// The least time between the starts of two passes over one object.
    pub spacing: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            finalizer: None,
            conditions: &[],
            observed_generation: true,
            workers: 10,
            spacing: Duration::from_millis(100),
        }
    }
}

/// What a pass hands to `observe` and `act`.
#[derive(Debug, Clone)]
pub struct Context {
    /// The time of this pass, the same for all of it.
    pub now: Timestamp,
    /// How many passes over this object failed in a row before this one.
    pub failures: u32,
    /// The way to write.
    pub writer: Writer,
    /// The way to tell.
    pub events: Recorder,
}

/// observe → decide → act → report, for one kind.
pub trait Reconciler: Send + Sync + Sized + 'static {
    /// The controller's name in logs, metrics and the field manager, like `machineset`.
    const NAME: &'static str;
    /// The kind it owns.
    type Object: Cached + kube::Resource<DynamicType = ()> + Serialize;
    /// Everything that a decision may need, complete before the first decision.
    type View: Debug + Send + Sync;
    /// One effect, with everything it needs inside.
    type Action: Debug + Send + Sync;
    /// The object's whole status.
    type Status: Serialize + Send;
    /// What can fail in `observe` and `act`.
    type Error: std::error::Error + Classified + Send + Sync + 'static;

    /// What this controller wants of the engine.
    fn settings(&self) -> Settings;

    /// Is the object this controller's? Where several share a kind, each takes those that concern it.
    fn concerns(&self, _object: &Self::Object) -> bool {
        true
    }

    /// Is the object paused? Asked after the finalizer gate and before `observe`.
    fn pause(&self, object: &Self::Object) -> Pause;

    /// Reads everything `decide` may need. A failed secondary read is data, not an error.
    fn observe(
        &self,
        object: Arc<Self::Object>,
        context: &Context,
    ) -> impl Future<Output = Result<Self::View, Self::Error>> + Send;

    /// Chooses. The only inputs are in the view, `now` included.
    fn decide(view: &Self::View) -> Plan<Self::Action>;

    /// Performs exactly one action; no choices are left to make here.
    fn act(
        &self,
        view: &Self::View,
        action: &Self::Action,
        context: &Context,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Tells the user what is true, from what was seen, chosen and done. Conditions of types that this controller does
    /// not own need not be there; the engine keeps them, and fills `lastTransitionTime` where it is not given.
    fn report(view: &Self::View, plan: &Plan<Self::Action>, trail: &Trail<Self::Error>) -> Self::Status;
}
