//! Rules for `MachineHealthChecks`.
// Parity: cluster-api core/webhooks/admission/machinehealthcheck.go

use capstan_base::field::{Error, Path};

use super::{Admit, Context, checks};
use crate::{core::MachineHealthCheck, well_known::label};

/// How long a node may take to appear if nobody says so.
const NODE_STARTUP_TIMEOUT_SECONDS: i32 = 600;
/// The shortest time a node may be given to appear.
const MINIMUM_NODE_STARTUP_TIMEOUT_SECONDS: i32 = 30;

impl Admit for MachineHealthCheck {
    fn default(&mut self, _old: Option<&Self>, _context: &Context) -> Result<(), Vec<Error>> {
        checks::set_cluster_label(&mut self.metadata, &self.spec.cluster_name);
        self.spec
            .checks
            .node_startup_timeout_seconds
            .get_or_insert(NODE_STARTUP_TIMEOUT_SECONDS);
        Ok(())
    }

    fn validate(&self, old: Option<&Self>, _context: &Context) -> Vec<Error> {
        let path = Path::new("spec.selector");
        let mut errors = Vec::new();
        match checks::selector(&self.spec.selector, &path) {
            Err(error) => errors.push(error),
            Ok(selector) if selector.is_empty() => {
                errors.push(Error::required(&path, "selector must not be empty"));
            }
            Ok(_) => {}
        }
        let cluster = self
            .spec
            .selector
            .match_labels
            .as_ref()
            .and_then(|it| it.get(label::CLUSTER_NAME));
        if cluster.is_some_and(|it| *it != self.spec.cluster_name) {
            let detail = "cannot specify a cluster selector other than the one specified by ClusterName";
            errors.push(Error::invalid(&path, checks::shown(&self.spec.selector), detail));
        }
        let before = old.map(|it| it.spec.cluster_name.as_str());
        errors.extend(checks::immutable_cluster_name(&self.spec.cluster_name, before));
        // Zero switches the check off.
        let too_short = |it: &i32| *it != 0 && *it < MINIMUM_NODE_STARTUP_TIMEOUT_SECONDS;
        if let Some(seconds) = self.spec.checks.node_startup_timeout_seconds.filter(too_short) {
            let path = Path::new("spec.checks.nodeStartupTimeoutSeconds");
            errors.push(Error::invalid(&path, seconds, "must be at least 30s"));
        }
        let path = Path::new("spec.remediation.triggerIf.unhealthyLessThanOrEqualTo");
        let limit = self
            .spec
            .remediation
            .trigger_if
            .unhealthy_less_than_or_equal_to
            .as_ref();
        errors.extend(checks::int_or_percent(limit, &path));
        errors
    }
}
