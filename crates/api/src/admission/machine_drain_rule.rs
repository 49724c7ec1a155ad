//! Rules for `MachineDrainRules`.
// Parity: cluster-api core/webhooks/admission/machinedrainrules.go

use capstan_base::field::{Error, Path};

use super::{Admit, Context, checks};
use crate::core::{DrainBehavior, MachineDrainRule};

impl Admit for MachineDrainRule {
    fn validate(&self, _old: Option<&Self>, _context: &Context) -> Vec<Error> {
        let mut errors = Vec::new();
        let ordered = !matches!(
            self.spec.drain.behavior,
            Some(DrainBehavior::Skip | DrainBehavior::WaitCompleted)
        );
        if let Some(order) = self.spec.drain.order.filter(|_| !ordered) {
            let detail = "order must not be set if drain behavior is \"Skip\" or \"WaitCompleted\"";
            errors.push(Error::invalid(&Path::new("spec.drain.order"), order, detail));
        }
        let machines = Path::new("spec.machines");
        let pods = Path::new("spec.pods");
        let mut selectors = Vec::new();
        for (index, each) in self.spec.machines.iter().enumerate() {
            selectors.push((machines.index(index).child("selector"), &each.selector));
            selectors.push((
                machines.index(index).child("clusterSelector"),
                &each.cluster_selector,
            ));
        }
        for (index, each) in self.spec.pods.iter().enumerate() {
            selectors.push((pods.index(index).child("selector"), &each.selector));
            selectors.push((
                pods.index(index).child("namespaceSelector"),
                &each.namespace_selector,
            ));
        }
        for (path, selector) in selectors {
            errors.extend(selector.iter().filter_map(|it| checks::selector(it, &path).err()));
        }
        errors
    }
}
