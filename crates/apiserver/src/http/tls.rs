//! TLS: the listener's configuration, and who a client certificate says that a client is.

use std::sync::Arc;

use rustls::{
    RootCertStore, ServerConfig, ServerConnection,
    server::{ResolvesServerCert, WebPkiClientVerifier},
};
use rustls_pki_types::CertificateDer;
use thiserror::Error;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::auth::Identity;

/// Why TLS cannot be configured.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A certificate of the client CA is malformed.
    #[error("failed to read the client CA")]
    ClientAuthority(#[source] rustls::Error),
    /// The verifier of client certificates cannot be made.
    #[error("failed to set up the verification of client certificates")]
    Verifier(#[source] rustls::server::VerifierBuilderError),
    /// The protocol versions are not supported by the crypto provider.
    #[error("failed to set up TLS")]
    Protocol(#[source] rustls::Error),
}

/// A configuration that offers HTTP/2 and HTTP/1.1 and takes client certificates of `client_authorities`, if the
/// client has one. A certificate of another authority fails the handshake.
///
/// # Errors
/// Malformed certificates.
pub fn server_config(
    certificates: Arc<dyn ResolvesServerCert>,
    client_authorities: &[CertificateDer<'static>],
) -> Result<ServerConfig, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Protocol)?;
    let builder = if client_authorities.is_empty() {
        builder.with_no_client_auth()
    } else {
        let mut roots = RootCertStore::empty();
        for certificate in client_authorities {
            roots
                .add(certificate.clone())
                .map_err(TlsError::ClientAuthority)?;
        }
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
            .allow_unauthenticated()
            .build()
            .map_err(TlsError::Verifier)?;
        builder.with_client_cert_verifier(verifier)
    };
    let mut config = builder.with_cert_resolver(certificates);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The user of the client certificate: common name and organisations.
pub(super) fn peer_identity(connection: &ServerConnection) -> Option<Identity> {
    let certificate = connection.peer_certificates()?.first()?;
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    let subject = certificate.subject();
    let name = subject.iter_common_name().next()?.as_str().ok()?;
    let groups = subject
        .iter_organization()
        .filter_map(|it| it.as_str().ok())
        .map(str::to_owned);
    Some(Identity::user(name, groups))
}
