//! Who asks, and whether they may.

mod attributes;
mod authenticate;
mod authorize;
mod identity;
mod rbac;
mod review;

pub use attributes::Attributes;
pub use authenticate::{Authentication, Authenticator, TlsAuthenticator};
pub use authorize::{Authorizer, Decision, DefaultAuthorizer};
pub use identity::Identity;
pub use review::TokenIssuer;
