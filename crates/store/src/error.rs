//! What can go wrong with a store.

use std::{error::Error, io, path::PathBuf, sync::Arc};

use thiserror::Error;

use crate::key::Key;

/// The revision asked for is older than the history that is kept. The caller has to read anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("revision {requested} is too old: history is kept from revision {floor} on")]
pub struct Compacted {
    /// The revision asked for.
    pub requested: u64,
    /// The oldest revision that can be asked for.
    pub floor: u64,
}

/// Why there is no snapshot at a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SnapshotError {
    /// The revision is older than the history that is kept.
    #[error(transparent)]
    Compacted(#[from] Compacted),
    /// The revision has not happened yet.
    #[error("revision {requested} is too large: the current revision is {current}")]
    Future {
        /// The revision asked for.
        requested: u64,
        /// The current revision.
        current: u64,
    },
}

/// Why a write was not committed.
#[derive(Debug, Clone, Error)]
pub enum CommitError {
    /// The object was expected to be absent, but is stored.
    #[error("failed to create {key}: it exists already")]
    Exists {
        /// The object.
        key: Key,
        /// The revision of the stored record.
        found: u64,
    },
    /// The object is not stored.
    #[error("failed to write {key}: it does not exist")]
    Absent {
        /// The object.
        key: Key,
    },
    /// The object was written since the revision that the caller expects.
    #[error("failed to write {key}: expected revision {expected}, found revision {found}")]
    Conflict {
        /// The object.
        key: Key,
        /// The revision that the caller expected.
        expected: u64,
        /// The revision of the stored record.
        found: u64,
    },
    /// The write could not be made durable, so it did not happen as far as anyone can see. Whether it is on disk is
    /// unknown; the store takes no further write before it knows.
    #[error("failed to write {}: {advice}", path.display())]
    Durable {
        /// The store file.
        path: PathBuf,
        /// What to do about it.
        advice: &'static str,
        /// What failed.
        source: Arc<dyn Error + Send + Sync>,
    },
    /// The store has been closed.
    #[error("failed to write: the store is closed")]
    Closed,
}

/// Why a store could not be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The data folder, or a file in it, cannot be used.
    #[error("failed to {operation} {}: {}", path.display(), advice(source))]
    Access {
        /// What was tried.
        operation: &'static str,
        /// The folder or file.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// Another process, or another store of this process, has the folder open.
    #[error(
        "failed to open the data folder {}: {} has it open; stop that process or choose another folder",
        folder.display(),
        holder.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
    )]
    Held {
        /// The data folder.
        folder: PathBuf,
        /// The process that has it open, where known.
        holder: Option<u32>,
    },
    /// The file is not a Capstan store.
    #[error(
        "failed to open {}: it is not a Capstan store, or its first page is damaged; \
         choose another folder, or move the file away and restore a backup",
        path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file was written in a format that this version does not know.
    #[error(
        "failed to open {}: it has store format {found}, this version reads format {supported}; \
         use the version of Capstan that wrote it",
        path.display()
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// The format of the file.
        found: u64,
        /// The format that this version reads and writes.
        supported: u64,
    },
    /// The file is damaged.
    #[error(
        "failed to open {}: the file is damaged; move it away and restore a backup",
        path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<dyn Error + Send + Sync>,
    },
}

/// What a user can do about an I/O error.
pub(crate) fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "give this user read and write access, or choose another folder",
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only, choose another folder",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the disk is full; free space, or choose another folder"
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            "a file is in the way of the data folder; move it, or choose another folder"
        }
        _ => "check the disk and the path",
    }
}
