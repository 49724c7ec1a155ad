//! Dropping fields that a schema does not specify, and reporting them.
//! Source: apiextensions-apiserver `pkg/apiserver/schema/pruning/algorithm.go`.

use std::fmt::Write;

use serde_json::Value;

use crate::structural::{Additional, Level, Structural, is_meta_field};

/// Removes from `value` every field that `schema` does not specify, and returns their paths, sorted:
/// `spec.a[0].b`.
///
/// `x-kubernetes-preserve-unknown-fields` keeps unspecified fields at its node and below, yet specified fields are
/// still pruned inside. apiVersion, kind and metadata of whole and embedded objects are never touched.
pub fn prune(value: &mut Value, schema: &Structural, level: Level) -> Vec<String> {
    let mut pruner = Pruner {
        path: String::new(),
        unknown: Vec::new(),
    };
    pruner.node(value, Some(schema), level);
    pruner.unknown.sort_unstable();
    pruner.unknown
}

/// Where the walk is, kept as text that grows and shrinks so that a clean object costs no allocation per field.
struct Pruner {
    path: String,
    unknown: Vec<String>,
}

impl Pruner {
    fn node(&mut self, value: &mut Value, schema: Option<&Structural>, level: Level) {
        if let Some(schema) = schema.filter(|it| it.preserve_unknown_fields) {
            self.preserved(value, schema, level);
            return;
        }
        match value {
            Value::Object(map) => {
                let mut unknown = Vec::new();
                for (name, child) in map.iter_mut() {
                    match child_of(schema, name, level) {
                        Child::Meta => {}
                        Child::Specified(below) => self.field(name, child, |this, child| {
                            this.node(child, below, Level::Part);
                        }),
                        Child::Unknown => unknown.push(name.clone()),
                    }
                }
                for name in unknown {
                    map.remove(&name);
                    self.record(&name);
                }
            }
            Value::Array(list) => {
                let items = schema.and_then(|it| it.items.as_deref());
                for (index, item) in list.iter_mut().enumerate() {
                    self.item(index, item, |this, item| this.node(item, items, Level::Part));
                }
            }
            _ => {}
        }
    }

    /// A node below `x-kubernetes-preserve-unknown-fields`: only what is specified is looked into.
    fn preserved(&mut self, value: &mut Value, schema: &Structural, level: Level) {
        match value {
            Value::Object(map) => {
                for (name, child) in map.iter_mut() {
                    if let Child::Specified(below) = child_of(Some(schema), name, level) {
                        self.field(name, child, |this, child| this.node(child, below, Level::Part));
                    }
                }
            }
            Value::Array(list) => {
                let Some(items) = schema.items.as_deref() else {
                    return;
                };
                for (index, item) in list.iter_mut().enumerate() {
                    self.item(index, item, |this, item| this.preserved(item, items, Level::Part));
                }
            }
            _ => {}
        }
    }

    fn field(&mut self, name: &str, child: &mut Value, visit: impl FnOnce(&mut Self, &mut Value)) {
        if !matches!(child, Value::Object(_) | Value::Array(_)) {
            return;
        }
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        visit(self, child);
        self.path.truncate(length);
    }

    fn item(&mut self, index: usize, item: &mut Value, visit: impl FnOnce(&mut Self, &mut Value)) {
        let length = self.path.len();
        // Writing to a string cannot fail.
        let _ = write!(self.path, "[{index}]");
        visit(self, item);
        self.path.truncate(length);
    }

    fn record(&mut self, name: &str) {
        if self.path.is_empty() {
            if !is_meta_field(name) {
                self.unknown.push(name.to_owned());
            }
        } else {
            self.unknown.push(format!("{}.{name}", self.path));
        }
    }
}

enum Child<'a> {
    /// apiVersion, kind or metadata of an object.
    Meta,
    /// A field that the schema specifies, with its schema if it says more than that it may exist.
    Specified(Option<&'a Structural>),
    /// A field that the schema does not specify.
    Unknown,
}

fn child_of<'a>(schema: Option<&'a Structural>, name: &str, level: Level) -> Child<'a> {
    let Some(schema) = schema else {
        return Child::Unknown;
    };
    if level.is_resource(schema) && is_meta_field(name) {
        return Child::Meta;
    }
    if let Some(child) = schema.properties.get(name) {
        return Child::Specified(Some(child));
    }
    match &schema.additional {
        Additional::Unspecified => Child::Unknown,
        Additional::Allowed(_) => Child::Specified(None),
        Additional::Schema(child) => Child::Specified(Some(child)),
    }
}
