//! Turns `OpenAPI` v3 or structural JSON into a [`Schema`].
//! Upstream: kube-openapi `schemaconv`, and the native properties apiextensions' `OpenAPI` builder adds.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value};

use super::{
    Atom, Field, Identity, List, MapType, Resolve, Scalar, Schema, TypeId, object_meta::OBJECT_META,
};

/// A schema that cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// A `$ref` names no definition.
    #[error("failed to resolve schema reference {0:?}")]
    Unresolved(String),
    /// An `x-kubernetes-…` extension has a value it may not have.
    #[error("failed to read schema extension {extension} with value {value}")]
    Extension {
        /// The extension.
        extension: &'static str,
        /// What was found.
        value: String,
    },
    /// A `type` that is not one of JSON's.
    #[error("failed to read schema type {0}")]
    Type(String),
}

pub(super) enum Root {
    Object,
    Plain,
}

const LIST_TYPE: &str = "x-kubernetes-list-type";
const LIST_MAP_KEYS: &str = "x-kubernetes-list-map-keys";
const MAP_TYPE: &str = "x-kubernetes-map-type";
const PATCH_STRATEGY: &str = "x-kubernetes-patch-strategy";
const PATCH_MERGE_KEY: &str = "x-kubernetes-patch-merge-key";
const PRESERVE_UNKNOWN: &str = "x-kubernetes-preserve-unknown-fields";
const EMBEDDED_RESOURCE: &str = "x-kubernetes-embedded-resource";
const OBJECT_META_NAME: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const QUANTITY_NAME: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const RAW_EXTENSION_NAME: &str = "io.k8s.apimachinery.pkg.runtime.RawExtension";

/// The atoms every schema starts with, at the fixed ids of [`TypeId`].
pub(super) fn common_atoms() -> Vec<Atom> {
    let anything = |element, atomic| Atom {
        scalar: Some(Scalar::Untyped),
        list: Some(List {
            element: TypeId::UNTYPED,
            identity: Identity::Atomic,
        }),
        map: Some(MapType {
            fields: BTreeMap::new(),
            element,
            atomic,
            untyped: element == TypeId::DEDUCED,
        }),
    };
    vec![
        Atom::default(),
        anything(TypeId::DEDUCED, false),
        anything(TypeId::UNTYPED, true),
    ]
}

pub(super) fn compile(schema: &Value, resolve: Resolve<'_>, root: Root) -> Result<Schema, SchemaError> {
    let mut compiler = Compiler {
        atoms: common_atoms(),
        named: BTreeMap::new(),
        overrides: BTreeMap::new(),
        resolve,
    };
    let root = match (root, reference(schema)) {
        (Root::Plain, _) => compiler.type_of(schema, false)?,
        (Root::Object, None) => compiler.object(schema)?,
        (Root::Object, Some(name)) => {
            let definition = resolve(name).ok_or_else(|| SchemaError::Unresolved(name.to_owned()))?;
            compiler.object(definition)?
        }
    };
    compiler.apply_overrides();
    Ok(Schema {
        atoms: compiler.atoms,
        root,
    })
}

struct Compiler<'a> {
    atoms: Vec<Atom>,
    named: BTreeMap<String, TypeId>,
    /// References that change whether the map they refer to is atomic: to their own copy of the atom, made last, since
    /// the original may still be under construction when a recursive schema refers to it.
    overrides: BTreeMap<(TypeId, bool), TypeId>,
    resolve: Resolve<'a>,
}

