//! `JSONPath` as kubectl speaks it: printer columns, selectable fields, scale paths.
//! Source: client-go `util/jsonpath`.

mod column;
mod parse;

use std::cmp::Ordering;

use serde_json::Value;
use thiserror::Error;

pub use column::{Column, ColumnType, human_duration};

/// A path that is not in kubectl's dialect.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("failed to parse JSONPath {path:?}: {problem}")]
pub struct ParseError {
    path: String,
    problem: String,
}

/// A parsed path: `.a.b[0]`, `.conditions[?(@.type=="Ready")].status`, `.metadata.labels['a\.b/c']`, `.a[*].b`, `..b`.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonPath {
    segments: Vec<Segment>,
}

#[derive(Debug, Clone, PartialEq)]
enum Segment {
    /// A field by name.
    Field(String),
    /// Several fields by name.
    Fields(Vec<String>),
    /// Every item of a list, or every value of an object.
    Wildcard,
    /// Items of a list from, to (exclusive) and by step; negative ones count from the end.
    Slice(Option<i64>, Option<i64>, i64),
    /// Items of a list by index; negative ones count from the end.
    Indexes(Vec<i64>),
    /// The items of a list that satisfy a condition.
    Filter(Filter),
    /// Every value below, and the value itself.
    Recursive,
}

#[derive(Debug, Clone, PartialEq)]
struct Filter {
    left: Operand,
    comparison: Option<(Comparison, Operand)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    Path(JsonPath),
    Literal(Value),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl JsonPath {
    /// Parses `text`, with or without the braces around it and the `$` before it.
    ///
    /// # Errors
    /// Says what is not understood.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        parse::parse(text).map_err(|problem| ParseError {
            path: text.to_owned(),
            problem,
        })
    }

    /// Every value at the path. A missing field, an index out of range and a value of the wrong kind yield nothing.
    pub fn find<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        let mut current = vec![value];
        for segment in &self.segments {
            let mut next = Vec::new();
            for value in current {
                segment.apply(value, &mut next);
            }
            current = next;
        }
        current
    }

    /// The first value at the path.
    pub fn first<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        // The common path of plain fields needs no list of candidates.
        let mut current = value;
        for (index, segment) in self.segments.iter().enumerate() {
            let Segment::Field(name) = segment else {
                let rest = Self {
                    segments: self.segments[index..].to_vec(),
                };
                return rest.find(current).into_iter().next();
            };
            current = current.as_object()?.get(name)?;
        }
        Some(current)
    }

    /// The names of the path, if it is nothing but fields: what a scale path or a selectable field must be.
    pub fn field_names(&self) -> Option<Vec<&str>> {
        self.segments
            .iter()
            .map(|segment| match segment {
                Segment::Field(name) => Some(name.as_str()),
                _ => None,
            })
            .collect()
    }

    /// Sets the value at the path, making the objects on the way; only for paths that are nothing but fields.
    /// Returns whether it could.
    pub fn set(&self, root: &mut Value, value: Value) -> bool {
        let Some(names) = self.field_names() else {
            return false;
        };
        let mut current = root;
        for name in names {
            if current.is_null() {
                *current = Value::Object(serde_json::Map::new());
            }
            let Value::Object(map) = current else { return false };
            current = map.entry(name).or_insert(Value::Null);
        }
        *current = value;
        true
    }
}

/// The place that `index` means in a list of `length`, counting from the end if negative.
fn place(index: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    let index = if index < 0 { index + length } else { index };
    usize::try_from(index).ok().filter(|_| index < length)
}

