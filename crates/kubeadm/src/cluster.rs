//! `ClusterConfiguration`: what holds for the whole cluster.
//! Source of the forms: upstream `bootstrap/kubeadm/pkg/types/upstreamv1beta3` and `upstreamv1beta4`.

use capstan_api::bootstrap::{
    ApiServer, ClusterConfiguration, ControlPlaneComponent, Dns, Etcd, ExternalEtcd, LocalEtcd,
};
use serde_json::Value;

use crate::{
    KubeadmApi,
    fields::{arguments, days, object, seconds, text, texts, variables, volumes},
    yaml,
};

/// What kubeadm's file says about the cluster and Cluster API keeps elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClusterFacts {
    /// The cluster's name.
    pub cluster_name: Option<String>,
    /// The Kubernetes version.
    pub kubernetes_version: Option<String>,
    /// Where the API server is reached, if the configuration itself does not say.
    pub control_plane_endpoint: Option<String>,
    /// The DNS domain of Services.
    pub dns_domain: Option<String>,
    /// The addresses of Services, ranges separated by commas.
    pub service_subnet: Option<String>,
    /// The addresses of Pods, ranges separated by commas.
    pub pod_subnet: Option<String>,
    /// How long to wait for the control plane, in seconds: part of this document in v1beta3 only.
    pub control_plane_health_check_seconds: Option<i32>,
}

/// Renders a `ClusterConfiguration` document.
pub fn cluster_configuration(
    api: KubeadmApi,
    configuration: &ClusterConfiguration,
    facts: &ClusterFacts,
) -> String {
    let ClusterConfiguration {
        etcd,
        control_plane_endpoint,
        api_server,
        controller_manager,
        scheduler,
        dns,
        certificates_dir,
        image_repository,
        feature_gates,
        certificate_validity_period_days,
        ca_certificate_validity_period_days,
        encryption_algorithm,
    } = configuration;
    let endpoint = text(control_plane_endpoint.as_ref()).or(text(facts.control_plane_endpoint.as_ref()));
    let networking = object([
        ("dnsDomain", text(facts.dns_domain.as_ref())),
        ("podSubnet", text(facts.pod_subnet.as_ref())),
        ("serviceSubnet", text(facts.service_subnet.as_ref())),
    ]);
    let newer = |value: Option<Value>| value.filter(|_| api == KubeadmApi::V1Beta4);
    yaml::to_string(&object([
        ("apiVersion", Some(Value::from(api.api_version()))),
        ("kind", Some(Value::from("ClusterConfiguration"))),
        (
            "apiServer",
            Some(api_server_of(
                api,
                api_server,
                facts.control_plane_health_check_seconds,
            )),
        ),
        (
            "caCertificateValidityPeriod",
            newer(days(*ca_certificate_validity_period_days)),
        ),
        (
            "certificateValidityPeriod",
            newer(days(*certificate_validity_period_days)),
        ),
        ("certificatesDir", text(certificates_dir.as_ref())),
        ("clusterName", text(facts.cluster_name.as_ref())),
        ("controlPlaneEndpoint", endpoint),
        ("controllerManager", Some(component(api, controller_manager))),
        ("dns", Some(dns_of(dns))),
        (
            "encryptionAlgorithm",
            newer(encryption_algorithm.map(|it| Value::from(it.as_str()))),
        ),
        ("etcd", Some(etcd_of(api, etcd))),
        (
            "featureGates",
            (!feature_gates.is_empty()).then(|| serde_json::json!(feature_gates)),
        ),
        ("imageRepository", text(image_repository.as_ref())),
        ("kubernetesVersion", text(facts.kubernetes_version.as_ref())),
        ("networking", Some(networking)),
        ("proxy", newer(Some(object([])))),
        ("scheduler", Some(component(api, scheduler))),
    ]))
}

fn api_server_of(api: KubeadmApi, server: &ApiServer, health_check_seconds: Option<i32>) -> Value {
    let ApiServer {
        extra_args,
        extra_volumes,
        extra_envs,
        cert_sans,
    } = server;
    let timeout = seconds(health_check_seconds).filter(|_| api == KubeadmApi::V1Beta3);
    object([
        ("certSANs", texts(cert_sans)),
        ("extraArgs", arguments(api, extra_args)),
        ("extraEnvs", variables(api, extra_envs.as_ref())),
        ("extraVolumes", volumes(extra_volumes)),
        ("timeoutForControlPlane", timeout),
    ])
}

fn component(api: KubeadmApi, component: &ControlPlaneComponent) -> Value {
    let ControlPlaneComponent {
        extra_args,
        extra_volumes,
        extra_envs,
    } = component;
    object([
        ("extraArgs", arguments(api, extra_args)),
        ("extraEnvs", variables(api, extra_envs.as_ref())),
        ("extraVolumes", volumes(extra_volumes)),
    ])
}

fn dns_of(dns: &Dns) -> Value {
    let Dns {
        image_repository,
        image_tag,
    } = dns;
    object([
        ("imageRepository", text(image_repository.as_ref())),
        ("imageTag", text(image_tag.as_ref())),
    ])
}

fn etcd_of(api: KubeadmApi, etcd: &Etcd) -> Value {
    let Etcd { local, external } = etcd;
    let local = (*local != LocalEtcd::default()).then(|| local_etcd(api, local));
    object([
        ("local", local),
        ("external", external.as_ref().map(external_etcd)),
    ])
}

fn local_etcd(api: KubeadmApi, etcd: &LocalEtcd) -> Value {
    let LocalEtcd {
        image_repository,
        image_tag,
        data_dir,
        extra_args,
        extra_envs,
        server_cert_sans,
        peer_cert_sans,
    } = etcd;
    object([
        ("dataDir", Some(Value::from(data_dir.clone().unwrap_or_default()))),
        ("extraArgs", arguments(api, extra_args)),
        ("extraEnvs", variables(api, extra_envs.as_ref())),
        ("imageRepository", text(image_repository.as_ref())),
        ("imageTag", text(image_tag.as_ref())),
        ("peerCertSANs", texts(peer_cert_sans)),
        ("serverCertSANs", texts(server_cert_sans)),
    ])
}

fn external_etcd(etcd: &ExternalEtcd) -> Value {
    let ExternalEtcd {
        endpoints,
        ca_file,
        cert_file,
        key_file,
    } = etcd;
    object([
        ("caFile", Some(Value::from(ca_file.as_str()))),
        ("certFile", Some(Value::from(cert_file.as_str()))),
        ("endpoints", Some(Value::from(endpoints.clone()))),
        ("keyFile", Some(Value::from(key_file.as_str()))),
    ])
}
