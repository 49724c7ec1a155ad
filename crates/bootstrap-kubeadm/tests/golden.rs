//! The data of whole hosts, against files that equal what upstream's own code renders for the same input.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use capstan_api::bootstrap::{File, KubeadmConfigSpec};
use capstan_base::Version;
use capstan_bootstrap_kubeadm::data::{HostData, KubeadmRun, render};
use capstan_kubeadm::{
    ClusterFacts, KubeadmApi, cluster_configuration, init_configuration, join_configuration,
};
use capstan_pki::{CertificateSet, ExternalEtcdFiles};
use expect_test::expect_file;
use serde_json::Value;

fn text(input: &Value, pointer: &str) -> Option<String> {
    input.pointer(pointer).and_then(Value::as_str).map(str::to_owned)
}

/// The certificate files, with the purposes in place of certificates and keys.
fn certificate_files(spec: &KubeadmConfigSpec) -> Vec<File> {
    let external = spec
        .cluster_configuration
        .etcd
        .external
        .as_ref()
        .map(|it| ExternalEtcdFiles {
            authority: it.ca_file.clone(),
            certificate: it.cert_file.clone(),
            key: it.key_file.clone(),
        });
    let directory = spec.cluster_configuration.certificates_dir.as_deref();
    let file = |path: &str, permissions: &str, content: String| File {
        path: path.to_owned(),
        owner: Some("root:root".to_owned()),
        permissions: Some(permissions.to_owned()),
        content: Some(content),
        ..File::default()
    };
    let mut files = Vec::new();
    for it in CertificateSet::for_control_plane(directory, external.as_ref()).0 {
        let purpose = it.purpose.suffix();
        files.push(file(
            &it.files.certificate,
            "0640",
            format!("certificate {purpose}\n"),
        ));
        files.extend(
            it.files
                .key
                .map(|path| file(&path, "0600", format!("key {purpose}\n"))),
        );
    }
    files
}

fn rendered(input: &Value) -> String {
    let spec: KubeadmConfigSpec = serde_json::from_value(input["spec"].clone()).unwrap();
    let version = text(input, "/version").unwrap();
    let api = KubeadmApi::for_kubernetes(&Version::parse_tolerant(&version).unwrap()).unwrap();
    let facts = ClusterFacts {
        cluster_name: text(input, "/cluster/name"),
        kubernetes_version: Some(version),
        control_plane_endpoint: None,
        dns_domain: text(input, "/cluster/dnsDomain"),
        service_subnet: text(input, "/cluster/serviceSubnet"),
        pod_subnet: text(input, "/cluster/podSubnet"),
        control_plane_health_check_seconds: spec
            .init_configuration
            .timeouts
            .control_plane_component_health_check_seconds,
    };
    let joins = || join_configuration(api, &spec.join_configuration);
    let run = match text(input, "/role").unwrap().as_str() {
        "init" => KubeadmRun::Init {
            cluster_configuration: cluster_configuration(api, &spec.cluster_configuration, &facts),
            init_configuration: init_configuration(api, &spec.init_configuration),
        },
        "join" => KubeadmRun::JoinControlPlane {
            join_configuration: joins(),
        },
        _ => KubeadmRun::JoinWorker {
            join_configuration: joins(),
        },
    };
    let has_certificates = input["certificates"] == true && !matches!(run, KubeadmRun::JoinWorker { .. });
    let certificates = if has_certificates {
        certificate_files(&spec)
    } else {
        Vec::new()
    };
    render(&HostData {
        spec: &spec,
        certificates: &certificates,
        files: &spec.files,
        users: &spec.users,
        run,
    })
}

#[test]
fn hosts_get_the_same_bytes_as_from_upstream() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for name in [
        "init-plain",
        "init-full",
        "init-v1beta3",
        "join-control-plane",
        "join-worker",
        "join-worker-plain",
    ] {
        let input = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
        let input: Value = serde_json::from_str(&input).unwrap();
        expect_file![folder.join(format!("{name}.yaml"))].assert_eq(&rendered(&input));
    }
}
