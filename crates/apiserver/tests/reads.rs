//! Gets, lists and watches.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use bytes::Bytes;
use common::{Fixture, WIDGETS, widget};
use http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

/// A watch whose events are read one by one.
struct Watch {
    body: capstan_apiserver::http::ResponseBody,
    buffer: Vec<u8>,
}

impl Watch {
    async fn start(f: &Fixture, url: &str) -> Self {
        let response = f
            .raw(Request::get(url).body(Full::new(Bytes::new())).unwrap())
            .await;
        assert_eq!(response.status(), 200);
        Self {
            body: response.into_body(),
            buffer: Vec::new(),
        }
    }

    async fn next(&mut self) -> Value {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return serde_json::from_slice(&line).unwrap();
            }
            let frame = self.body.frame().await.expect("the watch goes on").unwrap();
            self.buffer.extend_from_slice(frame.data_ref().unwrap());
        }
    }

    /// Type and name of the next event.
    async fn short(&mut self) -> String {
        let event = self.next().await;
        let name = event["object"]["metadata"]["name"]
            .as_str()
            .unwrap_or("-")
            .to_owned();
        format!("{} {name}", event["type"].as_str().unwrap())
    }
}

#[tokio::test]
async fn pages_show_one_moment() {
    let f = Fixture::with_widgets().await;
    for name in ["b", "c", "d"] {
        f.post(WIDGETS, widget(name, json!({ "size": 1 }))).await;
    }
    let first = f.get(&format!("{WIDGETS}?limit=2")).await.body;
    assert_eq!(first["metadata"]["remainingItemCount"], 1);
    f.post(WIDGETS, widget("e", json!({ "size": 1 }))).await;
    let token = first["metadata"]["continue"].as_str().unwrap();
    let second = f.get(&format!("{WIDGETS}?limit=2&continue={token}")).await.body;
    assert_eq!(second["items"].as_array().unwrap().len(), 1);
    assert_eq!(
        second["metadata"]["resourceVersion"],
        first["metadata"]["resourceVersion"]
    );
    f.server
        .registry()
        .store()
        .compact_through(u64::MAX)
        .await
        .unwrap();
    let expired = f.get(&format!("{WIDGETS}?limit=2&continue={token}")).await;
    assert_eq!(expired.reason(), "410 Expired");
    let token = expired.body["metadata"]["continue"].as_str().unwrap();
    let rest = f.get(&format!("{WIDGETS}?limit=5&continue={token}")).await.body;
    assert_eq!(rest["items"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_watch_sees_state_then_its_end_then_changes() {
    let f = Fixture::with_widgets().await;
    f.post(WIDGETS, widget("a", json!({ "size": 1 }))).await;
    let mut watch = Watch::start(&f, &format!("{WIDGETS}?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan")).await;
    assert_eq!(watch.short().await, "ADDED a");
    let bookmark = watch.next().await;
    assert_eq!(
        bookmark["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"],
        "true"
    );
    f.merge(&format!("{WIDGETS}/a"), json!({ "spec": { "size": 2 } }))
        .await;
    assert_eq!(watch.short().await, "MODIFIED a");
    f.delete(&format!("{WIDGETS}/a"), json!({})).await;
    assert_eq!(watch.short().await, "DELETED a");
}

#[tokio::test]
async fn leaving_a_selector_is_a_deletion_with_the_old_content() {
    let f = Fixture::with_widgets().await;
    let created = f.post(WIDGETS, widget("a", json!({ "size": 1 }))).await.body;
    let rv = created["metadata"]["resourceVersion"].as_str().unwrap();
    let mut watch = Watch::start(
        &f,
        &format!("{WIDGETS}?watch=true&labelSelector=a=1&resourceVersion={rv}"),
    )
    .await;
    f.merge(
        &format!("{WIDGETS}/a"),
        json!({ "metadata": { "labels": { "a": "1" } } }),
    )
    .await;
    assert_eq!(watch.short().await, "ADDED a");
    let relabelled = f
        .merge(
            &format!("{WIDGETS}/a"),
            json!({ "metadata": { "labels": { "a": "2" } } }),
        )
        .await
        .body;
    let event = watch.next().await;
    assert_eq!(event["type"], "DELETED");
    assert_eq!(event["object"]["metadata"]["labels"]["a"], "1");
    assert_eq!(
        event["object"]["metadata"]["resourceVersion"],
        relabelled["metadata"]["resourceVersion"]
    );
}

#[tokio::test]
async fn a_watch_from_the_forgotten_past_gets_an_error_event() {
    let f = Fixture::with_widgets().await;
    f.server
        .registry()
        .store()
        .compact_through(u64::MAX)
        .await
        .unwrap();
    let mut watch = Watch::start(&f, &format!("{WIDGETS}?watch=true&resourceVersion=2")).await;
    let event = watch.next().await;
    assert_eq!(
        (
            &event["type"],
            &event["object"]["code"],
            &event["object"]["reason"]
        ),
        (&json!("ERROR"), &json!(410), &json!("Expired"))
    );
    let late = f
        .get(&format!("{WIDGETS}?resourceVersion=2&resourceVersionMatch=Exact"))
        .await;
    assert_eq!(late.reason(), "410 Expired");
    let early = f.get(&format!("{WIDGETS}?resourceVersion=99999")).await;
    assert_eq!(early.reason(), "504 Timeout");
}

#[tokio::test]
async fn objects_are_served_in_every_version_and_as_tables() {
    let f = Fixture::with_widgets().await;
    f.post(WIDGETS, widget("a", json!({ "size": 7 }))).await;
    let beta = f
        .get("/apis/example.io/v1beta1/namespaces/default/widgets/a")
        .await
        .body;
    assert_eq!(
        (&beta["apiVersion"], &beta["spec"]["size"]),
        (&json!("example.io/v1beta1"), &json!(7))
    );
    let request = Request::get(WIDGETS)
        .header(
            "accept",
            "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
        )
        .body(Full::new(Bytes::new()))
        .unwrap();
    let body = f
        .raw(request)
        .await
        .into_body()
        .collect()
        .await
        .unwrap()
        .to_bytes();
    let table: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(table["rows"][0]["cells"], json!(["a", 7, "0s"]));
    let none = f
        .get(&format!("{WIDGETS}?fieldSelector=spec.color=blue"))
        .await
        .body;
    assert_eq!(none["items"], json!([]));
}

#[tokio::test]
async fn kube_clients_work_in_process() {
    use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
    use kube::{Api, api::PostParams};
    let f = Fixture::new().await;
    let client = f.client();
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let map: ConfigMap =
        serde_json::from_value(json!({ "metadata": { "name": "m" }, "data": { "a": "b" } })).unwrap();
    let created = maps.create(&PostParams::default(), &map).await.unwrap();
    assert_eq!(created.data.unwrap()["a"], "b");
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let names: Vec<_> = namespaces
        .list(&kube::api::ListParams::default())
        .await
        .unwrap()
        .into_iter()
        .map(|it| it.metadata.name.unwrap())
        .collect();
    assert_eq!(
        names,
        ["default", "kube-node-lease", "kube-public", "kube-system"]
    );
    assert_eq!(client.apiserver_version().await.unwrap().minor, "34");
    let groups = client.list_api_groups().await.unwrap();
    assert!(groups.groups.iter().any(|group| group.name == "apps"));
}
