//! Which kubeadm API version belongs to which Kubernetes version.

use capstan_base::Version;

/// A Kubernetes version whose kubeadm reads nothing that is still written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Kubernetes {0} is not supported: its kubeadm is older than v1.22.0")]
pub struct UnsupportedVersion(pub Version);

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
        match (version.major(), version.minor()) {
            (0, _) | (1, 0..22) => Err(UnsupportedVersion(version.clone())),
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
                "Kubernetes v1.21.9 is not supported: its kubeadm is older than v1.22.0",
            ),
            ("v1.22.0", "kubeadm.k8s.io/v1beta3"),
            ("1.30", "kubeadm.k8s.io/v1beta3"),
            ("v1.31.0-alpha.1", "kubeadm.k8s.io/v1beta4"),
            ("v1.36.3+build.1", "kubeadm.k8s.io/v1beta4"),
        ];
        for (text, expected) in table {
            let version = Version::parse_tolerant(text).expect("a version");
            let api = KubeadmApi::for_kubernetes(&version);
            let shown = api.map_or_else(|it| it.to_string(), |it| it.api_version().to_owned());
            assert_eq!(shown, expected, "{text}");
        }
    }
}
