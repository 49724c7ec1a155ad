//! Protobuf request bodies of built-in kinds, as JSON. Go clients send them unasked; they all take JSON back.
//!
//! One transcoder reads every kind, by a table of messages (`schemas/messages.json`).
//! Source: apimachinery `pkg/runtime/serializer/protobuf`.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use capstan_base::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::resource::definitions;

/// What every body begins with.
const MAGIC: &[u8] = b"k8s\0";
/// Deepest nesting of messages, as for JSON.
const DEPTH_LIMIT: usize = 128;
const DELETE_OPTIONS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";

/// A body that is not the protobuf form of a built-in object.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum DecodeError {
    /// It does not begin as all do.
    #[error("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")]
    NoMagic,
    /// It ends too early, or a tag or length makes no sense.
    #[error("malformed protobuf message")]
    Malformed,
    /// No built-in kind.
    #[error("no kind {kind:?} is registered for protobuf in version {api_version:?}")]
    UnknownKind {
        /// The kind.
        kind: String,
        /// Its version.
        api_version: String,
    },
}

/// Field number to field.
type Message = BTreeMap<u32, Field>;

#[derive(Debug, Clone)]
struct Field {
    /// Empty: the fields of the value belong to the object around it.
    name: String,
    shape: Shape,
    kind: Kind,
    /// Whether a zero value says something.
    keeps_zero: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Single,
    List,
    Map,
}

#[derive(Debug, Clone)]
enum Kind {
    Text,
    Bytes,
    Integer,
    Float,
    Flag,
    Message(Arc<str>),
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (name, code) = <(String, String)>::deserialize(deserializer)?;
        let keeps_zero = code.ends_with('?');
        let code = code.trim_end_matches('?');
        let (shape, code) = match (code.strip_prefix("[]"), code.strip_prefix("{}")) {
            (Some(rest), _) => (Shape::List, rest),
            (_, Some(rest)) => (Shape::Map, rest),
            (None, None) => (Shape::Single, code),
        };
        let kind = match code {
            "s" => Kind::Text,
            "b" => Kind::Bytes,
            "i" => Kind::Integer,
            "f" => Kind::Float,
            "t" => Kind::Flag,
            message => Kind::Message(message.into()),
        };
        Ok(Self {
            name,
            shape,
            kind,
            keeps_zero,
        })
    }
}

/// The table of messages; the first call parses it.
fn messages() -> &'static BTreeMap<String, Message> {
    static PARSED: OnceLock<BTreeMap<String, Message>> = OnceLock::new();
    PARSED.get_or_init(|| {
        let text = include_str!("../../schemas/messages.json");
        serde_json::from_str(text).expect("invariant: the compiled-in table of messages is well formed")
    })
}

/// The message of a kind.
fn message_of(api_version: &str, kind: &str) -> Option<&'static str> {
    if kind == "DeleteOptions" {
        return Some(DELETE_OPTIONS);
    }
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let wanted = json!([{ "group": group, "kind": kind, "version": version }]);
    let is_wanted = |name: &str| {
        name.rsplit('.').next() == Some(kind)
            && definitions()
                .get(name)
                .is_some_and(|it| it["x-kubernetes-group-version-kind"] == wanted)
    };
    messages().keys().map(String::as_str).find(|name| is_wanted(name))
}

/// The object in `bytes`, as JSON.
pub(super) fn decode(bytes: &[u8]) -> Result<Value, DecodeError> {
    let envelope = bytes.strip_prefix(MAGIC).ok_or(DecodeError::NoMagic)?;
    let (mut api_version, mut kind, mut raw) = (String::new(), String::new(), &[][..]);
    for field in fields(envelope) {
        match field? {
            (1, Wire::Bytes(type_meta)) => {
                for field in fields(type_meta) {
                    match field? {
                        (1, Wire::Bytes(text)) => api_version = utf8(text)?,
                        (2, Wire::Bytes(text)) => kind = utf8(text)?,
                        _ => {}
                    }
                }
            }
            (2, Wire::Bytes(content)) => raw = content,
            _ => {}
        }
    }
    let Some(name) = message_of(&api_version, &kind) else {
        return Err(DecodeError::UnknownKind { kind, api_version });
    };
    let mut object = Map::new();
    read_message(name, raw, &mut object, 0)?;
    object.insert("apiVersion".to_owned(), json!(api_version));
    object.insert("kind".to_owned(), json!(kind));
    Ok(Value::Object(object))
}

/// A field's value as it is on the wire.
#[derive(Debug, Clone, Copy)]
enum Wire<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
}

/// The fields of a message, in order.
fn fields(mut bytes: &[u8]) -> impl Iterator<Item = Result<(u32, Wire<'_>), DecodeError>> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let field = next_field(&mut bytes).ok_or(DecodeError::Malformed);
        if field.is_err() {
            bytes = &[];
        }
        Some(field)
    })
}

