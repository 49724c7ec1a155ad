//! The durable store on disks that fail.

use std::{
    fs::{File, OpenOptions},
    io,
    path::Path,
    sync::atomic::{AtomicU8, Ordering},
    time::Duration,
};

use capstan_base::{ManualClock, Timestamp};
use redb::{Database, ReadableDatabase as _, ReadableTable as _, StorageBackend, backends::FileBackend};

use super::*;
use crate::{key::Key, state::Expect};

const SOUND: u8 = 0;
/// Writes fail for want of space.
const FULL: u8 = 1;
/// Syncs fail, and what was written before them may or may not be there.
const UNSYNCED: u8 = 2;
/// Syncs report a full disk although everything was written.
const FULL_TOO_LATE: u8 = 3;
/// The engine panics.
const PANICKING: u8 = 4;

#[derive(Debug)]
struct Disk {
    file: FileBackend,
    fault: Arc<AtomicU8>,
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        match self.fault.load(Ordering::SeqCst) {
            UNSYNCED => Err(io::Error::other("lost pages")),
            FULL_TOO_LATE => self.file.sync_data().and(Err(io::ErrorKind::StorageFull.into())),
            _ => self.file.sync_data(),
        }
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        match self.fault.load(Ordering::SeqCst) {
            FULL => Err(io::ErrorKind::StorageFull.into()),
            PANICKING => panic!("an engine's assertion"),
            _ => self.file.write(offset, data),
        }
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }
}

struct Bench {
    folder: tempfile::TempDir,
    clock: ManualClock,
    fault: Arc<AtomicU8>,
}

impl Bench {
    fn new() -> Self {
        let clock = ManualClock::new(Timestamp::UNIX_EPOCH);
        Self {
            folder: tempfile::tempdir().unwrap(),
            clock,
            fault: Arc::new(AtomicU8::new(SOUND)),
        }
    }

    fn open(&self) -> (Durable, Arc<Shared>) {
        let fault = Arc::clone(&self.fault);
        let opener = move |path: &Path| {
            let file: File = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(path)?;
            let disk = Disk {
                file: FileBackend::new(file)?,
                fault: Arc::clone(&fault),
            };
            Database::builder().create_with_backend(disk)
        };
        let options = Options::new(Arc::new(self.clock.clone()));
        Durable::open_with(self.folder.path(), options, Box::new(opener)).unwrap()
    }

    fn set(&self, fault: u8) {
        self.fault.store(fault, Ordering::SeqCst);
    }
}

fn put(name: &str) -> Write {
    Write {
        key: Key::new("v1/secrets", "default", name),
        expect: Expect::Absent,
        value: Some("{}".into()),
    }
}

