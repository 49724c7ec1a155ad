//! One pass over one object, from the gates to the wake.

use std::{sync::Arc, time::Duration};

use kube::Resource as _;
use serde_json::Value;

use crate::{
    controller::Controller,
    gate,
    metrics::Ending,
    object::ObjectKey,
    plan::{OnError, Outcome, Plan, Trail},
    reconciler::{Classified, ConditionList, Context, Pause, Reconciler, Retry, Settings},
    status,
    writer::WriteError,
};

/// What the queue is told after a pass.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub ending: Ending,
    pub failed: bool,
    pub again: Option<Duration>,
}

impl Verdict {
    fn settled(wake: Option<Duration>) -> Self {
        let ending = if wake.is_some() {
            Ending::Waiting
        } else {
            Ending::Success
        };
        Self {
            ending,
            failed: false,
            again: wake,
        }
    }

    fn failed(retry: Retry) -> Self {
        let (failed, again) = match retry {
            Retry::OnChange => (false, None),
            Retry::Soon => (false, Some(Duration::ZERO)),
            Retry::Backoff => (true, Some(Duration::ZERO)),
            Retry::After(delay) => (false, Some(delay)),
        };
        Self {
            ending: Ending::Error,
            failed,
            again,
        }
    }
}

/// A chain of errors as one line: each source after a colon. An answer of the server is told by its message alone.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        line.push_str(": ");
        if let Some(kube::Error::Api(status)) = cause.downcast_ref::<kube::Error>() {
            line.push_str(&status.message);
            break;
        }
        line.push_str(&cause.to_string());
        source = cause.source();
    }
    line
}

/// The verdict of a pass that ended with a write, or with nothing but a wake.
fn settle(outcome: Result<Option<Duration>, WriteError>) -> Verdict {
    match outcome {
        Ok(wake) => Verdict::settled(wake),
        Err(error) if error.is_not_found() => Verdict::settled(None),
        Err(error) => {
            if error.is_conflict() {
                tracing::debug!(error = chain(&error), "object moved on, will look again");
            } else {
                tracing::warn!(error = chain(&error), "failed to write");
            }
            Verdict::failed(error.retry())
        }
    }
}

impl<R: Reconciler> Controller<R> {
    /// Runs one pass over an object that is in the cache.
    pub(crate) async fn pass(&self, key: &ObjectKey, object: Arc<R::Object>, context: &Context) -> Verdict {
        let settings = self.reconciler.settings();
        if let Some(finalizer) = settings.finalizer
            && let Some(patch) = gate::finalizer_patch(&*object, finalizer)
        {
            return settle(
                context
                    .writer
                    .merge_patch::<R::Object>(&(), key, &patch)
                    .await
                    .map(|_| None),
            );
        }
        let pause = self.reconciler.pause(&object);
        if let Pause::Paused(why) = &pause {
            tracing::debug!(why, "paused");
            return settle(
                self.report_paused(key, &object, &pause, &settings, context)
                    .await
                    .map(|()| None),
            );
        }
        let view = match self.reconciler.observe(Arc::clone(&object), context).await {
            Ok(view) => view,
            Err(error) => {
                tracing::warn!(error = chain(&error), "failed to observe");
                return Verdict::failed(error.retry());
            }
        };
        tracing::trace!(?view);
        let plan = R::decide(&view);
        let trail = self.perform(&view, &plan, context).await;
        let reported = serde_json::to_value(R::report(&view, &plan, &trail)).unwrap_or_default();
        let written = self
            .write_status(key, &object, reported, trail.is_clean(), &settings, context)
            .await;
        if let Err(error) = written {
            return settle(Err(error));
        }
        if let Some(error) = trail.failure() {
            return Verdict::failed(error.retry());
        }
        if plan.finalize
            && let Some(finalizer) = settings.finalizer
            && let Err(error) = self.release(key, finalizer, context).await
        {
            return settle(Err(error));
        }
        settle(Ok(plan.wake.due(context.now)))
    }

    /// Performs the plan's steps in order.
    async fn perform(&self, view: &R::View, plan: &Plan<R::Action>, context: &Context) -> Trail<R::Error> {
        for why in &plan.waiting {
            tracing::debug!(reason = %why.reason, why = why.message, "waiting");
        }
        let mut trail = Trail::default();
        let mut stopped = false;
        for step in &plan.steps {
            if stopped {
                trail.outcomes.push(Outcome::Skipped);
                continue;
            }
            let outcome = match self.reconciler.act(view, &step.action, context).await {
                Ok(()) => {
                    tracing::info!(reason = %step.why.reason, why = step.why.message, "acted");
                    Outcome::Done
                }
                Err(error) => {
                    stopped = step.on_error == OnError::Stop;
                    tracing::warn!(reason = %step.why.reason, error = chain(&error), "failed to act");
                    Outcome::Failed(error)
                }
            };
            trail.outcomes.push(outcome);
        }
        trail
    }

