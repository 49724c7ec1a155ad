//! The stream of a watch: one JSON document per line, as many lines per frame as are ready.

use bytes::{BufMut, Bytes, BytesMut};
use futures::stream;
use http::{HeaderValue, Response, header};
use serde_json::{Value, json};

use super::body::{ResponseBody, stream as body_stream};
use crate::{
    codec::encode,
    registry::{Event, EventKind, Watch},
    table::{IncludeObject, partial, table},
    wire::negotiate::{Accepted, Transform},
};

/// Ends when the server shuts down.
type Shutdown = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

struct Stream {
    watch: Watch,
    accepted: Accepted,
    include: IncludeObject,
    /// Whether the client has seen the columns of the table.
    described: bool,
    shutdown: Shutdown,
    /// Kept until the stream is dropped: counts as a running watch.
    _running: Box<dyn Send>,
}

/// The response to a watch.
pub(super) fn respond(
    watch: Watch,
    accepted: Accepted,
    include: IncludeObject,
    shutdown: Shutdown,
    running: Box<dyn Send>,
) -> Response<ResponseBody> {
    let state = Stream {
        watch,
        accepted,
        include,
        described: false,
        shutdown,
        _running: running,
    };
    let frames = stream::unfold(state, |mut state| async move {
        let frame = state.next().await?;
        Some((frame, state))
    });
    let mut response = Response::new(body_stream(frames));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("no-cache, private"),
    );
    response
}

impl Stream {
    async fn next(&mut self) -> Option<Bytes> {
        let events = tokio::select! {
            biased;
            () = &mut self.shutdown => return None,
            events = self.watch.next() => events?,
        };
        let mut frame = BytesMut::with_capacity(events.iter().map(|event| event.object.len() + 32).sum());
        for event in &events {
            let object = self.transformed(event);
            frame.put_slice(b"{\"type\":\"");
            frame.put_slice(event.kind.as_str().as_bytes());
            frame.put_slice(b"\",\"object\":");
            frame.put_slice(&object);
            frame.put_slice(b"}\n");
        }
        Some(frame.freeze())
    }

    fn transformed(&mut self, event: &Event) -> Bytes {
        if event.kind == EventKind::Error {
            return event.object.clone();
        }
        match self.accepted.transform {
            Transform::None => event.object.clone(),
            Transform::Metadata(version) => {
                let object: Value = serde_json::from_slice(&event.object).unwrap_or_default();
                encode(&partial(version, &object))
            }
            Transform::Table(version) => {
                let object: Value = serde_json::from_slice(&event.object).unwrap_or_default();
                let metadata = json!({ "resourceVersion": object["metadata"]["resourceVersion"] });
                let columns = &self.watch.target().version().columns;
                let now = self.watch.now();
                let headings = !std::mem::replace(&mut self.described, true);
                encode(&table(
                    version,
                    columns,
                    self.include,
                    &[object],
                    &metadata,
                    headings,
                    now,
                ))
            }
        }
    }
}
