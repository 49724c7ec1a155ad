//! Watches that stall, break and repeat themselves.

use std::{future::pending, sync::Arc};

use bytes::Bytes;
use futures::stream;
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use tokio::time::sleep_until;
use tower::BoxError;

use super::{Fault, Faults, Life, door::Stream};

/// What the server answers when a watch asks for what it no longer has.
const EXPIRED: &str = r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version","reason":"Expired","code":410}}
"#;

struct Watch {
    body: Stream,
    resource: String,
    life: Arc<Life>,
    faults: Arc<Faults>,
    /// Delivered next, before anything new.
    repeated: Option<Bytes>,
    is_cut: bool,
}

/// A watch's events as the schedule lets them through.
pub(super) fn through(body: Stream, resource: String, life: Arc<Life>, faults: Arc<Faults>) -> Stream {
    let watch = Watch {
        body,
        resource,
        life,
        faults,
        repeated: None,
        is_cut: false,
    };
    let frames = stream::unfold(watch, |mut watch| async move {
        let bytes = watch.next().await?;
        Some((bytes.map(Frame::data), watch))
    });
    StreamBody::new(Box::pin(frames)).boxed_unsync()
}

impl Watch {
    async fn next(&mut self) -> Option<Result<Bytes, BoxError>> {
        if let Some(bytes) = self.repeated.take() {
            return Some(Ok(bytes));
        }
        if self.is_cut {
            return None;
        }
        let bytes = match self.body.frame().await? {
            Ok(frame) => frame.into_data().unwrap_or_default(),
            Err(error) => return Some(Err(error)),
        };
        if let Some(until) = self.faults.stalled_until(&self.resource) {
            sleep_until(until).await;
        }
        if self.life.is_dead() {
            return pending().await;
        }
        match self.faults.at_event(&self.resource) {
            Some(Fault::CutWatch { expired, .. }) => {
                self.is_cut = true;
                expired.then(|| Ok(Bytes::from_static(EXPIRED.as_bytes())))
            }
            Some(Fault::RepeatEvent { .. }) => {
                self.repeated = Some(bytes.clone());
                Some(Ok(bytes))
            }
            _ => Some(Ok(bytes)),
        }
    }
}
