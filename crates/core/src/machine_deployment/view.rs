//! Everything that decisions about one MachineDeployment may need.

use std::sync::Arc;

use capstan_api::{
    IntOrString,
    core::{Cluster, Machine, MachineDeployment, MachineSet, RolloutStrategyType},
};
use capstan_base::{
    Timestamp,
    int_or_percent::{IntOrPercent, Rounding},
};
use capstan_contract::External;
use capstan_engine::Lookup;

use super::{rollout::Strategy, up_to_date};

/// The snapshot of one pass.
#[derive(Debug, Clone)]
pub struct View {
    /// The time of the pass.
    pub now: Timestamp,
    /// The MachineDeployment.
    pub machine_deployment: Arc<MachineDeployment>,
    /// Its Cluster.
    pub cluster: Lookup<Arc<Cluster>>,
    /// The MachineSets that it controls, by name.
    pub machine_sets: Vec<Arc<MachineSet>>,
    /// MachineSets that match the selector and have no controller.
    pub orphans: Vec<Arc<MachineSet>>,
    /// The Machines of its MachineSets, by name.
    pub machines: Vec<Arc<Machine>>,
    /// The template of the bootstrap objects; none if the template gives a data secret instead.
    pub bootstrap_template: Option<Lookup<External>>,
    /// The template of the hosts.
    pub infrastructure_template: Lookup<External>,
}

/// More replicas than there can be: numbers above it are taken for it, so that sums over MachineSets fit.
pub(super) const MOST: i32 = i32::MAX / 64;

impl View {
    /// Is the MachineDeployment being deleted?
    pub fn is_deleting(&self) -> bool {
        self.machine_deployment.metadata.deletion_timestamp.is_some()
    }

    /// The wanted number of machines.
    pub fn replicas(&self) -> i32 {
        self.machine_deployment.spec.replicas.unwrap_or(1).min(MOST)
    }

    /// The strategy, its percentages resolved.
    pub fn strategy(&self) -> Strategy {
        let strategy = &self.machine_deployment.spec.rollout.strategy;
        if strategy.type_ == Some(RolloutStrategyType::OnDelete) {
            return Strategy::OnDelete;
        }
        let replicas = self.replicas();
        let max_surge = resolve(
            strategy.rolling_update.max_surge.as_ref(),
            1,
            replicas,
            Rounding::Up,
        );
        let max_unavailable = resolve(
            strategy.rolling_update.max_unavailable.as_ref(),
            0,
            replicas,
            Rounding::Down,
        );
        // With neither, nothing could ever move.
        let max_unavailable = if max_surge == 0 && max_unavailable == 0 {
            1
        } else {
            max_unavailable.min(replicas)
        };
        Strategy::RollingUpdate {
            max_surge,
            max_unavailable,
        }
    }

    /// The MachineSet that is what the template asks for, and all others, oldest first.
    pub fn current_and_old(&self) -> (Option<&Arc<MachineSet>>, Vec<&Arc<MachineSet>>) {
        up_to_date::current_and_old(&self.machine_deployment, &self.machine_sets, self.now)
    }

    /// The templates that are missing, by kind: no new MachineSet can be made.
    pub fn missing_templates(&self) -> Vec<String> {
        let template = &self.machine_deployment.spec.template.spec;
        let mut missing = Vec::new();
        if let (Some(lookup), Some(reference)) = (&self.bootstrap_template, &template.bootstrap.config_ref)
            && lookup.found().is_none()
        {
            missing.push(format!("{} {}", reference.kind, reference.name));
        }
        if self.infrastructure_template.found().is_none() {
            let reference = &template.infrastructure_ref;
            missing.push(format!("{} {}", reference.kind, reference.name));
        }
        missing
    }
}

fn resolve(given: Option<&IntOrString>, default: i32, total: i32, rounding: Rounding) -> i32 {
    match given {
        None => default,
        Some(IntOrString::Int(number)) => (*number).min(MOST),
        Some(IntOrString::String(text)) => text
            .parse::<IntOrPercent>()
            .map_or(default, |it| it.of(total, rounding)),
    }
}
