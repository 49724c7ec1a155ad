//! What the store promises its callers, one claim at a time.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use capstan_base::{ManualClock, Timestamp};
use capstan_store::{
    Committed, Compacted, Cursor, Event, Expect, HistoryLimits, IndexEntry, Key, Metrics, Options, Record,
    Snapshot, Store, Write,
};
use once::poll_once;

/// Polls a future once, without a runtime.
mod once {
    use std::{
        pin::pin,
        task::{Context, Poll, Waker},
    };

    pub(super) fn poll_once<T>(future: impl Future<Output = T>) -> Option<T> {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }
}

fn clock() -> ManualClock {
    ManualClock::new(Timestamp::UNIX_EPOCH)
}

fn memory() -> Store {
    Store::memory(Options::new(Arc::new(clock())))
}

fn secret(namespace: &str, name: &str) -> Key {
    Key::new("v1/secrets", namespace, name)
}

/// Commits on a memory store, which never waits.
fn put(store: &Store, key: Key, value: &'static str) -> Committed {
    let write = Write {
        key,
        expect: Expect::Any,
        value: Some(Bytes::from_static(value.as_bytes())),
    };
    poll_once(store.commit(write))
        .expect("a memory store never waits")
        .unwrap()
}

fn remove(store: &Store, key: Key) -> Committed {
    let write = Write {
        key,
        expect: Expect::Any,
        value: None,
    };
    poll_once(store.commit(write))
        .expect("a memory store never waits")
        .unwrap()
}

fn error(store: &Store, key: Key, expect: Expect, value: Option<Bytes>) -> String {
    poll_once(store.commit(Write { key, expect, value }))
        .unwrap()
        .unwrap_err()
        .to_string()
}

/// "+REVISION name" for a put, "-REVISION name" for a removal.
fn lines(events: &[Event]) -> Vec<String> {
    let sign = |event: &Event| if event.current.is_some() { '+' } else { '-' };
    events
        .iter()
        .map(|event| format!("{}{} {}", sign(event), event.revision, event.key().name()))
        .collect()
}

fn names<'a>(records: impl Iterator<Item = &'a Arc<Record>>) -> Vec<String> {
    records
        .map(|record| format!("{}/{}", record.key.namespace(), record.key.name()))
        .collect()
}

#[test]
fn a_refused_write_says_why_and_changes_nothing() {
    let store = memory();
    put(&store, secret("default", "a"), "1");
    let value = || Some(Bytes::from_static(b"2"));
    let (a, b) = (|| secret("default", "a"), || Key::new("v1/nodes", "", "b"));
    let absent = "failed to write v1/nodes b: it does not exist";
    let table = [
        (
            a(),
            Expect::Absent,
            value(),
            "failed to create v1/secrets default/a: it exists already",
        ),
        (
            a(),
            Expect::Revision(1),
            value(),
            "failed to write v1/secrets default/a: expected revision 1, found revision 2",
        ),
        (
            a(),
            Expect::Revision(3),
            None,
            "failed to write v1/secrets default/a: expected revision 3, found revision 2",
        ),
        (b(), Expect::Revision(2), value(), absent),
        (b(), Expect::Any, None, absent),
        (b(), Expect::Absent, None, absent),
    ];
    for (key, expect, value, expected) in table {
        assert_eq!(error(&store, key, expect, value), expected);
    }
    assert_eq!(store.revision(), 2);
    assert_eq!(store.metrics().puts_total, 1);
}

#[test]
fn a_removal_has_a_revision_of_its_own_and_gives_the_last_record() {
    let store = memory();
    let created = put(&store, secret("default", "a"), "1");
    let removed = remove(&store, secret("default", "a"));
    assert_eq!((created.revision, removed.revision), (2, 3));
    assert!(Arc::ptr_eq(&created.record, &removed.record));
    let again = put(&store, secret("default", "a"), "2");
    assert_eq!((again.record.revision, again.record.create_revision), (4, 4));
}

#[test]
fn a_snapshot_never_changes() {
    let store = memory();
    put(&store, secret("default", "a"), "1");
    let before = store.snapshot();
    put(&store, secret("default", "a"), "2");
    put(&store, secret("default", "b"), "1");
    assert_eq!(before.revision(), 2);
    assert_eq!(before.get(&secret("default", "a")).unwrap().value, "1");
    assert_eq!(names(before.range("v1/secrets", None)), ["default/a"]);
}

