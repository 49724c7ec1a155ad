//! A store whose process is killed loses nothing that it acknowledged.
//!
//! The test runs itself as a child process that writes and prints what was acknowledged, and kills that.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

use std::{
    collections::BTreeMap,
    env,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
};

use capstan_base::SystemClock;
use capstan_store::{Expect, Key, Options, Store, Write};

const CHILD_FOLDER: &str = "CAPSTAN_STORE_CRASH_FOLDER";
const ROUNDS: u64 = 6;
const WRITERS: u64 = 4;
const OBJECTS: u64 = 40;

fn open(folder: &Path) -> Store {
    Store::open(folder, Options::new(Arc::new(SystemClock))).unwrap()
}

fn key(number: u64) -> Key {
    Key::new("v1/configmaps", "default", format!("object-{number}"))
}

/// Writes and removes objects from several tasks until killed; prints "REVISION NUMBER VALUE" for each acknowledged
/// put, "REVISION NUMBER -" for each removal.
async fn write_until_killed(folder: &Path) {
    let store = open(folder);
    println!("\nopened {}", store.revision());
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let store = store.clone();
        writers.spawn(async move {
            for turn in 0.. {
                // Each writer has objects of its own, so that the last line about an object tells its state.
                let number = writer + WRITERS * (turn % (OBJECTS / WRITERS));
                let removes = turn % 7 == 6 && store.snapshot().get(&key(number)).is_some();
                let value = (!removes).then(|| format!("{writer}.{turn}.{}", "x".repeat(500)).into());
                let text = if removes {
                    "-".to_owned()
                } else {
                    format!("{writer}.{turn}")
                };
                let committed = store
                    .commit(Write {
                        key: key(number),
                        expect: Expect::Any,
                        value,
                    })
                    .await
                    .unwrap();
                // One call, so that lines do not mix.
                let line = format!("{} {number} {text}\n", committed.revision);
                std::io::stdout().write_all(line.as_bytes()).unwrap();
            }
        });
    }
    while writers.join_next().await.is_some() {}
}

fn start_child(folder: &Path) -> Child {
    Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "nothing_acknowledged_is_lost_when_the_process_is_killed",
            "--nocapture",
        ])
        .env(CHILD_FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn nothing_acknowledged_is_lost_when_the_process_is_killed() {
    if let Some(folder) = env::var_os(CHILD_FOLDER) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(write_until_killed(Path::new(&folder)));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut revision = 0;
    for round in 0..ROUNDS {
        let mut child = start_child(folder.path());
        let mut lines = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map(Result::unwrap);
        let opened = lines
            .find_map(|line| line.strip_prefix("opened ").map(str::to_owned))
            .unwrap();
        let opened: u64 = opened.parse().unwrap();
        assert!(
            opened >= revision,
            "the revision went back from {revision} to {opened}"
        );
        // Killed at another number of acknowledged writes each time, at whatever point of the next ones.
        let mut acknowledged = BTreeMap::new();
        let mut killed = false;
        for (count, line) in lines.enumerate() {
            let [at, number, value] = *line.split(' ').collect::<Vec<_>>() else {
                panic!("{line}")
            };
            let at: u64 = at.parse().unwrap();
            assert!(at > opened);
            revision = revision.max(at);
            acknowledged.insert(number.parse::<u64>().unwrap(), (at, value.to_owned()));
            if count as u64 == round * round * 13 && !killed {
                child.kill().unwrap();
                killed = true;
            }
        }
        assert!(killed, "the child ended by itself");
        child.wait().unwrap();

        let store = open(folder.path());
        assert!(
            store.revision() >= revision,
            "revision {} after {revision} was seen",
            store.revision()
        );
        let snapshot = store.snapshot();
        for (number, (at, value)) in acknowledged {
            let stored = snapshot.get(&key(number));
            let newer = stored.is_some_and(|stored| stored.revision > at);
            // A later write of the same object may have become durable without being acknowledged, removals too.
            match stored {
                Some(stored) if !newer => {
                    let text = String::from_utf8_lossy(&stored.value);
                    assert_eq!(stored.revision, at);
                    assert!(
                        text.starts_with(&format!("{value}.")),
                        "object {number}: {value} became {text}"
                    );
                }
                Some(_) => {}
                None => {
                    let mut cursor = store.watch("v1/configmaps", None, at - 1).unwrap();
                    let gone = cursor
                        .ready()
                        .unwrap()
                        .into_iter()
                        .rev()
                        .find(|event| *event.key() == key(number));
                    assert!(
                        gone.is_some_and(|event| event.current.is_none()),
                        "object {number} of revision {at}"
                    );
                }
            }
        }
        // The history is whole, too: every event from the floor on, in order.
        let floor = store.metrics().floor;
        let mut cursor = store.watch_all(floor).unwrap();
        let mut expected = floor.max(capstan_store::INITIAL_REVISION);
        loop {
            let events = cursor.ready().unwrap();
            if events.is_empty() {
                break;
            }
            for event in events {
                expected += 1;
                assert_eq!(event.revision, expected);
            }
        }
        assert_eq!(expected, store.revision());
        revision = store.revision();
    }
}
