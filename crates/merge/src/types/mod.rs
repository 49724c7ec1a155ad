//! Merge schemas: for every place in an object, whether it is a scalar, a list or a map, and who may own its parts.
//! Upstream: structured-merge-diff `schema`, compiled from `OpenAPI` as by kube-openapi `schemaconv`.

mod compile;
mod object_meta;

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use serde_json::Value;

pub use compile::SchemaError;

/// The merge schema of one kind in one version. Compile it once and share it.
#[derive(Debug)]
pub struct Schema {
    /// Indexed by [`TypeId`]; recursive types are cycles of indices.
    atoms: Vec<Atom>,
    root: TypeId,
}

/// A type of a [`Schema`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TypeId(u32);

impl TypeId {
    /// The type of what the schema does not allow: no value is valid.
    pub(crate) const NOTHING: Self = Self(0);
    /// Anything; maps are granular, lists and what is in them atomic.
    pub(crate) const DEDUCED: Self = Self(1);
    /// Anything, owned as a whole.
    pub(crate) const UNTYPED: Self = Self(2);
}

/// What a value may be. Several shapes at once when the schema names no JSON type.
#[derive(Debug, Clone, Default)]
pub(crate) struct Atom {
    pub(crate) scalar: Option<Scalar>,
    pub(crate) list: Option<List>,
    pub(crate) map: Option<MapType>,
}

/// Which scalars are valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scalar {
    Numeric,
    String,
    Boolean,
    Untyped,
}

#[derive(Debug, Clone)]
pub(crate) struct List {
    pub(crate) element: TypeId,
    pub(crate) identity: Identity,
}

/// How the items of a list are told apart, which decides whether they can have different owners.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Identity {
    /// Not at all: the list is owned as a whole.
    Atomic,
    /// By their value.
    Set,
    /// By these fields.
    Keys(Vec<Arc<str>>),
}

#[derive(Debug, Clone)]
pub(crate) struct MapType {
    pub(crate) fields: BTreeMap<Arc<str>, Field>,
    /// The type of entries that are not declared fields.
    pub(crate) element: TypeId,
    pub(crate) atomic: bool,
    /// Entries are untyped and there are no fields: a schema change cannot tell what it was before.
    pub(crate) untyped: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) type_id: TypeId,
    /// Stands in for a missing list key.
    pub(crate) default: Option<Value>,
    /// `x-kubernetes-patch-strategy` split at commas, for strategic merge patches only.
    pub(crate) patch_strategies: Vec<String>,
    /// `x-kubernetes-patch-merge-key`, for strategic merge patches only.
    pub(crate) patch_merge_key: Option<Arc<str>>,
}

/// The one shape a value is handled as.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape<'a> {
    Map(&'a MapType),
    Scalar(Scalar),
    List(&'a List),
    Nothing,
}

impl MapType {
    pub(crate) fn entry_type(&self, name: &str) -> TypeId {
        self.fields.get(name).map_or(self.element, |field| field.type_id)
    }
}

impl Atom {
    /// The shape `value` has if the atom allows it; otherwise, and for null and absent values, the first allowed one.
    pub(crate) fn shape(&self, value: Option<&Value>) -> Shape<'_> {
        match (value, self) {
            (Some(Value::Array(_)), Self { list: Some(list), .. }) => Shape::List(list),
            (
                Some(Value::Number(_) | Value::String(_) | Value::Bool(_)),
                Self {
                    scalar: Some(scalar), ..
                },
            ) => Shape::Scalar(*scalar),
            (_, Self { map: Some(map), .. }) => Shape::Map(map),
            (
                _,
                Self {
                    scalar: Some(scalar), ..
                },
            ) => Shape::Scalar(*scalar),
            (_, Self { list: Some(list), .. }) => Shape::List(list),
            _ => Shape::Nothing,
        }
    }
}

/// Finds the definition a `$ref` names; asked with the text after the last `/`.
pub type Resolve<'a> = &'a dyn Fn(&str) -> Option<&'a Value>;

impl Schema {
    /// Compiles the schema of a kind of object: `apiVersion` and `kind` are strings and `metadata` is `ObjectMeta`,
    /// whatever the schema says of them.
    ///
    /// # Errors
    /// A reference that `resolve` does not know, or a malformed `x-kubernetes-…` extension.
    pub fn for_object(schema: &Value, resolve: Resolve<'_>) -> Result<Arc<Self>, SchemaError> {
        compile::compile(schema, resolve, compile::Root::Object).map(Arc::new)
    }

    /// Compiles the schema of any value.
    ///
    /// # Errors
    /// As [`Schema::for_object`].
    pub fn for_value(schema: &Value, resolve: Resolve<'_>) -> Result<Arc<Self>, SchemaError> {
        compile::compile(schema, resolve, compile::Root::Plain).map(Arc::new)
    }

    /// The schema of kinds that have none: maps are granular, lists atomic.
    pub fn deduced() -> Arc<Self> {
        static DEDUCED: LazyLock<Arc<Schema>> = LazyLock::new(|| {
            Arc::new(Schema {
                atoms: compile::common_atoms(),
                root: TypeId::DEDUCED,
            })
        });
        Arc::clone(&DEDUCED)
    }

    pub(crate) fn root(&self) -> TypeId {
        self.root
    }

    pub(crate) fn atom(&self, type_id: TypeId) -> &Atom {
        &self.atoms[type_id.0 as usize]
    }

    /// The default of key `name` of the items of `list`.
    pub(crate) fn key_default(&self, list: &List, name: &str) -> Option<&Value> {
        let map = self.atom(list.element).map.as_ref()?;
        map.fields
            .get(name)?
            .default
            .as_ref()
            .filter(|default| !default.is_null())
    }
}