impl Compiler<'_> {
    fn reserve(&mut self) -> TypeId {
        let id = TypeId(u32::try_from(self.atoms.len()).unwrap_or(u32::MAX));
        self.atoms.push(Atom::default());
        id
    }

    fn add(&mut self, atom: Atom) -> TypeId {
        let id = self.reserve();
        self.atoms[id.0 as usize] = atom;
        id
    }

    fn object(&mut self, schema: &Value) -> Result<TypeId, SchemaError> {
        let mut atom = self.atom(schema, false)?;
        let map = atom.map.get_or_insert_with(|| MapType {
            fields: BTreeMap::new(),
            element: TypeId::NOTHING,
            atomic: false,
            untyped: false,
        });
        self.add_native_fields(map)?;
        atom.scalar = None;
        atom.list = None;
        Ok(self.add(atom))
    }

    fn add_native_fields(&mut self, map: &mut MapType) -> Result<(), SchemaError> {
        let text = self.add(Atom {
            scalar: Some(Scalar::String),
            ..Atom::default()
        });
        let metadata = self.named(OBJECT_META_NAME)?;
        for (name, type_id) in [("apiVersion", text), ("kind", text), ("metadata", metadata)] {
            let field = Field {
                type_id,
                default: None,
                patch_strategies: Vec::new(),
                patch_merge_key: None,
            };
            map.fields.insert(name.into(), field);
        }
        map.untyped = false;
        Ok(())
    }

    fn named(&mut self, name: &str) -> Result<TypeId, SchemaError> {
        if let Some(id) = self.named.get(name) {
            return Ok(*id);
        }
        let id = self.reserve();
        self.named.insert(name.to_owned(), id);
        let atom = match name {
            QUANTITY_NAME => Atom {
                scalar: Some(Scalar::Untyped),
                ..Atom::default()
            },
            RAW_EXTENSION_NAME => self.atoms[TypeId::UNTYPED.0 as usize].clone(),
            OBJECT_META_NAME => self.atom(&OBJECT_META, false)?,
            _ => {
                let definition =
                    (self.resolve)(name).ok_or_else(|| SchemaError::Unresolved(name.to_owned()))?;
                if let Some(other) = reference(definition) {
                    let other = self.named(other)?;
                    self.named.insert(name.to_owned(), other);
                    return Ok(other);
                }
                self.atom(definition, false)?
            }
        };
        self.atoms[id.0 as usize] = atom;
        Ok(id)
    }

    /// The type of a property, item or entry. `preserve`: an enclosing schema keeps unknown fields.
    fn type_of(&mut self, schema: &Value, preserve: bool) -> Result<TypeId, SchemaError> {
        let Some(name) = reference(schema) else {
            let atom = self.atom(schema, preserve)?;
            return Ok(self.add(atom));
        };
        let base = self.named(name)?;
        Ok(match map_type(schema)? {
            None => base,
            Some(atomic) => {
                if let Some(id) = self.overrides.get(&(base, atomic)) {
                    return Ok(*id);
                }
                let id = self.reserve();
                self.overrides.insert((base, atomic), id);
                id
            }
        })
    }

    fn apply_overrides(&mut self) {
        for ((base, atomic), id) in &self.overrides {
            let mut atom = self.atoms[base.0 as usize].clone();
            if let Some(map) = &mut atom.map {
                map.atomic = *atomic;
            } else if let (Some(list), true) = (&mut atom.list, *atomic) {
                list.identity = Identity::Atomic;
            }
            self.atoms[id.0 as usize] = atom;
        }
    }

    fn atom(&mut self, schema: &Value, preserve: bool) -> Result<Atom, SchemaError> {
        let preserve = preserve || is_true(schema, PRESERVE_UNKNOWN);
        let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
        let scalar = |scalar| {
            Ok(Atom {
                scalar: Some(scalar),
                ..Atom::default()
            })
        };
        match schema.get("type").map(|name| name.as_str().unwrap_or_default()) {
            None | Some("") => Ok(Atom {
                scalar: Some(Scalar::Untyped),
                list: Some(self.list(schema, preserve)?),
                map: Some(self.map(schema, preserve)?),
            }),
            Some("object") => Ok(Atom {
                map: Some(self.map(schema, preserve)?),
                ..Atom::default()
            }),
            Some("array") => Ok(Atom {
                list: Some(self.list(schema, preserve)?),
                ..Atom::default()
            }),
            Some("integer" | "number") => scalar(Scalar::Numeric),
            Some("boolean") => scalar(Scalar::Boolean),
            Some("string") if matches!(format, "" | "byte") => scalar(Scalar::String),
            Some("string") => scalar(Scalar::Untyped),
            Some(other) => Err(SchemaError::Type(other.to_owned())),
        }
    }

    fn map(&mut self, schema: &Value, preserve: bool) -> Result<MapType, SchemaError> {
        let empty = Map::new();
        let properties = schema
            .get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&empty);
        let mut fields = BTreeMap::new();
        for (name, property) in properties {
            fields.insert(Arc::from(name.as_str()), self.field(property, preserve)?);
        }
        let element = match schema.get("additionalProperties") {
            None if preserve || properties.is_empty() => TypeId::DEDUCED,
            None | Some(Value::Bool(false)) => TypeId::NOTHING,
            Some(Value::Bool(true)) => TypeId::DEDUCED,
            Some(entry) => self.type_of(entry, preserve)?,
        };
        let untyped = fields.is_empty()
            && (element == TypeId::DEDUCED
                || schema.get("additionalProperties").is_some_and(|entry| {
                    reference(entry).is_none()
                        && self.atoms[element.0 as usize].scalar == Some(Scalar::Untyped)
                }));
        let atomic = map_type(schema)?.unwrap_or(false);
        let mut map = MapType {
            fields,
            element,
            atomic,
            untyped,
        };
        if is_true(schema, EMBEDDED_RESOURCE) {
            self.add_native_fields(&mut map)?;
        }
        Ok(map)
    }

    fn field(&mut self, property: &Value, preserve: bool) -> Result<Field, SchemaError> {
        let text = |extension| property.get(extension).and_then(Value::as_str);
        Ok(Field {
            type_id: self.type_of(property, preserve)?,
            default: property.get("default").cloned(),
            patch_strategies: text(PATCH_STRATEGY).map_or_else(Vec::new, |strategies| {
                strategies.split(',').map(str::to_owned).collect()
            }),
            patch_merge_key: text(PATCH_MERGE_KEY).map(Arc::from),
        })
    }

    fn list(&mut self, schema: &Value, preserve: bool) -> Result<List, SchemaError> {
        let element = match schema.get("items") {
            Some(items) => self.type_of(items, preserve)?,
            None => TypeId::UNTYPED,
        };
        Ok(List {
            element,
            identity: list_identity(schema)?,
        })
    }
}

