//! Compression of large responses.

use std::io::Write;

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::{HeaderMap, header};

/// Smaller bodies are not worth it.
const THRESHOLD: usize = 128 * 1024;

/// Whether a body of `length` bytes should be compressed for a client that sent these headers.
pub(super) fn is_wanted(headers: &HeaderMap, length: usize) -> bool {
    let accepted = headers
        .get(header::ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    length >= THRESHOLD
        && accepted
            .split(',')
            .any(|coding| coding.split(';').next().map(str::trim) == Some("gzip"))
}

/// `bytes`, compressed; as they are if that fails.
pub(super) fn compress(bytes: &Bytes) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 8), Compression::fast());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok().map(Bytes::from)
}
