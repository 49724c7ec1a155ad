//! The data folder: made private, held by one store at a time.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Read as _, Seek as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    process,
};

use crate::error::OpenError;

const LOCK_FILE: &str = "lock";

/// A data folder that this store alone may use, until this is dropped or the process ends in whatever way.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Creates the folder (mode 0700) where it is missing, and takes its lock.
    pub(super) fn acquire(path: &Path) -> Result<Self, OpenError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|source| access("create the data folder", path, source))?;
        let lock_path = path.join(LOCK_FILE);
        let lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&lock_path);
        let mut lock = lock.map_err(|source| access("open the lock file", &lock_path, source))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(OpenError::Held {
                    folder: path.to_owned(),
                    holder: holder(&mut lock),
                });
            }
            Err(TryLockError::Error(source)) => return Err(access("lock", &lock_path, source)),
        }
        sign(&mut lock).map_err(|source| access("write the lock file", &lock_path, source))?;
        Ok(Self {
            path: path.to_owned(),
            _lock: lock,
        })
    }

    /// A file in the folder.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Makes the creation and renaming of files in the folder durable.
    pub(super) fn sync(&self) -> Result<(), OpenError> {
        File::open(&self.path)
            .and_then(|folder| folder.sync_all())
            .map_err(|source| access("sync the data folder", &self.path, source))
    }
}

/// Puts `file` in the place of whatever is at `target`.
pub(super) fn rename(file: &Path, target: &Path) -> Result<(), OpenError> {
    fs::rename(file, target).map_err(|source| access("rename", file, source))
}

pub(super) fn access(operation: &'static str, path: &Path, source: io::Error) -> OpenError {
    OpenError::Access {
        operation,
        path: path.to_owned(),
        source,
    }
}

/// Who wrote the lock file. For the message only; the lock itself is the kernel's.
fn holder(lock: &mut File) -> Option<u32> {
    let mut text = String::new();
    lock.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn sign(lock: &mut File) -> io::Result<()> {
    lock.set_len(0)?;
    lock.rewind()?;
    writeln!(lock, "{}", process::id())
}
