//! An immutable snapshot of the resource table.

use std::{collections::BTreeMap, sync::Arc};

use super::{Resource, Version, builtin::built_in_resources, version_order};

/// Which resources are served. A change of a CRD makes a new table; requests keep the one that they began with.
#[derive(Debug, Clone)]
pub struct ResourceTable {
    /// By (group, plural).
    by_name: BTreeMap<(String, String), Arc<Resource>>,
    /// Grows with every change; part of what discovery documents are cached by.
    generation: u64,
}

impl ResourceTable {
    /// The table of a server without CRDs.
    pub fn built_in() -> Self {
        let by_name = built_in_resources()
            .iter()
            .map(|resource| {
                (
                    (resource.group.clone(), resource.plural.clone()),
                    Arc::clone(resource),
                )
            })
            .collect();
        Self {
            by_name,
            generation: 1,
        }
    }

    /// This table with `resource` added or replaced.
    #[must_use]
    pub fn with(&self, resource: Arc<Resource>) -> Self {
        let mut by_name = self.by_name.clone();
        by_name.insert((resource.group.clone(), resource.plural.clone()), resource);
        Self {
            by_name,
            generation: self.generation + 1,
        }
    }

    /// This table without the resource that the CRD `definition` defines.
    #[must_use]
    pub fn without(&self, group: &str, plural: &str) -> Self {
        let mut by_name = self.by_name.clone();
        by_name.remove(&(group.to_owned(), plural.to_owned()));
        Self {
            by_name,
            generation: self.generation + 1,
        }
    }

    /// Counts changes of the table.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The resource of that name.
    pub fn get(&self, group: &str, plural: &str) -> Option<&Arc<Resource>> {
        self.by_name.get(&(group.to_owned(), plural.to_owned()))
    }

    /// The resource and served version of a kind.
    pub fn of_kind(&self, group: &str, version: &str, kind: &str) -> Option<(&Arc<Resource>, &Version)> {
        self.by_name
            .values()
            .filter(|resource| resource.group == group && resource.kind == kind)
            .find_map(|resource| {
                resource
                    .served_version(version)
                    .map(|version| (resource, version))
            })
    }

    /// All resources, sorted by group and plural.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.by_name.values()
    }

    /// The resources of a group that are served in `version`.
    pub fn in_version<'a>(
        &'a self,
        group: &'a str,
        version: &'a str,
    ) -> impl Iterator<Item = (&'a Arc<Resource>, &'a Version)> {
        self.by_name
            .values()
            .filter(move |resource| resource.group == group)
            .filter_map(move |resource| resource.served_version(version).map(|found| (resource, found)))
    }

    /// Every group with its served versions, best first: core, then the built-in groups in kube's order of priority,
    /// then the groups of CRDs by name.
    pub fn groups(&self) -> Vec<(String, Vec<String>)> {
        let mut order: Vec<String> = Vec::new();
        for resource in built_in_resources() {
            if !order.contains(&resource.group) {
                order.push(resource.group.clone());
            }
        }
        for resource in self.by_name.values() {
            if !order.contains(&resource.group) {
                order.push(resource.group.clone());
            }
        }
        order
            .into_iter()
            .map(|group| {
                let versions = self.versions(&group);
                (group, versions)
            })
            .filter(|(_, versions)| !versions.is_empty())
            .collect()
    }

    /// The served versions of a group, best first.
    pub fn versions(&self, group: &str) -> Vec<String> {
        let mut versions: Vec<String> = self
            .by_name
            .values()
            .filter(|resource| resource.group == group)
            .flat_map(|resource| resource.versions.iter().filter(|version| version.served))
            .map(|version| version.name.clone())
            .collect();
        versions.sort_by(|left, right| version_order(left, right));
        versions.dedup();
        versions
    }
}
