//! Rules for `MachinePools`.
// Parity: cluster-api core/webhooks/admission/machinepool.go

use capstan_base::field::{Error, Path};

use super::{Admit, Context, checks, replicas};
use crate::{core::MachinePool, feature::Feature};

impl Admit for MachinePool {
    fn default(&mut self, old: Option<&Self>, _context: &Context) -> Result<(), Vec<Error>> {
        checks::set_cluster_label(&mut self.metadata, &self.spec.cluster_name);
        if self.spec.replicas.is_none() {
            let before = old.and_then(|it| it.spec.replicas);
            let annotations = checks::annotations_of(&self.metadata);
            self.spec.replicas = Some(replicas::defaulted(&annotations, old.is_some(), before)?);
        }
        checks::set_template_cluster(&mut self.spec.template, &self.spec.cluster_name);
        let machine = &mut self.spec.template.spec;
        machine
            .deletion
            .node_deletion_timeout_seconds
            .get_or_insert(checks::NODE_DELETION_TIMEOUT_SECONDS);
        checks::prefix_version(&mut machine.version);
        Ok(())
    }

    fn validate(&self, old: Option<&Self>, context: &Context) -> Vec<Error> {
        if !context.features.is_on(Feature::MachinePool) {
            let detail = "can be set only if the MachinePool feature flag is enabled";
            return vec![Error::forbidden(&Path::new("spec"), detail)];
        }
        let before = old.map(|it| it.spec.cluster_name.as_str());
        let mut errors = checks::machine_template(&self.spec.template, &self.spec.cluster_name, before);
        if !self.spec.template.spec.taints.is_empty() {
            let path = Path::new("spec.taints");
            errors.push(Error::forbidden(
                &path,
                "taints feature for MachinePools is not yet implemented",
            ));
            if !context.features.is_on(Feature::MachineTaintPropagation) {
                let detail = "taints are not allowed to be set when the feature gate MachineTaintPropagation is disabled";
                errors.push(Error::forbidden(&path, detail));
            }
        }
        errors
    }
}
