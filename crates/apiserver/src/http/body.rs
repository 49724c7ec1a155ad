//! Bodies of responses, and reading those of requests.

use std::convert::Infallible;

use bytes::Bytes;
use http_body::Body;
use http_body_util::{BodyExt, Empty, Full, StreamBody, combinators::UnsyncBoxBody};

use crate::wire::status::{ApiError, Result};

/// The body of a response.
pub type ResponseBody = UnsyncBoxBody<Bytes, Infallible>;

/// Any error.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Longest request body.
const BODY_LIMIT: usize = 3 * 1024 * 1024;
/// How much of a longer one is read before the connection is given up.
const PATIENCE: usize = 64 * 1024 * 1024;

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

/// Reads a request body to its end. What is too long is read on for a while and thrown away: a client that is still
/// sending does not listen yet, and would only see the connection break.
pub(super) async fn collect<B>(body: B) -> Result<Bytes>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let mut body = std::pin::pin!(body);
    let (mut bytes, mut length) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            let error: BoxError = error.into();
            ApiError::bad_request(format!("failed to read the body of the request: {error}"))
        })?;
        let Ok(data) = frame.into_data() else { continue };
        length += data.len();
        if length > PATIENCE {
            break;
        }
        if length <= BODY_LIMIT {
            bytes.extend_from_slice(&data);
        } else {
            bytes = Vec::new();
        }
    }
    if length > BODY_LIMIT {
        return Err(ApiError::too_large(format!(
            "Request entity too large: limit is {BODY_LIMIT}"
        )));
    }
    Ok(bytes.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_body_that_is_too_long_is_read_to_its_end_but_not_kept() {
        let chunk = Bytes::from(vec![b'x'; BODY_LIMIT / 2]);
        let body = |chunks: usize| stream(futures::stream::iter(vec![chunk.clone(); chunks]));
        assert_eq!(collect(body(2)).await.unwrap().len(), BODY_LIMIT / 2 * 2);
        let mut long = body(3);
        let error = collect(&mut long).await.unwrap_err();
        assert_eq!(
            error.message,
            format!("Request entity too large: limit is {BODY_LIMIT}")
        );
        assert!(long.frame().await.is_none());
    }

    #[tokio::test]
    async fn an_endless_body_is_given_up() {
        let chunk = Bytes::from(vec![b'x'; BODY_LIMIT]);
        let endless = stream(futures::stream::repeat(chunk));
        assert_eq!(
            collect(endless).await.unwrap_err().code,
            http::StatusCode::PAYLOAD_TOO_LARGE
        );
    }
}
