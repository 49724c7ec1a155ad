//! Certificate authorities, certificates, service-account keys and kubeconfigs.
//!
//! Everything here is pure: the time is an argument, and keys and serial numbers come from a [`KeySource`], so that
//! the simulator gets the same bytes from the same seed. Where the results are kept is the caller's business.

mod algorithm;
mod authority;
mod certificate;
mod cluster;
mod error;
mod key;
pub mod kubeconfig;
mod secret;
mod source;

pub use algorithm::Algorithm;
pub use authority::{Authority, Identity, Request, Usage};
pub use certificate::{Certificate, Subject};
pub use cluster::{
    AuthorityOptions, CertificateSet, ClusterCertificate, DEFAULT_CERTIFICATES_DIRECTORY, ExternalEtcdFiles,
    KeyPairFiles, KeyPairPem, Purpose, TLS_CERTIFICATE_KEY, TLS_PRIVATE_KEY_KEY,
};
pub use error::Error;
pub use key::PrivateKey;
pub use kubeconfig::Kubeconfig;
pub use secret::Secret;
pub use source::{KeyPool, KeySource, SystemKeys, UniformKeys};
