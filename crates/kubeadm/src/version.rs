//! Kubernetes versions, and which kubeadm API version belongs to each.

use semver::Version;

/// A Kubernetes version for which no kubeadm configuration can be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnsupportedVersion {
    /// The text is no version.
    #[error("{0:?} is no Kubernetes version")]
    Malformed(String),
    /// The version is older than the oldest kubeadm API that is still written.
    #[error("Kubernetes {0} is not supported: its kubeadm is older than v1.22.0")]
    TooOld(Version),
}

/// Parses a Kubernetes version as users write it: with or without `v`, and with minor or patch left out.
pub fn parse_version(text: &str) -> Result<Version, UnsupportedVersion> {
    let malformed = || UnsupportedVersion::Malformed(text.to_owned());
    let trimmed = text.trim();
    let bare = trimmed.strip_prefix(['v', 'V']).unwrap_or(trimmed);
    let dots = bare
        .split(['-', '+'])
        .next()
        .unwrap_or_default()
        .matches('.')
        .count();
    let padded = match dots {
        0 if !bare.contains(['-', '+']) => format!("{bare}.0.0"),
        1 if !bare.contains(['-', '+']) => format!("{bare}.0"),
        _ => bare.to_owned(),
    };
    Version::parse(&padded).map_err(|_| malformed())
}

/// A version of kubeadm's configuration API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KubeadmApi {
    /// What kubeadm 1.22 to 1.30 reads.
    V1Beta3,
    /// What kubeadm reads from 1.31 on.
    V1Beta4,
}

impl KubeadmApi {
    /// The API version that the kubeadm of a Kubernetes version reads. Pre-releases count as their release.
    // Parity: upstream bootstrap/kubeadm/pkg/types/utils.go:KubeVersionToKubeadmAPIGroupVersion
    pub fn for_kubernetes(version: &Version) -> Result<Self, UnsupportedVersion> {
        match (version.major, version.minor) {
            (0, _) | (1, 0..22) => Err(UnsupportedVersion::TooOld(version.clone())),
            (1, 22..31) => Ok(Self::V1Beta3),
            _ => Ok(Self::V1Beta4),
        }
    }

    /// The `apiVersion` of its documents.
    pub fn api_version(self) -> &'static str {
        match self {
            Self::V1Beta3 => "kubeadm.k8s.io/v1beta3",
            Self::V1Beta4 => "kubeadm.k8s.io/v1beta4",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kubernetes_version_selects_the_api_its_kubeadm_reads() {
        let table = [
            (
                "v1.21.9",
                "Kubernetes 1.21.9 is not supported: its kubeadm is older than v1.22.0",
            ),
            ("v1.22.0", "kubeadm.k8s.io/v1beta3"),
            ("1.30", "kubeadm.k8s.io/v1beta3"),
            ("v1.31.0-alpha.1", "kubeadm.k8s.io/v1beta4"),
            ("v1.36.3+build.1", "kubeadm.k8s.io/v1beta4"),
            ("latest", "\"latest\" is no Kubernetes version"),
        ];
        for (text, expected) in table {
            let api = parse_version(text).and_then(|it| KubeadmApi::for_kubernetes(&it));
            let shown = api.map_or_else(|it| it.to_string(), |it| it.api_version().to_owned());
            assert_eq!(shown, expected, "{text}");
        }
    }
}
