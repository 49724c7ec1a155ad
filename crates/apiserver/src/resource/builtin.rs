//! The built-in resources, one row each.

use std::sync::{Arc, OnceLock};

use super::{
    ExtraSubresource, Resource,
    row::{
        Flag::{CreateOnUpdate, Generation as Counts, ReturnsObject, Review, Scale, Status},
        Row, row,
    },
};

/// The resources that every server serves; made once per process and shared.
pub(super) fn built_in_resources() -> &'static [Arc<Resource>] {
    static RESOURCES: OnceLock<Vec<Arc<Resource>>> = OnceLock::new();
    RESOURCES.get_or_init(|| ROWS.iter().map(|row| Arc::new(row.resource())).collect())
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
