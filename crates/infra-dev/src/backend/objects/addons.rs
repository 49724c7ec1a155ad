//! The addons that `kubeadm init` installs: kube-proxy and CoreDNS.
//! Source: kubernetes `cmd/kubeadm/app/phases/addons`.

use k8s_openapi::api::{
    apps::v1::{DaemonSet, Deployment},
    core::v1::{ConfigMap, Service, ServiceAccount},
    rbac::v1::{ClusterRole, ClusterRoleBinding},
};
use kube::Client;
use serde_json::{Value, json};

use super::{ensure, leftovers::Leftovers, rbac::binding};
use crate::backend::BackendError;

/// The CoreDNS of kubeadm's newest supported release.
const COREDNS_TAG: &str = "v1.13.1";

/// Writes what is missing.
pub(super) async fn write(client: &Client, left: &Leftovers) -> Result<(), BackendError> {
    for name in ["kube-proxy", "coredns"] {
        let account = json!({
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": { "name": name, "namespace": "kube-system" },
        });
        ensure::<ServiceAccount>(client, account).await?;
    }
    let bindings = [
        ("kubeadm:node-proxier", "system:node-proxier", "kube-proxy"),
        ("system:coredns", "system:coredns", "coredns"),
    ];
    ensure::<ClusterRole>(client, coredns_role()).await?;
    for (name, role, account) in bindings {
        ensure::<ClusterRoleBinding>(client, binding(None, name, role, &[("ServiceAccount", account)]))
            .await?;
    }
    ensure::<ConfigMap>(
        client,
        config_map("kube-proxy", "config.conf", &kube_proxy_config(left)),
    )
    .await?;
    ensure::<DaemonSet>(client, kube_proxy(&left.version)).await?;
    ensure::<ConfigMap>(client, config_map("coredns", "Corefile", COREFILE)).await?;
    ensure::<Service>(client, dns_service()).await?;
    ensure::<Deployment>(client, coredns()).await
}

fn config_map(name: &str, key: &str, text: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": name, "namespace": "kube-system", "labels": { "app": name } },
        "data": { (key): text },
    })
}

fn kube_proxy_config(left: &Leftovers) -> String {
    format!(
        "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: iptables\n\
         clientConnection:\n  kubeconfig: /var/lib/kube-proxy/kubeconfig.conf\n# {} at {}\n",
        left.cluster, left.endpoint
    )
}

fn kube_proxy(version: &str) -> Value {
    let image = format!("registry.k8s.io/kube-proxy:{}", version.replace('+', "_"));
    json!({
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
            "name": "kube-proxy",
            "namespace": "kube-system",
            "labels": { "k8s-app": "kube-proxy", "component": "kube-proxy" },
        },
        "spec": {
            "selector": { "matchLabels": { "k8s-app": "kube-proxy" } },
            "template": {
                "metadata": { "labels": { "k8s-app": "kube-proxy" } },
                "spec": {
                    "containers": [{
                        "name": "kube-proxy",
                        "image": image,
                        "command": ["/usr/local/bin/kube-proxy", "--config=/var/lib/kube-proxy/config.conf"],
                    }],
                    "hostNetwork": true,
                    "nodeSelector": { "kubernetes.io/os": "linux" },
                    "priorityClassName": "system-node-critical",
                    "serviceAccountName": "kube-proxy",
                    "tolerations": [{ "operator": "Exists" }],
                },
            },
            "updateStrategy": { "type": "RollingUpdate" },
        },
    })
}

fn coredns() -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": "coredns", "namespace": "kube-system", "labels": { "k8s-app": "kube-dns" } },
        "spec": {
            "replicas": 2,
            "selector": { "matchLabels": { "k8s-app": "kube-dns" } },
            "template": {
                "metadata": { "labels": { "k8s-app": "kube-dns" } },
                "spec": {
                    "containers": [{
                        "name": "coredns",
                        "image": format!("registry.k8s.io/coredns/coredns:{COREDNS_TAG}"),
                        "args": ["-conf", "/etc/coredns/Corefile"],
                        "volumeMounts": [{ "name": "config-volume", "mountPath": "/etc/coredns", "readOnly": true }],
                    }],
                    "dnsPolicy": "Default",
                    "priorityClassName": "system-cluster-critical",
                    "serviceAccountName": "coredns",
                    "tolerations": [
                        { "key": "CriticalAddonsOnly", "operator": "Exists" },
                        { "key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule" },
                    ],
                    "volumes": [{
                        "name": "config-volume",
                        "configMap": { "name": "coredns", "items": [{ "key": "Corefile", "path": "Corefile" }] },
                    }],
                },
            },
        },
    })
}

fn dns_service() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "kube-dns",
            "namespace": "kube-system",
            "labels": { "k8s-app": "kube-dns", "kubernetes.io/name": "CoreDNS" },
        },
        "spec": {
            "clusterIP": "10.96.0.10",
            "clusterIPs": ["10.96.0.10"],
            "selector": { "k8s-app": "kube-dns" },
            "ports": [
                { "name": "dns", "port": 53, "protocol": "UDP", "targetPort": 53 },
                { "name": "dns-tcp", "port": 53, "protocol": "TCP", "targetPort": 53 },
                { "name": "metrics", "port": 9153, "protocol": "TCP", "targetPort": 9153 },
            ],
        },
    })
}

fn coredns_role() -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": { "name": "system:coredns" },
        "rules": [
            {
                "apiGroups": [""],
                "resources": ["endpoints", "services", "pods", "namespaces"],
                "verbs": ["list", "watch"],
            },
            { "apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"] },
        ],
    })
}

const COREFILE: &str = ".:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30 {
       disable success cluster.local
       disable denial cluster.local
    }
    loop
    reload
    loadbalance
}
";
