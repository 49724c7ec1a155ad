//! The resource table: what the server serves, as data. One entry per resource, built in or from a CRD; every other
//! module is generic over it.

mod builtin;
mod definitions;
mod names;
mod row;
mod table;

use std::sync::{Arc, OnceLock};

use serde_json::Value;

pub use definitions::{Definitions, REFERENCE_PREFIX, definitions};
pub use names::{GroupKind, GroupVersionKind, GroupVersionResource, version_order};
pub use table::ResourceTable;

use crate::codec::TypeSchema;

/// Whether objects of a resource live in namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Every object has a namespace.
    Namespaced,
    /// No object has a namespace.
    Cluster,
}

/// What backs a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backing {
    /// Objects in the store.
    Stored,
    /// Nothing: a create is answered at once and leaves nothing behind (reviews).
    Review,
}

/// Which writes count as a new generation of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generation {
    /// The kind has no generation.
    None,
    /// A change of anything but `metadata` and, where it is a subresource, `status`.
    Content,
}

/// Where kinds differ in the one write pipeline.
/// Source: each kind's `pkg/registry/.../strategy.go`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches of upstream's strategies"
)]
pub struct Strategy {
    /// What bumps `metadata.generation`.
    pub generation: Generation,
    /// Whether an update may come without a resourceVersion.
    pub unconditional_update: bool,
    /// Whether an update of an absent object creates it.
    pub create_on_update: bool,
    /// Whether a delete answers with the object instead of a Status.
    pub delete_returns_object: bool,
    /// Whether strategic merge patches are taken (built-in kinds only).
    pub strategic_merge: bool,
}

/// How to reach the replica counts of the `/scale` subresource: JSON paths from the object's root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScalePaths {
    /// For example `.spec.replicas`.
    pub spec_replicas: String,
    /// For example `.status.replicas`.
    pub status_replicas: String,
    /// For example `.status.selector`; absent where the kind has none.
    pub label_selector: Option<String>,
}

/// One printer column of a version.
#[derive(Debug, Clone)]
pub struct Column {
    /// The heading, in the case that is sent.
    pub name: String,
    /// `string`, `integer`, `number`, `boolean` or `date`.
    pub kind: String,
    /// OpenAPI format, may be empty.
    pub format: String,
    /// What the column shows.
    pub description: String,
    /// 0 is always shown, more only in wide output.
    pub priority: i32,
    /// Where the value is.
    pub cell: Cell,
}

/// Where a printer column's value comes from.
#[derive(Debug, Clone)]
pub enum Cell {
    /// A JSON path such as `.status.phase`.
    Path(capstan_schema::jsonpath::Column),
    /// A value that a function of the table module computes.
    Computed(fn(&Value, jiff::Timestamp) -> Value),
}

/// Where a version's schema is.
#[derive(Debug, Clone)]
pub enum SchemaSource {
    /// A built-in definition, by name, compiled on first use and shared by the process.
    BuiltIn(Arc<BuiltInSchema>),
    /// A CRD's `openAPIV3Schema`, compiled.
    Custom {
        /// As written in the CRD, for publishing.
        published: Arc<Value>,
        /// Compiled for pruning, defaulting and validation.
        compiled: Arc<TypeSchema>,
    },
}

/// A built-in kind's definition, compiled on first use.
#[derive(Debug)]
pub struct BuiltInSchema {
    /// Name of the definition, for example `io.k8s.api.core.v1.Pod`.
    pub definition: &'static str,
    compiled: OnceLock<Arc<TypeSchema>>,
}

/// One version of a resource.
#[derive(Debug, Clone)]
pub struct Version {
    /// For example `v1beta2`.
    pub name: String,
    /// Whether requests for it are answered.
    pub served: bool,
    /// Whether `/status` is a subresource.
    pub status: bool,
    /// The `/scale` subresource, if there is one.
    pub scale: Option<ScalePaths>,
    /// The schema.
    pub schema: SchemaSource,
    /// Columns after `Name`.
    pub columns: Vec<Column>,
    /// Fields that field selectors may name, as JSON paths without the leading dot.
    pub selectable_fields: Vec<String>,
    /// The warning that every request for this version carries.
    pub deprecation: Option<String>,
}

