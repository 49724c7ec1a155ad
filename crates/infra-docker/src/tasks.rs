//! Work that takes longer than a pass may: pulling images and loading them into machines.
//!
//! A task lives in this process only. After a restart it is begun again, and finds what is already done.

use std::{collections::BTreeMap, future::Future, sync::Arc, time::Duration};

use capstan_base::{Clock, Timestamp};
use parking_lot::Mutex;

use crate::docker::DockerError;

/// How long to wait before something that failed is tried again.
pub(crate) const PAUSE: Duration = Duration::from_secs(30);

/// How far a task is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Task {
    /// It runs.
    Running,
    /// It is done.
    Done,
    /// It failed.
    Failed {
        /// Why.
        message: String,
        /// When.
        at: Timestamp,
    },
}

impl Task {
    /// Whether it is time to begin, or to begin again.
    pub(crate) fn is_due(task: Option<&Self>, now: Timestamp) -> bool {
        match task {
            None => true,
            Some(Self::Failed { at, .. }) => {
                Duration::try_from(now.duration_since(*at)).is_ok_and(|it| it >= PAUSE)
            }
            Some(Self::Running | Self::Done) => false,
        }
    }
}

/// All tasks of this process, by what they do. Clones share everything.
#[derive(Clone)]
pub(crate) struct Tasks {
    clock: Arc<dyn Clock>,
    tasks: Arc<Mutex<BTreeMap<String, Task>>>,
}

impl std::fmt::Debug for Tasks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tasks")
            .field("count", &self.tasks.lock().len())
            .finish_non_exhaustive()
    }
}

impl Tasks {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            tasks: Arc::default(),
        }
    }

    pub(crate) fn get(&self, id: &str) -> Option<Task> {
        self.tasks.lock().get(id).cloned()
    }

    pub(crate) fn forget(&self, id: &str) {
        self.tasks.lock().remove(id);
    }

    /// Begins a task, unless it runs already.
    pub(crate) fn begin(
        &self,
        id: String,
        work: impl Future<Output = Result<(), DockerError>> + Send + 'static,
    ) {
        let before = self.tasks.lock().insert(id.clone(), Task::Running);
        if before == Some(Task::Running) {
            return;
        }
        let this = self.clone();
        tokio::spawn(async move {
            let ended = match work.await {
                Ok(()) => Task::Done,
                Err(error) => Task::Failed {
                    message: error.to_string(),
                    at: this.clock.now(),
                },
            };
            if let Some(task) = this.tasks.lock().get_mut(&id) {
                *task = ended;
            }
        });
    }
}