#[test]
fn lists_are_in_order_and_go_on_after_any_place() {
    let store = memory();
    for (namespace, name) in [("b", "z"), ("a", "y"), ("a-b", "x"), ("a", "b"), ("b", "a")] {
        put(&store, secret(namespace, name), "1");
        put(&store, Key::new("v1/secretsandmore", namespace, name), "1");
    }
    let snapshot = store.snapshot();
    let after = |namespace, place| names(snapshot.range_after("v1/secrets", namespace, place));
    assert_eq!(
        names(snapshot.range("v1/secrets", None)),
        ["a/b", "a/y", "a-b/x", "b/a", "b/z"]
    );
    assert_eq!(names(snapshot.range("v1/secrets", Some("a"))), ["a/b", "a/y"]);
    assert_eq!(after(None, ("a", "b")), ["a/y", "a-b/x", "b/a", "b/z"]);
    assert_eq!(after(None, ("a", "c")), ["a/y", "a-b/x", "b/a", "b/z"]);
    assert_eq!(after(None, ("a", "y")), ["a-b/x", "b/a", "b/z"]);
    assert_eq!(after(Some("a"), ("a", "b")), ["a/y"]);
    assert_eq!(after(Some("b"), ("a", "y")), ["b/a", "b/z"]);
    assert_eq!(after(Some("b"), ("b", "z")), Vec::<String>::new());
    assert_eq!(names(snapshot.range("v1/none", None)), Vec::<String>::new());
}

#[test]
fn a_watch_waits_for_what_it_follows_and_for_nothing_else() {
    let store = memory();
    let mut all = store.watch_all(1).unwrap();
    let mut secrets = store.watch("v1/secrets", None, 1).unwrap();
    let mut here = store.watch("v1/secrets", Some("here"), 1).unwrap();
    for cursor in [&mut all, &mut secrets, &mut here] {
        assert!(poll_once(cursor.next()).is_none());
    }
    put(&store, Key::new("v1/nodes", "", "node"), "1");
    put(&store, secret("there", "a"), "1");
    put(&store, secret("here", "b"), "1");
    remove(&store, secret("there", "a"));
    let next = |cursor: &mut Cursor| lines(&poll_once(cursor.next()).unwrap().unwrap());
    assert_eq!(next(&mut all), ["+2 node", "+3 a", "+4 b", "-5 a"]);
    assert_eq!(next(&mut secrets), ["+3 a", "+4 b", "-5 a"]);
    assert_eq!(next(&mut here), ["+4 b"]);
    for cursor in [&mut all, &mut secrets, &mut here] {
        assert!(poll_once(cursor.next()).is_none());
        assert_eq!(cursor.position(), 5);
    }
}

#[tokio::test]
async fn a_waiting_watch_is_woken_by_the_write() {
    let store = memory();
    let mut cursor = store.watch("v1/secrets", Some("default"), 1).unwrap();
    let waiting = tokio::spawn(async move { lines(&cursor.next().await.unwrap()) });
    tokio::task::yield_now().await;
    put(&store, secret("default", "a"), "1");
    assert_eq!(waiting.await.unwrap(), ["+2 a"]);
}

#[test]
fn a_watch_from_the_future_gives_only_what_comes_after_it() {
    let store = memory();
    let mut cursor = store.watch("v1/secrets", None, 3).unwrap();
    put(&store, secret("default", "a"), "1");
    put(&store, secret("default", "b"), "1");
    assert!(poll_once(cursor.next()).is_none());
    assert_eq!(cursor.position(), 3);
    put(&store, secret("default", "c"), "1");
    assert_eq!(lines(&cursor.ready().unwrap()), ["+4 c"]);
}

#[test]
fn a_watch_far_behind_reads_in_parts_without_a_gap() {
    let store = memory();
    for _ in 0..2500 {
        put(&store, secret("default", "a"), "1");
    }
    let mut cursor = store.watch("v1/secrets", None, 0).unwrap();
    let mut revisions = Vec::new();
    while let Some(events) = poll_once(cursor.next()) {
        let events = events.unwrap();
        assert!(events.len() <= 1000);
        revisions.extend(events.iter().map(|event| event.revision));
        assert_eq!(Some(&cursor.position()).min(revisions.last()), revisions.last());
    }
    assert_eq!(revisions, (2..=2501).collect::<Vec<_>>());
}