    /// Writes what differs between the stored and the reported status; a conflict is answered by looking at the newest
    /// object, once per attempt, since other controllers write conditions of theirs to it.
    async fn write_status(
        &self,
        key: &ObjectKey,
        object: &R::Object,
        mut reported: Value,
        clean: bool,
        settings: &Settings,
        context: &Context,
    ) -> Result<(), WriteError> {
        add_paused(&mut reported, &Pause::Running, settings.conditions);
        let mut stored = serde_json::to_value(object).unwrap_or_default();
        let observed = if clean {
            object.meta().generation.map(Value::from)
        } else {
            stored.pointer("/status/observedGeneration").cloned()
        };
        if let (true, Some(fields), Some(observed)) =
            (settings.observed_generation, reported.as_object_mut(), observed)
        {
            fields.insert("observedGeneration".to_owned(), observed);
        }
        let now = crate::status::transition_time(context.now);
        for attempt in 0.. {
            let Some(patch) = status::patch(&stored, &reported, settings.conditions, &now) else {
                return Ok(());
            };
            match context
                .writer
                .merge_patch_status::<R::Object>(&(), key, &patch)
                .await
            {
                Ok(_) => {
                    self.metrics.patched_status(R::NAME);
                    return Ok(());
                }
                Err(error) if error.is_conflict() && attempt < CONFLICTS => {
                    let Some(newest) = context.writer.read::<R::Object>(&(), key).await? else {
                        return Ok(());
                    };
                    stored = serde_json::to_value(newest).unwrap_or_default();
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn report_paused(
        &self,
        key: &ObjectKey,
        object: &R::Object,
        pause: &Pause,
        settings: &Settings,
        context: &Context,
    ) -> Result<(), WriteError> {
        let stored = serde_json::to_value(object).unwrap_or_default();
        let mut reported = stored
            .get("status")
            .cloned()
            .unwrap_or_else(|| Value::Object(serde_json::Map::new()));
        add_paused(&mut reported, pause, settings.conditions);
        let only_paused: Vec<ConditionList> = settings
            .conditions
            .first()
            .map(|list| ConditionList {
                pointer: list.pointer,
                owned: &["Paused"],
            })
            .into_iter()
            .collect();
        let now = crate::status::transition_time(context.now);
        if let Some(patch) = status::patch(&stored, &reported, &only_paused, &now) {
            context
                .writer
                .merge_patch_status::<R::Object>(&(), key, &patch)
                .await?;
        }
        Ok(())
    }

    /// Takes the finalizer off, reading the newest object if the one at hand is out of date.
    async fn release(&self, key: &ObjectKey, finalizer: &str, context: &Context) -> Result<(), WriteError> {
        for attempt in 0.. {
            let Some(newest) = context.writer.read::<R::Object>(&(), key).await? else {
                return Ok(());
            };
            let Some(patch) = gate::release_patch(&newest, finalizer) else {
                return Ok(());
            };
            match context.writer.merge_patch::<R::Object>(&(), key, &patch).await {
                Ok(_) => return Ok(()),
                Err(error) if error.is_conflict() && attempt < CONFLICTS => {}
                Err(error) if error.is_not_found() => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// How often a pass answers a conflict by itself before it leaves the object to a later pass.
const CONFLICTS: usize = 3;

/// Puts the `Paused` condition into a reported status.
fn add_paused(reported: &mut Value, pause: &Pause, lists: &[ConditionList]) {
    let Some((pointer, condition)) = gate::paused_condition(pause, lists) else {
        return;
    };
    let inside = pointer.trim_start_matches("/status/");
    let Some(fields) = reported.as_object_mut() else {
        return;
    };
    let list = fields.entry(inside).or_insert_with(|| Value::Array(Vec::new()));
    if let Some(list) = list.as_array_mut() {
        match list
            .iter_mut()
            .find(|it| it.get("type").and_then(Value::as_str) == Some("Paused"))
        {
            Some(present) => *present = condition,
            None => list.push(condition),
        }
    }
}