/// Where a resource comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Compiled in.
    BuiltIn,
    /// Defined by the CRD object of this name.
    Custom {
        /// `plural.group`.
        definition: String,
        /// Set while the CRD is being deleted: no creates.
        terminating: bool,
    },
}

/// One resource: everything that the generic server needs to know about it.
#[derive(Debug, Clone)]
pub struct Resource {
    /// API group; empty for core.
    pub group: String,
    /// Name in URLs.
    pub plural: String,
    /// Name for people.
    pub singular: String,
    /// `kind` of its objects.
    pub kind: String,
    /// `kind` of its lists.
    pub list_kind: String,
    /// Short names for kubectl.
    pub short_names: Vec<String>,
    /// Groups such as `all`.
    pub categories: Vec<String>,
    /// Namespaced or not.
    pub scope: Scope,
    /// Stored or answered on the spot.
    pub backing: Backing,
    /// Name of the resource in the store. Two resources that are two views of the same objects share it.
    pub store_name: String,
    /// All versions, best first.
    pub versions: Vec<Version>,
    /// Group and version in which objects are stored.
    pub storage: (String, String),
    /// How its writes differ.
    pub strategy: Strategy,
    /// Subresources beside `status` and `scale`.
    pub extra_subresources: &'static [ExtraSubresource],
    /// Built in or custom.
    pub origin: Origin,
}

/// A subresource of a built-in kind that is neither status nor scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtraSubresource {
    /// Last segment of its URL.
    pub name: &'static str,
    /// Group, version and kind of what it takes and returns.
    pub kind: (&'static str, &'static str, &'static str),
    /// Verbs.
    pub verbs: &'static [&'static str],
}

/// The verbs of a stored resource, in discovery's order.
pub const STORED_VERBS: &[&str] = &[
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];

impl Resource {
    /// The version of that name, if it is served.
    pub fn served_version(&self, name: &str) -> Option<&Version> {
        self.versions
            .iter()
            .find(|version| version.served && version.name == name)
    }

    /// Any version of that name, served or not.
    pub fn version(&self, name: &str) -> Option<&Version> {
        self.versions.iter().find(|version| version.name == name)
    }

    /// The verbs that the main resource answers.
    pub fn verbs(&self) -> &'static [&'static str] {
        match (self.backing, &self.origin) {
            (Backing::Review, _) => &["create"],
            (
                Backing::Stored,
                Origin::Custom {
                    terminating: true, ..
                },
            ) => &["delete", "deletecollection", "get", "list", "watch"],
            (Backing::Stored, _) => STORED_VERBS,
        }
    }

    /// `apiVersion` of an object in `version`.
    pub fn api_version(&self, version: &str) -> String {
        names::api_version(&self.group, version)
    }

    /// `apiVersion` under which objects are stored.
    pub fn storage_api_version(&self) -> String {
        names::api_version(&self.storage.0, &self.storage.1)
    }

    /// `plural.group`, or `plural` in the core group: how messages name a resource.
    pub fn qualified(&self) -> String {
        names::qualified(&self.plural, &self.group)
    }

    /// `Kind.group`, or `Kind` in the core group.
    pub fn qualified_kind(&self) -> String {
        names::qualified(&self.kind, &self.group)
    }

    /// Whether the resource comes from a CRD.
    pub fn is_custom(&self) -> bool {
        matches!(self.origin, Origin::Custom { .. })
    }

    /// Whether objects live in namespaces.
    pub fn is_namespaced(&self) -> bool {
        self.scope == Scope::Namespaced
    }
}

impl BuiltInSchema {
    /// A definition that is compiled when first asked for.
    pub const fn new(definition: &'static str) -> Self {
        Self {
            definition,
            compiled: OnceLock::new(),
        }
    }

    /// The compiled schema.
    pub fn compiled(&self) -> &Arc<TypeSchema> {
        self.compiled
            .get_or_init(|| Arc::new(TypeSchema::built_in(self.definition)))
    }
}

impl SchemaSource {
    /// The compiled schema.
    pub fn compiled(&self) -> &Arc<TypeSchema> {
        match self {
            Self::BuiltIn(schema) => schema.compiled(),
            Self::Custom { compiled, .. } => compiled,
        }
    }
}
