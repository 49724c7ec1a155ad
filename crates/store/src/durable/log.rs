//! The store file: a redb database with one row per write, kept while the write's record or event is needed.
//!
//! Table `capstan.rows` maps a revision to its [`row`]. With the floor F of table `capstan.meta` it holds exactly every write
//! after F, and of the writes up to F those whose record was still stored at F. So each value is written once, at the
//! right edge of the tree, and reading the rows in order gives back both the objects and the history.

use std::{
    any::Any,
    error::Error,
    fmt,
    fs::OpenOptions,
    io,
    os::unix::fs::OpenOptionsExt as _,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use capstan_base::Timestamp;
use redb::{
    Database, DatabaseError, ReadableDatabase as _, ReadableTable as _, TableDefinition, TableHandle as _,
    backends::FileBackend,
};
use thiserror::Error;

use super::{
    folder::{self, Folder},
    restore::Restore,
    row,
};
use crate::{
    error::{CommitError, OpenError},
    options::Options,
    state::{INITIAL_REVISION, State},
};

const STORE_FILE: &str = "store.redb";
const NEW_STORE_FILE: &str = "store.redb.new";
/// The format that this version reads and writes. Raised when the tables or rows change their form.
const FORMAT: u64 = 1;
const META: TableDefinition<'_, &str, u64> = TableDefinition::new("capstan.meta");
pub(super) const ROWS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("capstan.rows");
const FORMAT_KEY: &str = "format";
const REVISION_KEY: &str = "revision";
const FLOOR_KEY: &str = "floor";
/// Objects are served from our own memory, so the engine needs room only for the upper pages of its tree.
const CACHE_BYTES: usize = 32 << 20;
/// How long to wait after a full disk before looking whether there is room again.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// Opens the database at a path, creating it if the file is empty. Tests put failing disks here.
pub(super) type Opener = Box<dyn Fn(&Path) -> Result<Database, DatabaseError> + Send>;

/// What one durable transaction changes.
#[derive(Debug)]
pub(super) struct Change<'a> {
    /// New rows, by revision.
    pub(super) rows: Vec<(u64, Vec<u8>)>,
    /// Revisions whose rows are no longer needed, and the floor that goes with their removal.
    pub(super) removals: Option<(&'a [u64], u64)>,
    /// The revision before and after.
    pub(super) revisions: (u64, u64),
}

/// The open store file.
pub(super) struct Log {
    path: PathBuf,
    opener: Opener,
    database: Option<Database>,
    failure: Option<Failure>,
}

/// Why nothing is written at present.
#[derive(Debug, Clone)]
struct Failure {
    error: CommitError,
    /// From when on to try again; never, if it is not known what the disk holds.
    retry: Option<Timestamp>,
}

/// What went wrong in the database.
#[derive(Debug, Error)]
enum LogError {
    #[error(transparent)]
    Database(#[from] redb::Error),
    #[error("the database gave up: {0}")]
    Panic(String),
    #[error("the file is at revision {found}, but revision {expected} was the last one acknowledged")]
    Revision { expected: u64, found: u64 },
}

impl Log {
    /// Opens the store file of the folder, or creates it, and reads the state that it holds.
    pub(super) fn open(
        folder: &Folder,
        options: &Options,
        opener: Opener,
    ) -> Result<(Self, State), OpenError> {
        let path = folder.file(STORE_FILE);
        if !path
            .try_exists()
            .map_err(|source| folder::access("look for", &path, source))?
        {
            create(folder, &path, &opener)?;
        }
        let loaded = guarded(|| {
            let database = opener(&path).map_err(|error| refuse(&path, error))?;
            let state = load(&path, &database, options)?;
            Ok((database, state))
        });
        let (database, state) = loaded.unwrap_or_else(|panic| Err(corrupt(&path, LogError::Panic(panic))))?;
        Ok((
            Self {
                path,
                opener,
                database: Some(database),
                failure: None,
            },
            state,
        ))
    }

    /// Makes the change durable, all of it or nothing.
    ///
    /// After an error nothing further is written until it is known that the file holds what was acknowledged, no less
    /// and no more: after a full disk the file is read anew to find out, after any other error (a failed sync may have
    /// lost pages that the system shows as written) only a restart can.
    pub(super) fn append(&mut self, change: &Change<'_>, now: Timestamp) -> Result<(), CommitError> {
        if let Some(failure) = &self.failure {
            if failure.retry.is_none_or(|retry| now < retry) {
                return Err(failure.error.clone());
            }
            self.recover(change.revisions.0)
                .map_err(|error| self.fail(error, now))?;
        }
        let Some(database) = &self.database else {
            return Err(CommitError::Closed);
        };
        let written = guarded(|| write(database, change)).map_err(LogError::Panic);
        written
            .and_then(|written| Ok(written?))
            .map_err(|error| self.fail(error, now))
    }

    /// Opens the file again and makes sure that it is at the revision that was acknowledged last.
    fn recover(&mut self, acknowledged: u64) -> Result<(), LogError> {
        let (database, found) = guarded(|| {
            let database = (self.opener)(&self.path)?;
            let found = database
                .begin_read()?
                .open_table(META)?
                .get(REVISION_KEY)?
                .map(|found| found.value());
            Ok::<_, redb::Error>((database, found.unwrap_or_default()))
        })
        .map_err(LogError::Panic)??;
        if found != acknowledged {
            return Err(LogError::Revision {
                expected: acknowledged,
                found,
            });
        }
        tracing::info!(path = %self.path.display(), revision = found, "the store takes writes again");
        self.database = Some(database);
        self.failure = None;
        Ok(())
    }

    /// Lets go of a database that failed. The file stays as it is; redb repairs it when it is opened again. (After a
    /// panic it may panic once more on the way out.)
    fn give_up_database(&mut self) {
        let database = self.database.take();
        if let Err(panic) = guarded(|| drop(database)) {
            tracing::warn!(path = %self.path.display(), panic, "failed to let go of the store file");
        }
    }

    fn fail(&mut self, error: LogError, now: Timestamp) -> CommitError {
        let full = matches!(&error, LogError::Database(error) if is_full(error));
        let advice = if full {
            "the disk is full; free space and writes go on by themselves, reads are not affected"
        } else {
            "the store is read-only until it is restarted; check the disk first"
        };
        tracing::error!(path = %self.path.display(), %error, advice, "the store cannot write");
        let error = CommitError::Durable {
            path: self.path.clone(),
            advice,
            source: Arc::new(error),
        };
        self.give_up_database();
        let retry = full.then(|| now.checked_add(RETRY_AFTER).unwrap_or(Timestamp::MAX));
        self.failure = Some(Failure {
            error: error.clone(),
            retry,
        });
        error
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // Closing writes a little, to make the next opening quick.
        let closed = self.database.take().map(|database| guarded(|| database.close()));
        if let Some(Ok(Err(error))) = closed {
            tracing::warn!(path = %self.path.display(), %error, "failed to close the store file");
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log")
            .field("path", &self.path)
            .field("failure", &self.failure)
            .finish_non_exhaustive()
    }
}

/// Opens a database in a file of the file system.
pub(super) fn open_file(path: &Path) -> Result<Database, DatabaseError> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)?;
    redb::Builder::new()
        .set_cache_size(CACHE_BYTES)
        // Reports a damaged file instead of trusting it. The whole file is read on opening in any case.
        .set_check_integrity_on_open(true)
        .create_with_backend(FileBackend::new(file)?)
}

/// Makes an empty store file. It gets its name only when it is whole, so that a crash leaves none half made.
fn create(folder: &Folder, path: &Path, opener: &Opener) -> Result<(), OpenError> {
    let new = folder.file(NEW_STORE_FILE);
    if let Err(source) = std::fs::remove_file(&new)
        && source.kind() != io::ErrorKind::NotFound
    {
        return Err(folder::access("remove", &new, source));
    }
    let database = opener(&new).map_err(|error| refuse(&new, error))?;
    initialise(&database).map_err(|error| refuse(&new, error))?;
    database.close().map_err(|error| refuse(&new, error))?;
    folder::rename(&new, path)?;
    folder.sync()
}

fn initialise(database: &Database) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    {
        let mut meta = transaction.open_table(META)?;
        meta.insert(FORMAT_KEY, FORMAT)?;
        meta.insert(REVISION_KEY, INITIAL_REVISION)?;
        meta.insert(FLOOR_KEY, 0)?;
        transaction.open_table(ROWS)?;
    }
    Ok(transaction.commit()?)
}

