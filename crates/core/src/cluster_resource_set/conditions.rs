//! What is said of a ClusterResourceSet: whether its resources are applied, and what keeps them from it.

use capstan_api::condition::{Draft, Reason, Status, Type, v1beta1};
use capstan_engine::{Lookup, Trail};

use super::{
    act::ActError,
    decide::{problems, wrong_types},
    view::View,
};

/// `ResourcesApplied`, in both styles.
pub(super) fn applied(view: &View, trail: &Trail<ActError>) -> (Draft, v1beta1::Draft) {
    use v1beta1::{Reason as Old, Severity};
    let (kind, old_kind) = (Type::ResourcesApplied, v1beta1::Type::ResourcesApplied);
    let failed = |reason, old, severity, message: String| {
        (
            Draft::new(kind, Status::False, reason, message.as_str()),
            v1beta1::Draft::no(old_kind, old, severity, message),
        )
    };
    if let Some(name) = wrong_types(view).first() {
        let message = format!("Secret type of resource {name} is not supported");
        return failed(
            Reason::WrongSecretType,
            Old::WrongSecretType,
            Severity::Warning,
            message,
        );
    }
    if let Some(error) = trail.failure() {
        let message = format!("Failed to apply ClusterResourceSet resources to Cluster: {error}");
        return failed(Reason::NotApplied, Old::ApplyFailed, Severity::Warning, message);
    }
    let problems = problems(view);
    if !problems.is_empty() {
        let is_reachable = view.targets.iter().all(|it| it.unreachable.is_none());
        let is_there = view
            .resources
            .iter()
            .all(|(_, it)| matches!(it, Lookup::Found(_)));
        let (reason, old, severity) = match (is_there, is_reachable) {
            (false, _) => (
                Reason::InternalError,
                Old::RetrievingResourceFailed,
                Severity::Warning,
            ),
            (true, false) => (
                Reason::InternalError,
                Old::RemoteClusterClientFailed,
                Severity::Error,
            ),
            (true, true) => (Reason::NotApplied, Old::ApplyFailed, Severity::Warning),
        };
        return failed(reason, old, severity, problems.join("\n"));
    }
    (
        Draft::new(kind, Status::True, Reason::Applied, ""),
        v1beta1::Draft::yes(old_kind),
    )
}
