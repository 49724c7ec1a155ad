//! Defaulting and validation of every kind: what upstream's webhooks do, as pure functions over the hub version.
//!
//! [`default()`] runs before an object is checked against its schema, so that what introductions to Cluster API leave
//! out is filled in first; [`validate()`] runs after. An object that its kind's struct cannot hold is left as it is,
//! for the schema to refuse.
//!
//! # What keeps two pools of one cluster apart
//! A `MachineDeployment` whose selector is left out, or names nothing but the cluster, gets the label
//! `cluster.x-k8s.io/deployment-name` in its selector and in its machines' labels. Two such pools then never select
//! each other's machines. The controllers don't rely on selectors alone: a `MachineSet`'s selector also has its
//! template's hash, which differs between deployments, and what another object controls is never adopted.

mod addons;
mod bootstrap;
mod checks;
mod cluster;
mod extension_config;
mod infrastructure;
mod ipam;
mod kubeadm_control_plane;
mod kubeadm_control_plane_template;
mod machine;
mod machine_deployment;
mod machine_drain_rule;
mod machine_health_check;
mod machine_pool;
mod machine_set;
mod overlay;
mod replicas;

pub use kubeadm_control_plane::validate_scale as validate_kubeadm_control_plane_scale;

use capstan_base::field::Error;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    addons as addon_kinds, bootstrap as bootstrap_kinds, controlplane, core, feature::Features,
    infrastructure as infrastructure_kinds, ipam as ipam_kinds, runtime,
};

/// What defaulting and validation depend on besides the objects.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// Which features are on.
    pub features: Features,
    /// Whether nothing will be stored.
    pub dry_run: bool,
}

/// A kind with rules of its own.
trait Admit: Serialize + DeserializeOwned {
    /// Fills in what was left out. `old` is the object before an update.
    fn default(&mut self, old: Option<&Self>, context: &Context) -> Result<(), Vec<Error>> {
        let _ = (old, context);
        Ok(())
    }

    /// Says what is wrong. `old` is the object before an update.
    fn validate(&self, old: Option<&Self>, context: &Context) -> Vec<Error>;
}

