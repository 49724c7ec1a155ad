//! Adding an owner to an object that somebody else may be changing too.

use capstan_api::owner::is_same_owner;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

/// The owner references of an object once `wanted` is among them: a reference to the same owner is replaced, which also
/// brings its API version and UID up to date. None if nothing changes.
pub fn with_owner(current: &[OwnerReference], wanted: &OwnerReference) -> Option<Vec<OwnerReference>> {
    let mut references = current.to_vec();
    match references.iter_mut().find(|it| is_same_owner(it, wanted)) {
        Some(present) => present.clone_from(wanted),
        None => references.push(wanted.clone()),
    }
    (references != current).then_some(references)
}
