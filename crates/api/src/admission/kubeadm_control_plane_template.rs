//! Rules for `KubeadmControlPlaneTemplates`.
// Parity: cluster-api controlplane/kubeadm/webhooks/admission/kubeadmcontrolplanetemplate.go

use capstan_base::field::{Error, Path};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::{Admit, Context, bootstrap, checks, kubeadm_control_plane};
use crate::{
    controlplane::{
        ControlPlaneRollingUpdate, ControlPlaneRolloutStrategy, ControlPlaneRolloutStrategyType,
        KubeadmControlPlaneTemplate, KubeadmControlPlaneTemplateResourceSpec,
    },
    feature::Feature,
};

impl Admit for KubeadmControlPlaneTemplate {
    fn validate(&self, old: Option<&Self>, context: &Context) -> Vec<Error> {
        match old {
            Some(old) => unchanged(&old.spec.template.spec, &self.spec.template.spec),
            None => created(self, context),
        }
    }
}

fn created(template: &KubeadmControlPlaneTemplate, context: &Context) -> Vec<Error> {
    if !context.features.is_on(Feature::ClusterTopology) {
        let detail = "can be set only if the ClusterTopology feature flag is enabled";
        return vec![Error::forbidden(&Path::new("spec"), detail)];
    }
    let resource = &template.spec.template;
    let spec = &resource.spec;
    let config = &spec.kubeadm_config_spec;
    let path = Path::new("spec.template.spec");
    let mut errors =
        kubeadm_control_plane::rollout(&spec.rollout, &config.cluster_configuration, None, &path);
    errors.extend(checks::machine_naming(
        &spec.machine_naming,
        "kubeadmControlPlane",
        &path.child("machineNaming"),
    ));
    let machines = path.child("machineTemplate");
    errors.extend(checks::taints(
        &spec.machine_template.spec.taints,
        context,
        &machines.child("spec.taints"),
    ));
    errors.extend(checks::template_metadata(
        &spec.machine_template.metadata,
        &machines.child("metadata"),
    ));
    let path = path.child("kubeadmConfigSpec");
    let configuration = path.child("clusterConfiguration");
    errors.extend(kubeadm_control_plane::cluster_configuration(
        &config.cluster_configuration,
        None,
        &configuration,
    ));
    errors.extend(bootstrap::config(config, context, &path));
    errors.extend(bootstrap::control_plane_timeouts(config, &path));
    errors.extend(checks::template_metadata(
        &resource.metadata,
        &Path::new("spec.template.metadata"),
    ));
    errors
}

/// A template does not change, but one that an older version defaulted equals one without those defaults.
fn unchanged(
    old: &KubeadmControlPlaneTemplateResourceSpec,
    new: &KubeadmControlPlaneTemplateResourceSpec,
) -> Vec<Error> {
    let (mut old, mut new) = (old.clone(), new.clone());
    bootstrap::fill_in_old_defaults(&mut old.kubeadm_config_spec);
    bootstrap::fill_in_old_defaults(&mut new.kubeadm_config_spec);
    let defaulted = ControlPlaneRolloutStrategy {
        type_: Some(ControlPlaneRolloutStrategyType::RollingUpdate),
        rolling_update: ControlPlaneRollingUpdate {
            max_surge: Some(IntOrString::Int(1)),
        },
    };
    if new.rollout.strategy == ControlPlaneRolloutStrategy::default() && old.rollout.strategy == defaulted {
        new.rollout.strategy = defaulted;
    }
    if old == new {
        return Vec::new();
    }
    let detail = "KubeadmControlPlaneTemplate spec.template.spec field is immutable. Please create new resource instead.";
    // What changed is named, not shown: it may be secret.
    let changed = kubeadm_control_plane::changed_paths(&checks::shown(&old), &checks::shown(&new));
    let changed: Vec<String> = changed.iter().map(|it| it.join(".")).collect();
    vec![Error::invalid(&Path::new("spec.template.spec"), changed, detail)]
}
