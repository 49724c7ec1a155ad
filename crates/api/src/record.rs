//! The three shapes every API type has, each a small macro: a record (struct of fields), a keyword (closed set of
//! words) and an object (a kind with metadata, spec and status).
//!
//! The v1beta2 schemas refuse empty objects and have no `OpenAPI` defaults, so one rule serves every field: **a field
//! that holds its type's default is not written**. Where zero and absent differ, the field is an `Option`.

/// Whether `value` is its type's default and therefore left out of the JSON.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Declares structs whose fields are written in camel case and left out when they hold their default.
/// Unknown fields are ignored on reading.
macro_rules! record {
    ($($(#[$meta:meta])* pub struct $name:ident {
        $($(#[$field_meta:meta])* pub $field:ident: $type:ty,)*
    })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, rename_all = "camelCase")]
        pub struct $name {
            $($(#[$field_meta])*
            #[serde(skip_serializing_if = "crate::record::is_default")]
            pub $field: $type,)*
        }
    )*};
}
pub(crate) use record;

/// Declares enums of fixed words: `as_str`, `Display`, `FromStr` and serde all speak the same word.
macro_rules! keyword {
    ($($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)*
    })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$variant_meta])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// Every word of the set, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word as it is written on the wire.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl From<$name> for String {
            fn from(word: $name) -> Self {
                word.as_str().to_owned()
            }
        }

        impl std::str::FromStr for $name {
            type Err = crate::record::UnknownKeyword;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|word| word.as_str() == text).ok_or_else(|| {
                    crate::record::UnknownKeyword { set: stringify!($name), word: text.to_owned() }
                })
            }
        }
    )*};
}
pub(crate) use keyword;

/// A word that its set does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is no {set}")]
pub struct UnknownKeyword {
    /// The name of the set.
    pub set: &'static str,
    /// The word that was read.
    pub word: String,
}

/// Declares a kind: a struct of metadata, spec and (for most) status that writes its `apiVersion` and `kind` and
/// is a `kube::Resource` known at compile time.
macro_rules! object {
    (
        $(#[$meta:meta])*
        pub struct $name:ident in $group:expr, plural $plural:literal, scope $scope:ident, spec $spec:ty
        $(, status $status:ty)?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
        #[serde(default)]
        pub struct $name {
            /// The object's standard metadata.
            pub metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
            /// What is wanted.
            pub spec: $spec,
            $(
                /// What was last observed.
                pub status: Option<$status>,
            )?
        }

        impl $name {
            /// The API group.
            pub const GROUP: &'static str = $group;
            /// The kind.
            pub const KIND: &'static str = stringify!($name);
            /// The resource's name in URLs.
            pub const PLURAL: &'static str = $plural;

            /// A new object of this kind, with an empty spec.
            pub fn new(namespace: &str, name: &str) -> Self {
                let mut object = Self::default();
                object.metadata.namespace = (!namespace.is_empty()).then(|| namespace.to_owned());
                object.metadata.name = Some(name.to_owned());
                object
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("apiVersion", &<Self as kube::Resource>::api_version(&()))?;
                map.serialize_entry("kind", Self::KIND)?;
                map.serialize_entry("metadata", &self.metadata)?;
                if !crate::record::is_default(&self.spec) {
                    map.serialize_entry("spec", &self.spec)?;
                }
                $(
                    let status: &Option<$status> = &self.status;
                    if let Some(status) = status.as_ref().filter(|it| !crate::record::is_default(*it)) {
                        map.serialize_entry("status", status)?;
                    }
                )?
                map.end()
            }
        }

        impl kube::Resource for $name {
            type DynamicType = ();
            type Scope = kube::core::$scope;

            fn kind(_: &()) -> std::borrow::Cow<'_, str> {
                Self::KIND.into()
            }

            fn group(_: &()) -> std::borrow::Cow<'_, str> {
                Self::GROUP.into()
            }

            fn version(_: &()) -> std::borrow::Cow<'_, str> {
                crate::VERSION.into()
            }

            fn plural(_: &()) -> std::borrow::Cow<'_, str> {
                Self::PLURAL.into()
            }

            fn meta(&self) -> &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &self.metadata
            }

            fn meta_mut(&mut self) -> &mut k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &mut self.metadata
            }
        }
    };
}
pub(crate) use object;
