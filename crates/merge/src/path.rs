//! Field paths: how to get from an object to one of its fields or list items.
//! Upstream: structured-merge-diff `fieldpath`.

use std::{cmp::Ordering, fmt, sync::Arc};

use serde_json::Value;

use crate::value;

/// A JSON value as part of a path, ordered and compared by number rather than by notation.
#[derive(Debug, Clone)]
pub struct Literal(Arc<Value>);

impl Literal {
    /// The value itself.
    pub fn value(&self) -> &Value {
        &self.0
    }
}

impl From<Value> for Literal {
    fn from(value: Value) -> Self {
        Self(Arc::new(value))
    }
}

impl Ord for Literal {
    fn cmp(&self, other: &Self) -> Ordering {
        value::compare(&self.0, &other.0)
    }
}

impl PartialOrd for Literal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Literal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Literal {}

/// The key fields of an item of an associative list, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyFields(Arc<[(Arc<str>, Literal)]>);

impl KeyFields {
    /// The fields, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Literal)> {
        self.0.iter().map(|(name, value)| (name, value))
    }
}

impl FromIterator<(Arc<str>, Literal)> for KeyFields {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, Literal)>>(fields: I) -> Self {
        let mut fields: Vec<_> = fields.into_iter().collect();
        fields.sort_by(|left, right| left.0.cmp(&right.0));
        Self(fields.into())
    }
}

/// One step of a path. The order of the variants is the order of paths.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathElement {
    /// The field or map entry of this name.
    Field(Arc<str>),
    /// The item of a keyed associative list that has these key fields.
    Key(KeyFields),
    /// The item of a set that is this scalar.
    Value(Literal),
    /// The list item at this index. Kept for the wire form; ownership never uses it.
    Index(i64),
}

/// A path from the object down.
pub type Path = Vec<PathElement>;

impl PathElement {
    /// The field `name`.
    pub fn field(name: impl Into<Arc<str>>) -> Self {
        Self::Field(name.into())
    }

    /// The item with these key fields.
    pub fn key<'a>(fields: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        Self::Key(
            fields
                .into_iter()
                .map(|(name, value)| (Arc::from(name), Literal::from(value)))
                .collect(),
        )
    }

    /// The set item `value`.
    pub fn value(value: Value) -> Self {
        Self::Value(value.into())
    }

    /// Reads a key of `FieldsV1`; `None` when it is of a kind this version does not know, which readers drop.
    ///
    /// # Errors
    /// The text is not `<kind>:<content>` with content of that kind.
    pub(crate) fn from_wire(text: &str) -> Result<Option<Self>, String> {
        let (kind, content) = text
            .split_at_checked(2)
            .filter(|(kind, _)| kind.ends_with(':'))
            .ok_or_else(|| format!("missing colon: {text}"))?;
        let parse =
            |content| serde_json::from_str::<Value>(content).map_err(|error| format!("{text}: {error}"));
        Ok(Some(match kind {
            "f:" => Self::field(content),
            "v:" => Self::value(parse(content)?),
            "k:" => match parse(content)? {
                Value::Object(fields) => Self::Key(
                    fields
                        .into_iter()
                        .map(|(name, value)| (Arc::from(name), Literal::from(value)))
                        .collect(),
                ),
                _ => return Err(format!("list key is not an object: {text}")),
            },
            "i:" => Self::Index(content.parse().map_err(|error| format!("{text}: {error}"))?),
            _ => return Ok(None),
        }))
    }

    /// The key of `FieldsV1` that stands for this element.
    pub(crate) fn to_wire(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Value(literal) => format!("v:{}", value::wire(&literal.0)),
            Self::Index(index) => format!("i:{index}"),
            Self::Key(fields) => {
                let fields: Vec<_> = fields
                    .iter()
                    .map(|(name, literal)| {
                        format!("{}:{}", Value::String(name.to_string()), value::wire(&literal.0))
                    })
                    .collect();
                format!("k:{{{}}}", fields.join(","))
            }
        }
    }
}

impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Value(literal) => write!(f, "[={}]", value::display(&literal.0)),
            Self::Index(index) => write!(f, "[{index}]"),
            Self::Key(fields) => {
                f.write_str("[")?;
                for (i, (name, literal)) in fields.iter().enumerate() {
                    let comma = if i > 0 { "," } else { "" };
                    write!(f, "{comma}{name}={}", value::display(&literal.0))?;
                }
                f.write_str("]")
            }
        }
    }
}

/// A path as users see it: `.spec.containers[name="a"].image`.
pub fn path_text(path: &[PathElement]) -> String {
    path.iter().map(ToString::to_string).collect()
}

/// A path during a walk: its last step and the way to it, on the stack, so that only reported paths cost memory.
#[derive(Clone, Copy)]
pub(crate) struct Trail<'a> {
    parent: Option<&'a Trail<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Field(&'a str),
    Item(&'a PathElement),
}

impl<'a> Trail<'a> {
    pub(crate) const ROOT: Trail<'static> = Trail {
        parent: None,
        step: Step::Root,
    };

    pub(crate) fn field(&'a self, name: &'a str) -> Trail<'a> {
        Trail {
            parent: Some(self),
            step: Step::Field(name),
        }
    }

    pub(crate) fn item(&'a self, element: &'a PathElement) -> Trail<'a> {
        Trail {
            parent: Some(self),
            step: Step::Item(element),
        }
    }

    pub(crate) fn path(&self) -> Path {
        let mut path = self.parent.map_or_else(Vec::new, Trail::path);
        match self.step {
            Step::Root => {}
            Step::Field(name) => path.push(PathElement::field(name)),
            Step::Item(element) => path.push(element.clone()),
        }
        path
    }
}