#[test]
fn history_is_kept_by_count_and_by_age() {
    let clock = clock();
    let history = HistoryLimits {
        events: 3,
        age: Duration::from_secs(60),
    };
    let store = Store::memory(Options::new(Arc::new(clock.clone())).with_history(history));
    for name in ["a", "b", "c", "d", "e"] {
        put(&store, secret("default", name), "1");
    }
    assert_eq!(store.metrics().floor, 3);
    assert_eq!(
        store.watch("v1/secrets", None, 2).unwrap_err(),
        Compacted {
            requested: 2,
            floor: 3
        }
    );
    assert_eq!(
        lines(&store.watch("v1/secrets", None, 3).unwrap().ready().unwrap()),
        ["+4 c", "+5 d", "+6 e"]
    );
    assert_eq!(
        names(store.snapshot_at(3).unwrap().range("v1/secrets", None)),
        ["default/a", "default/b"]
    );
    clock.advance(Duration::from_secs(60));
    assert_eq!(poll_once(store.compact()).unwrap().unwrap(), 3);
    clock.advance(Duration::from_secs(1));
    assert_eq!(poll_once(store.compact()).unwrap().unwrap(), 6);
    assert_eq!(store.snapshot().count("v1/secrets"), 5);
}

#[test]
fn a_watch_of_something_quiet_outlives_any_amount_of_other_writes() {
    let history = HistoryLimits {
        events: 3,
        age: Duration::from_secs(60),
    };
    let store = Store::memory(Options::new(Arc::new(clock())).with_history(history));
    let mut quiet = store.watch("v1/secrets", Some("quiet"), 1).unwrap();
    let mut busy = store.watch("v1/secrets", None, 1).unwrap();
    for _ in 0..100 {
        put(&store, secret("busy", "a"), "1");
    }
    assert_eq!(
        busy.ready().unwrap_err(),
        Compacted {
            requested: 1,
            floor: 98
        }
    );
    put(&store, secret("quiet", "b"), "1");
    assert_eq!(lines(&quiet.ready().unwrap()), ["+102 b"]);
}

#[test]
fn a_cursor_that_missed_something_stays_compacted() {
    let store = memory();
    let mut cursor = store.watch("v1/secrets", None, 1).unwrap();
    put(&store, secret("default", "a"), "1");
    assert_eq!(poll_once(store.compact_through(99)).unwrap().unwrap(), 2);
    put(&store, secret("default", "b"), "1");
    for _ in 0..2 {
        assert_eq!(
            poll_once(cursor.next()).unwrap().unwrap_err(),
            Compacted {
                requested: 1,
                floor: 2
            }
        );
    }
}

#[test]
fn reads_at_old_revisions_are_exact_across_checkpoints() {
    let facts = |snapshot: &Snapshot| -> Vec<(String, u64)> {
        let records = snapshot.range("v1/secrets", None);
        records
            .map(|record| (record.key.name().to_owned(), record.revision))
            .collect()
    };
    let store = memory();
    let mut expected = Vec::new();
    for number in 0..2000_u64 {
        let key = secret("default", &format!("object-{}", number % 10));
        // Every other round removes one object, which the next round makes again.
        if number % 20 == 13 {
            remove(&store, key);
        } else {
            put(&store, key, "1");
        }
        expected.push((store.revision(), facts(&store.snapshot())));
    }
    for (revision, expected) in expected {
        assert_eq!(
            facts(&store.snapshot_at(revision).unwrap()),
            expected,
            "at revision {revision}"
        );
    }
}

#[test]
fn the_index_follows_every_write_and_every_read_at_an_old_revision() {
    let words = |record: &Record| {
        let text = String::from_utf8_lossy(&record.value);
        text.split(' ')
            .map(|word| IndexEntry {
                index: "word",
                value: word.into(),
            })
            .collect()
    };
    let store = Store::memory(Options::new(Arc::new(clock())).with_indexer(words));
    put(&store, secret("a", "one"), "red green");
    put(&store, secret("b", "two"), "red");
    put(&store, Key::new("v1/nodes", "", "three"), "red redder");
    put(&store, secret("a", "one"), "green blue");
    remove(&store, secret("b", "two"));
    let find = |snapshot: &Snapshot, value, resource, namespace| {
        names(snapshot.indexed("word", value, resource, namespace))
    };
    let now = store.snapshot();
    assert_eq!(find(&now, "red", None, None), ["/three"]);
    assert_eq!(find(&now, "green", None, None), ["a/one"]);
    assert_eq!(find(&now, "blue", Some("v1/secrets"), Some("a")), ["a/one"]);
    assert_eq!(
        find(&now, "blue", Some("v1/secrets"), Some("b")),
        Vec::<String>::new()
    );
    let before = store.snapshot_at(4).unwrap();
    assert_eq!(find(&before, "red", None, None), ["/three", "a/one", "b/two"]);
    assert_eq!(find(&before, "red", Some("v1/secrets"), None), ["a/one", "b/two"]);
    assert_eq!(find(&before, "red", None, Some("b")), ["b/two"]);
    assert_eq!(find(&before, "blue", None, None), Vec::<String>::new());
}

