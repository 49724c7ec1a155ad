//! The store against a model that is plainly right: a list of all states and a list of all events.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;
use capstan_base::{ManualClock, Timestamp};
use capstan_store::{
    CommitError, Cursor, Event, Expect, HistoryLimits, INITIAL_REVISION, IndexEntry, Key, Options, Record,
    Snapshot, SnapshotError, Store, Write,
};
use proptest::{collection::vec, prelude::*, test_runner::TestCaseError};

const EVENTS_KEPT: usize = 20;

#[derive(Debug, Clone)]
enum Step {
    Write {
        object: usize,
        expect: Wish,
        value: Option<u8>,
    },
    /// Compact through the current revision less this.
    Compact(u64),
    /// Let so many seconds pass.
    Wait(u64),
    /// Read what a cursor has ready.
    Read(usize),
    /// Close and open the store again.
    Reopen,
}

#[derive(Debug, Clone, Copy)]
enum Wish {
    Absent,
    Current,
    Stale,
    Any,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let wish = prop_oneof![
        Just(Wish::Absent),
        Just(Wish::Current),
        Just(Wish::Stale),
        Just(Wish::Any)
    ];
    let value = proptest::option::weighted(0.7, 0..4_u8);
    let write = (0..8_usize, wish, value).prop_map(|(object, expect, value)| Step::Write {
        object,
        expect,
        value,
    });
    let step = prop_oneof![
        20 => write,
        1 => (0..30_u64).prop_map(Step::Compact),
        1 => (0..200_u64).prop_map(Step::Wait),
        4 => (0..3_usize).prop_map(Step::Read),
        1 => Just(Step::Reopen),
    ];
    vec(step, 1..150)
}

/// Eight objects: two resources, two namespaces, two names.
fn key(object: usize) -> Key {
    let resource = ["v1/secrets", "apps/deployments"][object & 1];
    Key::new(
        resource,
        ["east", "west"][(object >> 1) & 1],
        ["a", "b"][(object >> 2) & 1],
    )
}

fn index(record: &Record) -> Vec<IndexEntry> {
    let value = String::from_utf8_lossy(&record.value).into();
    vec![IndexEntry {
        index: "value",
        value,
    }]
}

/// (key, revision, create revision, value)
type Row = (Key, u64, u64, Bytes);

fn row(record: &Arc<Record>) -> Row {
    (
        record.key.clone(),
        record.revision,
        record.create_revision,
        record.value.clone(),
    )
}

fn event_rows(event: &Event) -> (u64, Option<Row>, Option<Row>) {
    (
        event.revision,
        event.previous.as_ref().map(row),
        event.current.as_ref().map(row),
    )
}

#[derive(Debug, Default)]
struct Model {
    revision: u64,
    objects: BTreeMap<Key, Row>,
    /// The objects after each revision.
    states: BTreeMap<u64, BTreeMap<Key, Row>>,
    events: Vec<(u64, Option<Row>, Option<Row>)>,
}

impl Model {
    fn new() -> Self {
        let mut model = Self {
            revision: INITIAL_REVISION,
            ..Self::default()
        };
        model.states.insert(0, BTreeMap::new());
        model.states.insert(INITIAL_REVISION, BTreeMap::new());
        model
    }

    fn write(&self, object: usize, wish: Wish, value: Option<u8>) -> Write {
        let key = key(object);
        let current = self.objects.get(&key).map_or(self.revision, |row| row.1);
        let expect = match wish {
            Wish::Absent => Expect::Absent,
            Wish::Current => Expect::Revision(current),
            Wish::Stale => Expect::Revision(current - 1),
            Wish::Any => Expect::Any,
        };
        Write {
            key,
            expect,
            value: value.map(|value| value.to_string().into()),
        }
    }

