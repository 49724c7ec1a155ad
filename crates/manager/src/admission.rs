//! In-process admission of our kinds: what defaulting and validating webhooks would do, at the places where they would
//! be called.

use capstan_api::{
    admission::{self, Context},
    controlplane::{self, KubeadmControlPlane},
};
use capstan_apiserver::{Admission, AdmissionRequest, Denied, Operation};
use serde::Deserialize as _;
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
                let errors = admission::validate(group, kind, object, request.old, &context(request));
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
