//! What the tests of this folder share: a server on a manual clock, clients, a definition.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::needless_pass_by_value,
    reason = "each test file uses a part"
)]

use std::sync::Arc;

use capstan_apiserver::{Identity, Server};
use capstan_base::{ManualClock, SeededEntropy, Timestamp};
use capstan_store::{Options, Store};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tower::ServiceExt;

pub struct Fixture {
    pub server: Server,
    pub clock: ManualClock,
}

/// An answer: HTTP status, headers and JSON body.
pub struct Answer {
    pub code: u16,
    pub headers: http::HeaderMap,
    pub body: Value,
}

impl Answer {
    pub fn reason(&self) -> String {
        format!(
            "{} {}",
            self.code,
            self.body["reason"].as_str().unwrap_or_default()
        )
    }
}

impl Fixture {
    pub async fn new() -> Self {
        let start: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let clock = ManualClock::new(start);
        let store = Store::memory(Options::new(Arc::new(clock.clone())));
        let server = Server::builder(store, Arc::new(clock.clone()), Arc::new(SeededEntropy::new(1)))
            .build()
            .await
            .unwrap();
        Self { server, clock }
    }

    /// A server that serves the Widget definition.
    pub async fn with_widgets() -> Self {
        let fixture = Self::new().await;
        let url = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let answer = fixture.post(url, widget_definition()).await;
        assert_eq!(answer.code, 201, "{}", answer.body);
        fixture
    }

    pub fn client(&self) -> kube::Client {
        kube::Client::new(self.server.service(Identity::internal("tester")), "default")
    }

    pub async fn raw(
        &self,
        request: Request<Full<bytes::Bytes>>,
    ) -> Response<capstan_apiserver::http::ResponseBody> {
        let service = self.server.service(Identity::internal("tester"));
        service.oneshot(request).await.unwrap()
    }

    pub async fn send(
        &self,
        method: &str,
        url: &str,
        content_type: &str,
        body: impl Into<bytes::Bytes>,
    ) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(url)
            .header("content-type", content_type)
            .header("user-agent", "tester/1")
            .body(Full::new(body.into()))
            .unwrap();
        let response = self.raw(request).await;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let body = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| json!(String::from_utf8_lossy(&bytes).into_owned()));
        Answer {
            code: parts.status.as_u16(),
            headers: parts.headers,
            body,
        }
    }

    pub async fn get(&self, url: &str) -> Answer {
        self.send("GET", url, "application/json", "").await
    }

    pub async fn post(&self, url: &str, body: Value) -> Answer {
        self.send("POST", url, "application/json", body.to_string()).await
    }

    pub async fn put(&self, url: &str, body: Value) -> Answer {
        self.send("PUT", url, "application/json", body.to_string()).await
    }

    pub async fn merge(&self, url: &str, body: Value) -> Answer {
        self.send("PATCH", url, "application/merge-patch+json", body.to_string())
            .await
    }

    pub async fn json_patch(&self, url: &str, body: Value) -> Answer {
        self.send("PATCH", url, "application/json-patch+json", body.to_string())
            .await
    }

    pub async fn apply(&self, url: &str, manager: &str, body: Value) -> Answer {
        let separator = if url.contains('?') { '&' } else { '?' };
        let url = format!("{url}{separator}fieldManager={manager}");
        self.send("PATCH", &url, "application/apply-patch+yaml", body.to_string())
            .await
    }

    pub async fn delete(&self, url: &str, options: Value) -> Answer {
        self.send("DELETE", url, "application/json", options.to_string())
            .await
    }

    /// Lets background loops run until nothing is left to do for them at this moment.
    pub async fn settle(&self) {
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
    }
}

pub const WIDGETS: &str = "/apis/example.io/v1/namespaces/default/widgets";

pub fn widget(name: &str, spec: Value) -> Value {
    json!({ "apiVersion": "example.io/v1", "kind": "Widget", "metadata": { "name": name }, "spec": spec })
}

pub fn widget_definition() -> Value {
    let schema = json!({ "openAPIV3Schema": {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "required": ["size"],
                "properties": {
                    "size": { "type": "integer", "minimum": 0 },
                    "color": { "type": "string", "default": "red" },
                    "replicas": { "type": "integer" },
                    "ports": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["port"],
                        "items": { "type": "object", "required": ["port"], "properties": {
                            "port": { "type": "integer" }, "name": { "type": "string" }, "target": { "type": "string" },
                        } },
                    },
                },
                "x-kubernetes-validations": [{ "rule": "self.size != 13", "message": "not thirteen" }],
            },
            "status": { "type": "object", "properties": {
                "phase": { "type": "string" }, "replicas": { "type": "integer" }, "selector": { "type": "string" },
            } },
        },
    } });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "widgets.example.io" },
        "spec": {
            "group": "example.io",
            "scope": "Namespaced",
            "names": { "plural": "widgets", "kind": "Widget", "shortNames": ["wd"], "categories": ["things"] },
            "versions": [
                {
                    "name": "v1", "served": true, "storage": true, "schema": schema,
                    "subresources": { "status": {}, "scale": {
                        "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
                        "labelSelectorPath": ".status.selector",
                    } },
                    "selectableFields": [{ "jsonPath": ".spec.color" }],
                    "additionalPrinterColumns": [
                        { "name": "Size", "type": "integer", "jsonPath": ".spec.size" },
                        { "name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp" },
                    ],
                },
                { "name": "v1beta1", "served": true, "storage": false, "schema": schema, "subresources": { "status": {} } },
            ],
        },
    })
}
