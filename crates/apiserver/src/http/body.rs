//! Bodies of responses, and reading those of requests.

use std::convert::Infallible;

use bytes::Bytes;
use http_body::Body;
use http_body_util::{
    BodyExt, Empty, Full, LengthLimitError, Limited, StreamBody, combinators::UnsyncBoxBody,
};

use crate::wire::status::{ApiError, Result};

/// The body of a response.
pub type ResponseBody = UnsyncBoxBody<Bytes, Infallible>;

/// Any error.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Longest request body.
const BODY_LIMIT: usize = 3 * 1024 * 1024;

/// A body of bytes that are there already.
pub(super) fn full(bytes: impl Into<Bytes>) -> ResponseBody {
    Full::new(bytes.into()).boxed_unsync()
}

/// No body.
pub(crate) fn empty() -> ResponseBody {
    Empty::new().boxed_unsync()
}

/// A body of frames that come one by one.
pub(super) fn stream(frames: impl futures::Stream<Item = Bytes> + Send + 'static) -> ResponseBody {
    use futures::StreamExt;
    StreamBody::new(frames.map(|bytes| Ok(http_body::Frame::data(bytes)))).boxed_unsync()
}

/// Reads a request body to its end.
pub(super) async fn collect<B>(body: B) -> Result<Bytes>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    match Limited::new(body, BODY_LIMIT).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.downcast_ref::<LengthLimitError>().is_some() => Err(ApiError::too_large(
            format!("Request entity too large: limit is {BODY_LIMIT}"),
        )),
        Err(error) => Err(ApiError::bad_request(format!(
            "failed to read the body of the request: {error}"
        ))),
    }
}
