//! What the notation means: the kinds, their versions, and their schemas as a tree.

use std::sync::Arc;

use serde_json::Value;

/// A kind with all its versions.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// API group, such as `cluster.x-k8s.io`.
    pub group: String,
    /// Kind in camel case.
    pub kind: String,
    /// Lower-case plural, the resource's name in URLs.
    pub plural: String,
    /// Names that `kubectl` takes instead of the plural.
    pub short_names: Vec<String>,
    /// Groups of resources that the kind belongs to, such as `cluster-api`.
    pub categories: Vec<String>,
    /// Whether objects live in namespaces.
    pub scope: Scope,
    /// Labels of the definition, among them those that name the contract versions.
    pub labels: Vec<(String, String)>,
    /// One sentence on what the kind is.
    pub description: String,
    /// The versions in the order of the file, oldest first.
    pub versions: Vec<Version>,
}

impl Definition {
    /// The name of the custom resource definition: `PLURAL.GROUP`.
    pub fn name(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }

    /// The version of this name, if the kind has it.
    pub fn version(&self, name: &str) -> Option<&Version> {
        self.versions.iter().find(|version| version.name == name)
    }

    /// The version that is stored.
    ///
    /// # Panics
    ///
    /// Never for a parsed definition: the parser demands exactly one.
    #[expect(
        clippy::expect_used,
        reason = "the parser demands exactly one storage version"
    )]
    pub fn storage(&self) -> &Version {
        self.versions
            .iter()
            .find(|version| version.storage)
            .expect("invariant: a definition has one storage version")
    }
}

/// Whether objects live in namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Objects live in a namespace.
    Namespaced,
    /// Objects belong to the whole API server.
    Cluster,
}

/// One version of a kind.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the wire has four independent flags"
)]
pub struct Version {
    /// Name, such as `v1beta2`.
    pub name: String,
    /// Whether the API server offers the version.
    pub served: bool,
    /// Whether objects are stored in this version.
    pub storage: bool,
    /// Whether clients are warned.
    pub deprecated: bool,
    /// Whether status is a subresource.
    pub status: bool,
    /// The scale subresource, if there is one.
    pub scale: Option<Scale>,
    /// The columns that `kubectl get` prints.
    pub columns: Vec<Column>,
    /// JSON paths of the fields that field selectors may use.
    pub selectable: Vec<String>,
    /// The fields, without `apiVersion`, `kind` and `metadata`; always an object.
    pub schema: Arc<Schema>,
}

/// The JSON paths of a scale subresource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scale {
    /// Path of the wanted number.
    pub spec_replicas: String,
    /// Path of the observed number.
    pub status_replicas: String,
    /// Path of the selector in its text form.
    pub selector: Option<String>,
}

/// A column that `kubectl get` prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Heading.
    pub name: String,
    /// Type as in `OpenAPI`, or `date`.
    pub kind: String,
    /// Path of the value.
    pub json_path: String,
    /// Columns above zero show in the wide view only.
    pub priority: i64,
}

/// The schema of one value.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// What values look like.
    pub shape: Shape,
    /// One line on what the value means.
    pub description: Option<String>,
    /// What an absent value becomes.
    pub default: Option<Value>,
    /// Validation rules in CEL.
    pub rules: Vec<Rule>,
}

impl Schema {
    /// A schema of this shape and nothing else.
    pub fn of(shape: Shape) -> Self {
        Self {
            shape,
            description: None,
            default: None,
            rules: Vec::new(),
        }
    }
}

/// What values of a schema look like.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Named fields.
    Object {
        /// The fields in the order of the file.
        fields: Vec<Field>,
        /// How many of them have to be there.
        properties: Bounds,
        /// Whether one manager owns the whole.
        atomic: bool,
        /// Whether unknown fields are kept.
        open: bool,
    },
    /// Values by free names.
    Map {
        /// Schema of each value.
        values: Arc<Schema>,
        /// How many entries there have to be.
        properties: Bounds,
        /// Whether one manager owns the whole.
        atomic: bool,
    },
    /// Items in order.
    List {
        /// Schema of each item.
        items: Arc<Schema>,
        /// How many items there have to be.
        count: Bounds,
        /// How server-side apply merges the list.
        kind: ListKind,
    },
    /// A string.
    Text {
        /// What the string encodes.
        format: TextFormat,
        /// Length in characters.
        length: Bounds,
        /// Regular expression that the string has to match.
        pattern: Option<String>,
        /// The allowed values; empty allows all.
        values: Vec<String>,
    },
    /// A whole number.
    Integer {
        /// Width.
        format: IntegerFormat,
        /// Smallest and largest value.
        value: Bounds,
    },
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A whole number, or a string such as a percentage.
    IntOrText {
        /// Regular expression that the string has to match.
        pattern: Option<String>,
    },
    /// Anything.
    Any,
}

/// A field of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Name on the wire.
    pub name: String,
    /// Whether the object is invalid without it.
    pub required: bool,
    /// Its schema; the description there belongs to the type.
    pub schema: Arc<Schema>,
    /// What the field means here; goes before the description of the type.
    pub description: Option<String>,
}

/// An inclusive range; absent ends are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bounds {
    /// Smallest allowed.
    pub low: Option<i64>,
    /// Largest allowed.
    pub high: Option<i64>,
}

/// How server-side apply merges a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListKind {
    /// Not said, which means atomic.
    Unset,
    /// One manager owns the whole.
    Atomic,
    /// Each item has its own owners; items are unique.
    Set,
    /// Items are told apart by these fields.
    Map(Vec<String>),
}

/// What a string encodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    /// Nothing.
    Plain,
    /// A time as in RFC 3339.
    Time,
    /// Bytes in base64.
    Bytes,
}

/// Width of an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegerFormat {
    /// Not said.
    Plain,
    /// 32 bits.
    I32,
    /// 64 bits.
    I64,
}

/// A validation rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The expression in CEL.
    pub expression: String,
    /// What is said when it is false.
    pub message: String,
}
