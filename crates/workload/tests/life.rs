//! The life of a connection, under virtual time, against a fake API server at the other end of a pipe.

use std::{
    convert::Infallible,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use capstan_base::{Clock, SeededEntropy, Timestamp};
use capstan_engine::{ObjectKey, RuntimeClock};
use capstan_pki::{Algorithm, Authority, Kubeconfig, UniformKeys};
use capstan_workload::{Call, Dial, NotTried, PipeConnector, Remote, Schedule, Target, Workloads};
use futures::stream;
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{Request, Response, body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use serde_json::json;
use tokio::{io::DuplexStream, task::JoinSet};

/// An API server with one node that can be cut off.
struct Cluster {
    answers: Arc<AtomicBool>,
    dials: AtomicU32,
    connections: Mutex<JoinSet<()>>,
}

impl Cluster {
    fn new(answers: bool) -> Arc<Self> {
        Arc::new(Self {
            answers: Arc::new(AtomicBool::new(answers)),
            dials: AtomicU32::new(0),
            connections: Mutex::default(),
        })
    }

    fn cut_off(&self) {
        self.answers.store(false, Ordering::SeqCst);
        self.connections.lock().abort_all();
    }

    fn come_back(&self) {
        self.answers.store(true, Ordering::SeqCst);
    }
}

impl Dial for Cluster {
    fn dial(&self, _call: &Call) -> io::Result<DuplexStream> {
        self.dials.fetch_add(1, Ordering::SeqCst);
        if !self.answers.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let (near, far) = tokio::io::duplex(64 * 1024);
        self.connections.lock().spawn(async move {
            let connection = hyper::server::conn::http1::Builder::new();
            let _ = connection
                .serve_connection(TokioIo::new(far), service_fn(answer))
                .await;
        });
        Ok(near)
    }
}

async fn answer(
    request: Request<Incoming>,
) -> Result<Response<UnsyncBoxBody<Bytes, Infallible>>, Infallible> {
    let query = request.uri().query().unwrap_or_default();
    if query.contains("watch=true") {
        let silence = stream::pending::<Result<hyper::body::Frame<Bytes>, Infallible>>();
        return Ok(Response::new(StreamBody::new(silence).boxed_unsync()));
    }
    let list = |kind: &str, items| {
        json!({
            "apiVersion": "v1", "kind": kind, "metadata": { "resourceVersion": "5" }, "items": items,
        })
    };
    let body = match request.uri().path() {
        "/api/v1/nodes" => list(
            "NodeList",
            json!([{
                "metadata": { "name": "n1", "resourceVersion": "3" }, "spec": { "providerID": "in-memory://n1" },
            }]),
        ),
        "/api/v1/namespaces/kube-system/pods" => list("PodList", json!([])),
        _ => json!({ "paths": [] }),
    };
    Ok(Response::new(
        Full::new(Bytes::from(body.to_string())).boxed_unsync(),
    ))
}

struct World {
    workloads: Workloads,
    cluster: Arc<Cluster>,
    clock: Arc<dyn Clock>,
    news: Arc<Mutex<Vec<String>>>,
    key: ObjectKey,
}

impl World {
    fn new(answers: bool) -> Self {
        let start: Timestamp = "2030-01-01T00:00:00Z".parse().expect("a time");
        let clock: Arc<dyn Clock> = Arc::new(RuntimeClock::starting_at(start));
        let cluster = Cluster::new(answers);
        let connector = Arc::new(PipeConnector::new(cluster.clone()));
        let workloads = Workloads::new(connector, clock.clone(), Schedule::default());
        let news: Arc<Mutex<Vec<String>>> = Arc::default();
        let (log, time) = (news.clone(), clock.clone());
        workloads.subscribe(move |notice| {
            let what = format!("{:?}", notice.news);
            let word = what.split(['(', ' ']).next().unwrap_or_default().to_owned();
            let seconds = time.now().duration_since(start).as_secs();
            log.lock().push(format!("{seconds} s {word}"));
        });
        Self {
            workloads,
            cluster,
            clock,
            news,
            key: ObjectKey::new("default", "c1"),
        }
    }

    fn connect(&self, server: &str) {
        self.workloads
            .set_target(&self.key, Target::Connect(kubeconfig(server).into()));
    }

    fn news(&self) -> Vec<String> {
        std::mem::take(&mut *self.news.lock())
    }

    async fn pass(seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }
}

fn kubeconfig(server: &str) -> Vec<u8> {
    let keys = UniformKeys::new(Arc::new(SeededEntropy::new(1)));
    let now: Timestamp = "2030-01-01T00:00:00Z".parse().expect("a time");
    let validity = jiff::SignedDuration::from_hours(100);
    let authority =
        Authority::generate("kubernetes", Algorithm::EcdsaP256, validity, now, &keys).expect("an authority");
    let kubeconfig =
        Kubeconfig::for_administrator("c1", server, &authority, Algorithm::EcdsaP256, now, &keys);
    kubeconfig
        .expect("a kubeconfig")
        .to_yaml()
        .expect("yaml")
        .expose()
        .as_bytes()
        .to_vec()
}

#[tokio::test(start_paused = true)]
async fn a_cluster_is_connected_once_it_may_be_and_its_nodes_are_readable() {
    let world = World::new(true);
    assert!(matches!(
        world.workloads.connection(&world.key),
        Remote::NotTried(NotTried::UnknownCluster)
    ));
    world
        .workloads
        .set_target(&world.key, Target::NotYet(NotTried::NoKubeconfig));
    World::pass(1).await;
    assert!(matches!(
        world.workloads.connection(&world.key),
        Remote::NotTried(NotTried::NoKubeconfig)
    ));
    world.connect("https://127.0.0.1:6443");
    World::pass(1).await;
    let remote = world.workloads.connection(&world.key);
    let connection = remote.found().expect("connected");
    assert!(connection.node("n1").found().is_some());
    assert!(connection.node("n2").is_absent());
    assert_eq!(connection.nodes_by_provider_id("in-memory://n1").len(), 1);
    assert_eq!(world.news(), ["1 s Connected", "1 s Node"]);
}

#[tokio::test(start_paused = true)]
async fn five_failed_probes_lose_the_cluster_and_it_is_found_again_within_an_eighth_of_the_outage() {
    let world = World::new(true);
    world.connect("https://127.0.0.1:6443");
    World::pass(25).await;
    assert_eq!(world.news(), ["0 s Connected", "0 s Node"]);
    let seen = world
        .workloads
        .health(&world.key)
        .last_probe_success
        .expect("probed");
    assert_eq!(world.clock.now().duration_since(seen).as_secs(), 5);

    world.cluster.cut_off();
    World::pass(60).await;
    let probes = world.news();
    assert_eq!(
        probes[..5],
        [
            "30 s ProbeFailed",
            "40 s ProbeFailed",
            "50 s ProbeFailed",
            "60 s ProbeFailed",
            "70 s Disconnected"
        ]
    );
    let Remote::Disconnected { since, .. } = world.workloads.connection(&world.key) else {
        panic!("connected")
    };
    assert_eq!(world.clock.now().duration_since(since).as_secs(), 15);

    let dials = world.cluster.dials.load(Ordering::SeqCst);
    World::pass(240).await;
    let further = world.cluster.dials.load(Ordering::SeqCst) - dials;
    assert!((15..40).contains(&further), "{further} attempts in four minutes");
    world.news();
    world.cluster.come_back();
    World::pass(31).await;
    assert!(world.workloads.connection(&world.key).found().is_some());
    assert_eq!(world.workloads.health(&world.key).failures, 0);
}

#[tokio::test(start_paused = true)]
async fn another_kubeconfig_drops_the_connection_at_once_and_makes_another() {
    let world = World::new(true);
    world.connect("https://127.0.0.1:6443");
    World::pass(1).await;
    world.connect("https://127.0.0.1:6443");
    assert!(
        world.workloads.connection(&world.key).found().is_some(),
        "the same kubeconfig changes nothing"
    );
    world.news();
    world.connect("https://127.0.0.1:7443");
    assert!(matches!(
        world.workloads.connection(&world.key),
        Remote::NotTried(NotTried::Connecting)
    ));
    World::pass(1).await;
    assert!(world.workloads.connection(&world.key).found().is_some());
    assert_eq!(world.news(), ["1 s Dropped", "1 s Connected", "1 s Node"]);
}

#[tokio::test(start_paused = true)]
async fn a_forgotten_cluster_is_not_asked_any_more() {
    let world = World::new(true);
    world.connect("https://127.0.0.1:6443");
    World::pass(1).await;
    world.workloads.forget(&world.key);
    let dials = world.cluster.dials.load(Ordering::SeqCst);
    World::pass(300).await;
    assert_eq!(world.cluster.dials.load(Ordering::SeqCst), dials);
    assert!(matches!(
        world.workloads.connection(&world.key),
        Remote::NotTried(NotTried::UnknownCluster)
    ));
}

#[tokio::test(start_paused = true)]
async fn a_young_cluster_is_found_within_a_second_of_coming_up() {
    let world = World::new(false);
    world.connect("https://127.0.0.1:6443");
    World::pass(6).await;
    world.cluster.come_back();
    World::pass(1).await;
    assert!(world.workloads.connection(&world.key).found().is_some());
}
