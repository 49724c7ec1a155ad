//! Kubernetes versions: with or without a leading `v`, compared with their build metadata where that matters.

use std::{cmp::Ordering, fmt, str::FromStr};

/// A Kubernetes version, printed with its leading `v`.
///
/// Two versions are equal only if their build metadata is equal too; which of two is newer is asked with
/// [`Version::precedence`] or [`Version::precedence_with_build`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Version(semver::Version);

/// A text that is no version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a version like v1.31.0")]
pub struct ParseVersionError {
    text: String,
}

impl Version {
    /// The version `major.minor.patch`.
    pub const fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self(semver::Version::new(major, minor, patch))
    }

    /// Reads a full version, with or without a leading `v`.
    pub fn parse(text: &str) -> Result<Self, ParseVersionError> {
        let bare = text.strip_prefix('v').unwrap_or(text);
        semver::Version::parse(bare)
            .map(Self)
            .map_err(|_| ParseVersionError {
                text: text.to_owned(),
            })
    }

    /// Reads a version that may lack its patch or minor part, have spaces around it or zeros before its numbers.
    // Parity: github.com/blang/semver/v4 ParseTolerant
    pub fn parse_tolerant(text: &str) -> Result<Self, ParseVersionError> {
        let bare = text.trim();
        let bare = bare.strip_prefix('v').unwrap_or(bare);
        let split = bare.find(['-', '+']).unwrap_or(bare.len());
        let (numbers, rest) = bare.split_at(split);
        let mut parts: Vec<&str> = numbers
            .split('.')
            .map(|part| match part.trim_start_matches('0') {
                "" if !part.is_empty() => "0",
                stripped => stripped,
            })
            .collect();
        // A shortened version has no room for a pre-release or build part.
        if parts.len() < 3 && rest.is_empty() {
            parts.resize(3, "0");
        }
        semver::Version::parse(&format!("{}{rest}", parts.join(".")))
            .map(Self)
            .map_err(|_| ParseVersionError {
                text: text.to_owned(),
            })
    }

    /// Reads the version in an image's tag, which writes `_` for `+`.
    pub fn parse_image_tag(tag: &str) -> Result<Self, ParseVersionError> {
        Self::parse_tolerant(&tag.replace('_', "+"))
    }

    /// The first number.
    pub fn major(&self) -> u64 {
        self.0.major
    }

    /// The second number.
    pub fn minor(&self) -> u64 {
        self.0.minor
    }

    /// The third number.
    pub fn patch(&self) -> u64 {
        self.0.patch
    }

    /// Whether this is an alpha, beta or release candidate.
    pub fn is_pre_release(&self) -> bool {
        !self.0.pre.is_empty()
    }

    /// This version without pre-release and build parts.
    #[must_use]
    pub fn release(&self) -> Self {
        Self::new(self.0.major, self.0.minor, self.0.patch)
    }

    /// Which of two versions is newer, without regard to build metadata.
    pub fn precedence(&self, other: &Self) -> Ordering {
        self.0.cmp_precedence(&other.0)
    }

    /// Which of two versions is newer, by build metadata where everything else is equal. Build identifiers are
    /// compared one by one: numbers by value, numbers before words, and the longer list last. Two different words,
    /// which may be commit hashes, have no order: the answer is then `None`, "different".
    // Parity: cluster-api util/version/version.go:Compare with WithBuildTags
    pub fn precedence_with_build(&self, other: &Self) -> Option<Ordering> {
        match self.precedence(other) {
            Ordering::Equal => compare_builds(self.0.build.as_str(), other.0.build.as_str()),
            decided => Some(decided),
        }
    }

    /// Whether going from `current` to this version is an upgrade: newer, or with other build metadata that has no
    /// order.
    pub fn is_upgrade_from(&self, current: &Self) -> bool {
        matches!(
            self.precedence_with_build(current),
            Some(Ordering::Greater) | None
        )
    }

    /// How many minor versions this one is ahead of `other`, negative if behind; `None` across major versions.
    pub fn minors_ahead_of(&self, other: &Self) -> Option<i64> {
        if self.0.major != other.0.major {
            return None;
        }
        let ahead = i128::from(self.0.minor) - i128::from(other.0.minor);
        i64::try_from(ahead).ok()
    }
}

