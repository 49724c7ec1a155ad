//! `ClusterClass`: templates, variables and patches that clusters are made from.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::{apis::meta::v1::Condition, util::intstr::IntOrString};
use serde_json::Value;

use super::{
    HealthChecks, MachineDeploymentTopologyDeletion, Remediation, RemediationTemplateReference,
    RemediationTrigger, RolloutStrategy,
    common::{ConditionGate, DeprecatedConditions, MachineTaint, NodeTimeouts, TemplateMeta, conditioned},
};
use crate::record::{object, record};

object! {
    /// Templates, variables and patches that clusters are made from.
    /// Source: cluster-api `api/core/v1beta2/clusterclass_types.go`.
    pub struct ClusterClass in super::GROUP, plural "clusterclasses", scope NamespaceResourceScope,
    spec ClusterClassSpec, status ClusterClassStatus
}
conditioned!(ClusterClass);

record! {
    /// What clusters of a class are made from.
    pub struct ClusterClassSpec {
        /// Further conditions that count for a cluster's `Available`.
        pub availability_gates: Vec<ConditionGate>,
        /// What the clusters' shared infrastructure is made from.
        pub infrastructure: InfrastructureClass,
        /// What control planes are made from.
        pub control_plane: ControlPlaneClass,
        /// What workers are made from.
        pub workers: WorkersClass,
        /// The variables a cluster may set.
        pub variables: Vec<ClusterClassVariable>,
        /// How variables change the templates, in this order.
        pub patches: Vec<ClusterClassPatch>,
        /// How clusters are upgraded.
        pub upgrade: ClusterClassUpgrade,
        /// The Kubernetes versions clusters may have, ascending.
        pub kubernetes_versions: Vec<String>,
    }

    /// A reference to a template by API version, kind and name, in the class's namespace.
    pub struct TemplateReference {
        /// The API group and version.
        pub api_version: String,
        /// The kind.
        pub kind: String,
        /// The name.
        pub name: String,
    }

    /// A template of something.
    pub struct ClusterClassTemplate {
        /// The template.
        pub template_ref: TemplateReference,
    }

    /// What a bootstrap config is made from.
    pub struct BootstrapClass {
        /// The template.
        pub template_ref: TemplateReference,
    }

    /// What an infrastructure object is made from.
    pub struct InfrastructureClass {
        /// The template.
        pub template_ref: TemplateReference,
        /// How the object is named.
        pub naming: Naming,
    }

    /// How an object of a topology is named.
    pub struct Naming {
        /// A template over `.cluster.name`, `.machineDeployment.topologyName`, `.random` and the like.
        pub template: Option<String>,
    }

    /// What control planes are made from.
    pub struct ControlPlaneClass {
        /// Labels and annotations for the control plane and its machines.
        pub metadata: TemplateMeta,
        /// The template of the control plane.
        pub template_ref: TemplateReference,
        /// The template of its machines' hosts, for control planes that have machines.
        pub machine_infrastructure: Option<ClusterClassTemplate>,
        /// How unhealthy machines are found and repaired.
        pub health_check: ControlPlaneClassHealthCheck,
        /// How the control plane is named.
        pub naming: Naming,
        /// How long taking a node away may last.
        pub deletion: NodeTimeouts,
        /// Taints of the nodes.
        pub taints: Vec<MachineTaint>,
        /// Further conditions that count for `Ready`.
        pub readiness_gates: Vec<ConditionGate>,
    }

    /// How a control plane's unhealthy machines are found and repaired.
    pub struct ControlPlaneClassHealthCheck {
        /// What makes a machine unhealthy.
        pub checks: HealthChecks,
        /// What is done then.
        pub remediation: Remediation,
    }

    /// What workers are made from.
    pub struct WorkersClass {
        /// Classes of pools of single machines.
        pub machine_deployments: Vec<MachineDeploymentClass>,
        /// Classes of pools that the provider scales itself.
        pub machine_pools: Vec<MachinePoolClass>,
    }