#[test]
fn a_value_is_decoded_once() {
    let store = memory();
    let record = put(&store, secret("default", "a"), "7").record;
    let count = AtomicUsize::new(0);
    let decode = |bytes: &Bytes| {
        count.fetch_add(1, Ordering::SeqCst);
        String::from_utf8_lossy(bytes).parse::<u32>().unwrap()
    };
    let first = record.cached(decode);
    let second = store.snapshot().get(&record.key).unwrap().cached(decode);
    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!((*first, count.load(Ordering::SeqCst)), (7, 1));
    let other_type = record.cached(Bytes::len);
    assert_eq!(*other_type, 1);
}

#[test]
fn records_do_not_print_their_value() {
    let store = memory();
    let committed = put(&store, secret("default", "a"), "hunter2");
    assert!(!format!("{committed:?}").contains("hunter2"));
}

#[tokio::test]
async fn metrics_count_the_same_in_memory_and_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Store::open(folder.path(), Options::new(Arc::new(clock()))).unwrap();
    for store in [&memory(), &disk] {
        for (name, value) in [("a", Some("1")), ("a", Some("22")), ("b", Some("1")), ("b", None)] {
            let write = Write {
                key: secret("default", name),
                expect: Expect::Any,
                value: value.map(Into::into),
            };
            store.commit(write).await.unwrap();
        }
        let expected = Metrics {
            revision: 5,
            floor: 0,
            puts_total: 3,
            removals_total: 1,
            commits_total: 4,
            // Four times a revision, a header and the key "v1/secrets default a"; values of 1 + 2 + 1 bytes.
            log_bytes_total: 4 * (8 + 29 + 18) + 4,
            objects: [("v1/secrets".to_owned(), 1)].into(),
        };
        assert_eq!(store.metrics(), expected);
    }
}

#[tokio::test]
async fn concurrent_writers_share_transactions_and_never_a_revision() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), Options::new(Arc::new(clock()))).unwrap();
    let mut cursor = store.watch_all(1).unwrap();
    let mut writers = tokio::task::JoinSet::new();
    for number in 0..300 {
        let store = store.clone();
        writers.spawn(async move {
            let write = Write {
                key: secret("default", &format!("object-{}", number % 100)),
                expect: Expect::Absent,
                value: Some("{}".into()),
            };
            let committed = store.commit(write).await.ok()?;
            // Visible to its writer at once.
            assert_eq!(
                store.snapshot().get(&committed.record.key).unwrap().revision,
                committed.revision
            );
            Some(committed.revision)
        });
    }
    let mut revisions: Vec<_> = writers.join_all().await.into_iter().flatten().collect();
    revisions.sort_unstable();
    assert_eq!(
        revisions,
        (2..=101).collect::<Vec<_>>(),
        "one writer of each object wins"
    );
    let seen: Vec<_> = cursor
        .ready()
        .unwrap()
        .iter()
        .map(|event| event.revision)
        .collect();
    assert_eq!(seen, revisions);
    let metrics = store.metrics();
    assert!(
        metrics.commits_total < 100,
        "{} transactions for 100 writes",
        metrics.commits_total
    );
}

#[tokio::test]
async fn history_and_watches_go_on_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Store::open(folder.path(), Options::new(Arc::new(clock()))).unwrap();
    let store = open();
    for (name, value) in [("a", Some("1")), ("b", Some("2")), ("a", Some("3")), ("b", None)] {
        let write = Write {
            key: secret("default", name),
            expect: Expect::Any,
            value: value.map(Into::into),
        };
        store.commit(write).await.unwrap();
    }
    drop(store);
    let store = open();
    assert_eq!(store.revision(), 5);
    let mut cursor = store.watch("v1/secrets", None, 2).unwrap();
    let events = cursor.ready().unwrap();
    assert_eq!(lines(&events), ["+3 b", "+4 a", "-5 b"]);
    assert_eq!(events[1].previous.as_ref().unwrap().value, "1");
    assert_eq!(events[1].current.as_ref().unwrap().create_revision, 2);
    assert_eq!(
        names(store.snapshot_at(3).unwrap().range("v1/secrets", None)),
        ["default/a", "default/b"]
    );
    assert_eq!(names(store.snapshot().range("v1/secrets", None)), ["default/a"]);
}
