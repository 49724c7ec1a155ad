//! The shape of a row of the built-in table, and what it stands for.

use std::sync::Arc;

use super::{
    Backing, BuiltInSchema, ExtraSubresource, Generation, Origin, Resource, ScalePaths, SchemaSource, Scope,
    Strategy, Version,
};
use crate::table::built_in_columns;

/// What differs between built-in kinds, as flags of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flag {
    /// `/status` is a subresource.
    Status,
    /// `/scale` is a subresource.
    Scale,
    /// `metadata.generation` counts changes of the content.
    Generation,
    /// An update creates the object if it is absent.
    CreateOnUpdate,
    /// A delete answers with the object.
    ReturnsObject,
    /// No object is stored.
    Review,
}

/// One built-in resource.
pub(super) struct Row {
    group: &'static str,
    plural: &'static str,
    kind: &'static str,
    short_names: &'static [&'static str],
    categories: &'static [&'static str],
    scope: Scope,
    flags: &'static [Flag],
    definition: &'static str,
    selectable_fields: &'static [&'static str],
    extra_subresources: &'static [ExtraSubresource],
}

/// A namespaced row of group `v1` with the parts that most rows need.
pub(super) const fn row(
    group: &'static str,
    plural: &'static str,
    kind: &'static str,
    definition: &'static str,
    flags: &'static [Flag],
) -> Row {
    Row {
        group,
        plural,
        kind,
        short_names: &[],
        categories: &[],
        scope: Scope::Namespaced,
        flags,
        definition,
        selectable_fields: &[],
        extra_subresources: &[],
    }
}

impl Row {
    pub(super) const fn short(self, short_names: &'static [&'static str]) -> Self {
        Self { short_names, ..self }
    }

    pub(super) const fn cluster(self) -> Self {
        Self {
            scope: Scope::Cluster,
            ..self
        }
    }

    pub(super) const fn category(self, categories: &'static [&'static str]) -> Self {
        Self { categories, ..self }
    }

    pub(super) const fn fields(self, selectable_fields: &'static [&'static str]) -> Self {
        Self {
            selectable_fields,
            ..self
        }
    }

    pub(super) const fn subresources(self, extra_subresources: &'static [ExtraSubresource]) -> Self {
        Self {
            extra_subresources,
            ..self
        }
    }

    pub(super) fn resource(&self) -> Resource {
        let has = |flag: Flag| self.flags.contains(&flag);
        let strings = |list: &[&str]| list.iter().map(|&item| item.to_owned()).collect();
        let scale = has(Flag::Scale).then(|| ScalePaths {
            spec_replicas: ".spec.replicas".to_owned(),
            status_replicas: ".status.replicas".to_owned(),
            label_selector: None,
        });
        // Events of both groups are the same objects, kept as core events.
        let is_new_event = self.group == "events.k8s.io";
        let storage_group = if is_new_event { "" } else { self.group };
        let store_group = if storage_group.is_empty() {
            "core"
        } else {
            storage_group
        };
        Resource {
            group: self.group.to_owned(),
            plural: self.plural.to_owned(),
            singular: self.kind.to_ascii_lowercase(),
            kind: self.kind.to_owned(),
            list_kind: format!("{}List", self.kind),
            short_names: strings(self.short_names),
            categories: strings(self.categories),
            scope: self.scope,
            backing: if has(Flag::Review) {
                Backing::Review
            } else {
                Backing::Stored
            },
            store_name: format!("{store_group}/{}", self.plural),
            versions: vec![Version {
                name: "v1".to_owned(),
                served: true,
                status: has(Flag::Status),
                scale,
                schema: SchemaSource::BuiltIn(Arc::new(BuiltInSchema::new(self.definition))),
                columns: built_in_columns(self.group, self.plural),
                selectable_fields: strings(self.selectable_fields),
                deprecation: None,
            }],
            storage: (storage_group.to_owned(), "v1".to_owned()),
            strategy: Strategy {
                generation: if has(Flag::Generation) {
                    Generation::Content
                } else {
                    Generation::None
                },
                unconditional_update: true,
                create_on_update: has(Flag::CreateOnUpdate),
                delete_returns_object: has(Flag::ReturnsObject),
                strategic_merge: true,
            },
            extra_subresources: self.extra_subresources,
            origin: Origin::BuiltIn,
        }
    }
}
