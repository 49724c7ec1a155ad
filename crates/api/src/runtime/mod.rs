//! The kind of group `runtime.cluster.x-k8s.io`: extensions that are called at runtime hooks.

use std::collections::BTreeMap;

use k8s_openapi::{
    ByteString,
    apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector},
};

use crate::{
    core::DeprecatedConditions,
    record::{keyword, object, record},
};

/// The API group of this kind.
pub const GROUP: &str = "runtime.cluster.x-k8s.io";

object! {
    /// A server of runtime extensions.
    /// Source: cluster-api `api/runtime/v1beta2/extensionconfig_types.go`.
    pub struct ExtensionConfig in GROUP, plural "extensionconfigs", scope ClusterResourceScope,
    spec ExtensionConfigSpec, status ExtensionConfigStatus
}
crate::core::conditioned!(ExtensionConfig);

record! {
    /// Where a server of extensions is and for whom.
    pub struct ExtensionConfigSpec {
        /// How it is called.
        pub client_config: ClientConfig,
        /// The namespaces whose objects it is called for; absent is defaulted to all.
        pub namespace_selector: Option<LabelSelector>,
        /// Settings passed with every call.
        pub settings: BTreeMap<String, String>,
    }

    /// How a server of extensions is called: either by URL or by Service.
    pub struct ClientConfig {
        /// Its URL.
        pub url: Option<String>,
        /// Its Service.
        pub service: Option<ServiceReference>,
        /// The certificates of CAs that are trusted.
        pub ca_bundle: ByteString,
    }

    /// A Service in the management cluster.
    pub struct ServiceReference {
        /// The namespace.
        pub namespace: String,
        /// The name.
        pub name: String,
        /// The path below which hooks are called.
        pub path: Option<String>,
        /// The port; absent is defaulted to 443.
        pub port: Option<i32>,
    }

    /// What was observed of a server of extensions.
    pub struct ExtensionConfigStatus {
        /// The conditions.
        pub conditions: Vec<Condition>,
        /// The extensions it has.
        pub handlers: Vec<ExtensionHandler>,
        /// What only readers of v1beta1 see.
        pub deprecated: DeprecatedConditions,
    }

    /// One extension.
    pub struct ExtensionHandler {
        /// Its name, unique over all servers.
        pub name: String,
        /// The hook it is called at.
        pub request_hook: GroupVersionHook,
        /// How long a call may last; absent means ten.
        pub timeout_seconds: Option<i32>,
        /// What a failed call means; absent means [`FailurePolicy::Fail`].
        pub failure_policy: Option<FailurePolicy>,
    }

    /// A runtime hook.
    pub struct GroupVersionHook {
        /// The API group and version.
        pub api_version: String,
        /// The hook.
        pub hook: String,
    }
}

keyword! {
    /// What a failed call of an extension means.
    pub enum FailurePolicy {
        /// It is as if there were no extension.
        Ignore = "Ignore",
        /// What asked for the call fails.
        Fail = "Fail",
    }
}
