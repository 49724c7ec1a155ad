//! Data folders and store files that cannot be used are refused with an error that says what to do.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

use std::{
    error::Error as _,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process,
    sync::Arc,
};

use capstan_base::{ManualClock, Timestamp};
use capstan_store::{CommitError, Expect, Key, OpenError, Options, Store, Write};
use redb::{Database, TableDefinition};

fn options() -> Options {
    Options::new(Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH)))
}

fn put(name: &str) -> Write {
    Write {
        key: Key::new("v1/secrets", "default", name),
        expect: Expect::Any,
        value: Some("{}".into()),
    }
}

/// A folder with a store of some objects in it, closed. Gives the path of the file, too.
async fn filled() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), options()).unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..200 {
        let store = store.clone();
        tasks.spawn(async move { store.commit(put(&format!("object-{number}"))).await.unwrap() });
    }
    tasks.join_all().await;
    store.close().await;
    let file = folder.path().join("store.redb");
    (folder, file)
}

fn refusal(folder: &Path) -> OpenError {
    Store::open(folder, options()).unwrap_err()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn the_folder_and_its_files_are_private() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("some/where");
    let store = Store::open(&folder, options()).unwrap();
    store.commit(put("a")).await.unwrap();
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&folder.join("lock")), 0o600);
    assert_eq!(mode(&folder.join("store.redb")), 0o600);
}

#[test]
fn a_held_folder_is_refused_and_its_holder_named() {
    let folder = tempfile::tempdir().unwrap();
    let first = Store::open(folder.path(), options()).unwrap();
    let error = refusal(folder.path());
    let expected = format!(
        "failed to open the data folder {}: process {} has it open; stop that process or choose another folder",
        folder.path().display(),
        process::id()
    );
    assert_eq!(error.to_string(), expected);
    drop(first);
    Store::open(folder.path(), options()).unwrap();
}

#[tokio::test]
async fn a_closed_store_still_reads_but_frees_the_folder_and_refuses_writes() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), options()).unwrap();
    store.commit(put("a")).await.unwrap();
    store.close().await;
    let next = Store::open(folder.path(), options()).unwrap();
    assert_eq!(store.snapshot().count("v1/secrets"), 1);
    assert!(matches!(store.commit(put("b")).await, Err(CommitError::Closed)));
    store.close().await;
    assert_eq!(next.revision(), 2);
}

#[test]
fn a_file_in_place_of_the_folder_is_refused() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("file");
    fs::write(&path, "").unwrap();
    let expected = format!(
        "failed to create the data folder {}: a file is in the way of the data folder; move it, or choose another folder",
        path.display()
    );
    assert_eq!(refusal(&path).to_string(), expected);
}

#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    // No permission stops a superuser, but nobody can create files in the process table.
    let error = refusal(Path::new("/proc/self"));
    assert!(
        error
            .to_string()
            .starts_with("failed to open the lock file /proc/self/lock: "),
        "{error}"
    );
    assert!(error.source().is_some());
}

#[test]
fn a_foreign_file_is_refused_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.redb");
    for content in ["no database at all", "x"] {
        fs::write(&file, content.repeat(1000)).unwrap();
        let expected = format!(
            "failed to open {}: it is not a Capstan store, or its first page is damaged; choose another folder, or move \
             the file away and restore a backup",
            file.display()
        );
        assert_eq!(refusal(folder.path()).to_string(), expected);
        assert_eq!(fs::read_to_string(&file).unwrap(), content.repeat(1000));
    }
}

#[test]
fn a_database_of_something_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::create(folder.path().join("store.redb")).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction
        .open_table(TableDefinition::<&str, &str>::new("capstan.meta"))
        .unwrap();
    transaction
        .open_table(TableDefinition::<&str, &str>::new("capstan.rows"))
        .unwrap();
    transaction.commit().unwrap();
    drop(database);
    assert!(matches!(refusal(folder.path()), OpenError::Foreign { .. }));
}

#[tokio::test]
async fn a_store_of_a_newer_format_is_refused() {
    let (folder, file) = filled().await;
    let database = Database::open(&file).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction
        .open_table(TableDefinition::<&str, u64>::new("capstan.meta"))
        .unwrap()
        .insert("format", 2)
        .unwrap();
    transaction.commit().unwrap();
    drop(database);
    let expected = format!(
        "failed to open {}: it has store format 2, this version reads format 1; use the version of Capstan that wrote it",
        file.display()
    );
    assert_eq!(refusal(folder.path()).to_string(), expected);
}

#[tokio::test]
async fn a_lost_row_is_noticed() {
    let (folder, file) = filled().await;
    let database = Database::open(&file).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction
        .open_table(TableDefinition::<u64, &[u8]>::new("capstan.rows"))
        .unwrap()
        .remove(77)
        .unwrap();
    transaction.commit().unwrap();
    drop(database);
    let error = refusal(folder.path());
    let expected = format!(
        "failed to open {}: the file is damaged; move it away and restore a backup",
        file.display()
    );
    assert_eq!(error.to_string(), expected);
    let source = error.source().unwrap().to_string();
    assert_eq!(
        source,
        "expected the write of revision 77, found the one of revision 78"
    );
}

#[tokio::test]
async fn damage_anywhere_gives_the_same_state_or_an_error_never_a_panic() {
    let (_folder, file) = filled().await;
    let sound = fs::read(&file).unwrap();
    let mut refused = 0;
    for position in (0..sound.len()).step_by(sound.len() / 60) {
        let folder = tempfile::tempdir().unwrap();
        let mut damaged = sound.clone();
        let end = (position + 64).min(damaged.len());
        damaged[position..end].iter_mut().for_each(|byte| *byte ^= 0x55);
        fs::write(folder.path().join("store.redb"), damaged).unwrap();
        match Store::open(folder.path(), options()) {
            Ok(store) => assert_eq!(
                (store.revision(), store.snapshot().count("v1/secrets")),
                (201, 200)
            ),
            Err(OpenError::Corrupt { .. } | OpenError::Foreign { .. }) => refused += 1,
            Err(error) => panic!("damage at {position}: {error}"),
        }
    }
    assert!(refused > 0);
}

#[tokio::test]
async fn a_file_cut_short_is_refused() {
    let (_folder, file) = filled().await;
    let sound = fs::read(&file).unwrap();
    for part in [1, 10, 50, 90] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(
            folder.path().join("store.redb"),
            &sound[..sound.len() * part / 100],
        )
        .unwrap();
        let error = refusal(folder.path());
        assert!(
            matches!(error, OpenError::Corrupt { .. } | OpenError::Foreign { .. }),
            "{part} %: {error}"
        );
    }
}

#[test]
fn a_creation_that_was_cut_off_is_begun_anew() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("store.redb.new"), [0; 5000]).unwrap();
    assert_eq!(Store::open(folder.path(), options()).unwrap().revision(), 1);
}
