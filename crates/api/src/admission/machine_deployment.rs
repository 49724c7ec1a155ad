//! Rules for `MachineDeployments`.
// Parity: cluster-api core/webhooks/admission/machinedeployment.go

use capstan_base::field::{Error, Path};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::{Admit, Context, checks, replicas};
use crate::{
    core::{MachineDeployment, RollingUpdate, RolloutStrategyType},
    well_known::label,
};

impl Admit for MachineDeployment {
    fn default(&mut self, old: Option<&Self>, _context: &Context) -> Result<(), Vec<Error>> {
        checks::set_cluster_label(&mut self.metadata, &self.spec.cluster_name);
        if self.spec.replicas.is_none() {
            let before = old.and_then(|it| it.spec.replicas);
            let annotations = checks::annotations_of(&self.metadata);
            self.spec.replicas = Some(replicas::defaulted(&annotations, old.is_some(), before)?);
        }
        let strategy = &mut self.spec.rollout.strategy;
        if *strategy.type_.get_or_insert(RolloutStrategyType::RollingUpdate)
            == RolloutStrategyType::RollingUpdate
        {
            strategy
                .rolling_update
                .max_surge
                .get_or_insert(IntOrString::Int(1));
            strategy
                .rolling_update
                .max_unavailable
                .get_or_insert(IntOrString::Int(0));
        }
        let (selector, template) = (&mut self.spec.selector, &mut self.spec.template);
        checks::set_template_cluster(template, &self.spec.cluster_name);
        if checks::selects_the_whole_cluster(selector) {
            let name = self.metadata.name.clone().unwrap_or_default();
            checks::select_by(selector, template, label::DEPLOYMENT_NAME, &name);
        }
        checks::select_by(selector, template, label::CLUSTER_NAME, &self.spec.cluster_name);
        checks::prefix_version(&mut template.spec.version);
        Ok(())
    }

    fn validate(&self, old: Option<&Self>, context: &Context) -> Vec<Error> {
        let mut errors = checks::name_is_label_value(&self.metadata, "must be a valid label value:");
        let before = old.map(|it| it.spec.cluster_name.as_str());
        errors.extend(checks::machine_template(
            &self.spec.template,
            &self.spec.cluster_name,
            before,
        ));
        match checks::selector(&self.spec.selector, &Path::new("spec.selector")) {
            Err(error) => errors.push(error),
            Ok(selector) if !selector.matches(&self.spec.template.metadata.labels) => {
                let path = Path::new("spec.template.metadata.labels");
                errors.push(Error::forbidden(
                    &path,
                    format!("must match spec.selector {:?}", selector.to_string()),
                ));
            }
            Ok(_) => {}
        }
        errors.extend(checks::skipped_preflight_checks(&self.metadata, context));
        errors.extend(rolling_update(&self.spec.rollout.strategy.rolling_update));
        let path = Path::new("spec.remediation.maxInFlight");
        errors.extend(checks::int_or_percent(
            self.spec.remediation.max_in_flight.as_ref(),
            &path,
        ));
        let path = Path::new("spec.machineNaming");
        // Machines are made by MachineSets, so a deployment's template speaks of its MachineSet.
        errors.extend(checks::machine_naming(
            &self.spec.machine_naming,
            "machineSet",
            &path,
        ));
        let path = Path::new("spec.template.spec.taints");
        errors.extend(checks::taints(&self.spec.template.spec.taints, context, &path));
        errors.extend(checks::worker_taints(
            &self.spec.template.spec.taints,
            context,
            &path,
        ));
        errors
    }
}

fn rolling_update(rolling_update: &RollingUpdate) -> Vec<Error> {
    let path = Path::new("spec.rollout.strategy.rollingUpdate");
    let RollingUpdate {
        max_unavailable,
        max_surge,
    } = rolling_update;
    let mut errors = checks::int_or_percent(max_unavailable.as_ref(), &path.child("maxUnavailable"));
    errors.extend(checks::int_or_percent(
        max_surge.as_ref(),
        &path.child("maxSurge"),
    ));
    if *max_unavailable == Some(IntOrString::Int(0)) && *max_surge == Some(IntOrString::Int(0)) {
        errors.push(Error::invalid(
            &path,
            "0",
            "maxUnavailable and maxSurge cannot both be 0",
        ));
    }
    errors
}
