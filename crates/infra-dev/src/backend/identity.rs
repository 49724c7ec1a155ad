//! Certificates of a workload cluster: who it is, and who may call.

use std::{fmt, io, sync::Arc};

use capstan_apiserver::Identity;
use capstan_base::{Clock, Timestamp};
use capstan_pki::{Algorithm, Authority, Certificate, KeyPairPem, KeySource, Request};
use capstan_workload::{Call, ClockTime};
use rustls::{RootCertStore, ServerConfig, pki_types::CertificateDer, server::WebPkiClientVerifier};

/// The certificate authorities of a workload cluster, as the management plane's Secrets hold them.
#[derive(Clone)]
pub struct Authorities {
    /// Signs the API server's certificate and its clients'.
    pub cluster: Arc<Authority>,
    /// Signs etcd's certificates and its clients'.
    pub etcd: Arc<Authority>,
}

impl fmt::Debug for Authorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authorities(..)")
    }
}

impl Authorities {
    /// The authorities in the pairs of the cluster's CA and of its etcd CA.
    pub fn read(cluster: &KeyPairPem, etcd: &KeyPairPem) -> Result<Self, capstan_pki::Error> {
        let read = |pair: &KeyPairPem| {
            Authority::from_pem(pair.certificate.as_bytes(), pair.key.expose().as_bytes()).map(Arc::new)
        };
        Ok(Self {
            cluster: read(cluster)?,
            etcd: read(etcd)?,
        })
    }
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A TLS configuration with a new serving certificate of `authority` for `names`, that wants clients to have
/// certificates of the same authority (`clients_must`) or takes them if they have.
pub(crate) fn server_config(
    authority: &Authority,
    common_name: &str,
    names: Vec<String>,
    clients_must: bool,
    clock: &Arc<dyn Clock>,
    keys: &dyn KeySource,
) -> Result<ServerConfig, Failure> {
    let request = Request::server(common_name, names);
    let serving = authority.issue(&request, Algorithm::EcdsaP256, clock.now(), keys)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(authority.certificate().to_rustls())?;
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let verifier = if clients_must {
        verifier
    } else {
        verifier.allow_unauthenticated()
    };
    let mut config = ServerConfig::builder_with_details(provider, Arc::new(ClockTime(Arc::clone(clock))))
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(verifier.build()?)
        .with_single_cert(vec![serving.certificate.to_rustls()], serving.key.to_rustls()?)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Who the owner of a verified client certificate is: common name and organisation.
pub(crate) fn identity_of(certificate: &CertificateDer<'_>) -> Option<Identity> {
    Certificate::from_der(certificate).ok().map(|it| named(&it))
}

fn named(certificate: &Certificate) -> Identity {
    let subject = certificate.subject();
    Identity::user(subject.common_name.clone(), subject.organizations.iter().cloned())
}

/// What TLS would find of a call that comes through a pipe: that the caller trusts `authority`, and who it is.
pub(crate) fn authenticate(
    call: &Call,
    authority: &Authority,
    now: Timestamp,
) -> io::Result<Option<Identity>> {
    let refuse = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
    let trusted = call.certificate_authority.as_deref().unwrap_or_default();
    let trusted = Certificate::all_from_pem(trusted).map_err(io::Error::other)?;
    if !trusted.iter().any(|it| it.der() == authority.certificate().der()) {
        return Err(refuse(
            "the server's certificate is signed by an unknown authority",
        ));
    }
    let Some(pem) = &call.client_certificate else {
        return Ok(None);
    };
    let certificate = Certificate::from_pem(pem).map_err(io::Error::other)?;
    if !certificate.is_signed_by(authority.certificate()) {
        return Err(refuse(
            "the client's certificate is signed by an unknown authority",
        ));
    }
    if now < certificate.not_before() || now > certificate.not_after() {
        return Err(refuse("the client's certificate is expired or not yet valid"));
    }
    Ok(Some(named(&certificate)))
}
