//! YAML as the Go tools around Kubernetes write it, so that a file rendered here equals the one that upstream renders.
//!
//! The form: two spaces per level, lists at the level of their key, keys sorted with numbers in them counted as
//! numbers, strings plain where they read back as the same string, text of several lines as a literal block, and lines
//! folded at the first space behind column 80.
//! Source: `go.yaml.in/yaml/v2` (`encode.go`, `sorter.go`, `emitterc.go`, `resolve.go`), by way of `sigs.k8s.io/yaml`.

mod order;
mod reading;
mod scalar;

use serde_json::Value;

use scalar::Line;

/// Renders a JSON value as a YAML document.
pub fn to_string(value: &Value) -> String {
    let mut writer = Writer {
        text: Line::default(),
    };
    match value {
        Value::Object(fields) if !fields.is_empty() => writer.mapping(fields, 0, true),
        Value::Array(items) if !items.is_empty() => writer.sequence(items, 0, true),
        scalar => writer.leaf(scalar, 2),
    }
    writer.text.finish()
}

struct Writer {
    text: Line,
}

impl Writer {
    /// Writes the entries of a mapping that is not empty. `in_place` says that the first key goes where the text ends.
    fn mapping(&mut self, fields: &serde_json::Map<String, Value>, indent: usize, in_place: bool) {
        let mut entries: Vec<(&String, &Value)> = fields.iter().collect();
        order::sort(&mut entries);
        for (place, (key, value)) in entries.into_iter().enumerate() {
            if place > 0 || !in_place {
                self.text.begin(indent);
            }
            self.text.key(key);
            self.text.put(":");
            match value {
                Value::Object(fields) if !fields.is_empty() => self.mapping(fields, indent + 2, false),
                Value::Array(items) if !items.is_empty() => self.sequence(items, indent, false),
                scalar => {
                    self.text.put(" ");
                    self.leaf(scalar, indent + 2);
                }
            }
        }
    }

    /// Writes the items of a sequence that is not empty.
    fn sequence(&mut self, items: &[Value], indent: usize, in_place: bool) {
        for (place, item) in items.iter().enumerate() {
            if place > 0 || !in_place {
                self.text.begin(indent);
            }
            self.text.put("- ");
            match item {
                Value::Object(fields) if !fields.is_empty() => self.mapping(fields, indent + 2, true),
                Value::Array(items) if !items.is_empty() => self.sequence(items, indent + 2, true),
                scalar => self.leaf(scalar, indent + 2),
            }
        }
    }

    /// Writes a scalar, an empty mapping or an empty sequence. `indent` is where a continued line starts.
    fn leaf(&mut self, value: &Value, indent: usize) {
        match value {
            Value::String(text) => self.text.string(text, indent),
            Value::Array(_) => self.text.put("[]"),
            Value::Object(_) => self.text.put("{}"),
            Value::Null | Value::Bool(_) | Value::Number(_) => self.text.put(&value.to_string()),
        }
    }
}
