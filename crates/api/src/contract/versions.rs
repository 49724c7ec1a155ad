//! Names of CRDs, and the API version that a CRD's contract labels choose.

use std::{cmp::Ordering, collections::BTreeMap};

use crate::{core::GROUP, record::keyword};

keyword! {
    /// The rules by which core and providers meet.
    pub enum Contract {
        /// The former rules, still understood.
        V1Beta1 = "v1beta1",
        /// The present rules.
        V1Beta2 = "v1beta2",
    }
}

/// The resource name of `kind`: lower case, plural.
pub fn plural(kind: &str) -> String {
    pluralize(&kind.to_lowercase())
}

/// The plural of a kind, its letters kept: `MachineSets`, `KubeadmProxies`.
///
/// Source: the suffix rules of github.com/gobuffalo/flect that names of kinds can meet.
pub(crate) fn pluralize(kind: &str) -> String {
    let word = kind.to_lowercase();
    let ends = |suffixes: &[&str]| suffixes.iter().any(|it| word.ends_with(it));
    if ends(&[
        "data",
        "sheep",
        "series",
        "species",
        "information",
        "equipment",
        "settings",
    ]) {
        return kind.to_owned();
    }
    for (singular, plural) in [
        ("child", "children"),
        ("person", "people"),
        ("vertex", "vertices"),
        ("matrix", "matrices"),
        ("index", "indices"),
        ("analysis", "analyses"),
        ("quiz", "quizzes"),
        ("leaf", "leaves"),
        ("shelf", "shelves"),
        ("life", "lives"),
    ] {
        if word.ends_with(singular) {
            // What the two words share keeps its letters.
            let shared = singular
                .bytes()
                .zip(plural.bytes())
                .take_while(|(one, other)| one == other)
                .count();
            return format!(
                "{}{}",
                &kind[..kind.len() - singular.len() + shared],
                &plural[shared..]
            );
        }
    }
    let consonant_before_y = word
        .strip_suffix('y')
        .is_some_and(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    if consonant_before_y && word.len() > 1 {
        return format!("{}ies", &kind[..kind.len() - 1]);
    }
    if ends(&["s", "x", "z", "ch", "sh"]) {
        return format!("{kind}es");
    }
    format!("{kind}s")
}

/// The name of the CRD of `kind` in `group`.
pub fn crd_name(group: &str, kind: &str) -> String {
    format!("{}.{group}", plural(kind))
}

/// The newest contract that a CRD's labels name, and the newest API version under it.
// Parity: cluster-api internal/contract/version.go:GetLatestContractAndAPIVersionFromContract
pub fn choose_version(labels: &BTreeMap<String, String>) -> Option<(Contract, String)> {
    Contract::ALL.iter().rev().find_map(|contract| {
        let versions = labels
            .get(&format!("{GROUP}/{contract}"))
            .filter(|it| !it.is_empty())?;
        let newest = versions
            .split('_')
            .max_by(|one, other| compare_api_versions(one, other))?;
        Some((*contract, newest.to_owned()))
    })
}

/// The contract under which a CRD's labels list the API version `version`.
// Parity: cluster-api internal/contract/version.go:GetContractVersionForVersion
pub fn contract_of_version(labels: &BTreeMap<String, String>, version: &str) -> Option<Contract> {
    Contract::ALL.iter().rev().copied().find(|contract| {
        labels
            .get(&format!("{GROUP}/{contract}"))
            .is_some_and(|it| it.split('_').any(|each| each == version))
    })
}

/// Kubernetes' order of API versions: alpha, beta, stable, each by its numbers; what is no such version comes first.
fn compare_api_versions(one: &str, other: &str) -> Ordering {
    match (api_version(one), api_version(other)) {
        (Some(one), Some(other)) => one.cmp(&other),
        (Some(_), None) => Ordering::Greater,
        (None, Some(_)) => Ordering::Less,
        (None, None) => other.cmp(one),
    }
}

/// Stability (0 alpha, 1 beta, 2 stable), major and minor number of `v1`, `v2beta1`, `v1alpha3`.
fn api_version(text: &str) -> Option<(u8, u64, u64)> {
    let rest = text.strip_prefix('v')?;
    let digits = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
    let (major, rest) = rest.split_at(digits);
    let major = major.parse().ok()?;
    if rest.is_empty() {
        return Some((2, major, 0));
    }
    let (stability, minor) = rest
        .strip_prefix("beta")
        .map(|it| (1, it))
        .or_else(|| rest.strip_prefix("alpha").map(|it| (0, it)))?;
    Some((stability, major, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_are_those_of_upstream() {
        for (kind, expected) in [
            ("Machine", "machines"),
            ("DevCluster", "devclusters"),
            ("MachineHealthCheck", "machinehealthchecks"),
            ("IPAddress", "ipaddresses"),
            ("ClusterClass", "clusterclasses"),
            ("Proxy", "proxies"),
            ("Gateway", "gateways"),
            ("Switch", "switches"),
            ("Box", "boxes"),
            ("ProviderMetadata", "providermetadata"),
            ("ClusterIndex", "clusterindices"),
        ] {
            assert_eq!(plural(kind), expected);
        }
        assert_eq!(pluralize("GrandChild"), "GrandChildren");
        assert_eq!(crd_name("infra.io", "Policy"), "policies.infra.io");
    }

    #[test]
    fn the_newest_version_of_the_newest_contract_is_chosen() {
        let labels = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs
                .iter()
                .map(|(key, value)| (format!("cluster.x-k8s.io/{key}"), (*value).to_owned()))
                .collect()
        };
        for (given, chosen) in [
            (
                labels(&[("v1beta1", "v1beta1"), ("v1beta2", "v1beta2")]),
                Some((Contract::V1Beta2, "v1beta2")),
            ),
            (
                labels(&[("v1beta1", "v1alpha4_v1beta1_v1alpha3")]),
                Some((Contract::V1Beta1, "v1beta1")),
            ),
            (
                labels(&[("v1beta2", "v2beta1_v1_v1beta2")]),
                Some((Contract::V1Beta2, "v1")),
            ),
            (
                labels(&[("v1beta2", ""), ("v1beta1", "v1")]),
                Some((Contract::V1Beta1, "v1")),
            ),
            (labels(&[("v1beta3", "v1")]), None),
        ] {
            assert_eq!(
                choose_version(&given),
                chosen.map(|(it, version)| (it, version.to_owned())),
                "{given:?}"
            );
        }
        let both = labels(&[("v1beta1", "v1beta1"), ("v1beta2", "v1beta2_v1")]);
        assert_eq!(contract_of_version(&both, "v1"), Some(Contract::V1Beta2));
        assert_eq!(contract_of_version(&both, "v1beta1"), Some(Contract::V1Beta1));
        assert_eq!(contract_of_version(&both, "v2"), None);
    }
}