/// The names stored, and the revision.
fn seen(shared: &Shared) -> (Vec<String>, u64) {
    let objects = Arc::clone(&shared.state().objects);
    let names = objects
        .range("v1/secrets", None, None)
        .map(|record| record.key.name().to_owned());
    (names.collect(), objects.revision)
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// The error's text after the path, and the text of what caused it.
fn parts(error: CommitError) -> (&'static str, String) {
    let CommitError::Durable { advice, source, .. } = error else {
        panic!("{error}")
    };
    (advice, source.to_string())
}

const FULL_ADVICE: &str =
    "the disk is full; free space and writes go on by themselves, reads are not affected";
const BROKEN_ADVICE: &str = "the store is read-only until it is restarted; check the disk first";

#[tokio::test]
async fn a_full_disk_stops_writes_until_there_is_space_again() {
    let bench = Bench::new();
    let (durable, shared) = bench.open();
    durable.commit(put("a")).await.unwrap();
    bench.set(FULL);
    let (advice, cause) = parts(durable.commit(put("b")).await.unwrap_err());
    assert_eq!(
        (advice, cause.contains("no storage space")),
        (FULL_ADVICE, true),
        "{cause}"
    );
    assert_eq!(seen(&shared), (names(&["a"]), 2));

    // Still full, looked at again or not.
    assert_eq!(parts(durable.commit(put("b")).await.unwrap_err()).0, FULL_ADVICE);
    bench.clock.advance(Duration::from_secs(10));
    assert_eq!(parts(durable.commit(put("b")).await.unwrap_err()).0, FULL_ADVICE);

    bench.set(SOUND);
    bench.clock.advance(Duration::from_secs(10));
    assert_eq!(durable.commit(put("b")).await.unwrap().revision, 3);
    assert_eq!(seen(&shared), (names(&["a", "b"]), 3));
    drop(durable);
    assert_eq!(seen(&bench.open().1), (names(&["a", "b"]), 3));
}

#[tokio::test]
async fn after_a_failed_sync_nothing_is_written_before_a_restart() {
    let bench = Bench::new();
    let (durable, shared) = bench.open();
    durable.commit(put("a")).await.unwrap();
    bench.set(UNSYNCED);
    let (advice, cause) = parts(durable.commit(put("b")).await.unwrap_err());
    assert_eq!(
        (advice, cause.contains("lost pages")),
        (BROKEN_ADVICE, true),
        "{cause}"
    );
    bench.set(SOUND);
    bench.clock.advance(Duration::from_secs(1000));
    assert_eq!(
        parts(durable.commit(put("c")).await.unwrap_err()).0,
        BROKEN_ADVICE
    );
    assert_eq!(seen(&shared), (names(&["a"]), 2));

    drop(durable);
    let (durable, shared) = bench.open();
    // The failed write was never acknowledged; it may have become durable all the same.
    let (found, revision) = seen(&shared);
    assert!(found == names(&["a"]) || found == names(&["a", "b"]), "{found:?}");
    assert_eq!(durable.commit(put("c")).await.unwrap().revision, revision + 1);
}

#[tokio::test]
async fn a_refused_write_that_is_on_disk_after_all_stops_writes_for_good() {
    let bench = Bench::new();
    let (durable, shared) = bench.open();
    durable.commit(put("a")).await.unwrap();
    bench.set(FULL_TOO_LATE);
    assert_eq!(parts(durable.commit(put("b")).await.unwrap_err()).0, FULL_ADVICE);
    bench.set(SOUND);
    bench.clock.advance(Duration::from_secs(10));
    let (advice, cause) = parts(durable.commit(put("c")).await.unwrap_err());
    let expected = "the file is at revision 3, but revision 2 was the last one acknowledged";
    assert_eq!((advice, cause.as_str()), (BROKEN_ADVICE, expected));
    assert_eq!(seen(&shared), (names(&["a"]), 2));
    drop(durable);
    assert_eq!(seen(&bench.open().1), (names(&["a", "b"]), 3));
}

#[tokio::test]
async fn a_panic_of_the_engine_fails_the_write_only() {
    let bench = Bench::new();
    let (durable, shared) = bench.open();
    durable.commit(put("a")).await.unwrap();
    bench.set(PANICKING);
    let (advice, cause) = parts(durable.commit(put("b")).await.unwrap_err());
    assert_eq!(
        (advice, cause.as_str()),
        (BROKEN_ADVICE, "the database gave up: an engine's assertion")
    );
    assert_eq!(seen(&shared), (names(&["a"]), 2));
    bench.set(SOUND);
    drop(durable);
    assert_eq!(seen(&bench.open().1).0[0], "a");
}

#[tokio::test]
async fn the_whole_batch_fails_together_conflicts_included() {
    let bench = Bench::new();
    let (durable, _shared) = bench.open();
    bench.set(UNSYNCED);
    let durable = Arc::new(durable);
    let mut writers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let durable = Arc::clone(&durable);
        writers.spawn(async move { durable.commit(put("a")).await });
    }
    for outcome in writers.join_all().await {
        assert!(matches!(outcome, Err(CommitError::Durable { .. })), "{outcome:?}");
    }
}

#[tokio::test]
async fn rows_that_nobody_needs_leave_the_file() {
    let bench = Bench::new();
    let (durable, _shared) = bench.open();
    for round in 0..200 {
        let write = Write {
            expect: Expect::Any,
            ..put(["a", "b"][round % 2])
        };
        durable.commit(write).await.unwrap();
    }
    durable
        .commit(Write {
            value: None,
            expect: Expect::Any,
            ..put("b")
        })
        .await
        .unwrap();
    let revision = durable.compact(u64::MAX).await.unwrap();
    assert_eq!(revision, 202);
    drop(durable);
    let database = Database::open(bench.folder.path().join("store.redb")).unwrap();
    let rows = database.begin_read().unwrap().open_table(log::ROWS).unwrap();
    let rows: Vec<_> = rows.iter().unwrap().map(|row| row.unwrap().0.value()).collect();
    assert_eq!(rows, [200], "only the last write of the one object that is left");
}
