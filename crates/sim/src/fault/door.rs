//! The way from controllers to the management API: every request passes here, and fails as the schedule says.

use std::{
    convert::Infallible,
    future::pending,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use capstan_apiserver::InProcess;
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use kube::client::Body;
use serde_json::{Value, json};
use tower::{BoxError, Service};

use super::{Fault, Faults, Life, Refusal, When, watch};
use crate::Planted;

/// The door of one set of controllers. Clones are the same door.
#[derive(Debug, Clone)]
pub(crate) struct Door {
    pub(crate) inner: InProcess,
    pub(crate) life: Arc<Life>,
    pub(crate) faults: Arc<Faults>,
    /// Called after every write, for audits of what must hold at any moment.
    pub(crate) audit: Audit,
}

/// A check that runs after every write.
#[derive(Clone)]
pub(crate) struct Audit(pub(crate) Arc<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for Audit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Audit")
    }
}

/// The body of an answer.
pub(super) type Stream = UnsyncBoxBody<Bytes, BoxError>;

type Answer = Result<Response<Stream>, BoxError>;

impl Service<Request<Body>> for Door {
    type Response = Response<Stream>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Answer> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let door = self.clone();
        Box::pin(async move {
            // The dead make no requests, and nobody waits for them.
            if door.life.is_dead() {
                return pending().await;
            }
            let resource = resource(request.uri().path());
            let is_watch = request.uri().query().is_some_and(|it| it.contains("watch="));
            let is_counted = request.method() != Method::GET && resource != "events";
            let answer = if is_watch {
                let answer = door.pass(request).await?;
                Ok(answer.map(|body| watch::through(body, resource, door.life.clone(), door.faults.clone())))
            } else if is_counted {
                door.write(request, &resource).await
            } else {
                door.pass(request).await
            };
            if door.life.is_dead() {
                return pending().await;
            }
            answer
        })
    }
}

impl Door {
    async fn pass(&self, request: Request<Body>) -> Answer {
        let answer = self.inner.clone().call(request).await;
        Ok(answer
            .unwrap_or_else(|it: Infallible| match it {})
            .map(|body| body.map_err(BoxError::from).boxed_unsync()))
    }

    async fn write(&self, request: Request<Body>, resource: &str) -> Answer {
        let request = self.planted(request, resource).await?;
        let fault = self.faults.at_write();
        let take_place = async |request| {
            let answer = self.pass(request).await;
            (self.audit.0)();
            answer
        };
        match fault {
            None => take_place(request).await,
            Some(Fault::CrashAtWrite { when, .. }) => {
                if when == When::After {
                    drop(take_place(request).await);
                }
                self.life.end();
                pending().await
            }
            Some(Fault::RefuseWrite { with, when, .. }) => {
                if when == When::After {
                    drop(take_place(request).await);
                }
                refuse(with).await
            }
            Some(_) => take_place(request).await,
        }
    }

    /// The request with a bug in it, if one is planted.
    async fn planted(&self, request: Request<Body>, resource: &str) -> Result<Request<Body>, BoxError> {
        let Some(planted @ (Planted::RandomName | Planted::DroppedFinalizer)) = self.faults.planted else {
            return Ok(request);
        };
        let is_create = request.method() == Method::POST;
        let (parts, body) = request.into_parts();
        let bytes = body.collect().await.map_err(BoxError::from)?.to_bytes();
        let Ok(mut value) = serde_json::from_slice::<Value>(&bytes) else {
            return Ok(Request::from_parts(parts, Body::from(bytes.to_vec())));
        };
        match planted {
            Planted::RandomName if is_create && resource == "machines" => {
                let (number, _) = self.faults.counts();
                let name = value["metadata"]["name"].as_str().unwrap_or_default();
                value["metadata"]["name"] = json!(format!("{name}-{number}"));
            }
            Planted::DroppedFinalizer if resource == "devmachines" => {
                if let Some(metadata) = value["metadata"].as_object_mut() {
                    metadata.remove("finalizers");
                }
            }
            _ => {}
        }
        let bytes = serde_json::to_vec(&value)?;
        Ok(Request::from_parts(parts, Body::from(bytes)))
    }
}

/// The resource that a path names: `machines` in `/apis/G/V/namespaces/N/machines/NAME/status`.
fn resource(path: &str) -> String {
    let mut parts = path.split('/').skip(1);
    let skipped = if parts.next() == Some("api") { 1 } else { 2 };
    let mut parts = parts.skip(skipped);
    let first = parts.next().unwrap_or_default();
    if first != "namespaces" {
        return first.to_owned();
    }
    let name = parts.next();
    let below = parts.next();
    match (name, below) {
        (Some(_), Some(below)) => below.to_owned(),
        _ => first.to_owned(),
    }
}

async fn refuse(with: Refusal) -> Answer {
    let (code, reason) = match with {
        Refusal::Conflict => (409, "Conflict"),
        Refusal::TooManyRequests => (429, "TooManyRequests"),
        Refusal::InternalError => (500, "InternalError"),
        Refusal::Unavailable => (503, "ServiceUnavailable"),
        Refusal::Broken => {
            tokio::time::sleep(Duration::from_secs(30)).await;
            return Err("connection reset by peer".into());
        }
    };
    let status = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "simulated", "reason": reason, "code": code });
    let body = Full::new(Bytes::from(status.to_string()));
    Ok(Response::builder()
        .status(code)
        .header("content-type", "application/json")
        .header("retry-after", "1")
        .body(body.map_err(BoxError::from).boxed_unsync())?)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_path_names_its_resource() {
        let table = [
            ("/api/v1/namespaces/ns/secrets/a", "secrets"),
            ("/api/v1/namespaces/ns", "namespaces"),
            ("/api/v1/secrets", "secrets"),
            ("/apis/cluster.x-k8s.io/v1beta2/machines", "machines"),
            (
                "/apis/cluster.x-k8s.io/v1beta2/namespaces/ns/machines/m/status",
                "machines",
            ),
        ];
        for (path, expected) in table {
            assert_eq!(super::resource(path), expected, "{path}");
        }
    }
}
