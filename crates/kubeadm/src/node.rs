//! `InitConfiguration` and `JoinConfiguration`: how one host becomes a node.
//! Source of the forms: upstream `bootstrap/kubeadm/pkg/types/upstreamv1beta3` and `upstreamv1beta4`.

use capstan_api::bootstrap::{
    BootstrapToken, BootstrapTokenDiscovery, Discovery, FileDiscovery, InitConfiguration, JoinConfiguration,
    JoinControlPlane, LocalApiEndpoint, NodeRegistration, Patches, Timeouts,
};
use serde_json::Value;

use crate::{
    KubeadmApi,
    fields::{arguments, flag, object, seconds, taints, text, texts, time},
    yaml,
};

/// Renders an `InitConfiguration` document.
pub fn init_configuration(api: KubeadmApi, configuration: &InitConfiguration) -> String {
    let InitConfiguration {
        bootstrap_tokens,
        node_registration,
        local_api_endpoint,
        skip_phases,
        patches,
        timeouts,
    } = configuration;
    let tokens: Vec<Value> = bootstrap_tokens.iter().map(bootstrap_token).collect();
    yaml::to_string(&object([
        ("apiVersion", Some(Value::from(api.api_version()))),
        ("kind", Some(Value::from("InitConfiguration"))),
        (
            "bootstrapTokens",
            (!tokens.is_empty()).then(|| Value::from(tokens)),
        ),
        ("localAPIEndpoint", Some(endpoint(local_api_endpoint))),
        ("nodeRegistration", Some(registration(api, node_registration))),
        ("patches", patches_of(patches)),
        ("skipPhases", texts(skip_phases)),
        (
            "timeouts",
            timeouts_of(timeouts).filter(|_| api == KubeadmApi::V1Beta4),
        ),
    ]))
}

/// Renders a `JoinConfiguration` document.
pub fn join_configuration(api: KubeadmApi, configuration: &JoinConfiguration) -> String {
    let JoinConfiguration {
        node_registration,
        ca_cert_path,
        discovery,
        control_plane,
        skip_phases,
        patches,
        timeouts,
    } = configuration;
    yaml::to_string(&object([
        ("apiVersion", Some(Value::from(api.api_version()))),
        ("kind", Some(Value::from("JoinConfiguration"))),
        ("caCertPath", text(ca_cert_path.as_ref())),
        ("controlPlane", control_plane.as_ref().map(join_control_plane)),
        ("discovery", Some(discovery_of(api, discovery, timeouts))),
        ("nodeRegistration", Some(registration(api, node_registration))),
        ("patches", patches_of(patches)),
        ("skipPhases", texts(skip_phases)),
        (
            "timeouts",
            timeouts_of(timeouts).filter(|_| api == KubeadmApi::V1Beta4),
        ),
    ]))
}

fn bootstrap_token(token: &BootstrapToken) -> Value {
    let BootstrapToken {
        token,
        description,
        ttl_seconds,
        expires,
        usages,
        groups,
    } = token;
    let shown = if token.is_empty() {
        Value::Null
    } else {
        Value::from(token.as_str())
    };
    object([
        ("description", text(description.as_ref())),
        ("expires", expires.as_ref().and_then(time)),
        ("groups", texts(groups)),
        ("token", Some(shown)),
        ("ttl", seconds(*ttl_seconds)),
        ("usages", texts(usages)),
    ])
}

fn endpoint(endpoint: &LocalApiEndpoint) -> Value {
    let LocalApiEndpoint {
        advertise_address,
        bind_port,
    } = endpoint;
    object([
        ("advertiseAddress", text(advertise_address.as_ref())),
        ("bindPort", bind_port.filter(|it| *it != 0).map(Value::from)),
    ])
}

fn registration(api: KubeadmApi, registration: &NodeRegistration) -> Value {
    let NodeRegistration {
        name,
        cri_socket,
        taints: node_taints,
        kubelet_extra_args,
        ignore_preflight_errors,
        image_pull_policy,
        image_pull_serial,
    } = registration;
    object([
        ("criSocket", text(cri_socket.as_ref())),
        ("ignorePreflightErrors", texts(ignore_preflight_errors)),
        (
            "imagePullPolicy",
            image_pull_policy.map(|it| Value::from(it.as_str())),
        ),
        (
            "imagePullSerial",
            image_pull_serial
                .filter(|_| api == KubeadmApi::V1Beta4)
                .map(Value::from),
        ),
        ("kubeletExtraArgs", arguments(api, kubelet_extra_args)),
        ("name", text(name.as_ref())),
        ("taints", Some(taints(node_taints.as_ref()))),
    ])
}

fn patches_of(patches: &Patches) -> Option<Value> {
    let Patches { directory } = patches;
    directory
        .as_ref()
        .map(|_| object([("directory", text(directory.as_ref()))]))
}

fn timeouts_of(timeouts: &Timeouts) -> Option<Value> {
    let Timeouts {
        control_plane_component_health_check_seconds,
        kubelet_health_check_seconds,
        kubernetes_api_call_seconds,
        etcd_api_call_seconds,
        tls_bootstrap_seconds,
        discovery_seconds,
    } = timeouts;
    (*timeouts != Timeouts::default()).then(|| {
        object([
            (
                "controlPlaneComponentHealthCheck",
                seconds(*control_plane_component_health_check_seconds),
            ),
            ("discovery", seconds(*discovery_seconds)),
            ("etcdAPICall", seconds(*etcd_api_call_seconds)),
            ("kubeletHealthCheck", seconds(*kubelet_health_check_seconds)),
            ("kubernetesAPICall", seconds(*kubernetes_api_call_seconds)),
            ("tlsBootstrap", seconds(*tls_bootstrap_seconds)),
        ])
    })
}

fn join_control_plane(control_plane: &JoinControlPlane) -> Value {
    let JoinControlPlane { local_api_endpoint } = control_plane;
    object([("localAPIEndpoint", Some(endpoint(local_api_endpoint)))])
}

/// In v1beta3 the time allowed for the first certificate is part of the discovery.
fn discovery_of(api: KubeadmApi, discovery: &Discovery, timeouts: &Timeouts) -> Value {
    let Discovery {
        bootstrap_token,
        file,
        tls_bootstrap_token,
    } = discovery;
    let token = (*bootstrap_token != BootstrapTokenDiscovery::default()).then(|| {
        let BootstrapTokenDiscovery {
            token,
            api_server_endpoint,
            ca_cert_hashes,
            unsafe_skip_ca_verification,
        } = bootstrap_token;
        object([
            ("apiServerEndpoint", text(api_server_endpoint.as_ref())),
            ("caCertHashes", texts(ca_cert_hashes)),
            ("token", Some(Value::from(token.clone().unwrap_or_default()))),
            ("unsafeSkipCAVerification", flag(*unsafe_skip_ca_verification)),
        ])
    });
    let file = file.as_ref().map(|it| {
        // What the file is to contain is ours to write, not kubeadm's to know.
        let FileDiscovery {
            kube_config_path,
            kube_config: _,
        } = it;
        object([("kubeConfigPath", Some(Value::from(kube_config_path.as_str())))])
    });
    object([
        ("bootstrapToken", token),
        ("file", file),
        (
            "timeout",
            seconds(timeouts.tls_bootstrap_seconds).filter(|_| api == KubeadmApi::V1Beta3),
        ),
        ("tlsBootstrapToken", text(tls_bootstrap_token.as_ref())),
    ])
}
