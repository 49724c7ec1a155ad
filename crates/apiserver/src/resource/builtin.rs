//! The built-in resources, one row each.

use std::sync::{Arc, OnceLock};

use super::{
    Backing, BuiltInSchema, ExtraSubresource, Generation, Origin, Resource, ScalePaths, SchemaSource, Scope,
    Strategy, Version,
};
use crate::table::built_in_columns;

/// The resources that every server serves; made once per process and shared.
pub(super) fn built_in_resources() -> &'static [Arc<Resource>] {
    static RESOURCES: OnceLock<Vec<Arc<Resource>>> = OnceLock::new();
    RESOURCES.get_or_init(|| ROWS.iter().map(|row| Arc::new(row.resource())).collect())
}

/// What differs between built-in kinds, as flags of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    /// `/status` is a subresource.
    Status,
    /// `/scale` is a subresource.
    Scale,
    /// `metadata.generation` counts changes of the content.
    Generation,
    /// An update creates the object if it is absent.
    CreateOnUpdate,
    /// A delete answers with the object.
    ReturnsObject,
    /// No object is stored.
    Review,
}

use Flag::{CreateOnUpdate, Generation as Counts, ReturnsObject, Review, Scale, Status};

struct Row {
    group: &'static str,
    plural: &'static str,
    kind: &'static str,
    short_names: &'static [&'static str],
    categories: &'static [&'static str],
    scope: Scope,
    flags: &'static [Flag],
    definition: &'static str,
    selectable_fields: &'static [&'static str],
    extra_subresources: &'static [ExtraSubresource],
}

/// A namespaced row of group `v1` with the parts that most rows need.
const fn row(
    group: &'static str,
    plural: &'static str,
    kind: &'static str,
    definition: &'static str,
    flags: &'static [Flag],
) -> Row {
    Row {
        group,
        plural,
        kind,
        short_names: &[],
        categories: &[],
        scope: Scope::Namespaced,
        flags,
        definition,
        selectable_fields: &[],
        extra_subresources: &[],
    }
}

impl Row {
    const fn short(self, short_names: &'static [&'static str]) -> Self {
        Self { short_names, ..self }
    }

    const fn cluster(self) -> Self {
        Self {
            scope: Scope::Cluster,
            ..self
        }
    }

    const fn category(self, categories: &'static [&'static str]) -> Self {
        Self { categories, ..self }
    }

    const fn fields(self, selectable_fields: &'static [&'static str]) -> Self {
        Self {
            selectable_fields,
            ..self
        }
    }

    const fn subresources(self, extra_subresources: &'static [ExtraSubresource]) -> Self {
        Self {
            extra_subresources,
            ..self
        }
    }

    fn resource(&self) -> Resource {
        let has = |flag: Flag| self.flags.contains(&flag);
        let strings = |list: &[&str]| list.iter().map(|&item| item.to_owned()).collect();
        let scale = has(Scale).then(|| ScalePaths {
            spec_replicas: ".spec.replicas".to_owned(),
            status_replicas: ".status.replicas".to_owned(),
            label_selector: None,
        });
        // Events of both groups are the same objects, kept as core events.
        let is_new_event = self.group == "events.k8s.io";
        let storage_group = if is_new_event { "" } else { self.group };
        let store_group = if storage_group.is_empty() {
            "core"
        } else {
            storage_group
        };
        Resource {
            group: self.group.to_owned(),
            plural: self.plural.to_owned(),
            singular: self.kind.to_ascii_lowercase(),
            kind: self.kind.to_owned(),
            list_kind: format!("{}List", self.kind),
            short_names: strings(self.short_names),
            categories: strings(self.categories),
            scope: self.scope,
            backing: if has(Review) {
                Backing::Review
            } else {
                Backing::Stored
            },
            store_name: format!("{store_group}/{}", self.plural),
            versions: vec![Version {
                name: "v1".to_owned(),
                served: true,
                status: has(Status),
                scale,
                schema: SchemaSource::BuiltIn(Arc::new(BuiltInSchema::new(self.definition))),
                columns: built_in_columns(self.group, self.plural),
                selectable_fields: strings(self.selectable_fields),
                deprecation: None,
            }],
            storage: (storage_group.to_owned(), "v1".to_owned()),
            strategy: Strategy {
                generation: if has(Counts) {
                    Generation::Content
                } else {
                    Generation::None
                },
                unconditional_update: true,
                create_on_update: has(CreateOnUpdate),
                delete_returns_object: has(ReturnsObject),
                strategic_merge: true,
            },
            extra_subresources: self.extra_subresources,
            origin: Origin::BuiltIn,
        }
    }
}

