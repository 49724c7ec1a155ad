//! The TLS side of a plane: the certificate that it shows, which may be exchanged while it runs, and the task that
//! renews the credentials of a plane that runs for months.

use std::{sync::Arc, time::Duration};

use capstan_apiserver::http::tls;
use capstan_pki::Identity;
use parking_lot::RwLock;
use rustls::{
    ServerConfig,
    crypto::ring::sign::any_supported_type,
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};

use crate::{credentials::Credentials, error::StartError};

/// How often a running plane looks whether its certificates expire.
pub(crate) const RENEWAL_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// The certificate that is shown to clients. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Shown(Arc<RwLock<Arc<CertifiedKey>>>);

impl Shown {
    pub(crate) fn new(identity: &Identity) -> Result<Self, StartError> {
        Ok(Self(Arc::new(RwLock::new(certified(identity)?))))
    }

    /// Shows another certificate to those who connect from now on.
    pub(crate) fn exchange(&self, identity: &Identity) -> Result<(), StartError> {
        *self.0.write() = certified(identity)?;
        Ok(())
    }
}

impl ResolvesServerCert for Shown {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0.read()))
    }
}

/// The TLS configuration: shows `shown`, and believes client certificates of the plane's authority.
pub(crate) fn configuration(
    shown: &Shown,
    credentials: &Credentials,
) -> Result<Arc<ServerConfig>, StartError> {
    let authorities = [credentials.authority.certificate().to_rustls()];
    tls::server_config(Arc::new(shown.clone()), &authorities)
        .map(Arc::new)
        .map_err(StartError::Tls)
}

fn certified(identity: &Identity) -> Result<Arc<CertifiedKey>, StartError> {
    let issue = |source| StartError::Issue {
        holder: "the server",
        source,
    };
    let key = identity.key.to_rustls().map_err(issue)?;
    let key = any_supported_type(&key).map_err(StartError::ServingKey)?;
    Ok(Arc::new(CertifiedKey::new(
        vec![identity.certificate.to_rustls()],
        key,
    )))
}
