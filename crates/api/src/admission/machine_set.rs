//! Rules for `MachineSets`.
// Parity: cluster-api core/webhooks/admission/machineset.go

use capstan_base::field::{Error, Path};

use super::{Admit, Context, checks, replicas};
use crate::{
    core::MachineSet,
    well_known::{label, label_value},
};

impl Admit for MachineSet {
    fn default(&mut self, old: Option<&Self>, _context: &Context) -> Result<(), Vec<Error>> {
        checks::set_cluster_label(&mut self.metadata, &self.spec.cluster_name);
        if self.spec.replicas.is_none() {
            let before = old.and_then(|it| it.spec.replicas);
            let annotations = checks::annotations_of(&self.metadata);
            self.spec.replicas = Some(replicas::defaulted(&annotations, old.is_some(), before)?);
        }
        checks::set_template_cluster(&mut self.spec.template, &self.spec.cluster_name);
        if checks::selects_the_whole_cluster(&self.spec.selector) {
            let name = label_value(self.metadata.name.as_deref().unwrap_or_default());
            checks::select_by(
                &mut self.spec.selector,
                &mut self.spec.template,
                label::SET_NAME,
                &name,
            );
            self.label_template_as_selected();
        }
        checks::prefix_version(&mut self.spec.template.spec.version);
        Ok(())
    }

    fn validate(&self, old: Option<&Self>, context: &Context) -> Vec<Error> {
        let before = old.map(|it| it.spec.cluster_name.as_str());
        let mut errors = checks::machine_template(&self.spec.template, &self.spec.cluster_name, before);
        let labels = &self.spec.template.metadata.labels;
        match checks::selector(&self.spec.selector, &Path::new("spec.selector")) {
            Err(error) => errors.push(error),
            Ok(selector) if !selector.matches(labels) => {
                let path = Path::new("spec.template.metadata.labels");
                let detail = format!("must match spec.selector {:?}", selector.to_string());
                errors.push(Error::invalid(&path, checks::shown(labels), detail));
            }
            Ok(_) => {}
        }
        errors.extend(checks::skipped_preflight_checks(&self.metadata, context));
        let path = Path::new("spec.template.spec.taints");
        errors.extend(checks::taints(&self.spec.template.spec.taints, context, &path));
        errors.extend(checks::worker_taints(
            &self.spec.template.spec.taints,
            context,
            &path,
        ));
        let path = Path::new("spec.machineNaming");
        errors.extend(checks::machine_naming(
            &self.spec.machine_naming,
            "machineSet",
            &path,
        ));
        errors
    }
}

impl MachineSet {
    /// Gives the machines the cluster's label if the selector asks for it.
    fn label_template_as_selected(&mut self) {
        let cluster = self
            .spec
            .selector
            .match_labels
            .iter()
            .flatten()
            .find(|(key, _)| *key == label::CLUSTER_NAME);
        if let Some((key, value)) = cluster {
            self.spec
                .template
                .metadata
                .labels
                .insert(key.clone(), value.clone());
        }
    }
}
