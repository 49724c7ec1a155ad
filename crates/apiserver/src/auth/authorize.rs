//! Whether an identity may do something.

use super::{Attributes, Identity, rbac};
use crate::registry::Registry;

/// The outcome of asking an authoriser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It may.
    Allow,
    /// Nothing says that it may.
    NoOpinion,
}

/// Decides what identities may do.
pub trait Authorizer: Send + Sync + 'static {
    /// Whether `identity` may do what `attributes` say.
    fn authorize(&self, registry: &Registry, identity: &Identity, attributes: &Attributes) -> Decision;
}

/// The members of `system:masters` and callers inside the process may do everything, everybody may see health and
/// version, everything else is for the stored RBAC objects to allow.
#[derive(Debug, Clone, Copy, Default)]
pub struct DefaultAuthorizer;

const PUBLIC: [&str; 4] = ["/healthz", "/livez", "/readyz", "/version"];

impl Authorizer for DefaultAuthorizer {
    fn authorize(&self, registry: &Registry, identity: &Identity, attributes: &Attributes) -> Decision {
        if identity.trusted || identity.is_in("system:masters") {
            return Decision::Allow;
        }
        let is_public = |path: &str| {
            PUBLIC.iter().any(|public| {
                path == *public || path.strip_prefix(public).is_some_and(|it| it.starts_with('/'))
            })
        };
        if !attributes.is_resource && attributes.verb == "get" && is_public(&attributes.path) {
            return Decision::Allow;
        }
        let allowed = rbac::rules_for(registry, identity, &attributes.namespace)
            .iter()
            .any(|rule| rbac::allows(rule, attributes));
        if allowed {
            Decision::Allow
        } else {
            Decision::NoOpinion
        }
    }
}
