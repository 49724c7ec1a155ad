//! The certificates that a workload cluster stands on: their secrets, their files, their making.
//! Source of the forms: upstream `util/secret/certificates.go` and `util/secret/consts.go`.

use jiff::{SignedDuration, Timestamp};

use crate::{Algorithm, Authority, Error, KeySource, Secret};

/// The data key of a secret that holds a certificate (or, for service accounts, a public key).
pub const TLS_CERTIFICATE_KEY: &str = "tls.crt";
/// The data key of a secret that holds a private key.
pub const TLS_PRIVATE_KEY_KEY: &str = "tls.key";
/// Where kubeadm keeps its certificates unless told otherwise.
pub const DEFAULT_CERTIFICATES_DIRECTORY: &str = "/etc/kubernetes/pki";
/// The common name of every generated authority of a workload cluster.
const AUTHORITY_NAME: &str = "kubernetes";
/// How long a generated authority is valid unless the cluster says otherwise: ten years of 365 days.
const DEFAULT_AUTHORITY_DAYS: u16 = 3650;

/// What a secret of a cluster is for; its name ends with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// The authority of the API server, kubelets and clients.
    ClusterAuthority,
    /// The authority of etcd.
    EtcdAuthority,
    /// The key pair that signs service-account tokens.
    ServiceAccount,
    /// The authority of the front proxy.
    FrontProxyAuthority,
    /// The client pair with which the API server reaches an external etcd; always supplied by the user.
    ApiServerEtcdClient,
    /// The administrator's kubeconfig.
    Kubeconfig,
}

impl Purpose {
    /// The suffix in the secret's name.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::ClusterAuthority => "ca",
            Self::EtcdAuthority => "etcd",
            Self::ServiceAccount => "sa",
            Self::FrontProxyAuthority => "proxy",
            Self::ApiServerEtcdClient => "apiserver-etcd-client",
            Self::Kubeconfig => "kubeconfig",
        }
    }

    /// The name of the secret in the cluster's namespace.
    pub fn secret_name(self, cluster: &str) -> String {
        format!("{cluster}-{}", self.suffix())
    }
}

/// A certificate and its private key as they stand in a secret. A service account's `certificate` is a public key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeyPairPem {
    /// What `tls.crt` holds.
    pub certificate: String,
    /// What `tls.key` holds; empty where only the certificate is known.
    pub key: Secret,
}

/// The choices a cluster has about its generated pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AuthorityOptions {
    /// For how many days authorities are valid; ten years if not said.
    pub validity_days: Option<u16>,
    /// The algorithm of every key.
    pub algorithm: Algorithm,
}

/// Where a pair lies on a control-plane host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPairFiles {
    /// The path of the certificate or public key.
    pub certificate: String,
    /// The path of the private key; `None` where the host must not have it.
    pub key: Option<String>,
}

/// One pair that a host needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterCertificate {
    /// What it is for.
    pub purpose: Purpose,
    /// Where it goes.
    pub files: KeyPairFiles,
    /// Whether the user has to supply it, so that it is never generated and its key may be missing.
    pub is_external: bool,
}

impl ClusterCertificate {
    fn own(purpose: Purpose, certificate: String, key: String) -> Self {
        Self {
            purpose,
            files: KeyPairFiles {
                certificate,
                key: Some(key),
            },
            is_external: false,
        }
    }

    /// Makes the pair. `None` for what only users can supply.
    pub fn generate(
        &self,
        options: AuthorityOptions,
        now: Timestamp,
        keys: &dyn KeySource,
    ) -> Result<Option<KeyPairPem>, Error> {
        match self.purpose {
            Purpose::ApiServerEtcdClient | Purpose::Kubeconfig => Ok(None),
            _ if self.is_external => Ok(None),
            Purpose::ServiceAccount => {
                let key = keys.key(options.algorithm)?;
                Ok(Some(KeyPairPem {
                    certificate: key.public_key_pem()?,
                    key: key.to_pem()?,
                }))
            }
            Purpose::ClusterAuthority | Purpose::EtcdAuthority | Purpose::FrontProxyAuthority => {
                let days = options.validity_days.unwrap_or(DEFAULT_AUTHORITY_DAYS);
                let validity = SignedDuration::from_hours(24 * i64::from(days));
                let authority = Authority::generate(AUTHORITY_NAME, options.algorithm, validity, now, keys)?;
                Ok(Some(KeyPairPem {
                    certificate: authority.certificate().to_pem(),
                    key: authority.key().to_pem()?,
                }))
            }
        }
    }

    /// Why a pair that was found can't be used, if it can't.
    pub fn missing_part(&self, pair: &KeyPairPem) -> Option<&'static str> {
        if pair.certificate.is_empty() {
            Some(TLS_CERTIFICATE_KEY)
        } else if pair.key.is_empty() && !self.is_external && self.files.key.is_some() {
            Some(TLS_PRIVATE_KEY_KEY)
        } else {
            None
        }
    }
}

/// Where an external etcd's files go, from `clusterConfiguration.etcd.external`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalEtcdFiles {
    /// `caFile`.
    pub authority: String,
    /// `certFile`.
    pub certificate: String,
    /// `keyFile`.
    pub key: String,
}

/// The pairs that one kind of host needs, in the order in which their files are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateSet(pub Vec<ClusterCertificate>);

impl CertificateSet {
    /// What a control-plane host needs, the first as well as those that join.
    pub fn for_control_plane(directory: Option<&str>, external_etcd: Option<&ExternalEtcdFiles>) -> Self {
        let directory = directory
            .unwrap_or(DEFAULT_CERTIFICATES_DIRECTORY)
            .trim_end_matches('/');
        let own = |purpose, certificate: &str, key: &str| {
            ClusterCertificate::own(
                purpose,
                format!("{directory}/{certificate}"),
                format!("{directory}/{key}"),
            )
        };
        let etcd = match external_etcd {
            None => own(Purpose::EtcdAuthority, "etcd/ca.crt", "etcd/ca.key"),
            Some(files) => ClusterCertificate {
                purpose: Purpose::EtcdAuthority,
                files: KeyPairFiles {
                    certificate: files.authority.clone(),
                    key: None,
                },
                is_external: true,
            },
        };
        let mut all = vec![
            own(Purpose::ClusterAuthority, "ca.crt", "ca.key"),
            etcd,
            own(
                Purpose::FrontProxyAuthority,
                "front-proxy-ca.crt",
                "front-proxy-ca.key",
            ),
            own(Purpose::ServiceAccount, "sa.pub", "sa.key"),
        ];
        all.extend(external_etcd.map(|files| ClusterCertificate {
            purpose: Purpose::ApiServerEtcdClient,
            files: KeyPairFiles {
                certificate: files.certificate.clone(),
                key: Some(files.key.clone()),
            },
            is_external: true,
        }));
        Self(all)
    }

    /// What a worker needs: the cluster authority's certificate, without its key.
    pub fn for_worker(authority_path: Option<&str>) -> Self {
        let certificate = authority_path.map_or_else(
            || format!("{DEFAULT_CERTIFICATES_DIRECTORY}/ca.crt"),
            str::to_owned,
        );
        Self(vec![ClusterCertificate {
            purpose: Purpose::ClusterAuthority,
            files: KeyPairFiles {
                certificate,
                key: None,
            },
            is_external: false,
        }])
    }
}
