//! The kubeconfig file by which a host finds its cluster, where the user asks for discovery by file.
//! Source of the form: upstream `bootstrap/kubeadm/reconcilers/kubeadmconfig:resolveDiscoveryKubeConfig`.

use capstan_api::bootstrap::{
    File, FileDiscovery, KubeConfigAuthExec, KubeConfigAuthProvider, KubeConfigCluster, KubeConfigUser,
};
use serde_json::{Value, json};

/// The protocol of the command that authenticates, where the user does not name one.
const DEFAULT_EXEC_API_VERSION: &str = "client.authentication.k8s.io/v1";

/// The file that a discovery describes; none if the user brings the file along.
pub(crate) fn kubeconfig_file(discovery: &FileDiscovery) -> Option<File> {
    let described = discovery.kube_config.as_ref()?;
    let kubeconfig = json!({
        "clusters": [{ "name": "default", "cluster": cluster(&described.cluster) }],
        "contexts": [{ "name": "default", "context": { "cluster": "default", "user": "default" } }],
        "current-context": "default",
        "users": [{ "name": "default", "user": user(&described.user) }],
    });
    Some(File {
        path: discovery.kube_config_path.clone(),
        owner: Some("root:root".to_owned()),
        permissions: Some("0640".to_owned()),
        content: Some(capstan_kubeadm::yaml::to_string(&kubeconfig)),
        ..File::default()
    })
}

fn cluster(cluster: &KubeConfigCluster) -> Value {
    let KubeConfigCluster {
        server,
        tls_server_name,
        insecure_skip_tls_verify,
        certificate_authority_data,
        proxy_url,
    } = cluster;
    present(json!({
        "server": server.clone().unwrap_or_default(),
        "tls-server-name": tls_server_name,
        "insecure-skip-tls-verify": insecure_skip_tls_verify.filter(|it| *it),
        "certificate-authority-data": (!certificate_authority_data.0.is_empty()).then_some(certificate_authority_data),
        "proxy-url": proxy_url,
    }))
}

fn user(user: &KubeConfigUser) -> Value {
    let KubeConfigUser { auth_provider, exec } = user;
    present(json!({
        "auth-provider": auth_provider.as_ref().map(provider),
        "exec": exec.as_ref().map(command),
    }))
}

fn provider(provider: &KubeConfigAuthProvider) -> Value {
    let KubeConfigAuthProvider { name, config } = provider;
    json!({ "name": name, "config": (!config.is_empty()).then_some(config) })
}

fn command(exec: &KubeConfigAuthExec) -> Value {
    let KubeConfigAuthExec {
        command,
        args,
        env,
        api_version,
        provide_cluster_info,
    } = exec;
    let environment: Vec<Value> = env
        .iter()
        .map(|it| json!({ "name": it.name, "value": it.value }))
        .collect();
    let args = if args.is_empty() { Value::Null } else { json!(args) };
    let mut fields = json!({
        "apiVersion": api_version.as_deref().filter(|it| !it.is_empty()).unwrap_or(DEFAULT_EXEC_API_VERSION),
        "command": command,
        "interactiveMode": "Never",
        "provideClusterInfo": provide_cluster_info.unwrap_or_default(),
    });
    // Written even when there are none, as `null`.
    fields["args"] = args;
    fields["env"] = if environment.is_empty() {
        Value::Null
    } else {
        Value::from(environment)
    };
    fields
}

/// An object without its `null` fields.
fn present(mut object: Value) -> Value {
    if let Value::Object(fields) = &mut object {
        fields.retain(|_, value| !value.is_null());
    }
    object
}
