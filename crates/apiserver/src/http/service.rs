//! The server as a tower service: for callers inside the process, without sockets.

use std::{
    convert::Infallible,
    future::Future,
    panic::AssertUnwindSafe,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::FutureExt;
use http::{Request, Response};
use http_body::Body;

use super::{
    body::{BoxError, ResponseBody, collect},
    respond, router,
};
use crate::{auth::Identity, server::Shared, wire::status::ApiError};

/// A client's view of a server inside the process: every request is made in the name of one identity. Clones are
/// cheap.
#[derive(Debug, Clone)]
pub struct InProcess {
    server: Arc<Shared>,
    identity: Arc<Identity>,
}

impl InProcess {
    pub(crate) fn new(server: Arc<Shared>, identity: Identity) -> Self {
        Self {
            server,
            identity: Arc::new(identity),
        }
    }
}

impl<B> tower::Service<Request<B>> for InProcess
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (server, identity) = (Arc::clone(&self.server), Arc::clone(&self.identity));
        Box::pin(async move { Ok(handle(&server, request, &identity).await) })
    }
}

/// Answers a request; a panic becomes a 500.
pub(super) async fn handle<B>(
    server: &Shared,
    request: Request<B>,
    identity: &Identity,
) -> Response<ResponseBody>
where
    B: Body<Data = Bytes> + Send,
    B::Error: Into<BoxError>,
{
    let (parts, body) = request.into_parts();
    let target = parts.uri.path().to_owned();
    let work = async {
        let body = collect(body).await;
        router::answer(server, parts, body, identity).await
    };
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!(path = target, "request panicked");
        respond::error(&ApiError::internal("the request panicked; see the server's log"))
    })
}
