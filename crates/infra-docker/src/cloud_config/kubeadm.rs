//! What kubeadm must be told so that a node lives in a container. What the user set stays.
//!
//! Source: cluster-api `test/infrastructure/docker/internal/provisioning/cloudinit/writefiles.go` and `runcmd.go`.

use serde_json::{Value, json};

use super::Facts;

const INIT: &str = "/run/kubeadm/kubeadm.yaml";
const JOIN: &str = "/run/kubeadm/kubeadm-join-config.yaml";

/// Checks before kubeadm's work that fail in containers, and may.
const IGNORED: &str = "SystemVerification,Swap,FileContent--proc-sys-net-bridge-bridge-nf-call-iptables";

/// A command, with what kubeadm needs to start in a container.
pub(super) fn command(script: &str) -> String {
    for verb in ["kubeadm init", "kubeadm join"] {
        if script.contains(verb) {
            let told = format!("{verb} --ignore-preflight-errors={IGNORED}");
            return script.replacen(verb, &told, 1);
        }
    }
    script.to_owned()
}

/// The content of a file; completed if it is one of kubeadm's.
pub(super) fn completed(path: &str, content: Vec<u8>, facts: &Facts) -> Result<Vec<u8>, String> {
    if path != INIT && path != JOIN {
        return Ok(content);
    }
    let text = String::from_utf8(content).map_err(|it| format!("is not text: {it}"))?;
    let mut documents = Vec::new();
    for document in split(&text) {
        let value: Value = serde_saphyr::from_str(&document)
            .map_err(|it| format!("is not kubeadm's configuration: {it}"))?;
        if !value.is_null() {
            documents.push(value);
        }
    }
    for document in &mut documents {
        if is_of_kind(document, "InitConfiguration") || is_of_kind(document, "JoinConfiguration") {
            register(document, facts);
        }
    }
    if path == INIT {
        add_components(&mut documents, facts);
    }
    let documents: Vec<String> = documents.iter().map(capstan_kubeadm::yaml::to_string).collect();
    Ok(format!("---\n{}", documents.join("---\n")).into_bytes())
}

fn split(text: &str) -> Vec<String> {
    let mut documents = vec![String::new()];
    for line in text.lines() {
        if line.trim_end() == "---" {
            documents.push(String::new());
        } else if let Some(document) = documents.last_mut() {
            document.push_str(line);
            document.push('\n');
        }
    }
    documents
}

fn is_of_kind(document: &Value, kind: &str) -> bool {
    document.get("kind").and_then(Value::as_str) == Some(kind)
}

/// Whether arguments are a mapping, as they are up to v1beta3; later, they are a list.
fn has_mappings(document: &Value) -> bool {
    let version = document
        .get("apiVersion")
        .and_then(Value::as_str)
        .unwrap_or_default();
    ["v1beta1", "v1beta2", "v1beta3"]
        .iter()
        .any(|it| version.ends_with(it))
}

/// How the node registers: with containerd, without an eye on the host's disk, in a control group of its own.
fn register(document: &mut Value, facts: &Facts) {
    let is_list = !has_mappings(document);
    let Some(fields) = document.as_object_mut() else {
        return;
    };
    let registration = fields.entry("nodeRegistration").or_insert_with(|| json!({}));
    let Some(registration) = registration.as_object_mut() else {
        return;
    };
    let socket = registration.entry("criSocket").or_insert_with(|| json!(""));
    if socket.as_str() == Some("") {
        *socket = json!("unix:///var/run/containerd/containerd.sock");
    }
    let empty = if is_list { json!([]) } else { json!({}) };
    let arguments = registration.entry("kubeletExtraArgs").or_insert(empty);
    for (name, value) in [
        // The kubelet would see the host's disk, and make room on it.
        ("image-gc-high-threshold", "100"),
        (
            "eviction-hard",
            "nodefs.available<0%,nodefs.inodesFree<0%,imagefs.available<0%",
        ),
        ("fail-swap-on", "false"),
        // The container has control groups of its own, in which the kubelet is not alone.
        ("cgroup-root", "/kubelet"),
        ("runtime-cgroups", "/system.slice/containerd.service"),
        ("provider-id", facts.provider_id.as_str()),
    ] {
        argue(arguments, name, value);
    }
}

/// Adds an argument that is not there.
fn argue(arguments: &mut Value, name: &str, value: &str) {
    match arguments {
        Value::Array(list) => {
            let is_there = list
                .iter()
                .any(|it| it.get("name").and_then(Value::as_str) == Some(name));
            if !is_there {
                list.push(json!({ "name": name, "value": value }));
            }
        }
        Value::Object(fields) => {
            fields.entry(name).or_insert_with(|| json!(value));
        }
        _ => {}
    }
}

/// The configuration that all nodes get from the first.
fn add_components(documents: &mut Vec<Value>, facts: &Facts) {
    // kubeadm of 1.31 and later: earlier kubelets refuse a setting that they do not know.
    let is_recent = documents
        .iter()
        .any(|it| is_of_kind(it, "InitConfiguration") && !has_mappings(it));
    if !documents
        .iter()
        .any(|it| is_of_kind(it, "KubeProxyConfiguration"))
    {
        documents.push(json!({
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            // These are settings of the host's kernel, and containers must not change them.
            "conntrack": { "maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s" },
        }));
    }
    if facts.has_cgroup_v1 && is_recent && !documents.iter().any(|it| is_of_kind(it, "KubeletConfiguration"))
    {
        documents.push(json!({
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            // The kubelet refuses the first version of control groups since 1.35 unless it is told otherwise.
            "failCgroupV1": false,
        }));
    }
}
