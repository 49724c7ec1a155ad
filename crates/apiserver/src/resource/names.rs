//! Names of groups, versions, kinds and resources, and the order of versions.

use std::{cmp::Ordering, fmt};

/// A kind in a group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct GroupKind {
    /// Empty for core.
    pub group: String,
    /// For example `Pod`.
    pub kind: String,
}

/// A kind in a version of a group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct GroupVersionKind {
    /// Empty for core.
    pub group: String,
    /// For example `v1`.
    pub version: String,
    /// For example `Pod`.
    pub kind: String,
}

/// A resource in a version of a group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct GroupVersionResource {
    /// Empty for core.
    pub group: String,
    /// For example `v1`.
    pub version: String,
    /// For example `pods`.
    pub resource: String,
}

impl GroupVersionKind {
    /// The kind that `apiVersion` and `kind` name.
    pub fn parse(api_version: &str, kind: &str) -> Self {
        let (group, version) = split_api_version(api_version);
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
        }
    }

    /// `group/version`, or `version` in the core group.
    pub fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }
}

impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&qualified(&self.kind, &self.group))
    }
}

/// Group and version of an `apiVersion`.
pub(crate) fn split_api_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// `group/version`, or `version` in the core group.
pub(crate) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}

/// `name.group`, or `name` in the core group.
pub(crate) fn qualified(name: &str, group: &str) -> String {
    if group.is_empty() {
        name.to_owned()
    } else {
        format!("{name}.{group}")
    }
}

/// Orders versions as Kubernetes does, best first: `v2`, `v1`, `v2beta1`, `v1beta2`, `v1alpha1`, then others by name.
/// Source: apimachinery `version.CompareKubeAwareVersionStrings`.
pub fn version_order(left: &str, right: &str) -> Ordering {
    match (parsed(left), parsed(right)) {
        (Some(left), Some(right)) => right.cmp(&left),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => left.cmp(right),
    }
}

/// Stability (2 stable, 1 beta, 0 alpha), major and minor of a version that follows the convention.
fn parsed(version: &str) -> Option<(u8, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (major, tail) = rest.split_at(digits);
    let major = major.parse().ok()?;
    if tail.is_empty() {
        return Some((2, major, 0));
    }
    let (stability, minor) = tail
        .strip_prefix("beta")
        .map(|minor| (1, minor))
        .or_else(|| tail.strip_prefix("alpha").map(|m| (0, m)))?;
    Some((stability, major, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_sort_best_first() {
        let mut versions = vec![
            "v1alpha1",
            "foo1",
            "v11beta2",
            "v10",
            "v2",
            "v1beta1",
            "v10beta3",
            "bar",
            "v11alpha2",
        ];
        versions.sort_by(|left, right| version_order(left, right));
        assert_eq!(
            versions,
            [
                "v10",
                "v2",
                "v11beta2",
                "v10beta3",
                "v1beta1",
                "v11alpha2",
                "v1alpha1",
                "bar",
                "foo1"
            ]
        );
    }
}
