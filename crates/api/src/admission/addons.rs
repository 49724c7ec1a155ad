//! Rules for `ClusterResourceSets` and their bindings.
// Parity: cluster-api core/webhooks/admission/{clusterresourceset,clusterresourcesetbinding}.go

use capstan_base::field::{Error, Path};

use super::{Admit, Context, checks};
use crate::addons::{ClusterResourceSet, ClusterResourceSetBinding, ResourceStrategy};

impl Admit for ClusterResourceSet {
    fn default(&mut self, _old: Option<&Self>, _context: &Context) -> Result<(), Vec<Error>> {
        self.spec.strategy.get_or_insert(ResourceStrategy::ApplyOnce);
        Ok(())
    }

    fn validate(&self, old: Option<&Self>, _context: &Context) -> Vec<Error> {
        let path = Path::new("spec.clusterSelector");
        let selector = || checks::shown(&self.spec.cluster_selector);
        let mut errors = Vec::new();
        match checks::selector(&self.spec.cluster_selector, &path) {
            Err(error) => errors.push(error),
            Ok(it) if it.is_empty() => {
                errors.push(Error::invalid(&path, selector(), "selector must not be empty"));
            }
            Ok(_) => {}
        }
        let Some(old) = old else { return errors };
        if old.spec.strategy.is_some() && old.spec.strategy != self.spec.strategy {
            let value = self.spec.strategy.map_or("", ResourceStrategy::as_str);
            errors.push(Error::invalid(
                &Path::new("spec.strategy"),
                value,
                "field is immutable",
            ));
        }
        if old.spec.cluster_selector != self.spec.cluster_selector {
            errors.push(Error::invalid(&path, selector(), "field is immutable"));
        }
        errors
    }
}

impl Admit for ClusterResourceSetBinding {
    fn validate(&self, old: Option<&Self>, _context: &Context) -> Vec<Error> {
        let before = old
            .map(|it| it.spec.cluster_name.as_str())
            .filter(|it| !it.is_empty());
        if before.is_none_or(|it| it == self.spec.cluster_name) {
            return Vec::new();
        }
        let path = Path::new("spec.clusterName");
        vec![Error::invalid(
            &path,
            self.spec.cluster_name.as_str(),
            "field is immutable",
        )]
    }
}
