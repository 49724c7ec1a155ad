//! From credentials to identities.

use http::HeaderMap;

use super::Identity;
use crate::registry::Registry;

/// What the credentials of a request say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authentication {
    /// They are this user's.
    User(Identity),
    /// There are none.
    Anonymous,
    /// They are nobody's: 401.
    Invalid,
}

/// Finds out who a request comes from.
pub trait Authenticator: Send + Sync + 'static {
    /// `peer` is the user of the TLS client certificate, which the handshake has verified.
    fn authenticate(
        &self,
        registry: &Registry,
        headers: &HeaderMap,
        peer: Option<&Identity>,
    ) -> Authentication;
}

/// Client certificates, else nobody. Bearer tokens are refused: there is no issuer.
#[derive(Debug, Clone, Copy, Default)]
pub struct TlsAuthenticator;

impl Authenticator for TlsAuthenticator {
    fn authenticate(&self, _: &Registry, headers: &HeaderMap, peer: Option<&Identity>) -> Authentication {
        match peer {
            Some(identity) => Authentication::User(identity.clone()),
            None if headers.contains_key(http::header::AUTHORIZATION) => Authentication::Invalid,
            None => Authentication::Anonymous,
        }
    }
}
