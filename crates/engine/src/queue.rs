//! The work queue: one entry per object, urgency, minimum spacing, back-off per object, and one worker per object.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{sync::Notify, time::Instant};

use crate::{chooser::Chooser, object::ObjectKey};

/// How urgent an entry is. More urgent entries go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// The first look at everything after a start.
    Start,
    /// A timer came due.
    Timer,
    /// Something changed.
    Change,
    /// The object's own spec changed or it is being deleted: somebody waits. Ends a back-off.
    User,
}

#[derive(Debug)]
struct Entry {
    due: Instant,
    urgency: Urgency,
    arrival: u64,
}

#[derive(Debug, Default)]
struct History {
    last_start: Option<Instant>,
    failures: u32,
    /// No pass before this time, unless a user asks.
    held_until: Option<Instant>,
}

#[derive(Debug, Default)]
struct State {
    waiting: BTreeMap<ObjectKey, Entry>,
    running: BTreeSet<ObjectKey>,
    /// Asked for while running: queued when the pass ends.
    again: BTreeMap<ObjectKey, Entry>,
    history: BTreeMap<ObjectKey, History>,
    arrivals: u64,
    closed: bool,
}

/// The queue of one controller.
#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Notify,
    spacing: Duration,
    chooser: Arc<dyn Chooser>,
}

/// The first pause after a failure; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// The pause after the `failures`-th failure in a row.
pub(crate) fn pause_after(failures: u32) -> Duration {
    let factor = 2_u32.saturating_pow(failures.saturating_sub(1).min(20));
    FIRST_PAUSE.saturating_mul(factor).min(LONGEST_PAUSE)
}

impl Queue {
    pub(crate) fn new(spacing: Duration, chooser: Arc<dyn Chooser>) -> Self {
        Self {
            state: Mutex::default(),
            changed: Notify::new(),
            spacing,
            chooser,
        }
    }

    /// Asks for a pass over `key` after `delay`. An entry that is there already keeps the earlier due time and the
    /// greater urgency.
    pub(crate) fn add(&self, key: ObjectKey, urgency: Urgency, delay: Duration) {
        let mut state = self.state.lock();
        if state.closed {
            return;
        }
        let now = Instant::now();
        let due = state.earliest(&key, urgency, now, self.spacing).max(now + delay);
        state.arrivals += 1;
        let entry = Entry {
            due,
            urgency,
            arrival: state.arrivals,
        };
        let place = if state.running.contains(&key) {
            &mut state.again
        } else {
            &mut state.waiting
        };
        place
            .entry(key)
            .and_modify(|old| {
                old.due = old.due.min(entry.due);
                old.urgency = old.urgency.max(entry.urgency);
            })
            .or_insert(entry);
        drop(state);
        self.changed.notify_one();
    }

    /// The next object to work on; none when the queue is closed. Every key returned must be given back by
    /// [`Queue::done`].
    pub(crate) async fn next(&self) -> Option<(ObjectKey, Urgency, u32)> {
        loop {
            let changed = self.changed.notified();
            let pause = {
                let mut state = self.state.lock();
                if state.closed {
                    // The next worker must wake up too.
                    self.changed.notify_one();
                    return None;
                }
                match state.take(Instant::now(), &*self.chooser) {
                    Taken::Now(key, urgency, failures) => {
                        if !state.waiting.is_empty() {
                            self.changed.notify_one();
                        }
                        return Some((key, urgency, failures));
                    }
                    Taken::At(due) => Some(due),
                    Taken::Empty => None,
                }
            };
            match pause {
                Some(due) => {
                    tokio::select! {
                        biased;
                        () = changed => {}
                        () = tokio::time::sleep_until(due) => {}
                    }
                }
                None => changed.await,
            }
        }
    }

    /// Gives a key back after its pass. `failed` counts towards the back-off and delays every pass but a user's.
    pub(crate) fn done(&self, key: &ObjectKey, failed: bool) {
        let mut state = self.state.lock();
        state.running.remove(key);
        let history = state.history.entry(key.clone()).or_default();
        if failed {
            history.failures = history.failures.saturating_add(1);
            history.held_until = Some(Instant::now() + pause_after(history.failures));
        } else {
            history.failures = 0;
            history.held_until = None;
        }
        let held = history.held_until;
        if let Some(mut entry) = state.again.remove(key) {
            if entry.urgency < Urgency::User {
                entry.due = entry.due.max(held.unwrap_or(entry.due));
            }
            state.waiting.insert(key.clone(), entry);
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Forgets an object that is gone.
    pub(crate) fn forget(&self, key: &ObjectKey) {
        self.state.lock().history.remove(key);
    }

    /// How many objects wait for a pass.
    pub(crate) fn depth(&self) -> usize {
        self.state.lock().waiting.len()
    }

    /// Ends all workers.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_waiters();
        self.changed.notify_one();
    }
}

enum Taken {
    Now(ObjectKey, Urgency, u32),
    At(Instant),
    Empty,
}

impl State {
    /// The earliest time that spacing and back-off allow.
    fn earliest(&mut self, key: &ObjectKey, urgency: Urgency, now: Instant, spacing: Duration) -> Instant {
        let Some(history) = self.history.get_mut(key) else {
            return now;
        };
        if urgency == Urgency::User {
            history.failures = 0;
            history.held_until = None;
        }
        let spaced = history.last_start.map_or(now, |it| it + spacing);
        spaced.max(history.held_until.unwrap_or(now))
    }