    /// A class of pools of single machines.
    pub struct MachineDeploymentClass {
        /// Labels and annotations for the `MachineDeployment` and its machines.
        pub metadata: TemplateMeta,
        /// The class's name.
        pub class: String,
        /// The template of the machines' bootstrap config.
        pub bootstrap: BootstrapClass,
        /// The template of the machines' hosts.
        pub infrastructure: ClusterClassTemplate,
        /// How unhealthy machines are found and repaired.
        pub health_check: MachineDeploymentClassHealthCheck,
        /// Where the machines are placed.
        pub failure_domain: Option<String>,
        /// How the `MachineDeployment` is named.
        pub naming: Naming,
        /// Which machines go first, and how long taking a node away may last.
        pub deletion: MachineDeploymentTopologyDeletion,
        /// Taints of the nodes.
        pub taints: Vec<MachineTaint>,
        /// How long a machine must be ready to be available.
        pub min_ready_seconds: Option<i32>,
        /// Further conditions that count for `Ready`.
        pub readiness_gates: Vec<ConditionGate>,
        /// How machines are replaced.
        pub rollout: MachineDeploymentClassRollout,
    }

    /// How a pool's machines are replaced.
    pub struct MachineDeploymentClassRollout {
        /// The strategy.
        pub strategy: RolloutStrategy,
    }

    /// How a pool's unhealthy machines are found and repaired.
    pub struct MachineDeploymentClassHealthCheck {
        /// What makes a machine unhealthy.
        pub checks: HealthChecks,
        /// What is done then.
        pub remediation: MachineDeploymentClassRemediation,
    }

    /// What is done about a pool's unhealthy machines.
    pub struct MachineDeploymentClassRemediation {
        /// How many machines may be repaired at one time.
        pub max_in_flight: Option<IntOrString>,
        /// When repairs are allowed at all.
        pub trigger_if: RemediationTrigger,
        /// The template of an external repair request.
        pub template_ref: Option<RemediationTemplateReference>,
    }

    /// A class of pools that the provider scales itself.
    pub struct MachinePoolClass {
        /// Labels and annotations for the `MachinePool` and its machines.
        pub metadata: TemplateMeta,
        /// The class's name.
        pub class: String,
        /// The template of the machines' bootstrap config.
        pub bootstrap: BootstrapClass,
        /// The template of the pool's infrastructure.
        pub infrastructure: ClusterClassTemplate,
        /// Where the machines are placed.
        pub failure_domains: Vec<String>,
        /// How the `MachinePool` is named.
        pub naming: Naming,
        /// How long taking a node away may last.
        pub deletion: NodeTimeouts,
        /// Taints of the nodes.
        pub taints: Vec<MachineTaint>,
        /// How long a machine must be ready to be available.
        pub min_ready_seconds: Option<i32>,
    }

    /// A variable a cluster may set.
    pub struct ClusterClassVariable {
        /// The name.
        pub name: String,
        /// Whether a cluster must set it.
        pub required: Option<bool>,
        /// Labels and annotations as v1beta1 had them.
        #[serde(rename = "deprecatedV1Beta1Metadata")]
        pub deprecated_v1beta1_metadata: TemplateMeta,
        /// What values it may have.
        pub schema: VariableSchema,
    }

    /// What values a variable may have.
    pub struct VariableSchema {
        /// The schema, in the `OpenAPI` v3 subset of Kubernetes with some members of its own.
        #[serde(rename = "openAPIV3Schema")]
        pub open_api_v3_schema: Value,
    }

    /// One patch of the templates.
    pub struct ClusterClassPatch {
        /// The name.
        pub name: String,
        /// What it is for.
        pub description: Option<String>,
        /// A template that must render to `true` for the patch to be used.
        pub enabled_if: Option<String>,
        /// Patches written in the class.
        pub definitions: Vec<PatchDefinition>,
        /// Patches computed by a runtime extension.
        pub external: Option<ExternalPatch>,
    }

