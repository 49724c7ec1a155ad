//! In-process admission of our kinds: what defaulting and validating webhooks would do, at the places where they would
//! be called.

use capstan_api::{
    admission::{self, Context},
    controlplane::{self, KubeadmControlPlane},
    well_known::annotation,
};
use capstan_apiserver::{Admission, AdmissionRequest, Denied, Operation};
use capstan_base::field::Error;
use capstan_infra_dev::api::{self as dev, DevCluster, DevClusterTemplate, DevMachine, DevMachineTemplate};
use serde::{Deserialize as _, Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Defaulting and validation of our kinds, by the rules of `capstan_api`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KindAdmission;

impl Admission for KindAdmission {
    fn mutate(
        &self,
        request: &AdmissionRequest<'_>,
        object: &mut Value,
        _: &mut Vec<String>,
    ) -> Result<(), Denied> {
        if !request.subresource.is_empty() {
            return Ok(());
        }
        let (group, kind) = (&request.kind.group, &request.kind.kind);
        if group == dev::GROUP {
            default_dev(kind, object);
            return Ok(());
        }
        admission::default(group, kind, object, request.old, &context(request))
            .map_err(|errors| Denied::invalid(request.kind, request.name, &errors))
    }

    fn validate(
        &self,
        request: &AdmissionRequest<'_>,
        object: Option<&Value>,
        _: &mut Vec<String>,
    ) -> Result<(), Denied> {
        let Some(object) = object.filter(|_| request.operation != Operation::Delete) else {
            return Ok(());
        };
        let (group, kind) = (&request.kind.group, &request.kind.kind);
        match request.subresource {
            "" => {
                let errors = if group == dev::GROUP {
                    validate_dev(kind, object, request)
                } else {
                    admission::validate(group, kind, object, request.old, &context(request))
                };
                if errors.is_empty() {
                    Ok(())
                } else {
                    Err(Denied::invalid(request.kind, request.name, &errors))
                }
            }
            "scale" if group == controlplane::GROUP && kind == KubeadmControlPlane::KIND => scale(object),
            _ => Ok(()),
        }
    }
}

/// Scaling a control plane is restricted: etcd has to keep a majority.
fn scale(object: &Value) -> Result<(), Denied> {
    let Ok(control_plane) = KubeadmControlPlane::deserialize(object) else {
        return Ok(());
    };
    let replicas = control_plane.spec.replicas.unwrap_or(1);
    admission::validate_kubeadm_control_plane_scale(&control_plane, replicas).map_err(Denied::forbidden)
}

fn context(request: &AdmissionRequest<'_>) -> Context {
    Context {
        dry_run: request.dry_run,
        ..Context::default()
    }
}

/// Completes an object of the dev provider.
fn default_dev(kind: &str, object: &mut Value) {
    match kind {
        DevCluster::KIND => complete(object, dev::default_cluster),
        DevClusterTemplate::KIND => complete(object, dev::default_cluster_template),
        DevMachine::KIND => complete(object, dev::default_machine),
        DevMachineTemplate::KIND => complete(object, dev::default_machine_template),
        _ => {}
    }
}

/// An object that its type cannot hold stays as it is, for the schema to refuse.
fn complete<K: Serialize + DeserializeOwned>(object: &mut Value, default: fn(&mut K)) {
    let Ok(mut typed) = K::deserialize(&*object) else {
        return;
    };
    default(&mut typed);
    if let Ok(mut completed) = serde_json::to_value(&typed) {
        object["spec"] = completed["spec"].take();
    }
}

/// Everything that is wrong with an object of the dev provider.
fn validate_dev(kind: &str, object: &Value, request: &AdmissionRequest<'_>) -> Vec<Error> {
    match kind {
        DevCluster::KIND => typed(object).map(|it| dev::validate_cluster(&it)),
        DevMachine::KIND => {
            let old = request.old.and_then(typed::<DevMachine>);
            typed(object).map(|it| dev::validate_machine(old.as_ref(), &it))
        }
        DevClusterTemplate::KIND => typed(object).map(|new| match request.old.and_then(typed) {
            Some(old) => dev::validate_cluster_template_update(&old, &new),
            None => dev::validate_cluster_template(&new),
        }),
        DevMachineTemplate::KIND => typed(object).map(|new| match request.old.and_then(typed) {
            Some(old) => {
                let annotations = &object["metadata"]["annotations"];
                let is_topology_dry_run =
                    request.dry_run && annotations.get(annotation::TOPOLOGY_DRY_RUN).is_some();
                dev::validate_machine_template_update(&old, &new, is_topology_dry_run)
            }
            None => dev::validate_machine_template(&new),
        }),
        _ => None,
    }
    .unwrap_or_default()
}

fn typed<K: DeserializeOwned>(object: &Value) -> Option<K> {
    K::deserialize(object).ok()
}
