//! Rules for Machines.
// Parity: cluster-api core/webhooks/admission/machine.go

use capstan_base::field::{Error, Path};

use super::{Admit, Context, checks};
use crate::{
    core::{GROUP, Machine, MachinePool},
    owner, well_known,
};

impl Admit for Machine {
    fn default(&mut self, _old: Option<&Self>, _context: &Context) -> Result<(), Vec<Error>> {
        checks::set_cluster_label(&mut self.metadata, &self.spec.cluster_name);
        checks::prefix_version(&mut self.spec.version);
        self.spec
            .deletion
            .node_deletion_timeout_seconds
            .get_or_insert(checks::NODE_DELETION_TIMEOUT_SECONDS);
        Ok(())
    }

    fn validate(&self, old: Option<&Self>, context: &Context) -> Vec<Error> {
        let path = Path::new("spec");
        let mut errors = Vec::new();
        // The machines of a pool boot from the pool's config.
        if owner::of_kind(&self.metadata, GROUP, MachinePool::KIND).is_none() {
            errors.extend(checks::bootstrap(&self.spec.bootstrap, &path));
        }
        let before = old.map(|it| it.spec.cluster_name.as_str());
        errors.extend(checks::immutable_cluster_name(&self.spec.cluster_name, before));
        errors.extend(checks::version(
            self.spec.version.as_deref(),
            &path.child("version"),
        ));
        let path = path.child("taints");
        errors.extend(checks::taints(&self.spec.taints, context, &path));
        if !well_known::is_control_plane(self.metadata.labels.as_ref()) {
            errors.extend(checks::worker_taints(&self.spec.taints, context, &path));
        }
        errors
    }
}