/// The name a schema refers to, directly or as the only member of `allOf`, which is how `OpenAPI` v3 adds to references.
fn reference(schema: &Value) -> Option<&str> {
    let holder = match schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
        Some([only]) if schema.get("$ref").is_none() => only,
        _ => schema,
    };
    holder.get("$ref")?.as_str()?.rsplit('/').next()
}

fn is_true(schema: &Value, extension: &str) -> bool {
    schema.get(extension) == Some(&Value::Bool(true))
}

fn malformed(extension: &'static str, value: &Value) -> SchemaError {
    SchemaError::Extension {
        extension,
        value: value.to_string(),
    }
}

/// Whether the map is declared atomic or granular; `None` when nothing is declared.
fn map_type(schema: &Value) -> Result<Option<bool>, SchemaError> {
    match schema.get(MAP_TYPE) {
        None => Ok(None),
        Some(Value::String(text)) if text == "atomic" => Ok(Some(true)),
        Some(Value::String(text)) if text == "granular" => Ok(Some(false)),
        Some(other) => Err(malformed(MAP_TYPE, other)),
    }
}

fn list_identity(schema: &Value) -> Result<Identity, SchemaError> {
    let Some(list_type) = schema.get(LIST_TYPE) else {
        return match schema
            .get(PATCH_STRATEGY)
            .map(|strategy| (strategy, strategy.as_str().unwrap_or_default()))
        {
            None | Some((_, "retainKeys" | "replace")) => Ok(Identity::Atomic),
            Some((_, "merge" | "merge,retainKeys")) => {
                let key = schema.get(PATCH_MERGE_KEY).and_then(Value::as_str);
                Ok(key.map_or(Identity::Set, |key| Identity::Keys(vec![key.into()])))
            }
            Some((other, _)) => Err(malformed(PATCH_STRATEGY, other)),
        };
    };
    match list_type.as_str().unwrap_or_default() {
        "atomic" => Ok(Identity::Atomic),
        "set" => Ok(Identity::Set),
        "map" => {
            let keys = schema.get(LIST_MAP_KEYS).unwrap_or(&Value::Null);
            let names = keys.as_array().ok_or_else(|| malformed(LIST_MAP_KEYS, keys))?;
            Ok(Identity::Keys(
                names.iter().filter_map(Value::as_str).map(Arc::from).collect(),
            ))
        }
        _ => Err(malformed(LIST_TYPE, list_type)),
    }
}