/// Calls a function for the kind named by group and kind, or gives `$otherwise` for a kind without rules.
macro_rules! for_kind {
    ($group:expr, $kind:expr, $function:ident($($argument:expr),*), $otherwise:expr) => {
        match ($group, $kind) {
            (core::GROUP, core::Cluster::KIND) => $function::<core::Cluster>($($argument),*),
            (core::GROUP, core::Machine::KIND) => $function::<core::Machine>($($argument),*),
            (core::GROUP, core::MachineSet::KIND) => $function::<core::MachineSet>($($argument),*),
            (core::GROUP, core::MachineDeployment::KIND) => $function::<core::MachineDeployment>($($argument),*),
            (core::GROUP, core::MachinePool::KIND) => $function::<core::MachinePool>($($argument),*),
            (core::GROUP, core::MachineHealthCheck::KIND) => $function::<core::MachineHealthCheck>($($argument),*),
            (core::GROUP, core::MachineDrainRule::KIND) => $function::<core::MachineDrainRule>($($argument),*),
            (addon_kinds::GROUP, addon_kinds::ClusterResourceSet::KIND) => {
                $function::<addon_kinds::ClusterResourceSet>($($argument),*)
            }
            (addon_kinds::GROUP, addon_kinds::ClusterResourceSetBinding::KIND) => {
                $function::<addon_kinds::ClusterResourceSetBinding>($($argument),*)
            }
            (ipam_kinds::GROUP, ipam_kinds::IPAddress::KIND) => $function::<ipam_kinds::IPAddress>($($argument),*),
            (ipam_kinds::GROUP, ipam_kinds::IPAddressClaim::KIND) => {
                $function::<ipam_kinds::IPAddressClaim>($($argument),*)
            }
            (runtime::GROUP, runtime::ExtensionConfig::KIND) => $function::<runtime::ExtensionConfig>($($argument),*),
            (bootstrap_kinds::GROUP, bootstrap_kinds::KubeadmConfig::KIND) => {
                $function::<bootstrap_kinds::KubeadmConfig>($($argument),*)
            }
            (bootstrap_kinds::GROUP, bootstrap_kinds::KubeadmConfigTemplate::KIND) => {
                $function::<bootstrap_kinds::KubeadmConfigTemplate>($($argument),*)
            }
            (controlplane::GROUP, controlplane::KubeadmControlPlane::KIND) => {
                $function::<controlplane::KubeadmControlPlane>($($argument),*)
            }
            (controlplane::GROUP, controlplane::KubeadmControlPlaneTemplate::KIND) => {
                $function::<controlplane::KubeadmControlPlaneTemplate>($($argument),*)
            }
            (infrastructure_kinds::GROUP, infrastructure_kinds::DevCluster::KIND) => {
                $function::<infrastructure_kinds::DevCluster>($($argument),*)
            }
            (infrastructure_kinds::GROUP, infrastructure_kinds::DevClusterTemplate::KIND) => {
                $function::<infrastructure_kinds::DevClusterTemplate>($($argument),*)
            }
            (infrastructure_kinds::GROUP, infrastructure_kinds::DevMachine::KIND) => {
                $function::<infrastructure_kinds::DevMachine>($($argument),*)
            }
            (infrastructure_kinds::GROUP, infrastructure_kinds::DevMachineTemplate::KIND) => {
                $function::<infrastructure_kinds::DevMachineTemplate>($($argument),*)
            }
            (infrastructure_kinds::GROUP, infrastructure_kinds::DockerCluster::KIND) => {
                $function::<infrastructure_kinds::DockerCluster>($($argument),*)
            }
            (infrastructure_kinds::GROUP, infrastructure_kinds::DockerClusterTemplate::KIND) => {
                $function::<infrastructure_kinds::DockerClusterTemplate>($($argument),*)
            }
            (infrastructure_kinds::GROUP, infrastructure_kinds::DockerMachine::KIND) => {
                $function::<infrastructure_kinds::DockerMachine>($($argument),*)
            }
            (infrastructure_kinds::GROUP, infrastructure_kinds::DockerMachineTemplate::KIND) => {
                $function::<infrastructure_kinds::DockerMachineTemplate>($($argument),*)
            }
            _ => $otherwise,
        }
    };
}

/// Fills in what `object` leaves out. `old` is the object before an update. Members that the kind does not know stay.
///
/// # Errors
/// What keeps the object from being completed.
pub fn default(
    group: &str,
    kind: &str,
    object: &mut Value,
    old: Option<&Value>,
    context: &Context,
) -> Result<(), Vec<Error>> {
    for_kind!(group, kind, default_as(object, old, context), Ok(()))
}

/// Everything that is wrong with `new`. `old` is the object before an update.
pub fn validate(group: &str, kind: &str, new: &Value, old: Option<&Value>, context: &Context) -> Vec<Error> {
    for_kind!(group, kind, validate_as(new, old, context), Vec::new())
}

fn default_as<K: Admit>(
    object: &mut Value,
    old: Option<&Value>,
    context: &Context,
) -> Result<(), Vec<Error>> {
    let Some(mut typed) = parse::<K>(object) else {
        return Ok(());
    };
    let old = old.and_then(parse::<K>);
    let (Ok(before), true) = (serde_json::to_value(&typed), object.is_object()) else {
        return Ok(());
    };
    typed.default(old.as_ref(), context)?;
    if let Ok(after) = serde_json::to_value(&typed) {
        overlay::apply(&before, &after, object);
    }
    Ok(())
}

fn validate_as<K: Admit>(new: &Value, old: Option<&Value>, context: &Context) -> Vec<Error> {
    let Some(new) = parse::<K>(new) else {
        return Vec::new();
    };
    let old = old.and_then(parse::<K>);
    new.validate(old.as_ref(), context)
}

/// The object as its kind's struct. Null members count as absent, as the server drops them.
fn parse<K: Admit>(object: &Value) -> Option<K> {
    K::deserialize(overlay::without_nulls(object)).ok()
}

#[cfg(test)]
mod tests;
