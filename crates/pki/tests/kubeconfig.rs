//! Kubeconfigs are written as kubectl reads them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use capstan_base::{SeededEntropy, Timestamp};
use capstan_pki::{Algorithm, Authority, Kubeconfig, UniformKeys};
use expect_test::expect;
use jiff::SignedDuration;

fn administrator() -> Kubeconfig {
    let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
    let keys = UniformKeys::new(Arc::new(SeededEntropy::new(1)));
    let authority = Authority::generate(
        "kubernetes",
        Algorithm::EcdsaP256,
        SignedDuration::from_hours(48),
        now,
        &keys,
    )
    .unwrap();
    Kubeconfig::for_administrator(
        "c1",
        "https://10.0.0.1:6443",
        &authority,
        Algorithm::EcdsaP256,
        now,
        &keys,
    )
    .unwrap()
}

#[test]
fn an_administrators_kubeconfig_has_upstreams_names() {
    let yaml = administrator().to_yaml().unwrap();
    let shortened: String = yaml
        .expose()
        .lines()
        .map(|line| match line.split_once("-data: ") {
            Some((field, _)) => format!("{field}-data: ...\n"),
            None => format!("{line}\n"),
        })
        .collect();
    expect![[r"
        apiVersion: v1
        clusters:
        - cluster:
            certificate-authority-data: ...
            server: https://10.0.0.1:6443
          name: c1
        contexts:
        - context:
            cluster: c1
            user: c1-admin
          name: c1-admin@c1
        current-context: c1-admin@c1
        kind: Config
        users:
        - name: c1-admin
          user:
            client-certificate-data: ...
            client-key-data: ...
    "]]
    .assert_eq(&shortened);
}

#[test]
fn a_kubeconfig_reads_back_as_it_was_written() {
    let written = administrator();
    let read = Kubeconfig::parse(written.to_yaml().unwrap().expose()).unwrap();
    assert_eq!(read, written);
    assert_eq!(read.current_cluster().unwrap().server, "https://10.0.0.1:6443");
    assert_eq!(read.current_user().unwrap().name, "c1-admin");
    assert_eq!(
        read.first_expiry().unwrap(),
        Some("2027-01-02T03:04:05Z".parse().unwrap())
    );
}

#[test]
fn foreign_kubeconfigs_in_json_or_with_nulls_are_read_too() {
    let text = r#"{"kind": "Config", "clusters": [{"name": "a", "cluster": {"server": "https://a"}}], "users": null,
        "contexts": null, "preferences": {}, "current-context": ""}"#;
    let read = Kubeconfig::parse(text).unwrap();
    assert_eq!(
        (read.clusters.len(), read.current(), read.first_expiry().unwrap()),
        (1, None, None)
    );
}

#[test]
fn a_text_that_is_no_kubeconfig_is_an_error() {
    assert_eq!(
        Kubeconfig::parse("[1, 2").unwrap_err().to_string(),
        "failed to parse a kubeconfig"
    );
}