    fn take(&mut self, now: Instant, chooser: &dyn Chooser) -> Taken {
        let Some(urgency) = self
            .waiting
            .values()
            .filter(|it| it.due <= now)
            .map(|it| it.urgency)
            .max()
        else {
            return self
                .waiting
                .values()
                .map(|it| it.due)
                .min()
                .map_or(Taken::Empty, Taken::At);
        };
        let ready = |it: &Entry| it.due <= now && it.urgency == urgency;
        let mut keys: Vec<(u64, ObjectKey)> = self
            .waiting
            .iter()
            .filter(|(_, it)| ready(it))
            .map(|(key, it)| (it.arrival, key.clone()))
            .collect();
        keys.sort_unstable();
        let (_, key) = keys.swap_remove(chooser.choose(keys.len()));
        self.waiting.remove(&key);
        self.running.insert(key.clone());
        let history = self.history.entry(key.clone()).or_default();
        history.last_start = Some(now);
        Taken::Now(key, urgency, history.failures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chooser::Fifo;

    fn key(name: &str) -> ObjectKey {
        ObjectKey::new("ns", name)
    }

    fn queue() -> Queue {
        Queue::new(Duration::from_secs(1), Arc::new(Fifo))
    }

    async fn next(queue: &Queue) -> String {
        queue.next().await.map(|(key, ..)| key.name).unwrap_or_default()
    }

    #[tokio::test(start_paused = true)]
    async fn urgent_entries_go_first_and_equal_ones_in_order_of_arrival() {
        let queue = queue();
        queue.add(key("b"), Urgency::Change, Duration::ZERO);
        queue.add(key("a"), Urgency::Change, Duration::ZERO);
        queue.add(key("c"), Urgency::User, Duration::ZERO);
        assert_eq!(
            [next(&queue).await, next(&queue).await, next(&queue).await],
            ["c", "b", "a"]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn one_object_is_never_worked_on_twice_at_once_and_keeps_its_spacing() {
        let queue = queue();
        let start = Instant::now();
        queue.add(key("a"), Urgency::Change, Duration::ZERO);
        assert_eq!(next(&queue).await, "a");
        queue.add(key("a"), Urgency::Change, Duration::ZERO);
        assert!(
            tokio::time::timeout(Duration::from_secs(5), queue.next())
                .await
                .is_err()
        );
        queue.done(&key("a"), false);
        assert_eq!(next(&queue).await, "a");
        queue.done(&key("a"), false);
        queue.add(key("a"), Urgency::Change, Duration::ZERO);
        let second = Instant::now();
        assert_eq!(next(&queue).await, "a");
        assert_eq!(
            (second - start, Instant::now() - second),
            (Duration::from_secs(5), Duration::from_secs(1))
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_does_not_end_a_back_off_but_a_user_does() {
        let queue = queue();
        let start = Instant::now();
        for _ in 0..6 {
            queue.add(key("a"), Urgency::Change, Duration::ZERO);
            next(&queue).await;
            queue.done(&key("a"), true);
        }
        let failed = Instant::now();
        queue.add(key("a"), Urgency::Change, Duration::ZERO);
        assert!(
            tokio::time::timeout(Duration::from_secs(6), queue.next())
                .await
                .is_err()
        );
        queue.add(key("a"), Urgency::User, Duration::ZERO);
        assert_eq!(next(&queue).await, "a");
        assert_eq!(Instant::now() - failed, Duration::from_secs(6));
        assert!(failed > start);
    }

    #[test]
    fn pauses_double_up_to_five_minutes() {
        let pauses: Vec<u128> = [1, 2, 3, 12, 40].map(|it| pause_after(it).as_millis()).to_vec();
        assert_eq!(pauses, [200, 400, 800, 300_000, 300_000]);
    }
}
