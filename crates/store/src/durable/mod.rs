//! The durable store: one thread that commits what waits as one transaction, then publishes it.
//!
//! This is a live-only door: the one place of the store with a thread and blocking I/O.

mod folder;
mod log;
mod restore;
pub(crate) mod row;

#[cfg(test)]
mod tests;

use std::{
    path::Path,
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
};

use parking_lot::Mutex;
use tokio::sync::oneshot;

use self::{
    folder::Folder,
    log::{Change, Log, Opener},
};
use crate::{
    error::{CommitError, OpenError},
    options::Options,
    record::Event,
    state::{Batch, Committed, State, Write},
    watch::Shared,
};

/// Most writes in one transaction. More only make the first of them wait.
const WRITES_AT_ONCE: usize = 1024;
/// So many rows are gathered before they are removed. They lie all over the tree, so that removing them one by one
/// would make every write dirty two more pages.
const REMOVALS_AT_ONCE: usize = 64;

/// The way to the writer thread. Dropping it waits until everything handed in is done and the folder is free.
#[derive(Debug)]
pub(crate) struct Durable {
    commands: Mutex<Option<mpsc::Sender<Command>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
enum Command {
    Commit(Pending),
    /// Drop the history up to and including a revision, and what the limits do not allow.
    Compact(u64, oneshot::Sender<Result<u64, CommitError>>),
    Close(oneshot::Sender<()>),
}

#[derive(Debug)]
struct Pending {
    write: Write,
    reply: oneshot::Sender<Result<Committed, CommitError>>,
}

impl Durable {
    /// Opens the folder and starts the writer.
    pub(crate) fn open(folder: &Path, options: Options) -> Result<(Self, Arc<Shared>), OpenError> {
        Self::open_with(folder, options, Box::new(log::open_file))
    }

    fn open_with(path: &Path, options: Options, opener: Opener) -> Result<(Self, Arc<Shared>), OpenError> {
        let folder = Folder::acquire(path)?;
        let (log, state) = Log::open(&folder, &options, opener)?;
        let shared = Arc::new(Shared::new(state));
        let (sender, commands) = mpsc::channel();
        let writer = Writer {
            commands,
            shared: Arc::clone(&shared),
            options,
            removals: Vec::new(),
            log,
            _folder: folder,
        };
        let thread = thread::Builder::new()
            .name("capstan-store".to_owned())
            .spawn(move || writer.run());
        let thread = thread.map_err(|source| folder::access("start the writer of", path, source))?;
        Ok((
            Self {
                commands: Mutex::new(Some(sender)),
                thread: Mutex::new(Some(thread)),
            },
            shared,
        ))
    }

    pub(crate) async fn commit(&self, write: Write) -> Result<Committed, CommitError> {
        self.ask(|reply| Command::Commit(Pending { write, reply }))
            .await?
    }

    pub(crate) async fn compact(&self, through: u64) -> Result<u64, CommitError> {
        self.ask(|reply| Command::Compact(through, reply)).await?
    }

    pub(crate) async fn close(&self) {
        // An error means that it is closed already.
        let _closed = self.ask(Command::Close).await;
    }

    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Result<T, CommitError> {
        let (reply, answer) = oneshot::channel();
        let sent = self
            .commands
            .lock()
            .as_ref()
            .is_some_and(|commands| commands.send(command(reply)).is_ok());
        if !sent {
            return Err(CommitError::Closed);
        }
        answer.await.map_err(|_| CommitError::Closed)
    }
}

impl Drop for Durable {
    fn drop(&mut self) {
        *self.commands.lock() = None;
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!("the writer of the store panicked");
        }
    }
}

/// What the writer thread owns. (The log is closed before the folder is given up.)
#[derive(Debug)]
struct Writer {
    commands: mpsc::Receiver<Command>,
    shared: Arc<Shared>,
    options: Options,
    /// Rows that are no longer needed for the published state but still in the file.
    removals: Vec<u64>,
    log: Log,
    _folder: Folder,
}

impl Writer {
    fn run(mut self) {
        let mut next = self.commands.recv().ok();
        while let Some(command) = next.take() {
            match command {
                Command::Commit(first) => {
                    let mut pending = vec![first];
                    // What has come while the last transaction was written goes into the next one together.
                    while pending.len() < WRITES_AT_ONCE {
                        match self.commands.try_recv() {
                            Ok(Command::Commit(another)) => pending.push(another),
                            Ok(other) => {
                                next = Some(other);
                                break;
                            }
                            Err(_) => break,
                        }
                    }
                    self.commit(pending);
                }
                Command::Compact(through, reply) => {
                    let _caller_gone = reply.send(self.compact(through));
                }
                Command::Close(reply) => {
                    drop(self);
                    let _caller_gone = reply.send(());
                    return;
                }
            }
            next = next.or_else(|| self.commands.recv().ok());
        }
    }

    fn commit(&mut self, pending: Vec<Pending>) {
        let (writes, replies): (Vec<_>, Vec<_>) = pending
            .into_iter()
            .map(|Pending { write, reply }| (write, reply))
            .unzip();
        let published = self.shared.state();
        let mut batch = published.prepare(writes, &self.options);
        let mut outcomes = std::mem::take(&mut batch.outcomes);
        if !batch.events.is_empty()
            && let Err(error) = self.persist(&published, batch, REMOVALS_AT_ONCE)
        {
            // Also who was refused because of a write in this batch: that write did not happen.
            outcomes = vec![Err(error); replies.len()];
        }
        for (reply, outcome) in replies.into_iter().zip(outcomes) {
            let _caller_gone = reply.send(outcome);
        }
    }

    fn compact(&mut self, through: u64) -> Result<u64, CommitError> {
        let published = self.shared.state();
        let batch = published.prepare_compaction(through, &self.options);
        let floor = batch.next.history.floor();
        if !batch.trimmed.is_empty() || !self.removals.is_empty() {
            self.persist(&published, batch, 1)?;
        }
        Ok(floor)
    }

    /// Makes the batch durable, then visible. Rows that are no longer needed are removed if there are at least
    /// `removals_at_least` of them.
    fn persist(
        &mut self,
        published: &State,
        batch: Batch,
        removals_at_least: usize,
    ) -> Result<(), CommitError> {
        let known = self.removals.len();
        self.removals.extend(batch.trimmed.iter().flat_map(unneeded_rows));
        let remove = self.removals.len() >= removals_at_least;
        let rows = batch
            .events
            .iter()
            .map(|event| (event.revision, row::encode(batch.at, event)))
            .collect();
        let change = Change {
            rows,
            removals: remove.then_some((&self.removals, batch.next.history.floor())),
            revisions: (published.revision(), batch.next.revision()),
        };
        if let Err(error) = self.log.append(&change, batch.at) {
            self.removals.truncate(known);
            return Err(error);
        }
        if remove {
            self.removals.clear();
        }
        self.shared.publish(batch);
        Ok(())
    }
}

/// The rows that nobody needs once `event` has left the history: the one of the record before it, and for a removal
/// its own.
fn unneeded_rows(event: &Event) -> impl Iterator<Item = u64> {
    let previous = event.previous.as_ref().map(|record| record.revision);
    previous
        .into_iter()
        .chain(event.current.is_none().then_some(event.revision))
}
