//! What a decider answers with: steps, waits and when to look again; and the trail of what became of the steps.

use std::{borrow::Cow, fmt, time::Duration};

use capstan_base::Timestamp;

/// A sentence with a machine-readable head: why something is done or waited for. The same `Why` feeds the event, the
/// log line and the condition message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// A CamelCase reason, as conditions and events carry it.
    pub reason: Cow<'static, str>,
    /// The sentence for people.
    pub message: String,
}

impl Why {
    /// A why of a fixed reason.
    pub fn new(reason: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason, self.message)
    }
}

/// What happens to the steps behind a step that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// They are skipped.
    #[default]
    Stop,
    /// They run all the same.
    Continue,
}

/// One effect to perform, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Step<A> {
    /// The effect, with everything it needs inside.
    pub action: A,
    /// Why it is done.
    pub why: Why,
    /// Whether later steps run if it fails.
    pub on_error: OnError,
}

/// When to look at the object again if nothing changes before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wake {
    /// Only when something that the controller watches changes.
    #[default]
    OnChange,
    /// After this long, or on change.
    After(Duration),
    /// At this time, or on change.
    At(Timestamp),
}

impl Wake {
    /// The earlier of two wakes.
    #[must_use]
    pub fn earlier(self, other: Self, now: Timestamp) -> Self {
        match (self.due(now), other.due(now)) {
            (None, _) => other,
            (Some(mine), Some(theirs)) if theirs < mine => other,
            (Some(_), _) => self,
        }
    }

    /// How long from `now` until the wake; none if only a change wakes.
    pub fn due(self, now: Timestamp) -> Option<Duration> {
        match self {
            Self::OnChange => None,
            Self::After(delay) => Some(delay),
            Self::At(time) => Some(Duration::try_from(time.duration_since(now)).unwrap_or(Duration::ZERO)),
        }
    }
}

/// What a decider chose. With no steps and no waits the object has converged.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan<A> {
    /// Effects, performed in this order.
    pub steps: Vec<Step<A>>,
    /// What the object waits for.
    pub waiting: Vec<Why>,
    /// When to look again.
    pub wake: Wake,
    /// The object is being deleted and nothing of it is left: the engine removes its finalizer after the report.
    pub finalize: bool,
}

impl<A> Default for Plan<A> {
    fn default() -> Self {
        Self {
            steps: Vec::new(),
            waiting: Vec::new(),
            wake: Wake::OnChange,
            finalize: false,
        }
    }
}

impl<A> Plan<A> {
    /// Nothing to do, nothing to wait for.
    pub fn converged() -> Self {
        Self::default()
    }

    /// Nothing to do but to wait for `why`.
    pub fn wait(why: Why) -> Self {
        Self {
            waiting: vec![why],
            ..Self::default()
        }
    }

    /// The object may go: remove the finalizer.
    pub fn finalized() -> Self {
        Self {
            finalize: true,
            ..Self::default()
        }
    }

    /// Adds a step after which a failure stops the plan.
    pub fn step(&mut self, action: A, why: Why) {
        self.steps.push(Step {
            action,
            why,
            on_error: OnError::Stop,
        });
    }

    /// Adds a step whose failure does not stop the ones behind it.
    pub fn step_and_continue(&mut self, action: A, why: Why) {
        self.steps.push(Step {
            action,
            why,
            on_error: OnError::Continue,
        });
    }

    /// Adds a wait.
    pub fn waits(&mut self, why: Why) {
        self.waiting.push(why);
    }

    /// Looks again no later than `wake`.
    pub fn wakes(&mut self, wake: Wake, now: Timestamp) {
        self.wake = self.wake.earlier(wake, now);
    }

    /// The first failure among the steps whose action is one that is asked for.
    pub fn failure_of<'a, E>(&self, trail: &'a Trail<E>, is_asked: impl Fn(&A) -> bool) -> Option<&'a E> {
        let steps = self.steps.iter().zip(&trail.outcomes);
        steps
            .filter(|(step, _)| is_asked(&step.action))
            .find_map(|(_, outcome)| match outcome {
                Outcome::Failed(error) => Some(error),
                Outcome::Done | Outcome::Skipped => None,
            })
    }

    /// Is there nothing to do and nothing to wait for?
    pub fn is_converged(&self) -> bool {
        self.steps.is_empty() && self.waiting.is_empty() && !self.finalize
    }
}

/// What became of one step.
#[derive(Debug)]
pub enum Outcome<E> {
    /// Performed.
    Done,
    /// Tried and failed.
    Failed(E),
    /// Not tried, since a step before it failed.
    Skipped,
}

/// What became of a plan's steps, in their order.
#[derive(Debug)]
pub struct Trail<E> {
    /// One outcome per step.
    pub outcomes: Vec<Outcome<E>>,
}

impl<E> Default for Trail<E> {
    fn default() -> Self {
        Self { outcomes: Vec::new() }
    }
}

impl<E> Trail<E> {
    /// The trail of a plan with no failure.
    pub fn all_done(steps: usize) -> Self {
        Self {
            outcomes: (0..steps).map(|_| Outcome::Done).collect(),
        }
    }

    /// The first failure.
    pub fn failure(&self) -> Option<&E> {
        self.outcomes.iter().find_map(|it| match it {
            Outcome::Failed(error) => Some(error),
            Outcome::Done | Outcome::Skipped => None,
        })
    }

    /// Did every step succeed?
    pub fn is_clean(&self) -> bool {
        self.outcomes.iter().all(|it| matches!(it, Outcome::Done))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_found_by_what_was_tried() {
        let mut plan = Plan::default();
        for action in ["create", "delete"] {
            plan.step_and_continue(action, Why::new("Test", ""));
        }
        let trail = Trail {
            outcomes: vec![Outcome::Done, Outcome::Failed("refused")],
        };
        assert_eq!(plan.failure_of(&trail, |it| *it == "delete"), Some(&"refused"));
        assert_eq!(plan.failure_of(&trail, |it| *it == "create"), None);
    }

    #[test]
    fn the_earlier_wake_wins_and_a_change_is_never_earlier() {
        let now = Timestamp::UNIX_EPOCH;
        let soon = Wake::After(Duration::from_secs(1));
        let at = Wake::At(now + Duration::from_secs(5));
        assert_eq!(Wake::OnChange.earlier(soon, now), soon);
        assert_eq!(at.earlier(soon, now), soon);
        assert_eq!(soon.earlier(Wake::OnChange, now), soon);
    }
}
