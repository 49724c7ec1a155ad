//! The tree that a custom resource's `OpenAPI` v3 schema is parsed into once, and that everything else here walks.
//! Source: apiextensions-apiserver `pkg/apiserver/schema/structural.go`.

use std::{collections::BTreeMap, fmt};

use serde_json::Value;

use crate::{format::Format, pattern::Pattern};

/// The JSON type that a schema node asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Type {
    /// A JSON array.
    Array,
    /// `true` or `false`.
    Boolean,
    /// A number without a fraction.
    Integer,
    /// Any number.
    Number,
    /// A JSON object, be it a struct or a map.
    Object,
    /// A string.
    String,
}

impl Type {
    /// All types, by name.
    pub const ALL: [Self; 6] = [
        Self::Array,
        Self::Boolean,
        Self::Integer,
        Self::Number,
        Self::Object,
        Self::String,
    ];

    /// The name in a schema.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Object => "object",
            Self::String => "string",
        }
    }

    /// The type of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What `x-kubernetes-list-type` says about a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListType {
    /// One value that is replaced whole; also what a list without the extension is.
    Atomic,
    /// Each value at most once.
    Set,
    /// Objects told apart by their key fields.
    Map,
}

impl ListType {
    /// The name in a schema.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Atomic => "atomic",
            Self::Set => "set",
            Self::Map => "map",
        }
    }

    /// The list type of this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Atomic, Self::Set, Self::Map]
            .into_iter()
            .find(|it| it.as_str() == name)
    }
}

/// What `x-kubernetes-map-type` says about an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapType {
    /// Each field has its own owners; also what an object without the extension is.
    Granular,
    /// One value that is replaced whole.
    Atomic,
}

impl MapType {
    /// The name in a schema.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Granular => "granular",
            Self::Atomic => "atomic",
        }
    }

    /// The map type of this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Granular, Self::Atomic]
            .into_iter()
            .find(|it| it.as_str() == name)
    }
}

/// What `additionalProperties` says about fields that `properties` does not name.
#[derive(Debug, Clone, Default)]
pub enum Additional {
    /// Nothing: unknown fields are pruned.
    #[default]
    Unspecified,
    /// `true` or `false`.
    Allowed(bool),
    /// Each such field has this schema: the object is a map.
    Schema(Box<Structural>),
}

impl Additional {
    /// The schema of map values, if there is one.
    pub fn schema(&self) -> Option<&Structural> {
        match self {
            Self::Schema(schema) => Some(schema),
            Self::Unspecified | Self::Allowed(_) => None,
        }
    }

    /// Whether `additionalProperties` is given at all.
    pub fn is_specified(&self) -> bool {
        !matches!(self, Self::Unspecified)
    }
}

/// One entry of `x-kubernetes-validations`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rule {
    /// The CEL expression that must be true.
    pub rule: String,
    /// What to say when it is not.
    pub message: String,
    /// A CEL expression that computes what to say.
    pub message_expression: String,
    /// Which kind of field error a failure is, as written; `None` means `FieldValueInvalid`.
    pub reason: Option<String>,
    /// Which field a failure blames, relative to the rule's node.
    pub field_path: String,
    /// Whether `oldSelf` is an optional, so that the rule also runs when there is no old value.
    pub optional_old_self: Option<bool>,
}

/// The constraints of a node on its values, other than their shape.
#[derive(Debug, Clone, Default)]
pub struct Constraints {
    /// `format`, as written; formats that Kubernetes does not know are published and otherwise ignored.
    pub format: Option<String>,
    /// The format that is enforced, if it is one that Kubernetes knows for this type.
    pub enforced_format: Option<Format>,
    /// `maximum`.
    pub maximum: Option<f64>,
    /// Whether `maximum` itself is too much.
    pub exclusive_maximum: bool,
    /// `minimum`.
    pub minimum: Option<f64>,
    /// Whether `minimum` itself is too little.
    pub exclusive_minimum: bool,
    /// The longest string, in Unicode scalar values.
    pub max_length: Option<i64>,
    /// The shortest string, in Unicode scalar values.
    pub min_length: Option<i64>,
    /// The regular expression that strings must contain a match of.
    pub pattern: Option<Pattern>,
    /// The longest list.
    pub max_items: Option<i64>,
    /// The shortest list.
    pub min_items: Option<i64>,
    /// Forbidden by the checks on definitions; kept to be able to say so.
    pub unique_items: bool,
    /// The number that numbers must be a multiple of.
    pub multiple_of: Option<f64>,
    /// The values that are allowed; empty means all.
    pub allowed: Vec<Value>,
    /// The most fields an object may have.
    pub max_properties: Option<i64>,
    /// The fewest fields an object may have.
    pub min_properties: Option<i64>,
    /// The fields an object must have.
    pub required: Vec<String>,
    /// Schemas that must all hold.
    pub all_of: Vec<Structural>,
    /// Schemas of which one must hold.
    pub any_of: Vec<Structural>,
    /// Schemas of which exactly one must hold.
    pub one_of: Vec<Structural>,
    /// A schema that must not hold.
    pub not: Option<Box<Structural>>,
}

