//! What can go wrong with keys and certificates.

use crate::Algorithm;

/// The cause below an [`Error`], as the library that found it reports it.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// A failure of an operation on keys, certificates or kubeconfigs. Never carries key material.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name of a key algorithm is unknown.
    #[error("unknown key algorithm {0:?}; known are ECDSA-P256, ECDSA-P384, RSA-2048, RSA-3072 and RSA-4096")]
    UnknownAlgorithm(String),
    /// A private key could not be made.
    #[error("failed to generate a private key of algorithm {algorithm}")]
    GenerateKey {
        /// The algorithm asked for.
        algorithm: Algorithm,
        /// Why.
        #[source]
        source: Cause,
    },
    /// A text holds no PEM block of the kind looked for.
    #[error("failed to find a PEM block with a {0}")]
    MissingPem(&'static str),
    /// A private key is in none of the forms PKCS#1, PKCS#8 and SEC1, or of another algorithm than RSA, P-256, P-384.
    #[error(
        "failed to parse a private key: neither RSA nor ECDSA (P-256, P-384) in PKCS#1, PKCS#8 or SEC1 form"
    )]
    ParseKey,
    /// A private key could not be written.
    #[error("failed to encode a private key")]
    EncodeKey(#[source] Cause),
    /// A certificate is malformed.
    #[error("failed to parse a certificate")]
    ParseCertificate(#[source] Cause),
    /// A certificate could not be signed.
    #[error("failed to sign the certificate of {common_name:?}")]
    SignCertificate {
        /// Whose certificate.
        common_name: String,
        /// Why.
        #[source]
        source: Cause,
    },
    /// The subject of an authority can't be repeated faithfully as the issuer of what it signs.
    #[error(
        "failed to use the certificate authority {0:?}: its subject repeats an attribute, which is not supported"
    )]
    UnsupportedAuthorityName(String),
    /// A private key does not belong to a certificate.
    #[error("the private key does not belong to the certificate of {0:?}")]
    KeyMismatch(String),
    /// A name or address can't stand in a certificate.
    #[error("{0:?} is no name or address that a certificate can carry")]
    InvalidName(String),
    /// A time lies outside what a certificate can carry.
    #[error("a certificate can't carry the time {0}")]
    TimeOutOfRange(jiff::Timestamp),
    /// A kubeconfig could not be read.
    #[error("failed to parse a kubeconfig")]
    ParseKubeconfig(#[source] Cause),
    /// A kubeconfig could not be written.
    #[error("failed to encode a kubeconfig")]
    EncodeKubeconfig(#[source] Cause),
}