fn next_field<'a>(bytes: &mut &'a [u8]) -> Option<(u32, Wire<'a>)> {
    let tag = varint(bytes)?;
    let value = match tag & 7 {
        0 => Wire::Varint(varint(bytes)?),
        1 => Wire::Fixed64(u64::from_le_bytes(take(bytes, 8)?.try_into().ok()?)),
        2 => {
            let length = usize::try_from(varint(bytes)?).ok()?;
            Wire::Bytes(take(bytes, length)?)
        }
        5 => Wire::Fixed32(u32::from_le_bytes(take(bytes, 4)?.try_into().ok()?)),
        _ => return None,
    };
    Some((u32::try_from(tag >> 3).ok()?, value))
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (head, tail) = bytes.split_at_checked(length)?;
    *bytes = tail;
    Some(head)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.split_off_first()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn utf8(bytes: &[u8]) -> Result<String, DecodeError> {
    String::from_utf8(bytes.to_vec()).map_err(|_| DecodeError::Malformed)
}

fn signed(value: u64) -> i64 {
    i64::from_ne_bytes(value.to_ne_bytes())
}

fn read_message(
    name: &str,
    bytes: &[u8],
    object: &mut Map<String, Value>,
    depth: usize,
) -> Result<(), DecodeError> {
    let message = messages()
        .get(name)
        .filter(|_| depth < DEPTH_LIMIT)
        .ok_or(DecodeError::Malformed)?;
    for field in fields(bytes) {
        let (number, wire) = field?;
        // Fields of newer clients are unknown, as in JSON.
        let Some(field) = message.get(&number) else {
            continue;
        };
        match field.shape {
            Shape::Single => read_single(field, wire, object, depth)?,
            Shape::List => {
                if let Some(value) = read_value(&field.kind, wire, depth)? {
                    list_at(object, &field.name).push(value);
                }
            }
            Shape::Map => {
                if let Wire::Bytes(entry) = wire {
                    let (key, value) = read_entry(&field.kind, entry, depth)?;
                    let map = object.entry(field.name.clone()).or_insert_with(|| json!({}));
                    map[key] = value;
                }
            }
        }
    }
    Ok(())
}

fn list_at<'a>(object: &'a mut Map<String, Value>, name: &str) -> &'a mut Vec<Value> {
    let entry = object.entry(name.to_owned()).or_insert_with(|| json!([]));
    if !entry.is_array() {
        *entry = json!([]);
    }
    entry.as_array_mut().expect("invariant: just made a list")
}

fn read_single(
    field: &Field,
    wire: Wire<'_>,
    object: &mut Map<String, Value>,
    depth: usize,
) -> Result<(), DecodeError> {
    if let (true, Kind::Message(name), Wire::Bytes(bytes)) = (field.name.is_empty(), &field.kind, wire) {
        return read_message(name, bytes, object, depth + 1);
    }
    let Some(value) = read_value(&field.kind, wire, depth)? else {
        return Ok(());
    };
    let is_zero = match &value {
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Bool(flag) => !flag,
        _ => false,
    };
    if field.keeps_zero || !is_zero {
        object.insert(field.name.clone(), value);
    }
    Ok(())
}

fn read_entry(kind: &Kind, entry: &[u8], depth: usize) -> Result<(String, Value), DecodeError> {
    let (mut key, mut value) = (String::new(), None);
    for field in fields(entry) {
        match field? {
            (1, Wire::Bytes(text)) => key = utf8(text)?,
            (2, wire) => value = read_value(kind, wire, depth)?,
            _ => {}
        }
    }
    Ok((key, value.unwrap_or_else(|| json!(""))))
}

/// A value as JSON; nothing for times that are not set.
fn read_value(kind: &Kind, wire: Wire<'_>, depth: usize) -> Result<Option<Value>, DecodeError> {
    let value = match (kind, wire) {
        (Kind::Text, Wire::Bytes(bytes)) => json!(utf8(bytes)?),
        (Kind::Bytes, Wire::Bytes(bytes)) => json!(STANDARD.encode(bytes)),
        (Kind::Integer, Wire::Varint(value)) => json!(signed(value)),
        (Kind::Flag, Wire::Varint(value)) => json!(value != 0),
        (Kind::Float, Wire::Fixed64(bits)) => json!(f64::from_bits(bits)),
        (Kind::Float, Wire::Fixed32(bits)) => json!(f32::from_bits(bits)),
        (Kind::Message(name), Wire::Bytes(bytes)) => return read_named(name, bytes, depth + 1),
        _ => return Err(DecodeError::Malformed),
    };
    Ok(Some(value))
}