/// A node of a schema. Nodes under `allOf`, `anyOf`, `oneOf` and `not` are of the same type; the checks on
/// definitions see to it that those only constrain values and say nothing about their shape.
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the flags of a schema are independent"
)]
pub struct Structural {
    /// `type`; absent with `int_or_string` or `preserve_unknown_fields`.
    pub kind: Option<Type>,
    /// `title`.
    pub title: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// `default`; never null, since a null default says nothing.
    pub default: Option<Value>,
    /// `example`.
    pub example: Option<Value>,
    /// `externalDocs`.
    pub external_docs: Option<Value>,
    /// Whether null is a value.
    pub nullable: bool,
    /// The fields of a struct.
    pub properties: BTreeMap<String, Structural>,
    /// What holds for other fields.
    pub additional: Additional,
    /// The schema of list items.
    pub items: Option<Box<Structural>>,
    /// `x-kubernetes-preserve-unknown-fields`: unspecified fields stay.
    pub preserve_unknown_fields: bool,
    /// `x-kubernetes-embedded-resource`: the value is a whole object with apiVersion, kind and metadata.
    pub embedded_resource: bool,
    /// `x-kubernetes-int-or-string`.
    pub int_or_string: bool,
    /// `x-kubernetes-list-type`.
    pub list_type: Option<ListType>,
    /// `x-kubernetes-list-map-keys`.
    pub list_map_keys: Vec<String>,
    /// `x-kubernetes-map-type`.
    pub map_type: Option<MapType>,
    /// `x-kubernetes-validations`.
    pub validations: Vec<Rule>,
    /// Everything else that values must satisfy.
    pub constraints: Constraints,
}

impl Structural {
    /// The schema of field `name`: its property, or that of map values.
    pub fn field(&self, name: &str) -> Option<&Self> {
        self.properties.get(name).or_else(|| self.additional.schema())
    }

    /// The direct children that give the value its shape, with how they are reached.
    pub fn children(&self) -> impl Iterator<Item = (Step<'_>, &Self)> {
        let properties = self
            .properties
            .iter()
            .map(|(name, child)| (Step::Field(name), child));
        let values = self.additional.schema().map(|child| (Step::Value, child));
        let items = self.items.as_deref().map(|child| (Step::Item, child));
        properties.chain(values).chain(items)
    }

    /// Every node that gives the value its shape, parents before children, with its path from here:
    /// `spec.machines[].labels{}`. For documentation, fuzzers and searches; not on the write path.
    pub fn fields(&self) -> Vec<(String, &Self)> {
        let mut found = Vec::new();
        self.collect(String::new(), &mut found);
        found
    }

    fn collect<'a>(&'a self, path: String, found: &mut Vec<(String, &'a Self)>) {
        let index = found.len();
        found.push((path, self));
        for (step, child) in self.children() {
            let here = &found[index].0;
            let below = match step {
                Step::Field(name) if here.is_empty() => name.to_owned(),
                Step::Field(name) => format!("{here}.{name}"),
                Step::Value => format!("{here}{{}}"),
                Step::Item => format!("{here}[]"),
            };
            child.collect(below, found);
        }
    }

    /// The schema at a dotted path of plain field names: `spec.replicas`.
    pub fn at(&self, path: &str) -> Option<&Self> {
        path.split('.')
            .filter(|name| !name.is_empty())
            .try_fold(self, |node, name| node.field(name))
    }

    /// Whether any node here or below has rules.
    pub fn has_rules(&self) -> bool {
        !self.validations.is_empty()
            || self.constraints.all_of.iter().any(Self::has_rules)
            || self.children().any(|(_, child)| child.has_rules())
    }
}

/// How a child schema is reached from its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// By a field's name.
    Field(&'a str),
    /// As any value of a map.
    Value,
    /// As any item of a list.
    Item,
}

/// Whether a value is a whole object of the API, or a part of one.
///
/// A whole object has apiVersion, kind and metadata whatever its schema says about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// A whole object.
    Resource,
    /// A part of one.
    Part,
}

impl Level {
    /// Whether a node at this level has apiVersion, kind and metadata of its own.
    pub(crate) fn is_resource(self, schema: &Structural) -> bool {
        self == Self::Resource || schema.embedded_resource
    }
}

/// Whether `name` is one of the fields that every object has.
pub(crate) fn is_meta_field(name: &str) -> bool {
    matches!(name, "apiVersion" | "kind" | "metadata")
}
