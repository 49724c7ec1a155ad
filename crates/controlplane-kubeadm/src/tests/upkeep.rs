//! What is kept in order inside the workload cluster, and when.

use capstan_base::Timestamp;
use capstan_workload::Remote;
use serde_json::{Value, json};

use super::drawing::{control_plane, decisions, with};
use crate::{
    upkeep::{Addons, BINDINGS, Half, Preparation, Upkeep, due},
    view::View,
};

fn kubeadm_config(version: &str) -> Value {
    json!({ "metadata": { "resourceVersion": "7" }, "data": { "ClusterConfiguration":
        format!("apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: {version}\n") } })
}

fn before(view: View, version: &str, missing: usize) -> View {
    let configuration = serde_json::from_value(kubeadm_config(version)).expect("a ConfigMap");
    View {
        upkeep: Upkeep::BeforeRollout(Remote::Found(Preparation {
            configuration: Some(configuration),
            missing_bindings: BINDINGS[..missing].to_vec(),
        })),
        ..view
    }
}

fn after(view: View, proxy: &str, dns: &str) -> View {
    let workload = |name: &str, image: &str| {
        json!({ "metadata": { "name": name, "resourceVersion": "9" }, "spec": { "selector": {},
            "template": { "spec": { "containers": [{ "name": name, "image": image }] } } } })
    };
    let addons = Addons {
        kube_proxy: serde_json::from_value(workload("kube-proxy", proxy)).ok(),
        dns: serde_json::from_value(workload("coredns", dns)).ok(),
        configuration: serde_json::from_value(kubeadm_config("v1.36.0")).ok(),
    };
    View {
        upkeep: Upkeep::AfterRollout(Remote::Found(addons)),
        ..view
    }
}

#[test]
fn what_is_due_follows_from_the_machines() {
    let table = [
        ("m1 m2 m3", Some(Half::AfterRollout)),
        ("m1 m2 m3:o", Some(Half::BeforeRollout)),
        ("m1 m2:o", Some(Half::BeforeRollout)),
        ("m1 m2", None),
        ("m1 m2 m3:d", None),
        ("", None),
    ];
    for (drawn, expected) in table {
        assert_eq!(due(&control_plane(3, drawn)), expected, "{drawn}");
    }
}

#[test]
fn kubeadms_configuration_is_written_before_a_machine_of_another_version_joins() {
    let view = || control_plane(3, "m1 m2 m3:o");
    let told = decisions(&before(view(), "v1.35.0", 1));
    assert_eq!(
        told[0],
        "RollingOut: kubeadm expects the ClusterRoleBinding kubeadm:cluster-admins"
    );
    assert_eq!(
        told[1],
        "UpdateKubeadmConfig: the next machine joins with version v1.36.0"
    );
    assert!(told[2].starts_with("CreateMachine"), "{told:#?}");
    let told = decisions(&before(view(), "v1.36.0", 0));
    assert!(
        told.len() == 1 && told[0].starts_with("CreateMachine"),
        "{told:#?}"
    );
}

#[test]
fn no_machine_joins_while_the_cluster_does_not_answer() {
    let mut view = control_plane(3, "m1 m2 m3:o");
    view.upkeep = Upkeep::BeforeRollout(Remote::Disconnected {
        since: Timestamp::UNIX_EPOCH,
        why: "connection refused".to_owned(),
    });
    assert_eq!(
        decisions(&view),
        ["wait RollingOut: the workload cluster does not answer: connection refused"]
    );
}

#[test]
fn the_addons_follow_once_all_machines_are_up_to_date() {
    let old = (
        "registry.k8s.io/kube-proxy:v1.35.0",
        "registry.k8s.io/coredns/coredns:v1.12.0",
    );
    let plain = || control_plane(3, "m1 m2 m3");
    let with_dns = |view: View, tag: &str| {
        with(view, |it| {
            it.spec.kubeadm_config_spec.cluster_configuration.dns.image_tag = Some(tag.to_owned());
        })
    };
    let table: [(View, &[&str]); 4] = [
        (
            after(plain(), old.0, old.1),
            &["UpdateKubeProxy: kube-proxy runs registry.k8s.io/kube-proxy:v1.36.0"],
        ),
        (after(plain(), "registry.k8s.io/kube-proxy:v1.36.0", old.1), &[]),
        (
            after(with_dns(plain(), "v1.13.0"), old.0, old.1),
            &[
                "UpdateKubeProxy: kube-proxy runs registry.k8s.io/kube-proxy:v1.36.0",
                "UpdateCoreDNS: machines join with registry.k8s.io/coredns/coredns:v1.13.0",
                "UpdateCoreDNS: CoreDNS runs registry.k8s.io/coredns/coredns:v1.13.0",
            ],
        ),
        (
            after(
                with_dns(plain(), "v1.11.0"),
                "registry.k8s.io/kube-proxy:v1.36.0",
                old.1,
            ),
            &[
                "wait Addons: spec.kubeadmConfigSpec.clusterConfiguration.dns.imageTag v1.11.0 is older than the CoreDNS that runs, v1.12.0",
            ],
        ),
    ];
    for (view, expected) in table {
        let mut told = decisions(&view);
        // A configuration that changes is a reason to roll out too; here it is what the machines were made with.
        told.retain(|it| !it.starts_with("CreateMachine"));
        assert_eq!(told, expected);
    }
}

#[test]
fn annotations_keep_the_addons_as_they_are() {
    use capstan_api::well_known::annotation;
    use kube::ResourceExt as _;
    let view = with(control_plane(3, "m1 m2 m3"), |it| {
        let configuration = &mut it.spec.kubeadm_config_spec.cluster_configuration;
        configuration.dns.image_tag = Some("v1.13.0".to_owned());
        for key in [annotation::SKIP_KUBE_PROXY, annotation::SKIP_COREDNS] {
            it.annotations_mut().insert(key.to_owned(), String::new());
        }
    });
    let view = after(
        view,
        "registry.k8s.io/kube-proxy:v1.35.0",
        "registry.k8s.io/coredns/coredns:v1.12.0",
    );
    assert_eq!(decisions(&view), Vec::<String>::new());
}