const EVENT_FIELDS: &[&str] = &[
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
];
const NEW_EVENT_FIELDS: &[&str] = &[
    "regarding.kind",
    "regarding.namespace",
    "regarding.name",
    "regarding.uid",
    "regarding.apiVersion",
    "regarding.resourceVersion",
    "regarding.fieldPath",
    "reason",
    "reportingController",
    "type",
];
const NAMESPACE_SUBRESOURCES: &[ExtraSubresource] = &[ExtraSubresource {
    name: "finalize",
    kind: ("", "v1", "Namespace"),
    verbs: &["update"],
}];
const SERVICE_ACCOUNT_SUBRESOURCES: &[ExtraSubresource] = &[ExtraSubresource {
    name: "token",
    kind: ("authentication.k8s.io", "v1", "TokenRequest"),
    verbs: &["create"],
}];
const POD_SUBRESOURCES: &[ExtraSubresource] = &[
    ExtraSubresource {
        name: "eviction",
        kind: ("policy", "v1", "Eviction"),
        verbs: &["create"],
    },
    ExtraSubresource {
        name: "portforward",
        kind: ("", "v1", "PodPortForwardOptions"),
        verbs: &["create", "get"],
    },
];

/// All built-in resources. The order of groups is discovery's: kube's own priorities, so that short names that occur
/// twice resolve as with kube-apiserver.
static ROWS: &[Row] = &[
    row("", "configmaps", "ConfigMap", "io.k8s.api.core.v1.ConfigMap", &[]).short(&["cm"]),
    row(
        "",
        "endpoints",
        "Endpoints",
        "io.k8s.api.core.v1.Endpoints",
        &[CreateOnUpdate],
    )
    .short(&["ep"]),
    row(
        "",
        "events",
        "Event",
        "io.k8s.api.core.v1.Event",
        &[CreateOnUpdate],
    )
    .short(&["ev"])
    .fields(EVENT_FIELDS),
    row(
        "",
        "limitranges",
        "LimitRange",
        "io.k8s.api.core.v1.LimitRange",
        &[CreateOnUpdate],
    )
    .short(&["limits"]),
    row(
        "",
        "namespaces",
        "Namespace",
        "io.k8s.api.core.v1.Namespace",
        &[Status, ReturnsObject],
    )
    .cluster()
    .short(&["ns"])
    .fields(&["status.phase"])
    .subresources(NAMESPACE_SUBRESOURCES),
    row("", "nodes", "Node", "io.k8s.api.core.v1.Node", &[Status])
        .cluster()
        .short(&["no"])
        .fields(&["spec.unschedulable"]),
    row(
        "",
        "persistentvolumeclaims",
        "PersistentVolumeClaim",
        "io.k8s.api.core.v1.PersistentVolumeClaim",
        &[Status, ReturnsObject],
    )
    .short(&["pvc"]),
    row(
        "",
        "persistentvolumes",
        "PersistentVolume",
        "io.k8s.api.core.v1.PersistentVolume",
        &[Status, ReturnsObject],
    )
    .cluster()
    .short(&["pv"]),
    row(
        "",
        "pods",
        "Pod",
        "io.k8s.api.core.v1.Pod",
        &[Status, Counts, ReturnsObject],
    )
    .short(&["po"])
    .category(&["all"])
    .fields(&[
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ])
    .subresources(POD_SUBRESOURCES),
    row(
        "",
        "podtemplates",
        "PodTemplate",
        "io.k8s.api.core.v1.PodTemplate",
        &[ReturnsObject],
    ),
    row(
        "",
        "replicationcontrollers",
        "ReplicationController",
        "io.k8s.api.core.v1.ReplicationController",
        &[Status, Scale, Counts],
    )
    .short(&["rc"])
    .category(&["all"]),
    row(
        "",
        "resourcequotas",
        "ResourceQuota",
        "io.k8s.api.core.v1.ResourceQuota",
        &[Status, ReturnsObject],
    )
    .short(&["quota"]),
    row("", "secrets", "Secret", "io.k8s.api.core.v1.Secret", &[]).fields(&["type"]),
    row(
        "",
        "serviceaccounts",
        "ServiceAccount",
        "io.k8s.api.core.v1.ServiceAccount",
        &[ReturnsObject],
    )
    .short(&["sa"])
    .subresources(SERVICE_ACCOUNT_SUBRESOURCES),
    row(
        "",
        "services",
        "Service",
        "io.k8s.api.core.v1.Service",
        &[Status, ReturnsObject],
    )
    .short(&["svc"])
    .category(&["all"])
    .fields(&["spec.clusterIP", "spec.type"]),
    row(
        "apiregistration.k8s.io",
        "apiservices",
        "APIService",
        "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService",
        &[Status],
    )
    .cluster()
    .category(&["api-extensions"]),
    row(
        "apps",
        "controllerrevisions",
        "ControllerRevision",
        "io.k8s.api.apps.v1.ControllerRevision",
        &[],
    ),
    row(
        "apps",
        "daemonsets",
        "DaemonSet",
        "io.k8s.api.apps.v1.DaemonSet",
        &[Status, Counts],
    )
    .short(&["ds"])
    .category(&["all"]),
    row(
        "apps",
        "deployments",
        "Deployment",
        "io.k8s.api.apps.v1.Deployment",
        &[Status, Scale, Counts],
    )
    .short(&["deploy"])
    .category(&["all"]),
    row(
        "apps",
        "replicasets",
        "ReplicaSet",
        "io.k8s.api.apps.v1.ReplicaSet",
        &[Status, Scale, Counts],
    )
    .short(&["rs"])
    .category(&["all"])
    .fields(&["status.replicas"]),
    row(
        "apps",
        "statefulsets",
        "StatefulSet",
        "io.k8s.api.apps.v1.StatefulSet",
        &[Status, Scale, Counts],
    )
    .short(&["sts"])
    .category(&["all"]),
    row(
        "events.k8s.io",
        "events",
        "Event",
        "io.k8s.api.events.v1.Event",
        &[CreateOnUpdate],
    )
    .short(&["ev"])
    .fields(NEW_EVENT_FIELDS),
    row(
        "authentication.k8s.io",
        "selfsubjectreviews",
        "SelfSubjectReview",
        "io.k8s.api.authentication.v1.SelfSubjectReview",
        &[Review],
    )
    .cluster(),
    row(
        "authentication.k8s.io",
        "tokenreviews",
        "TokenReview",
        "io.k8s.api.authentication.v1.TokenReview",
        &[Review],
    )
    .cluster(),
    row(
        "authorization.k8s.io",
        "localsubjectaccessreviews",
        "LocalSubjectAccessReview",
        "io.k8s.api.authorization.v1.LocalSubjectAccessReview",
        &[Review],
    ),
    row(
        "authorization.k8s.io",
        "selfsubjectaccessreviews",
        "SelfSubjectAccessReview",
        "io.k8s.api.authorization.v1.SelfSubjectAccessReview",
        &[Review],
    )
    .cluster(),
    row(
        "authorization.k8s.io",
        "selfsubjectrulesreviews",
        "SelfSubjectRulesReview",
        "io.k8s.api.authorization.v1.SelfSubjectRulesReview",
        &[Review],
    )
    .cluster(),
    row(
        "authorization.k8s.io",
        "subjectaccessreviews",
        "SubjectAccessReview",
        "io.k8s.api.authorization.v1.SubjectAccessReview",
        &[Review],
    )
    .cluster(),
    row(
        "batch",
        "cronjobs",
        "CronJob",
        "io.k8s.api.batch.v1.CronJob",
        &[Status, Counts],
    )
    .short(&["cj"])
    .category(&["all"]),
    row(
        "batch",
        "jobs",
        "Job",
        "io.k8s.api.batch.v1.Job",
        &[Status, Counts],
    )
    .category(&["all"])
    .fields(&["status.successful"]),
    row(
        "networking.k8s.io",
        "ingressclasses",
        "IngressClass",
        "io.k8s.api.networking.v1.IngressClass",
        &[Counts],
    )
    .cluster(),
    row(
        "networking.k8s.io",
        "ingresses",
        "Ingress",
        "io.k8s.api.networking.v1.Ingress",
        &[Status, Counts],
    )
    .short(&["ing"]),
    row(
        "networking.k8s.io",
        "networkpolicies",
        "NetworkPolicy",
        "io.k8s.api.networking.v1.NetworkPolicy",
        &[Counts],
    )
    .short(&["netpol"]),
    row(
        "policy",
        "poddisruptionbudgets",
        "PodDisruptionBudget",
        "io.k8s.api.policy.v1.PodDisruptionBudget",
        &[Status, Counts],
    )
    .short(&["pdb"]),
    row(
        "rbac.authorization.k8s.io",
        "clusterrolebindings",
        "ClusterRoleBinding",
        "io.k8s.api.rbac.v1.ClusterRoleBinding",
        &[CreateOnUpdate],
    )
    .cluster(),
    row(
        "rbac.authorization.k8s.io",
        "clusterroles",
        "ClusterRole",
        "io.k8s.api.rbac.v1.ClusterRole",
        &[CreateOnUpdate],
    )
    .cluster(),
    row(
        "rbac.authorization.k8s.io",
        "rolebindings",
        "RoleBinding",
        "io.k8s.api.rbac.v1.RoleBinding",
        &[CreateOnUpdate],
    ),
    row(
        "rbac.authorization.k8s.io",
        "roles",
        "Role",
        "io.k8s.api.rbac.v1.Role",
        &[CreateOnUpdate],
    ),
    row(
        "storage.k8s.io",
        "csidrivers",
        "CSIDriver",
        "io.k8s.api.storage.v1.CSIDriver",
        &[Counts],
    )
    .cluster(),
    row(
        "storage.k8s.io",
        "csinodes",
        "CSINode",
        "io.k8s.api.storage.v1.CSINode",
        &[],
    )
    .cluster(),
    row(
        "storage.k8s.io",
        "storageclasses",
        "StorageClass",
        "io.k8s.api.storage.v1.StorageClass",
        &[ReturnsObject],
    )
    .cluster()
    .short(&["sc"]),
    row(
        "storage.k8s.io",
        "volumeattachments",
        "VolumeAttachment",
        "io.k8s.api.storage.v1.VolumeAttachment",
        &[Status, ReturnsObject],
    )
    .cluster(),
    row(
        "admissionregistration.k8s.io",
        "mutatingwebhookconfigurations",
        "MutatingWebhookConfiguration",
        "io.k8s.api.admissionregistration.v1.MutatingWebhookConfiguration",
        &[Counts],
    )
    .cluster()
    .category(&["api-extensions"]),
    row(
        "admissionregistration.k8s.io",
        "validatingadmissionpolicies",
        "ValidatingAdmissionPolicy",
        "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicy",
        &[Status, Counts],
    )
    .cluster()
    .category(&["api-extensions"]),
    row(
        "admissionregistration.k8s.io",
        "validatingadmissionpolicybindings",
        "ValidatingAdmissionPolicyBinding",
        "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBinding",
        &[Counts],
    )
    .cluster()
    .category(&["api-extensions"]),
    row(
        "admissionregistration.k8s.io",
        "validatingwebhookconfigurations",
        "ValidatingWebhookConfiguration",
        "io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration",
        &[Counts],
    )
    .cluster()
    .category(&["api-extensions"]),
    row(
        "apiextensions.k8s.io",
        "customresourcedefinitions",
        "CustomResourceDefinition",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
        &[Status, Counts],
    )
    .cluster()
    .short(&["crd", "crds"])
    .category(&["api-extensions"]),
    row(
        "scheduling.k8s.io",
        "priorityclasses",
        "PriorityClass",
        "io.k8s.api.scheduling.v1.PriorityClass",
        &[Counts, ReturnsObject],
    )
    .cluster()
    .short(&["pc"]),
    row(
        "coordination.k8s.io",
        "leases",
        "Lease",
        "io.k8s.api.coordination.v1.Lease",
        &[CreateOnUpdate],
    ),
    row(
        "discovery.k8s.io",
        "endpointslices",
        "EndpointSlice",
        "io.k8s.api.discovery.v1.EndpointSlice",
        &[Counts],
    ),
];
