//! The infrastructure kinds that Capstan serves itself.

use expect_test::expect;
use serde_json::{Value, json};

use super::{context, defaulted, problems};
use crate::{
    admission::{Context, validate},
    feature::Feature,
    infrastructure::GROUP,
};

fn refused(kind: &str, new: Value, old: Option<Value>) -> Vec<String> {
    problems(GROUP, kind, new, old, &[Feature::ClusterTopology])
}

#[test]
fn without_a_backend_a_cluster_or_machine_is_in_containers() {
    let filled = |kind: &str, spec: Value| defaulted(GROUP, kind, spec)["spec"].to_string();
    expect![[r#"{"backend":{"docker":{}},"controlPlaneEndpoint":{"port":6443}}"#]]
        .assert_eq(&filled("DevCluster", json!({})));
    expect![[r#"{"backend":{"inMemory":{}}}"#]]
        .assert_eq(&filled("DevCluster", json!({ "backend": { "inMemory": {} } })));
    expect![[
        r#"{"controlPlaneEndpoint":{"port":6443},"failureDomains":[{"controlPlane":false,"name":"a"}]}"#
    ]]
    .assert_eq(&filled(
        "DockerCluster",
        json!({ "failureDomains": [{ "name": "a" }] }),
    ));
    expect![[r#"{"backend":{"docker":{}}}"#]].assert_eq(&filled("DevMachine", json!({})));
    let template = json!({ "template": { "spec": { "backend": { "inMemory": {} } } } });
    expect![[r#"{"template":{"spec":{"backend":{"inMemory":{}}}}}"#]]
        .assert_eq(&filled("DevMachineTemplate", template));
}

#[test]
fn a_typing_error_is_refused_by_name() {
    let dev = json!({ "backend": { "inMemory": {
        "vm": { "provisioning": { "startupDuration": "10 seconds" } },
        "etcd": { "provisioning": { "startupDuration": "1s", "startupJitter": "a bit" } },
    } } });
    let docker = json!({
        "bootstrapTimeout": "soon",
        "extraMounts": [{ "containerPath": "data", "hostPath": "/data" }],
    });
    let domains = json!({ "failureDomains": [{ "name": "b" }, { "name": "a" }] });
    let both = json!({ "backend": { "docker": {}, "inMemory": {} } });
    expect![[r#"
        [
            [
                "spec.backend.inMemory.vm.provisioning.startupDuration: Invalid value: \"10 seconds\": \"10 seconds\" is no duration; write it like 10s, 1m30s or 250ms",
                "spec.backend.inMemory.etcd.provisioning.startupJitter: Invalid value: \"a bit\": must be a number, like 0.2",
            ],
            [
                "spec.bootstrapTimeout: Invalid value: \"soon\": \"soon\" is no duration; write it like 10s, 1m30s or 250ms",
                "spec.extraMounts[0].containerPath: Invalid value: \"data\": must be an absolute path",
            ],
            [
                "spec.failureDomains: Invalid value: [{\"name\":\"b\"},{\"name\":\"a\"}]: failure domains must be sorted by name",
            ],
            [
                "spec.backend: Forbidden: only one of docker and inMemory may be set",
            ],
        ]
    "#]].assert_debug_eq(&[
        refused("DevMachine", dev, None),
        refused("DockerMachine", docker, None),
        refused("DockerCluster", domains, None),
        refused("DevCluster", both, None),
    ]);
}

#[test]
fn what_a_machine_is_made_of_cannot_be_changed_under_it() {
    let image = |name: &str| json!({ "customImage": name });
    let dev = |backend: Value| json!({ "backend": backend });
    let template = |spec: Value| json!({ "template": { "spec": spec } });
    let domains = |name: &str| template(json!({ "failureDomains": [{ "name": name }] }));
    expect![[r#"
        [
            [
                "spec.customImage: Forbidden: cannot be modified",
            ],
            [
                "spec.backend.docker.customImage: Forbidden: cannot be modified",
            ],
            [
                "spec.backend: Forbidden: cannot be changed between docker and inMemory. Please create a new resource instead.",
            ],
            [
                "spec.template.spec: Invalid value: {\"customImage\":\"b\"}: DockerMachineTemplate spec.template.spec field is immutable. Please create a new resource instead.",
            ],
            [
                "spec.template.spec: Invalid value: {\"failureDomains\":[{\"name\":\"b\"}]}: DockerClusterTemplate spec.template.spec field is immutable. Please create a new resource instead.",
            ],
        ]
    "#]].assert_debug_eq(&[
        refused("DockerMachine", image("b"), Some(image("a"))),
        refused(
            "DevMachine",
            dev(json!({ "docker": image("b") })),
            Some(dev(json!({ "docker": image("a") }))),
        ),
        refused(
            "DevMachine",
            dev(json!({ "docker": {} })),
            Some(dev(json!({ "inMemory": {} }))),
        ),
        refused(
            "DockerMachineTemplate",
            template(image("b")),
            Some(template(image("a"))),
        ),
        refused("DockerClusterTemplate", domains("b"), Some(domains("a"))),
    ]);
}

#[test]
fn the_topology_controller_may_try_out_a_changed_template() {
    let object = |annotations: Value, image: &str| {
        json!({
            "metadata": { "name": "name", "annotations": annotations },
            "spec": { "template": { "spec": { "customImage": image } } },
        })
    };
    let old = object(json!({}), "a");
    let new = object(json!({ "topology.cluster.x-k8s.io/dry-run": "" }), "b");
    let told = |context: &Context| validate(GROUP, "DockerMachineTemplate", &new, Some(&old), context).len();
    assert_eq!(told(&context(&[])), 1);
    assert_eq!(
        told(&Context {
            dry_run: true,
            ..context(&[])
        }),
        0
    );
}

#[test]
fn a_cluster_template_needs_the_topology_feature() {
    let template = json!({ "template": { "spec": {} } });
    expect![[r#"
        [
            "spec: Forbidden: can be set only if the ClusterTopology feature flag is enabled",
        ]
    "#]]
    .assert_debug_eq(&problems(GROUP, "DockerClusterTemplate", template, None, &[]));
}
