//! Checks before a MachineSet makes a Machine: is the control plane in a state in which a new worker can join it?
// Parity: upstream core/reconcilers/machineset/machineset_preflight.go

use capstan_api::well_known;
use capstan_base::version::Version;
use kube::ResourceExt;

use super::view::View;

/// The reasons to wait, in the words of the conditions; empty if a Machine may be made.
pub(super) fn blockers(view: &View) -> Vec<String> {
    let skipped = skipped(view);
    let is_skipped = |check: &str| skipped.iter().any(|it| it == "All" || it == check);
    let Some(control_plane) = view.control_plane.as_ref().and_then(|it| it.found()) else {
        return Vec::new();
    };
    let contract = control_plane.control_plane();
    let wanted = contract
        .version()
        .ok()
        .flatten()
        .and_then(|it| Version::parse_tolerant(&it).ok());
    let Some(control_plane_version) = wanted else {
        return Vec::new();
    };
    let mut blockers = Vec::new();
    let name = format!("{} {}", control_plane.kind.kind, control_plane.object.name_any());
    if !is_skipped("ControlPlaneIsStable") {
        if contract.is_provisioning().unwrap_or(true) {
            blockers.push(format!(
                "{name} is provisioning (\"ControlPlaneIsStable\" preflight check failed)"
            ));
        } else if contract.is_upgrading().unwrap_or(true) {
            blockers.push(format!(
                "{name} is upgrading (\"ControlPlaneIsStable\" preflight check failed)"
            ));
        }
    }
    let version = view.machine_set.spec.template.spec.version.as_deref();
    let version = version.and_then(|it| Version::parse_tolerant(it).ok());
    let Some(version) = version else { return blockers };
    let (mine, theirs) = (version.minor(), control_plane_version.minor());
    if !is_skipped("KubernetesVersionSkew") {
        if mine > theirs {
            blockers.push(format!(
                "MachineSet version ({version}) and ControlPlane version ({control_plane_version}) do not conform to the \
                 kubernetes version skew policy as MachineSet version is higher than ControlPlane version \
                 (\"KubernetesVersionSkew\" preflight check failed)"
            ));
        } else if mine + 3 < theirs {
            blockers.push(format!(
                "MachineSet version ({version}) and ControlPlane version ({control_plane_version}) do not conform to the \
                 kubernetes version skew policy as MachineSet version is more than 3 minor versions older than the \
                 ControlPlane version (\"KubernetesVersionSkew\" preflight check failed)"
            ));
        }
    }
    let config = view.machine_set.spec.template.spec.bootstrap.config_ref.as_ref();
    let is_kubeadm = config.is_some_and(|it| it.kind == "KubeadmConfigTemplate");
    if is_kubeadm && mine != theirs && !is_skipped("KubeadmVersionSkew") {
        blockers.push(format!(
            "MachineSet version ({version}) and ControlPlane version ({control_plane_version}) do not conform to kubeadm \
             version skew policy as kubeadm only supports joining with the same major+minor version as the control \
             plane (\"KubeadmVersionSkew\" preflight check failed)"
        ));
    }
    blockers
}

/// The checks that annotations switch off: of the set, or else of its bootstrap template.
fn skipped(view: &View) -> Vec<String> {
    let key = well_known::annotation::SKIP_PREFLIGHT_CHECKS;
    let own = view.machine_set.annotations().get(key).cloned();
    let list = own.or_else(|| {
        let template = view.bootstrap_template.as_ref()?.found()?;
        template.object.annotations().get(key).cloned()
    });
    let list = list.unwrap_or_default();
    list.split(',')
        .map(|it| it.trim().to_owned())
        .filter(|it| !it.is_empty())
        .collect()
}
