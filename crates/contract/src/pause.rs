//! The pause gate of every Cluster API object.

use capstan_api::{core::Cluster, well_known};
use capstan_engine::Pause;
use kube::{Resource, ResourceExt};

/// Whether an object may be reconciled: its Cluster is not paused, and it does not carry the pause annotation (whose
/// value does not matter). The sentence names which of both holds, in upstream's words.
// Parity: upstream util/paused/paused.go
pub fn pause<K: Resource<DynamicType = ()>>(cluster: Option<&Cluster>, object: &K) -> Pause {
    let mut reasons = Vec::new();
    if cluster.is_some_and(|it| it.spec.paused == Some(true)) {
        reasons.push("Cluster spec.paused is set to true".to_owned());
    }
    if object.annotations().contains_key(well_known::annotation::PAUSED) {
        reasons.push(format!(
            "{} has the {} annotation",
            K::kind(&()),
            well_known::annotation::PAUSED
        ));
    }
    if reasons.is_empty() {
        Pause::Running
    } else {
        Pause::Paused(reasons.join(", "))
    }
}
