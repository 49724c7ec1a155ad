//! `MachineDrainRule`: which pods a drain evicts, leaves or waits for, and in which order.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use crate::record::{keyword, object, record};

object! {
    /// Which pods a drain evicts, leaves or waits for, and in which order.
    /// Source: cluster-api `api/core/v1beta2/machinedrainrules_types.go`.
    pub struct MachineDrainRule in super::GROUP, plural "machinedrainrules", scope NamespaceResourceScope,
    spec MachineDrainRuleSpec
}

record! {
    /// A rule for drains.
    pub struct MachineDrainRuleSpec {
        /// What is done with the pods.
        pub drain: DrainConfig,
        /// The machines the rule is about; empty means all. Entries are alternatives.
        pub machines: Vec<MachineDrainRuleMachines>,
        /// The pods the rule is about; empty means all. Entries are alternatives.
        pub pods: Vec<MachineDrainRulePods>,
    }

    /// What is done with pods on a drain.
    pub struct DrainConfig {
        /// What is done.
        pub behavior: Option<DrainBehavior>,
        /// Pods of a lower order go first; absent means 0. Only with [`DrainBehavior::Drain`].
        pub order: Option<i32>,
    }

    /// Machines a rule is about: those that match both selectors.
    pub struct MachineDrainRuleMachines {
        /// The machines' labels; absent means any.
        pub selector: Option<LabelSelector>,
        /// Their clusters' labels; absent means any.
        pub cluster_selector: Option<LabelSelector>,
    }

    /// Pods a rule is about: those that match both selectors.
    pub struct MachineDrainRulePods {
        /// The pods' labels; absent means any.
        pub selector: Option<LabelSelector>,
        /// Their namespaces' labels; absent means any.
        pub namespace_selector: Option<LabelSelector>,
    }
}

keyword! {
    /// What a drain does with a pod.
    pub enum DrainBehavior {
        /// It is evicted.
        Drain = "Drain",
        /// It is left alone.
        Skip = "Skip",
        /// It is waited for.
        WaitCompleted = "WaitCompleted",
    }
}
