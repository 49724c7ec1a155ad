//! Port forwarding, with kube's client over a byte stream.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::sync::Arc;

use capstan_apiserver::{Duplex, Identity, PortForward, Server};
use capstan_base::{ManualClock, SeededEntropy, Timestamp};
use capstan_store::{Options, Store};
use hyper_util::rt::TokioIo;
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client, api::PostParams, client::Body};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::Mutex,
};

/// Port 80 echoes, every other port refuses.
struct Echo;

impl PortForward for Echo {
    fn open(&self, namespace: &str, pod: &str, port: u16) -> Result<Box<dyn Duplex>, String> {
        if port != 80 {
            return Err(format!("nothing listens on port {port} of {namespace}/{pod}"));
        }
        let (near, far) = tokio::io::duplex(1024);
        tokio::spawn(async move {
            let (mut reader, mut writer) = tokio::io::split(far);
            tokio::io::copy(&mut reader, &mut writer).await
        });
        Ok(Box::new(near))
    }
}

async fn client(server: &Server) -> Client {
    let (near, far) = tokio::io::duplex(64 * 1024);
    tokio::spawn(server.serve_io(far, Some(Identity::internal("tester"))));
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(near))
        .await
        .unwrap();
    tokio::spawn(connection.with_upgrades());
    let sender = Arc::new(Mutex::new(sender));
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let sender = Arc::clone(&sender);
        async move { sender.lock().await.send_request(request).await }
    });
    Client::new(service, "default")
}

#[tokio::test]
async fn bytes_flow_both_ways_and_refusals_are_told() {
    let start: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
    let clock = Arc::new(ManualClock::new(start));
    let server = Server::builder(
        Store::memory(Options::new(clock.clone())),
        clock,
        Arc::new(SeededEntropy::new(1)),
    )
    .port_forward(Arc::new(Echo))
    .build()
    .await
    .unwrap();
    let pod: Pod = serde_json::from_value(json!({
        "metadata": { "name": "p" }, "spec": { "containers": [{ "name": "c" }] },
    }))
    .unwrap();
    let pods: Api<Pod> = Api::default_namespaced(client(&server).await);
    pods.create(&PostParams::default(), &pod).await.unwrap();
    let mut forwarder = pods.portforward("p", &[80, 81]).await.unwrap();
    let refusal = forwarder.take_error(81).unwrap();
    let mut stream = forwarder.take_stream(80).unwrap();
    stream.write_all(b"hello").await.unwrap();
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"hello");
    assert_eq!(
        refusal.await.as_deref(),
        Some("nothing listens on port 81 of default/p")
    );
}

#[tokio::test]
async fn callers_over_the_wire_without_credentials_see_health_only() {
    let fixture = common::Fixture::new().await;
    let (near, far) = tokio::io::duplex(64 * 1024);
    tokio::spawn(fixture.server.serve_io(far, None));
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(near))
        .await
        .unwrap();
    tokio::spawn(connection);
    for (path, expected) in [
        ("/healthz", 200),
        ("/version", 200),
        ("/api/v1/secrets", 403),
        ("/apis/none/v1/x", 403),
    ] {
        let request = http::Request::get(path).body(String::new()).unwrap();
        let response = sender.send_request(request).await.unwrap();
        assert_eq!(response.status(), expected, "{path}");
        drop(response);
        sender.ready().await.unwrap();
    }
}