    fn commit(&mut self, write: &Write) -> Result<u64, &'static str> {
        let found = self.objects.get(&write.key).cloned();
        match (write.expect, &found) {
            (Expect::Absent, Some(_)) => return Err("exists"),
            (Expect::Revision(expected), Some(found)) if found.1 != expected => return Err("conflict"),
            (Expect::Revision(_), None) => return Err("absent"),
            (_, None) if write.value.is_none() => return Err("absent"),
            _ => {}
        }
        self.revision += 1;
        let created = found.as_ref().map_or(self.revision, |found| found.2);
        let current = write
            .value
            .clone()
            .map(|value| (write.key.clone(), self.revision, created, value));
        match current.clone() {
            Some(current) => self.objects.insert(write.key.clone(), current),
            None => self.objects.remove(&write.key),
        };
        self.states.insert(self.revision, self.objects.clone());
        self.events.push((self.revision, found, current));
        Ok(self.revision)
    }

    fn events(&self, scope: &Scope, after: u64, through: u64) -> Vec<(u64, Option<Row>, Option<Row>)> {
        let events = self.events.iter().filter(|(revision, previous, current)| {
            let key = &current.as_ref().or(previous.as_ref()).unwrap().0;
            *revision > after && *revision <= through && scope.contains(key)
        });
        events.cloned().collect()
    }
}

#[derive(Debug)]
struct Scope(Option<&'static str>, Option<&'static str>);

impl Scope {
    const ALL: [Self; 3] = [
        Self(None, None),
        Self(Some("v1/secrets"), None),
        Self(Some("apps/deployments"), Some("west")),
    ];

    fn contains(&self, key: &Key) -> bool {
        self.0.is_none_or(|resource| key.resource() == resource)
            && self.1.is_none_or(|namespace| key.namespace() == namespace)
    }

    fn watch(&self, store: &Store, after: u64) -> Result<Cursor, capstan_store::Compacted> {
        match self.0 {
            Some(resource) => store.watch(resource, self.1, after),
            None => store.watch_all(after),
        }
    }
}

fn check_snapshot(snapshot: &Snapshot, expected: &BTreeMap<Key, Row>) -> Result<(), TestCaseError> {
    let mut found = BTreeMap::new();
    for resource in ["apps/deployments", "v1/secrets"] {
        let whole: Vec<_> = snapshot.range(resource, None).map(row).collect();
        prop_assert!(whole.is_sorted_by_key(|row| row.0.clone()));
        prop_assert_eq!(whole.len(), snapshot.count(resource));
        for namespace in ["east", "west"] {
            let part: Vec<_> = snapshot.range(resource, Some(namespace)).map(row).collect();
            let expected: Vec<_> = whole
                .iter()
                .filter(|row| row.0.namespace() == namespace)
                .cloned()
                .collect();
            prop_assert_eq!(part, expected);
        }
        for row in whole {
            prop_assert_eq!(snapshot.get(&row.0).map(|record| record.revision), Some(row.1));
            found.insert(row.0.clone(), row);
        }
    }
    prop_assert_eq!(&found, expected);
    for value in ["0", "1", "2", "3"] {
        for (resource, namespace) in [
            (None, None),
            (Some("v1/secrets"), None),
            (Some("v1/secrets"), Some("west")),
        ] {
            let indexed: Vec<_> = snapshot
                .indexed("value", value, resource, namespace)
                .map(row)
                .collect();
            let scope = Scope(resource.map(|_| "v1/secrets"), namespace.map(|_| "west"));
            let matching = expected
                .values()
                .filter(|row| row.3 == value.as_bytes() && scope.contains(&row.0));
            prop_assert_eq!(indexed, matching.cloned().collect::<Vec<_>>());
        }
    }
    Ok(())
}

/// Reads what is ready and checks that it is everything that happened in the scope since the last time, unless some
/// of that has left the history.
fn check_cursor(
    cursor: &mut Cursor,
    scope: &Scope,
    model: &Model,
    floor: u64,
) -> Result<bool, TestCaseError> {
    let position = cursor.position();
    if let Ok(events) = cursor.ready() {
        let events: Vec<_> = events.iter().map(event_rows).collect();
        prop_assert_eq!(events, model.events(scope, position, u64::MAX));
        prop_assert_eq!(cursor.position(), model.revision);
        return Ok(true);
    }
    prop_assert!(
        !model.events(scope, position, floor).is_empty(),
        "nothing was lost"
    );
    Ok(false)
}

