//! From bytes to JSON, noticing what strict clients want to hear about.
//! Source: sigs.k8s.io/json, apiextensions-apiserver `pkg/apiserver/schema/options.go`.

use std::{cell::RefCell, fmt, fmt::Write, rc::Rc};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};
use thiserror::Error;

/// How many strict errors are kept of one document.
const MAX_DUPLICATES: usize = 100;

/// A decoded document.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// The document. Of a field that occurs twice, the last one counts.
    pub value: Value,
    /// The paths of fields that occur more than once, each told once, in document order: `spec.a[0].b`.
    pub duplicates: Vec<String>,
}

/// A document that is not JSON.
#[derive(Debug, Error)]
#[error("failed to decode JSON")]
pub struct DecodeError(#[source] serde_json::Error);

/// Decodes a JSON document.
///
/// Whole numbers that fit are `i64`, all others `f64`, as Kubernetes reads them. A float without a fraction becomes
/// whole, since that is how Kubernetes writes it back (`1.0` is `1`). Nesting is limited to 128 levels, the limit at
/// which everything else that reads JSON here gives up too.
///
/// # Errors
/// When `bytes` is not one JSON document, or nests too deeply.
pub fn decode(bytes: &[u8]) -> Result<Decoded, DecodeError> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let decoded = decode_from(&mut deserializer).map_err(DecodeError)?;
    deserializer.end().map_err(DecodeError)?;
    Ok(decoded)
}

/// Decodes a document of another syntax by the same rules, from a deserializer that passes duplicate fields through.
///
/// # Errors
/// Those of the deserializer.
pub fn decode_from<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Decoded, D::Error> {
    let notes = Rc::new(RefCell::new(Notes::default()));
    let value = Seed(&notes).deserialize(deserializer)?;
    let duplicates = std::mem::take(&mut notes.borrow_mut().duplicates);
    Ok(Decoded { value, duplicates })
}

/// What a strict client is told, and a lenient one warned of: `unknown field "spec.foo"`, `duplicate field "spec.a"`.
pub fn strict_messages(duplicates: &[String], unknown: &[String]) -> Vec<String> {
    let duplicates = duplicates.iter().map(|path| format!("duplicate field {path:?}"));
    let unknown = unknown.iter().map(|path| format!("unknown field {path:?}"));
    duplicates.chain(unknown).collect()
}

#[derive(Default)]
struct Notes {
    path: String,
    duplicates: Vec<String>,
}

impl Notes {
    fn duplicate(&mut self, name: &str) {
        let path = if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        };
        if self.duplicates.len() < MAX_DUPLICATES && !self.duplicates.contains(&path) {
            self.duplicates.push(path);
        }
    }
}

struct Seed<'a>(&'a Rc<RefCell<Notes>>);

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        #[expect(clippy::cast_precision_loss, reason = "beyond int64, Kubernetes reads floats")]
        Ok(i64::try_from(value).map_or_else(|_| Value::from(value as f64), Value::from))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "checked to be a whole number within range"
        )]
        if value.fract() == 0.0
            && value.abs() <= 9_007_199_254_740_991.0
            && !(value == 0.0 && value.is_sign_negative())
        {
            return Ok(Value::from(value as i64));
        }
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        let length = self.0.borrow().path.len();
        loop {
            // Writing to a string cannot fail.
            let _ = write!(self.0.borrow_mut().path, "[{}]", list.len());
            let item = access.next_element_seed(Seed(self.0))?;
            self.0.borrow_mut().path.truncate(length);
            match item {
                Some(item) => list.push(item),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        let length = self.0.borrow().path.len();
        while let Some(name) = access.next_key_seed(Key)? {
            {
                let mut notes = self.0.borrow_mut();
                if map.contains_key(&name) {
                    notes.duplicate(&name);
                }
                if length > 0 {
                    notes.path.push('.');
                }
                notes.path.push_str(&name);
            }
            let value = access.next_value_seed(Seed(self.0))?;
            self.0.borrow_mut().path.truncate(length);
            map.insert(name, value);
        }
        Ok(Value::Object(map))
    }
}

struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        String::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn duplicate_fields_are_told_once_each_with_their_paths() {
        let text = br#"{"spec":{"a":1,"b":[{"c":1,"c":2}],"a":2,"a":3},"spec2":{},"kind":"A","kind":"B"}"#;
        let decoded = decode(text).unwrap();
        assert_eq!(
            decoded.value,
            json!({"spec": {"a": 3, "b": [{"c": 2}]}, "spec2": {}, "kind": "B"})
        );
        assert_eq!(decoded.duplicates, ["spec.b[0].c", "spec.a", "kind"]);
        assert_eq!(
            strict_messages(&decoded.duplicates[1..2], &["spec.foo".to_owned()]),
            [r#"duplicate field "spec.a""#, r#"unknown field "spec.foo""#]
        );
    }

    #[test]
    fn numbers_are_int64_where_they_fit_and_floats_elsewhere() {
        let decoded = decode(b"[1, 1.0, 1e3, 1.5, 9223372036854775807, 9223372036854775808, -1]").unwrap();
        assert_eq!(
            decoded.value.to_string(),
            "[1,1,1000,1.5,9223372036854775807,9.223372036854776e+18,-1]"
        );
    }

    #[test]
    fn what_is_not_one_document_is_refused() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for text in [
            "",
            "{",
            "{} {}",
            "{'a':1}",
            "{\"a\":1,}",
            "\"\u{1}\"",
            deep.as_str(),
        ] {
            assert!(decode(text.as_bytes()).is_err(), "{text}");
        }
        assert!(decode(b"\"\xff\"").is_err());
    }
}
