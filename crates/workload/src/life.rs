//! The life of one connection: connect, fill the caches, probe, and start over when the cluster is lost.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use bytes::Bytes;
use capstan_engine::ObjectKey;
use kube::Client;
use tokio::sync::watch;

use crate::{connection::Connection, remote::NotTried, workloads::Shared};

/// Whether a cluster may be connected to, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Not yet.
    NotYet(NotTried),
    /// With this kubeconfig.
    Connect(Bytes),
}

/// The pace of a connection's life.
/// Parity: upstream controllers/clustercache, whose reconnect spacing is a fixed 30 s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// The time between two probes.
    pub probe_interval: Duration,
    /// How long one probe may take.
    pub probe_limit: Duration,
    /// How many probes in a row must fail before the connection is given up.
    pub failures: u32,
    /// How long connecting may take, first probe and filling of the caches included.
    pub connect_limit: Duration,
    /// The least pause between two attempts to connect.
    pub shortest_pause: Duration,
    /// The longest pause between two attempts to connect.
    pub longest_pause: Duration,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            probe_interval: Duration::from_secs(10),
            probe_limit: Duration::from_secs(5),
            failures: 5,
            connect_limit: Duration::from_secs(10),
            shortest_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(30),
        }
    }
}

impl Schedule {
    /// The pause before the next attempt when attempts have failed for `so_far`: an eighth of it, within the bounds.
    /// A young cluster is found within a second of coming up, an old outage is not hammered, and no cluster is noticed
    /// later than an eighth of the time it was away.
    pub fn pause(&self, so_far: Duration) -> Duration {
        (so_far / 8).clamp(self.shortest_pause, self.longest_pause)
    }
}

/// Why an attempt to connect or a probe failed, as a sentence for logs.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) String);

impl Failure {
    fn of(what: &str, error: &dyn std::error::Error) -> Self {
        let mut sentence = format!("{what}: {error}");
        let mut source = error.source();
        while let Some(error) = source {
            sentence = format!("{sentence}: {error}");
            source = error.source();
        }
        Self(sentence)
    }

    fn too_slow(what: &str, limit: Duration) -> Self {
        Self(format!("{what}: no answer within {} s", limit.as_secs()))
    }
}

/// Lives until the cluster is forgotten or its `Workloads` is dropped.
pub(crate) async fn live(shared: Weak<Shared>, key: ObjectKey, mut target: watch::Receiver<Target>) {
    loop {
        let wanted = target.borrow_and_update().clone();
        let ended = match wanted {
            Target::NotYet(reason) => {
                let Some(shared) = shared.upgrade() else { return };
                shared.not_tried(&key, reason);
                drop(shared);
                target.changed().await
            }
            Target::Connect(kubeconfig) => {
                tokio::select! {
                    biased;
                    changed = target.changed() => changed,
                    () = keep_connected(&shared, &key, &kubeconfig) => return,
                }
            }
        };
        if ended.is_err() {
            return;
        }
    }
}

/// Connects, probes and reconnects; returns only when the `Workloads` is gone.
async fn keep_connected(shared: &Weak<Shared>, key: &ObjectKey, kubeconfig: &Bytes) {
    if let Some(shared) = shared.upgrade() {
        shared.not_tried(key, NotTried::Connecting);
    }
    let mut failing_since = None;
    loop {
        let Some(strong) = shared.upgrade() else { return };
        let schedule = strong.schedule;
        match connect(&strong, kubeconfig).await {
            Ok(connection) => {
                failing_since = None;
                strong.connected(key, &connection);
                drop(strong);
                if probe_until_lost(shared, key, connection.client()).await.is_none() {
                    return;
                }
            }
            Err(failure) => {
                let now = strong.clock.now();
                let since = *failing_since.get_or_insert(now);
                strong.unreachable(key, failure);
                drop(strong);
                let so_far = Duration::try_from(now.duration_since(since)).unwrap_or_default();
                tokio::time::sleep(schedule.pause(so_far)).await;
            }
        }
    }
}

async fn connect(shared: &Arc<Shared>, kubeconfig: &Bytes) -> Result<Connection, Failure> {
    let limit = shared.schedule.connect_limit;
    let attempt = async {
        let client = shared
            .connector
            .connect(kubeconfig)
            .await
            .map_err(|it| Failure::of("failed to connect", &it))?;
        probe(&client, shared.schedule.probe_limit).await?;
        let connection = Connection::new(client);
        connection.fill().await;
        Ok(connection)
    };
    tokio::time::timeout(limit, attempt)
        .await
        .unwrap_or_else(|_| Err(Failure::too_slow("failed to connect", limit)))
}

/// Probes at the schedule's pace until too many probes in a row failed. None if the `Workloads` is gone.
async fn probe_until_lost(shared: &Weak<Shared>, key: &ObjectKey, client: &Client) -> Option<()> {
    let mut failures = 0;
    loop {
        let schedule = shared.upgrade()?.schedule;
        tokio::time::sleep(schedule.probe_interval).await;
        let outcome = probe(client, schedule.probe_limit).await;
        let shared = shared.upgrade()?;
        match outcome {
            Ok(()) => {
                failures = 0;
                shared.probed(key);
            }
            Err(failure) => {
                failures += 1;
                if failures >= schedule.failures {
                    shared.unreachable(key, failure);
                    return Some(());
                }
                shared.probe_failed(key, failures, &failure);
            }
        }
    }
}

/// One request that every authenticated caller may send and every API server answers.
async fn probe(client: &Client, limit: Duration) -> Result<(), Failure> {
    let request = http::Request::get("/")
        .body(Vec::new())
        .map_err(|it| Failure::of("failed to probe", &it))?;
    match tokio::time::timeout(limit, client.request_text(request)).await {
        Ok(Ok(_)) => Ok(()),
        // An answer that is not ours to read is an answer of a living server, unless it says that we are nobody.
        Ok(Err(kube::Error::Api(status))) if status.code == 403 || status.code == 404 => Ok(()),
        Ok(Err(error)) => Err(Failure::of("failed to probe", &error)),
        Err(_) => Err(Failure::too_slow("failed to probe", limit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_is_an_eighth_of_the_outage_within_the_bounds() {
        let schedule = Schedule::default();
        let pauses: Vec<u64> = [0, 5, 16, 80, 240, 4000]
            .map(|so_far| schedule.pause(Duration::from_secs(so_far)).as_secs())
            .to_vec();
        assert_eq!(pauses, [1, 1, 2, 10, 30, 30]);
    }
}