fn compare_builds(left: &str, right: &str) -> Option<Ordering> {
    fn identifiers(build: &str) -> Vec<&str> {
        if build.is_empty() {
            Vec::new()
        } else {
            build.split('.').collect()
        }
    }
    let (left, right) = (identifiers(left), identifiers(right));
    for (one, other) in left.iter().zip(&right) {
        let numbers = (one.parse::<u64>(), other.parse::<u64>());
        match numbers {
            (Ok(one), Ok(other)) if one != other => return Some(one.cmp(&other)),
            (Ok(_), Err(_)) => return Some(Ordering::Less),
            (Err(_), Ok(_)) => return Some(Ordering::Greater),
            (Err(_), Err(_)) if one != other => return None,
            _ => {}
        }
    }
    Some(left.len().cmp(&right.len()))
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

impl FromStr for Version {
    type Err = ParseVersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        Version::parse_tolerant(text).expect("a version")
    }

    #[test]
    fn a_strict_version_is_complete_and_may_start_with_v() {
        for (text, read) in [
            ("v1.31.0", Some("v1.31.0")),
            ("1.31.0-rc.1+build.2", Some("v1.31.0-rc.1+build.2")),
            ("v1.31", None),
            ("vv1.31.0", None),
            ("1.031.0", None),
            ("", None),
        ] {
            assert_eq!(
                Version::parse(text).ok().map(|it| it.to_string()).as_deref(),
                read,
                "{text}"
            );
        }
    }

    #[test]
    fn a_tolerant_version_is_completed() {
        for (text, read) in [
            (" v1.31 ", Some("v1.31.0")),
            ("1", Some("v1.0.0")),
            ("01.031.00", Some("v1.31.0")),
            ("1.31-rc.1", None),
            ("1.31.0+a", Some("v1.31.0+a")),
            ("one", None),
        ] {
            assert_eq!(
                Version::parse_tolerant(text)
                    .ok()
                    .map(|it| it.to_string())
                    .as_deref(),
                read,
                "{text}"
            );
        }
        assert_eq!(
            Version::parse_image_tag("v1.31.0_a.1")
                .map(|it| it.to_string())
                .as_deref(),
            Ok("v1.31.0+a.1")
        );
    }

    #[test]
    fn build_metadata_orders_only_what_it_can() {
        for (left, right, order) in [
            ("1.31.0", "1.31.1", Some(Ordering::Less)),
            ("1.31.0-rc.1", "1.31.0", Some(Ordering::Less)),
            ("1.31.0+1", "1.31.0+2", Some(Ordering::Less)),
            ("1.31.0+2", "1.31.0+10", Some(Ordering::Less)),
            ("1.31.0+1", "1.31.0+a", Some(Ordering::Less)),
            ("1.31.0+b.1", "1.31.0+b", Some(Ordering::Greater)),
            ("1.31.0+abc", "1.31.0+abd", None),
            ("1.31.0+abc", "1.31.0+abc", Some(Ordering::Equal)),
            ("1.31.0+1", "1.31.0", Some(Ordering::Greater)),
        ] {
            assert_eq!(
                version(left).precedence_with_build(&version(right)),
                order,
                "{left} against {right}"
            );
        }
        assert!(version("1.31.0+abc").is_upgrade_from(&version("1.31.0+abd")));
        assert!(!version("1.31.0").is_upgrade_from(&version("1.31.0")));
    }

    #[test]
    fn minor_skew_is_counted_within_one_major_version() {
        assert_eq!(version("1.31.4").minors_ahead_of(&version("1.33.0")), Some(-2));
        assert_eq!(version("2.0.0").minors_ahead_of(&version("1.33.0")), None);
    }
}