fn write(database: &Database, change: &Change<'_>) -> Result<(), redb::Error> {
    let mut transaction = database.begin_write()?;
    transaction.set_durability(redb::Durability::Immediate)?;
    {
        let mut rows = transaction.open_table(ROWS)?;
        for (revision, row) in &change.rows {
            rows.insert(revision, row.as_slice())?;
        }
        let mut meta = transaction.open_table(META)?;
        meta.insert(REVISION_KEY, change.revisions.1)?;
        if let Some((revisions, floor)) = change.removals {
            for revision in revisions {
                rows.remove(revision)?;
            }
            meta.insert(FLOOR_KEY, floor)?;
        }
    }
    Ok(transaction.commit()?)
}

fn load(path: &Path, database: &Database, options: &Options) -> Result<State, OpenError> {
    let read = || -> Result<_, redb::Error> {
        let transaction = database.begin_read()?;
        let ours = [META.name(), ROWS.name()];
        if transaction
            .list_tables()?
            .filter(|table| ours.contains(&table.name()))
            .count()
            < ours.len()
        {
            return Ok(None);
        }
        let meta = transaction.open_table(META)?;
        let number = |key| Ok::<_, redb::Error>(meta.get(key)?.map(|value| value.value()));
        Ok(Some((
            number(FORMAT_KEY)?,
            number(REVISION_KEY)?,
            number(FLOOR_KEY)?,
            transaction.open_table(ROWS)?,
        )))
    };
    let Some((format, revision, floor, rows)) = read().map_err(|error| refuse(path, error))? else {
        return Err(OpenError::Foreign {
            path: path.to_owned(),
        });
    };
    let format = format.ok_or_else(|| OpenError::Foreign {
        path: path.to_owned(),
    })?;
    if format != FORMAT {
        return Err(OpenError::Format {
            path: path.to_owned(),
            found: format,
            supported: FORMAT,
        });
    }
    let (Some(revision), Some(floor)) = (revision, floor) else {
        return Err(corrupt(path, "its revision is missing"));
    };
    let mut restore = Restore::new(floor, options);
    for entry in rows.iter().map_err(|error| refuse(path, error))? {
        let (revision, bytes) = entry.map_err(|error| refuse(path, error))?;
        let revision = revision.value();
        row::decode(bytes.value())
            .map_err(Into::into)
            .and_then(|row| restore.add(revision, row))
            .map_err(|source| corrupt(path, source))?;
    }
    restore.finish(revision).map_err(|source| corrupt(path, source))
}

