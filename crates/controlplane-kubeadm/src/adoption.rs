//! Machines of the cluster's control plane that nobody controls: they are taken over, with the certificates that were
//! made for them.
// Parity: upstream controlplane/kubeadm/reconcilers/kubeadmcontrolplane/kubeadmcontrolplane_controller.go:adoptMachines

use std::sync::Arc;

use capstan_api::{
    bootstrap::KubeadmConfig,
    core::Machine,
    owner::{self, is_same_owner},
};
use capstan_base::Version;
use capstan_contract::with_owner;
use capstan_engine::{ObjectKey, Plan, Why};
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use serde_json::{Value, json};

use crate::{act::Action, view::View};

/// A machine that may be taken over.
#[derive(Debug, Clone)]
pub struct Orphan {
    /// The machine.
    pub machine: Arc<Machine>,
    /// Its KubeadmConfig, if that is what it refers to and it is there.
    pub config: Option<Arc<KubeadmConfig>>,
    /// The secrets of the cluster that belong to the KubeadmConfig, its bootstrap data left out.
    pub secrets: Vec<Arc<Secret>>,
}

/// Plans the take-over of all of them, or none: says whether there is something to take over, in which case nothing
/// else happens in this pass.
pub(crate) fn adopt(view: &View, plan: &mut Plan<Action>) -> bool {
    if view.orphans.is_empty() {
        return false;
    }
    if let Some(message) = view.orphans.iter().find_map(|it| obstacle(view, it)) {
        plan.waits(Why::new("AdoptionFailed", message));
        return true;
    }
    for orphan in &view.orphans {
        let machine = &orphan.machine;
        let references = with_owner(
            machine.owner_references(),
            &owner::controller(&*view.control_plane),
        );
        let Some(references) = references else { continue };
        let action = Action::Adopt {
            machine: ObjectKey::of(&**machine),
            patch: owners_patch(&references, machine.resource_version()),
            secrets: orphan
                .secrets
                .iter()
                .map(|it| over_to(view, orphan, it))
                .collect(),
        };
        let why = format!(
            "Machine {} of the control plane has no controller",
            machine.name_any()
        );
        plan.step(action, Why::new("Adopt", why));
    }
    true
}

/// The secret with the control plane in the place of the KubeadmConfig.
fn over_to(view: &View, orphan: &Orphan, secret: &Secret) -> (ObjectKey, Value) {
    let former = orphan.config.as_ref().map(|it| owner::plain(&**it));
    let mut references = secret.owner_references().to_vec();
    references.retain(|it| !former.as_ref().is_some_and(|former| is_same_owner(it, former)));
    references.push(owner::controller(&*view.control_plane));
    (
        ObjectKey::of(secret),
        owners_patch(&references, secret.resource_version()),
    )
}

fn owners_patch(references: &impl serde::Serialize, resource_version: Option<String>) -> Value {
    json!({ "metadata": { "ownerReferences": references, "resourceVersion": resource_version } })
}

/// Why a machine cannot be taken over.
fn obstacle(view: &View, orphan: &Orphan) -> Option<String> {
    let name = orphan.machine.name_any();
    if orphan.config.is_none() {
        return Some(format!(
            "Machine {name} cannot be adopted: its spec.bootstrap.configRef names no KubeadmConfig that exists"
        ));
    }
    // Without a version the user is taken to know.
    let version = orphan
        .machine
        .spec
        .version
        .as_deref()
        .filter(|it| !it.is_empty())?;
    let wanted = &view.control_plane.spec.version;
    let skew = match (Version::parse_tolerant(version), Version::parse_tolerant(wanted)) {
        (Ok(has), Ok(wanted)) => has.minors_ahead_of(&wanted),
        _ => None,
    };
    let is_near = skew.is_some_and(|it| it.abs() <= 1);
    (!is_near).then(|| {
        format!(
            "Machine {name} cannot be adopted: its spec.version {version} is more than one minor version away from spec.version {wanted}"
        )
    })
}
