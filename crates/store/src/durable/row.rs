//! The form of one event in the store file. Integers are little-endian:
//!
//! ```text
//! kind 1 byte (0 removal, 1 put) · time 8 (microseconds) · create revision 8 · lengths of resource, namespace, name
//! 4 each · resource · namespace · name · value
//! ```
//!
//! The row's key is the revision. The record before the event is not repeated: its own row is there as long as the
//! event is.

use std::sync::Arc;

use bytes::Bytes;
use capstan_base::Timestamp;
use thiserror::Error;

use crate::{key::Key, record::Event};

const REVISION_BYTES: usize = 8;
const HEADER_BYTES: usize = 1 + 8 + 8 + 3 * 4;
const REMOVAL: u8 = 0;
const PUT: u8 = 1;

/// A decoded row.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) at: Timestamp,
    pub(crate) key: Key,
    pub(crate) create_revision: u64,
    pub(crate) value: Option<Bytes>,
}

/// What is wrong with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum RowError {
    #[error("the row is cut short")]
    Short,
    #[error("the row has an unknown kind")]
    Kind,
    #[error("the row has an impossible time")]
    Time,
    #[error("the row's key is not text")]
    Text,
}

/// Bytes that the event takes in the log, its revision included.
pub(crate) fn length(event: &Event) -> u64 {
    let value = event.current.as_ref().map_or(0, |record| record.value.len());
    (REVISION_BYTES + HEADER_BYTES + event.key().len() + value) as u64
}

pub(crate) fn encode(at: Timestamp, event: &Event) -> Vec<u8> {
    let record = event.record();
    let Key {
        resource,
        namespace,
        name,
    } = &record.key;
    let (kind, value) = match &event.current {
        Some(current) => (PUT, &*current.value),
        None => (REMOVAL, &[][..]),
    };
    let mut row = Vec::with_capacity(HEADER_BYTES + record.key.len() + value.len());
    row.push(kind);
    row.extend(at.as_microsecond().to_le_bytes());
    row.extend(record.create_revision.to_le_bytes());
    for part in [resource, namespace, name] {
        let length = u32::try_from(part.len()).expect("invariant: a key is far shorter than 4 GiB");
        row.extend(length.to_le_bytes());
    }
    for part in [resource, namespace, name] {
        row.extend(part.as_bytes());
    }
    row.extend(value);
    row
}

pub(crate) fn decode(row: &[u8]) -> Result<Row, RowError> {
    let (&[kind], rest) = row.split_first_chunk().ok_or(RowError::Short)?;
    let (time, rest) = rest.split_first_chunk().ok_or(RowError::Short)?;
    let (create_revision, rest) = rest.split_first_chunk().ok_or(RowError::Short)?;
    let (resource, rest) = rest.split_first_chunk().ok_or(RowError::Short)?;
    let (namespace, rest) = rest.split_first_chunk().ok_or(RowError::Short)?;
    let (name, rest) = rest.split_first_chunk().ok_or(RowError::Short)?;
    let (resource, rest) = split_text(rest, *resource)?;
    let (namespace, rest) = split_text(rest, *namespace)?;
    let (name, value) = split_text(rest, *name)?;
    let value = match kind {
        PUT => Some(Bytes::copy_from_slice(value)),
        REMOVAL if value.is_empty() => None,
        _ => return Err(RowError::Kind),
    };
    Ok(Row {
        at: Timestamp::from_microsecond(i64::from_le_bytes(*time)).map_err(|_| RowError::Time)?,
        key: Key::new(resource, namespace, name),
        create_revision: u64::from_le_bytes(*create_revision),
        value,
    })
}

fn split_text(rest: &[u8], length: [u8; 4]) -> Result<(Arc<str>, &[u8]), RowError> {
    let length = usize::try_from(u32::from_le_bytes(length)).map_err(|_| RowError::Short)?;
    let (text, rest) = rest.split_at_checked(length).ok_or(RowError::Short)?;
    Ok((str::from_utf8(text).map_err(|_| RowError::Text)?.into(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;

    fn put() -> Event {
        let key = Key::new("apps/deployments", "default", "web");
        let record = Record::new(key, 9, 7, Bytes::from_static(b"{}"), None);
        Event {
            revision: 9,
            previous: None,
            current: Some(Arc::new(record)),
        }
    }

    #[test]
    fn a_put_survives_the_round_trip() {
        let at = Timestamp::from_microsecond(1_700_000_000_000_000).unwrap();
        let row = encode(at, &put());
        assert_eq!(row.len() as u64 + 8, length(&put()));
        let expected = Row {
            at,
            key: Key::new("apps/deployments", "default", "web"),
            create_revision: 7,
            value: Some(Bytes::from_static(b"{}")),
        };
        assert_eq!(decode(&row), Ok(expected));
    }

    #[test]
    fn a_removal_carries_no_value() {
        let event = Event {
            revision: 10,
            previous: put().current,
            current: None,
        };
        let row = encode(Timestamp::UNIX_EPOCH, &event);
        assert_eq!(row.len() as u64 + 8, length(&event));
        assert_eq!(decode(&row).unwrap().value, None);
    }

    #[test]
    fn a_row_cut_anywhere_before_its_value_is_refused() {
        let row = encode(Timestamp::UNIX_EPOCH, &put());
        for end in 0..row.len() - b"{}".len() {
            assert_eq!(decode(&row[..end]), Err(RowError::Short), "cut at {end}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let row = encode(Timestamp::UNIX_EPOCH, &put());
        let with = |position: usize, byte: u8| {
            let mut row = row.clone();
            row[position] = byte;
            decode(&row)
        };
        assert_eq!(with(0, 2), Err(RowError::Kind));
        assert_eq!(with(0, REMOVAL), Err(RowError::Kind));
        assert_eq!(with(8, 0x7f), Err(RowError::Time));
        assert_eq!(with(HEADER_BYTES, 0xff), Err(RowError::Text));
    }
}
