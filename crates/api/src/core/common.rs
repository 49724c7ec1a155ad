//! Shapes that several kinds share.

use std::collections::BTreeMap;

use capstan_base::int_or_percent::{IntOrPercent, ParsePercentError};
use k8s_openapi::apimachinery::pkg::{
    apis::meta::v1::{Condition, Time},
    util::intstr::IntOrString,
};
use serde::{Deserialize, Serialize};

use crate::record::{keyword, record};

record! {
    /// Labels and annotations that a template hands to what is made from it.
    pub struct TemplateMeta {
        /// Labels.
        pub labels: BTreeMap<String, String>,
        /// Annotations.
        pub annotations: BTreeMap<String, String>,
    }

    /// A reference to an object of a provider: the API version is found through the contract, not written here.
    /// The object lives in the referrer's namespace.
    pub struct ContractReference {
        /// The API group.
        pub api_group: String,
        /// The kind.
        pub kind: String,
        /// The name.
        pub name: String,
    }

    /// A condition set by somebody else that counts for readiness or availability.
    pub struct ConditionGate {
        /// The condition's type.
        pub condition_type: String,
        /// Which status is the good one; absent means [`ConditionPolarity::Positive`].
        pub polarity: Option<ConditionPolarity>,
    }

    /// A taint that Cluster API puts on the Node of a Machine.
    pub struct MachineTaint {
        /// The taint's key.
        pub key: String,
        /// The taint's value.
        pub value: Option<String>,
        /// What happens to pods that don't tolerate it.
        pub effect: Option<TaintEffect>,
        /// Whether the taint is kept for ever or only set once.
        pub propagation: Option<TaintPropagation>,
    }

    /// How long each step of taking a node away may last, in seconds. Absent or zero means without limit,
    /// except for deletion, where absent means ten seconds.
    pub struct NodeTimeouts {
        /// The longest a drain may last.
        pub node_drain_timeout_seconds: Option<i32>,
        /// The longest to wait for volumes to be detached.
        pub node_volume_detach_timeout_seconds: Option<i32>,
        /// The longest to try to delete the Node object.
        pub node_deletion_timeout_seconds: Option<i32>,
    }

    /// A Kubernetes version in use below an object, and by how many machines.
    pub struct StatusVersion {
        /// The version.
        pub version: String,
        /// How many machines run it.
        pub replicas: Option<i32>,
    }

    /// One step of an upgrade over several versions.
    pub struct UpgradePlanVersion {
        /// The version of the step.
        pub version: String,
    }

    /// The status kept only for readers of v1beta1, for kinds that had nothing but conditions there.
    pub struct DeprecatedConditions {
        /// The v1beta1 part.
        pub v1beta1: V1Beta1Conditions,
    }

    /// The conditions of v1beta1.
    pub struct V1Beta1Conditions {
        /// The conditions, sorted as v1beta1 sorts them.
        pub conditions: Vec<V1Beta1Condition>,
    }

    /// The status kept only for readers of v1beta1, for kinds that also had a terminal failure there.
    pub struct DeprecatedFailure {
        /// The v1beta1 part.
        pub v1beta1: V1Beta1Failure,
    }

    /// The conditions and the terminal failure of v1beta1.
    pub struct V1Beta1Failure {
        /// The conditions, sorted as v1beta1 sorts them.
        pub conditions: Vec<V1Beta1Condition>,
        /// The terminal failure in one word.
        pub failure_reason: Option<String>,
        /// The terminal failure in a sentence.
        pub failure_message: Option<String>,
    }
}

/// A condition as v1beta1 knew it: with a severity, and without a required reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct V1Beta1Condition {
    /// The condition's type.
    #[serde(rename = "type", default)]
    pub type_: String,
    /// `True`, `False` or `Unknown`.
    #[serde(default)]
    pub status: String,
    /// How bad a `False` is: `Error`, `Warning`, `Info`, or empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub severity: String,
    /// When the status last changed.
    pub last_transition_time: Time,
    /// Why, in one word.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Why, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

keyword! {
    /// Which status of a condition is the good one.
    pub enum ConditionPolarity {
        /// `True` is good.
        Positive = "Positive",
        /// `False` is good.
        Negative = "Negative",
    }

    /// What a taint does to pods that don't tolerate it.
    pub enum TaintEffect {
        /// New pods stay away.
        NoSchedule = "NoSchedule",
        /// New pods stay away if they can.
        PreferNoSchedule = "PreferNoSchedule",
        /// Running pods leave as well.
        NoExecute = "NoExecute",
    }

    /// Whether a Machine's taint is kept on the Node or only set once.
    pub enum TaintPropagation {
        /// The taint is put back whenever it is gone.
        Always = "Always",
        /// The taint is set when the Node is initialised and then left to others.
        OnInitialization = "OnInitialization",
    }
}

impl ContractReference {
    /// A reference to `name` of kind `kind` in `api_group`.
    pub fn new(api_group: &str, kind: &str, name: &str) -> Self {
        Self {
            api_group: api_group.to_owned(),
            kind: kind.to_owned(),
            name: name.to_owned(),
        }
    }

    /// Whether anything is referred to at all.
    pub fn is_defined(&self) -> bool {
        *self != Self::default()
    }
}

/// A number or a percentage as a field carries it.
///
/// # Errors
/// A text that is no percentage.
pub fn int_or_percent(value: &IntOrString) -> Result<IntOrPercent, ParsePercentError> {
    match value {
        IntOrString::Int(number) => Ok(IntOrPercent::Int(*number)),
        IntOrString::String(text) => text.parse(),
    }
}

/// An object with conditions, both of v1beta2 and of v1beta1.
pub trait Conditioned {
    /// The conditions.
    fn conditions(&self) -> &[Condition];
    /// The conditions to change; makes the status if there is none.
    fn conditions_mut(&mut self) -> &mut Vec<Condition>;
    /// The conditions kept for readers of v1beta1.
    fn v1beta1_conditions(&self) -> &[V1Beta1Condition];
    /// The conditions kept for readers of v1beta1, to change; makes the status if there is none.
    fn v1beta1_conditions_mut(&mut self) -> &mut Vec<V1Beta1Condition>;
}

/// Implements [`Conditioned`] for a kind whose status has `conditions` and `deprecated.v1beta1.conditions`.
macro_rules! conditioned {
    ($($name:ident),*) => {$(
        impl crate::core::Conditioned for $name {
            fn conditions(&self) -> &[k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition] {
                self.status.as_ref().map_or(&[], |status| &status.conditions)
            }

            fn conditions_mut(&mut self) -> &mut Vec<k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition> {
                &mut self.status.get_or_insert_default().conditions
            }

            fn v1beta1_conditions(&self) -> &[crate::core::V1Beta1Condition] {
                self.status.as_ref().map_or(&[], |status| &status.deprecated.v1beta1.conditions)
            }

            fn v1beta1_conditions_mut(&mut self) -> &mut Vec<crate::core::V1Beta1Condition> {
                &mut self.status.get_or_insert_default().deprecated.v1beta1.conditions
            }
        }
    )*};
}

pub(crate) use conditioned;