/// Runs `action`; a panic of the database engine (it has some for damaged files) becomes its message.
fn guarded<T>(action: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(action)).map_err(|panic: Box<dyn Any + Send>| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_default()
    })
}

fn is_full(error: &redb::Error) -> bool {
    let redb::Error::Io(error) = error else {
        return false;
    };
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

fn corrupt(path: &Path, source: impl Into<Box<dyn Error + Send + Sync>>) -> OpenError {
    OpenError::Corrupt {
        path: path.to_owned(),
        source: source.into(),
    }
}

/// What it means to the user that the file at `path` could not be opened.
fn refuse(path: &Path, error: impl Into<redb::Error>) -> OpenError {
    let path = path.to_owned();
    match error.into() {
        // This is how redb says that the file does not start as its files do.
        redb::Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => OpenError::Foreign { path },
        redb::Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => corrupt(&path, error),
        redb::Error::Io(source) => OpenError::Access {
            operation: "open the store file",
            path,
            source,
        },
        redb::Error::DatabaseAlreadyOpen => OpenError::Held {
            folder: path,
            holder: None,
        },
        redb::Error::TableTypeMismatch { .. }
        | redb::Error::TableIsMultimap(_)
        | redb::Error::UpgradeRequired(_) => OpenError::Foreign { path },
        error => OpenError::Corrupt {
            path,
            source: error.into(),
        },
    }
}