impl Segment {
    fn apply<'a>(&self, value: &'a Value, found: &mut Vec<&'a Value>) {
        match (self, value) {
            (Self::Field(name), Value::Object(map)) => found.extend(map.get(name)),
            (Self::Fields(names), Value::Object(map)) => {
                found.extend(names.iter().filter_map(|name| map.get(name)));
            }
            (Self::Wildcard, Value::Object(map)) => found.extend(map.values()),
            (Self::Wildcard, Value::Array(list)) => found.extend(list),
            (Self::Indexes(indexes), Value::Array(list)) => {
                found.extend(
                    indexes
                        .iter()
                        .filter_map(|index| list.get(place(*index, list.len())?)),
                );
            }
            (Self::Slice(from, to, step), Value::Array(list)) => {
                let length = i64::try_from(list.len()).unwrap_or(i64::MAX);
                let bound = |index: i64| (if index < 0 { index + length } else { index }).clamp(0, length);
                let from = usize::try_from(bound(from.unwrap_or(0))).unwrap_or(0);
                let to = usize::try_from(bound(to.unwrap_or(length))).unwrap_or(0);
                let step = usize::try_from(*step).unwrap_or(1).max(1);
                found.extend(list.iter().take(to).skip(from).step_by(step));
            }
            (Self::Filter(filter), Value::Array(list)) => {
                found.extend(list.iter().filter(|item| filter.accepts(item)));
            }
            (Self::Recursive, value) => {
                found.push(value);
                match value {
                    Value::Object(map) => map.values().for_each(|child| self.apply(child, found)),
                    Value::Array(list) => list.iter().for_each(|child| self.apply(child, found)),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

impl Filter {
    fn accepts(&self, item: &Value) -> bool {
        let Some(left) = self.left.value(item) else {
            return false;
        };
        let Some((comparison, right)) = &self.comparison else {
            return true;
        };
        let Some(right) = right.value(item) else {
            return false;
        };
        let ordering = match (left, right) {
            (Value::Number(left), Value::Number(right)) => left
                .as_f64()
                .zip(right.as_f64())
                .and_then(|(left, right)| left.partial_cmp(&right)),
            (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
            (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
            _ => None,
        };
        let Some(ordering) = ordering else { return false };
        match comparison {
            Comparison::Equal => ordering == Ordering::Equal,
            Comparison::NotEqual => ordering != Ordering::Equal,
            Comparison::Less => ordering == Ordering::Less,
            Comparison::LessOrEqual => ordering != Ordering::Greater,
            Comparison::Greater => ordering == Ordering::Greater,
            Comparison::GreaterOrEqual => ordering != Ordering::Less,
        }
    }
}

impl Operand {
    fn value<'a>(&'a self, item: &'a Value) -> Option<&'a Value> {
        match self {
            Self::Path(path) => path.first(item),
            Self::Literal(value) => Some(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_find_what_kubectl_finds() {
        let object = json!({
            "metadata": {"labels": {"a.b/c": "x", "plain": "y"}},
            "spec": {"list": [{"n": 1, "k": "a"}, {"n": 2, "k": "b"}, {"n": 3, "k": "a"}]},
            "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Up", "status": "False"}]},
        });
        let cases: &[(&str, Value)] = &[
            (".spec.list[0].k", json!(["a"])),
            ("{.spec.list[-1].n}", json!([3])),
            ("$.spec.list[*].n", json!([1, 2, 3])),
            (".spec.list[0:2].n", json!([1, 2])),
            (".spec.list[::2].n", json!([1, 3])),
            (".spec.list[0,2].n", json!([1, 3])),
            (
                r#".status.conditions[?(@.type=="Ready")].status"#,
                json!(["True"]),
            ),
            (".status.conditions[?(@.type=='Up')].status", json!(["False"])),
            (".spec.list[?(@.n >= 2)].k", json!(["b", "a"])),
            (".spec.list[?(@.k != 'a')].n", json!([2])),
            (".spec.list[?(@.missing)].n", json!([])),
            (r".metadata.labels['a\.b/c']", json!(["x"])),
            (r".metadata.labels.a\.b/c", json!(["x"])),
            (".metadata.labels['plain','a.b/c']", json!(["y", "x"])),
            (".spec..k", json!(["a", "b", "a"])),
            (".spec.missing.deeper", json!([])),
            (".spec.list[7]", json!([])),
            (".spec.list.k", json!([])),
        ];
        for (path, expected) in cases {
            let found = JsonPath::parse(path).unwrap();
            assert_eq!(json!(found.find(&object)), *expected, "{path}");
            assert_eq!(
                found.first(&object),
                found.find(&object).first().copied(),
                "{path}"
            );
        }
    }

    #[test]
    fn malformed_paths_are_refused() {
        for path in [".a[", ".a[x]", ".a[?(@.b=]", "a[?(@.b==)]", ".a['b]", ".."] {
            assert!(JsonPath::parse(path).is_err(), "{path}");
        }
    }

    #[test]
    fn setting_a_field_makes_the_objects_on_the_way() {
        let mut object = json!({"spec": {"a": 1}});
        assert!(
            JsonPath::parse(".spec.b.replicas")
                .unwrap()
                .set(&mut object, json!(3))
        );
        assert_eq!(object, json!({"spec": {"a": 1, "b": {"replicas": 3}}}));
        assert!(!JsonPath::parse(".spec.a.x").unwrap().set(&mut object, json!(3)));
    }
}
