//! `ObjectMeta` as Go decodes and writes it.

use serde_json::{Map, Value};

use super::Malformed;

/// The type of a field of `ObjectMeta`, or of what is in it.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    /// A text that is written even when empty.
    KeptText,
    Integer,
    /// A number that is written even when zero.
    OptionalInteger,
    Flag,
    Time,
    Texts,
    TextMap,
    Structs(&'static Struct),
    Anything,
}

struct Struct {
    name: &'static str,
    fields: &'static [(&'static str, Shape)],
}

impl Struct {
    fn field(&self, name: &str) -> Option<Shape> {
        self.fields
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, shape)| *shape)
    }
}

static OBJECT_META: Struct = Struct {
    name: "ObjectMeta",
    fields: &[
        ("name", Shape::Text),
        ("generateName", Shape::Text),
        ("namespace", Shape::Text),
        ("selfLink", Shape::Text),
        ("uid", Shape::Text),
        ("resourceVersion", Shape::Text),
        ("generation", Shape::Integer),
        ("creationTimestamp", Shape::Time),
        ("deletionTimestamp", Shape::Time),
        ("deletionGracePeriodSeconds", Shape::OptionalInteger),
        ("labels", Shape::TextMap),
        ("annotations", Shape::TextMap),
        ("ownerReferences", Shape::Structs(&OWNER_REFERENCE)),
        ("finalizers", Shape::Texts),
        ("managedFields", Shape::Structs(&MANAGED_FIELDS)),
    ],
};

static OWNER_REFERENCE: Struct = Struct {
    name: "OwnerReference",
    fields: &[
        ("apiVersion", Shape::KeptText),
        ("kind", Shape::KeptText),
        ("name", Shape::KeptText),
        ("uid", Shape::KeptText),
        ("controller", Shape::Flag),
        ("blockOwnerDeletion", Shape::Flag),
    ],
};

static MANAGED_FIELDS: Struct = Struct {
    name: "ManagedFieldsEntry",
    fields: &[
        ("manager", Shape::Text),
        ("operation", Shape::Text),
        ("apiVersion", Shape::Text),
        ("time", Shape::Time),
        ("fieldsType", Shape::Text),
        ("fieldsV1", Shape::Anything),
        ("subresource", Shape::Text),
    ],
};

/// Rewrites `metadata`, which is at `path`; the error is in the words of Go's JSON decoder.
pub(super) fn coerce(
    metadata: &mut Value,
    malformed: Malformed,
    path: &str,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    let map = match metadata {
        Value::Object(map) => map,
        Value::Null => {
            *metadata = Value::Object(Map::new());
            return Ok(());
        }
        _ if malformed == Malformed::Drop => return Ok(()),
        other => {
            return Err(format!(
                "json: cannot unmarshal {} into Go value of type v1.ObjectMeta",
                go_kind(other)
            ));
        }
    };
    let mut dropped = Vec::new();
    for (name, value) in map.iter_mut() {
        let Some(shape) = OBJECT_META.field(name) else {
            unknown.push(format!("{path}.{name}"));
            dropped.push(name.clone());
            continue;
        };
        let place = Place {
            owner: "ObjectMeta",
            field: name.clone(),
            path: format!("{path}.{name}"),
        };
        match place.coerce(value, shape, unknown) {
            Ok(true) => {}
            Ok(false) => dropped.push(name.clone()),
            Err(_) if malformed == Malformed::Drop => dropped.push(name.clone()),
            Err(problem) => return Err(problem),
        }
    }
    for name in dropped {
        map.remove(&name);
    }
    Ok(())
}

/// Where a value is: in Go's terms for errors, and as a path for unknown fields.
struct Place {
    owner: &'static str,
    field: String,
    path: String,
}

impl Place {
    fn wrong(&self, value: &Value, wanted: &str) -> String {
        let Self { owner, field, .. } = self;
        format!(
            "json: cannot unmarshal {} into Go struct field {owner}.{field} of type {wanted}",
            go_kind(value)
        )
    }