fn check(steps: Vec<Step>, open: impl Fn(Options) -> Option<Store>) -> Result<(), TestCaseError> {
    let clock = ManualClock::new(Timestamp::UNIX_EPOCH);
    let history = HistoryLimits {
        events: EVENTS_KEPT,
        age: Duration::from_secs(300),
    };
    let options = Options::new(Arc::new(clock.clone()))
        .with_indexer(index)
        .with_history(history);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let opened = open(options.clone());
    let reopenable = opened.is_some();
    let mut store = opened.unwrap_or_else(|| Store::memory(options.clone()));
    let mut model = Model::new();
    let mut cursors: Vec<_> = Scope::ALL
        .iter()
        .map(|scope| scope.watch(&store, 0).unwrap())
        .collect();
    for step in steps {
        match step {
            Step::Write {
                object,
                expect,
                value,
            } => {
                let write = model.write(object, expect, value);
                let outcome = runtime.block_on(store.commit(write.clone()));
                let outcome = outcome
                    .map(|committed| committed.revision)
                    .map_err(|error| match error {
                        CommitError::Exists { .. } => "exists",
                        CommitError::Absent { .. } => "absent",
                        CommitError::Conflict { .. } => "conflict",
                        CommitError::Durable { .. } | CommitError::Closed => "broken",
                    });
                prop_assert_eq!(outcome, model.commit(&write));
            }
            Step::Compact(back) => {
                let through = model.revision.saturating_sub(back);
                let before = store.metrics().floor;
                let floor = runtime.block_on(store.compact_through(through)).unwrap();
                prop_assert!(floor >= before);
                prop_assert!(floor >= through || model.events(&Scope(None, None), floor, through).is_empty());
            }
            Step::Wait(seconds) => clock.advance(Duration::from_secs(seconds)),
            Step::Read(cursor) => {
                let scope = &Scope::ALL[cursor];
                let floor = store.metrics().floor;
                if !check_cursor(&mut cursors[cursor], scope, &model, floor)? {
                    cursors[cursor] = scope.watch(&store, model.revision).unwrap();
                }
            }
            Step::Reopen if reopenable => {
                let places: Vec<_> = cursors.iter().map(Cursor::position).collect();
                let floor = store.metrics().floor;
                cursors.clear();
                drop(store);
                store = open(options.clone()).unwrap();
                prop_assert!(store.metrics().floor <= floor);
                for (scope, place) in Scope::ALL.iter().zip(places) {
                    let cursor = scope.watch(&store, place);
                    prop_assert_eq!(cursor.is_ok(), place >= store.metrics().floor);
                    cursors.push(cursor.or_else(|_| scope.watch(&store, model.revision)).unwrap());
                }
            }
            Step::Reopen => {}
        }
        prop_assert_eq!(store.revision(), model.revision);
    }
    let floor = store.metrics().floor;
    for (cursor, scope) in cursors.iter_mut().zip(&Scope::ALL) {
        check_cursor(cursor, scope, &model, floor)?;
    }
    check_all_revisions(&store, &model)
}

/// Every revision from the floor on reads as it was; no other can be read.
fn check_all_revisions(store: &Store, model: &Model) -> Result<(), TestCaseError> {
    let floor = store.metrics().floor;
    for (revision, expected) in &model.states {
        match store.snapshot_at(*revision) {
            Ok(snapshot) => {
                prop_assert!(*revision >= floor);
                prop_assert_eq!(snapshot.revision(), *revision);
                check_snapshot(&snapshot, expected)?;
            }
            Err(error) => {
                prop_assert!(*revision < floor);
                prop_assert!(matches!(error, SnapshotError::Compacted(_)));
            }
        }
    }
    let future = SnapshotError::Future {
        requested: model.revision + 1,
        current: model.revision,
    };
    prop_assert_eq!(store.snapshot_at(model.revision + 1).unwrap_err(), future);
    check_snapshot(&store.snapshot(), &model.objects)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_memory_store_agrees_with_the_model(steps in steps()) {
        check(steps, |_| None)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_durable_store_agrees_with_the_model(steps in steps()) {
        let folder = tempfile::tempdir().unwrap();
        check(steps, |options| Some(Store::open(folder.path(), options).unwrap()))?;
    }
}