/// A message; those whose JSON is not an object are known by name.
fn read_named(name: &str, bytes: &[u8], depth: usize) -> Result<Option<Value>, DecodeError> {
    match name.rsplit('.').next().unwrap_or_default() {
        "Quantity" => {
            let mut text = String::new();
            for field in fields(bytes) {
                if let (1, Wire::Bytes(bytes)) = field? {
                    text = utf8(bytes)?;
                }
            }
            Ok(Some(json!(text)))
        }
        "IntOrString" => int_or_string(bytes).map(Some),
        "Time" => time(bytes, "%Y-%m-%dT%H:%M:%SZ"),
        "MicroTime" => time(bytes, "%Y-%m-%dT%H:%M:%S%.6fZ"),
        "FieldsV1" | "RawExtension" => {
            for field in fields(bytes) {
                if let (1, Wire::Bytes(raw)) = field? {
                    return serde_json::from_slice(raw)
                        .map(Some)
                        .map_err(|_| DecodeError::Malformed);
                }
            }
            Ok(None)
        }
        _ => {
            let mut object = Map::new();
            read_message(name, bytes, &mut object, depth)?;
            // A message of one nameless list is that list.
            Ok(Some(object.remove("").unwrap_or(Value::Object(object))))
        }
    }
}

fn int_or_string(bytes: &[u8]) -> Result<Value, DecodeError> {
    let (mut is_text, mut number, mut text) = (false, 0, String::new());
    for field in fields(bytes) {
        match field? {
            (1, Wire::Varint(kind)) => is_text = kind == 1,
            (2, Wire::Varint(value)) => number = signed(value),
            (3, Wire::Bytes(bytes)) => text = utf8(bytes)?,
            _ => {}
        }
    }
    Ok(if is_text { json!(text) } else { json!(number) })
}

/// A time; the zero time of Go is none.
fn time(bytes: &[u8], format: &str) -> Result<Option<Value>, DecodeError> {
    const ZERO: i64 = -62_135_596_800;
    let (mut seconds, mut nanos) = (0, 0);
    for field in fields(bytes) {
        match field? {
            (1, Wire::Varint(value)) => seconds = signed(value),
            (2, Wire::Varint(value)) => {
                nanos = i32::try_from(signed(value)).map_err(|_| DecodeError::Malformed)?
            }
            _ => {}
        }
    }
    if bytes.is_empty() || seconds == ZERO {
        return Ok(None);
    }
    let time = Timestamp::new(seconds, nanos).map_err(|_| DecodeError::Malformed)?;
    Ok(Some(json!(time.strftime(format).to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tagged(number: u8, bytes: &[u8]) -> Vec<u8> {
        let length = u8::try_from(bytes.len()).unwrap();
        assert!(length < 128, "one byte of length is enough for tests");
        let mut field = vec![(number << 3) | 2, length];
        field.extend_from_slice(bytes);
        field
    }

    fn body(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
        let type_meta = [tagged(1, api_version.as_bytes()), tagged(2, kind.as_bytes())].concat();
        [MAGIC.to_vec(), tagged(1, &type_meta), tagged(2, raw)].concat()
    }

    #[test]
    fn a_secret_is_read_with_its_bytes_and_without_zero_values() {
        let metadata = [tagged(1, b"s"), tagged(2, b""), tagged(8, &[])].concat();
        let entry = [tagged(1, b"k"), tagged(2, b"\x00\x01")].concat();
        let raw = [tagged(1, &metadata), tagged(2, &entry), tagged(3, b"Opaque")].concat();
        assert_eq!(
            decode(&body("v1", "Secret", &raw)),
            Ok(json!({
                "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s" },
                "data": { "k": "AAE=" }, "type": "Opaque",
            }))
        );
    }

    #[test]
    fn ports_are_numbers_or_names_and_inline_fields_are_inline() {
        let target = [vec![1 << 3, 1], tagged(3, b"web")].concat();
        let port = [vec![3 << 3, 80], tagged(4, &target)].concat();
        let raw = tagged(2, &tagged(1, &port));
        let service = decode(&body("v1", "Service", &raw)).unwrap();
        assert_eq!(
            service["spec"],
            json!({ "ports": [{ "port": 80, "targetPort": "web" }] })
        );

        let empty_dir = tagged(2, &tagged(2, &[]));
        let volume = [tagged(1, b"v"), empty_dir].concat();
        let pod = decode(&body("v1", "Pod", &tagged(2, &tagged(1, &volume)))).unwrap();
        assert_eq!(pod["spec"]["volumes"], json!([{ "name": "v", "emptyDir": {} }]));
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for (bytes, expected) in [
            (b"{}".to_vec(), DecodeError::NoMagic),
            (b"k8s\0\x0a\xff".to_vec(), DecodeError::Malformed),
            (
                body("example.io/v1", "Widget", &[]),
                DecodeError::UnknownKind {
                    kind: "Widget".into(),
                    api_version: "example.io/v1".into(),
                },
            ),
        ] {
            assert_eq!(decode(&bytes), Err(expected));
        }
    }
}