    /// Rewrites `value`; `false` means that nothing is left to write.
    fn coerce(&self, value: &mut Value, shape: Shape, unknown: &mut Vec<String>) -> Result<bool, String> {
        if value.is_null() {
            if matches!(shape, Shape::KeptText) {
                *value = Value::from("");
                return Ok(true);
            }
            return Ok(false);
        }
        match shape {
            Shape::Text => value
                .as_str()
                .map(|text| !text.is_empty())
                .ok_or_else(|| self.wrong(value, "string")),
            Shape::KeptText => value
                .as_str()
                .map(|_| true)
                .ok_or_else(|| self.wrong(value, "string")),
            Shape::Flag => value
                .as_bool()
                .map(|_| true)
                .ok_or_else(|| self.wrong(value, "bool")),
            Shape::Integer => value
                .as_i64()
                .map(|it| it != 0)
                .ok_or_else(|| self.wrong(value, "int64")),
            Shape::OptionalInteger => value
                .as_i64()
                .map(|_| true)
                .ok_or_else(|| self.wrong(value, "int64")),
            Shape::Anything => Ok(true),
            Shape::Time => coerce_time(value),
            Shape::Texts => self.texts(value),
            Shape::TextMap => self.text_map(value),
            Shape::Structs(kind) => self.structs(value, kind, unknown),
        }
    }

    fn texts(&self, value: &mut Value) -> Result<bool, String> {
        let Value::Array(list) = value else {
            return Err(self.wrong(value, "[]string"));
        };
        for item in list.iter_mut() {
            self.text_element(item)?;
        }
        Ok(!list.is_empty())
    }

    fn text_map(&self, value: &mut Value) -> Result<bool, String> {
        let Value::Object(map) = value else {
            return Err(self.wrong(value, "map[string]string"));
        };
        for item in map.values_mut() {
            self.text_element(item)?;
        }
        Ok(!map.is_empty())
    }

    fn text_element(&self, item: &mut Value) -> Result<(), String> {
        match item {
            Value::String(_) => Ok(()),
            Value::Null => {
                *item = Value::from("");
                Ok(())
            }
            other => Err(self.wrong(other, "string")),
        }
    }

    fn structs(
        &self,
        value: &mut Value,
        kind: &'static Struct,
        unknown: &mut Vec<String>,
    ) -> Result<bool, String> {
        let Value::Array(list) = value else {
            return Err(self.wrong(value, &format!("[]v1.{}", kind.name)));
        };
        for (index, item) in list.iter_mut().enumerate() {
            if item.is_null() {
                *item = Value::Object(Map::new());
            }
            let Value::Object(map) = item else {
                return Err(self.wrong(item, &format!("v1.{}", kind.name)));
            };
            let at = format!("{}[{index}]", self.path);
            let mut dropped = Vec::new();
            for (name, value) in map.iter_mut() {
                let path = format!("{at}.{name}");
                let Some(shape) = kind.field(name) else {
                    unknown.push(path);
                    dropped.push(name.clone());
                    continue;
                };
                let place = Self {
                    owner: kind.name,
                    field: format!("{}.{name}", self.field),
                    path,
                };
                if !place.coerce(value, shape, unknown)? {
                    dropped.push(name.clone());
                }
            }
            for name in dropped {
                map.remove(&name);
            }
            for (name, _) in kind
                .fields
                .iter()
                .filter(|(_, shape)| matches!(shape, Shape::KeptText))
            {
                map.entry(*name).or_insert_with(|| Value::from(""));
            }
        }
        Ok(!list.is_empty())
    }
}

/// Times are written in UTC with whole seconds.
fn coerce_time(value: &mut Value) -> Result<bool, String> {
    let Some(text) = value.as_str() else {
        return Err(format!(
            "json: cannot unmarshal {} into Go value of type string",
            go_kind(value)
        ));
    };
    let layout = "2006-01-02T15:04:05Z07:00";
    let strict = text.as_bytes().get(10) == Some(&b'T');
    let parsed: Option<jiff::Timestamp> = text.parse().ok().filter(|_| strict);
    let time = parsed
        .ok_or_else(|| format!("parsing time {text:?} as {layout:?}: cannot parse {text:?} as \"2006\""))?;
    let text = time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let is_zero = text == "0001-01-01T00:00:00Z";
    *value = Value::String(text);
    Ok(!is_zero)
}

/// What Go's JSON decoder calls a value.
fn go_kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(number) if number.is_f64() => format!("number {number}"),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
    }
}