    /// JSON patches for some templates.
    pub struct PatchDefinition {
        /// Which templates.
        pub selector: PatchSelector,
        /// The patches, in this order.
        pub json_patches: Vec<JsonPatch>,
    }

    /// Which templates a patch is for.
    pub struct PatchSelector {
        /// The API group and version.
        pub api_version: String,
        /// The kind.
        pub kind: String,
        /// In which places of the class.
        pub match_resources: PatchSelectorMatch,
    }

    /// In which places of a class templates are patched.
    pub struct PatchSelectorMatch {
        /// In the control plane.
        pub control_plane: Option<bool>,
        /// In the clusters' shared infrastructure.
        pub infrastructure_cluster: Option<bool>,
        /// In these classes of pools of single machines.
        pub machine_deployment_class: Option<PatchSelectorClassNames>,
        /// In these classes of pools that the provider scales itself.
        pub machine_pool_class: Option<PatchSelectorClassNames>,
    }

    /// Names of classes; a `*` at the beginning or the end matches anything.
    pub struct PatchSelectorClassNames {
        /// The names.
        pub names: Vec<String>,
    }

    /// One operation of a JSON patch (RFC 6902).
    pub struct JsonPatch {
        /// `add`, `replace` or `remove`.
        pub op: String,
        /// Where, below `/spec`.
        pub path: String,
        /// The value.
        pub value: Option<Value>,
        /// Where the value comes from.
        pub value_from: Option<JsonPatchValue>,
    }

    /// Where the value of a JSON patch comes from.
    pub struct JsonPatchValue {
        /// A variable.
        pub variable: Option<String>,
        /// A template over all variables.
        pub template: Option<String>,
    }

    /// Patches computed by runtime extensions.
    pub struct ExternalPatch {
        /// The extension that computes patches.
        pub generate_patches_extension: Option<String>,
        /// The extension that checks the result.
        pub validate_topology_extension: Option<String>,
        /// The extension that declares variables.
        pub discover_variables_extension: Option<String>,
        /// Settings passed to the extensions.
        pub settings: BTreeMap<String, String>,
    }

    /// How clusters are upgraded.
    pub struct ClusterClassUpgrade {
        /// What runtime extensions decide.
        pub external: ClusterClassUpgradeExternal,
    }

    /// What runtime extensions decide about upgrades.
    pub struct ClusterClassUpgradeExternal {
        /// The extension that computes the versions to go through.
        pub generate_upgrade_plan_extension: Option<String>,
    }

    /// What was observed of a class.
    pub struct ClusterClassStatus {
        /// The conditions.
        pub conditions: Vec<Condition>,
        /// All variables, with where each comes from.
        pub variables: Vec<ClusterClassStatusVariable>,
        /// The generation of the spec that this status is about.
        pub observed_generation: Option<i64>,
        /// What only readers of v1beta1 see.
        pub deprecated: DeprecatedConditions,
    }

    /// A variable and all its definitions.
    pub struct ClusterClassStatusVariable {
        /// The name.
        pub name: String,
        /// Whether the definitions differ.
        pub definitions_conflict: Option<bool>,
        /// The definitions.
        pub definitions: Vec<ClusterClassStatusVariableDefinition>,
    }

    /// One definition of a variable.
    pub struct ClusterClassStatusVariableDefinition {
        /// `inline`, or the patch whose extension declares it.
        pub from: String,
        /// Whether a cluster must set it.
        pub required: Option<bool>,
        /// Labels and annotations as v1beta1 had them.
        #[serde(rename = "deprecatedV1Beta1Metadata")]
        pub deprecated_v1beta1_metadata: TemplateMeta,
        /// What values it may have.
        pub schema: VariableSchema,
    }
}
