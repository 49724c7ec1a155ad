//! Conversions of a few objects, written down.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{AlwaysV1, DATA_ANNOTATION, ReferenceVersions};
use crate::conversion::convert;

fn check(value: Value, to: &str, expected: &Expect) {
    let (group, from) = value["apiVersion"].as_str().unwrap().split_once('/').unwrap();
    let (group, from, kind) = (
        group.to_owned(),
        from.to_owned(),
        value["kind"].as_str().unwrap().to_owned(),
    );
    let text = match convert(&group, &kind, &from, to, value, &AlwaysV1) {
        Ok(converted) => super::pretty(&converted),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&text);
}

#[test]
fn a_machine_goes_down_with_the_hub_in_its_annotation() {
    check(
        json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2",
            "kind": "Machine",
            "metadata": { "namespace": "team", "name": "one" },
            "spec": {
                "clusterName": "prod",
                "bootstrap": { "dataSecretName": "data" },
                "infrastructureRef": { "apiGroup": "infra.example.com", "kind": "Host", "name": "one" },
                "deletion": { "nodeDrainTimeoutSeconds": 90 },
                "minReadySeconds": 5,
            },
            "status": {
                "phase": "Updating",
                "nodeRef": { "name": "node-1" },
                "initialization": { "bootstrapDataSecretCreated": true, "infrastructureProvisioned": false },
                "deprecated": { "v1beta1": { "failureReason": "CreateError" } },
            },
        }),
        "v1beta1",
        &expect![[r#"
            {
              "apiVersion": "cluster.x-k8s.io/v1beta1",
              "kind": "Machine",
              "metadata": {
                "annotations": {
                  "cluster.x-k8s.io/conversion-data": "{\"apiVersion\":\"cluster.x-k8s.io/v1beta2\",\"kind\":\"Machine\",\"spec\":{\"bootstrap\":{\"dataSecretName\":\"data\"},\"clusterName\":\"prod\",\"deletion\":{\"nodeDrainTimeoutSeconds\":90},\"infrastructureRef\":{\"apiGroup\":\"infra.example.com\",\"kind\":\"Host\",\"name\":\"one\"},\"minReadySeconds\":5},\"status\":{\"deprecated\":{\"v1beta1\":{\"failureReason\":\"CreateError\"}},\"initialization\":{\"bootstrapDataSecretCreated\":true,\"infrastructureProvisioned\":false},\"nodeRef\":{\"name\":\"node-1\"},\"phase\":\"Updating\"}}"
                },
                "name": "one",
                "namespace": "team"
              },
              "spec": {
                "bootstrap": {
                  "dataSecretName": "data"
                },
                "clusterName": "prod",
                "infrastructureRef": {
                  "apiVersion": "infra.example.com/v1",
                  "kind": "Host",
                  "name": "one",
                  "namespace": "team"
                },
                "nodeDrainTimeout": "1m30s"
              },
              "status": {
                "bootstrapReady": true,
                "failureReason": "CreateError",
                "infrastructureReady": false,
                "nodeRef": {
                  "apiVersion": "v1",
                  "kind": "Node",
                  "name": "node-1"
                },
                "phase": "Running"
              }
            }"#]],
    );
}

#[test]
fn what_a_spoke_left_open_is_restored_and_what_it_said_wins() {
    let hub = json!({
        "spec": { "paused": false, "minReadySeconds": 5 },
        "status": { "phase": "Updating", "initialization": { "infrastructureProvisioned": false } },
    });
    check(
        json!({
            "apiVersion": "cluster.x-k8s.io/v1beta1",
            "kind": "Machine",
            "metadata": { "namespace": "team", "name": "one", "annotations": { DATA_ANNOTATION: hub.to_string() } },
            "spec": {
                "clusterName": "prod",
                "bootstrap": {},
                "infrastructureRef": {
                    "apiVersion": "infra.example.com/v1beta1", "kind": "Host", "name": "one", "namespace": "team",
                },
                "nodeDrainTimeout": "1m30.9s",
            },
            "status": { "phase": "Running", "bootstrapReady": true, "infrastructureReady": false },
        }),
        "v1beta2",
        &expect![[r#"
            {
              "apiVersion": "cluster.x-k8s.io/v1beta2",
              "kind": "Machine",
              "metadata": {
                "name": "one",
                "namespace": "team"
              },
              "spec": {
                "bootstrap": {},
                "clusterName": "prod",
                "deletion": {
                  "nodeDrainTimeoutSeconds": 90
                },
                "infrastructureRef": {
                  "apiGroup": "infra.example.com",
                  "kind": "Host",
                  "name": "one"
                },
                "minReadySeconds": 5
              },
              "status": {
                "initialization": {
                  "bootstrapDataSecretCreated": true,
                  "infrastructureProvisioned": false
                },
                "phase": "Updating"
              }
            }"#]],
    );
}

#[test]
fn arguments_become_a_sorted_list_and_timeouts_move_to_both_kinds_of_nodes() {
    check(
        json!({
            "apiVersion": "bootstrap.cluster.x-k8s.io/v1beta1",
            "kind": "KubeadmConfig",
            "metadata": { "namespace": "team", "name": "one" },
            "spec": {
                "useExperimentalRetryJoin": true,
                "clusterConfiguration": {
                    "kubernetesVersion": "v1.33.0",
                    "apiServer": { "extraArgs": { "v": "2", "audit": "" }, "timeoutForControlPlane": "4m0s" },
                },
                "initConfiguration": { "nodeRegistration": { "taints": [] } },
                "files": [{ "path": "/etc/motd", "append": false }],
            },
        }),
        "v1beta2",
        &expect![[r#"
            {
              "apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2",
              "kind": "KubeadmConfig",
              "metadata": {
                "name": "one",
                "namespace": "team"
              },
              "spec": {
                "clusterConfiguration": {
                  "apiServer": {
                    "extraArgs": [
                      {
                        "name": "audit",
                        "value": ""
                      },
                      {
                        "name": "v",
                        "value": "2"
                      }
                    ]
                  }
                },
                "files": [
                  {
                    "path": "/etc/motd"
                  }
                ],
                "initConfiguration": {
                  "nodeRegistration": {
                    "taints": []
                  },
                  "timeouts": {
                    "controlPlaneComponentHealthCheckSeconds": 240
                  }
                },
                "joinConfiguration": {
                  "timeouts": {
                    "controlPlaneComponentHealthCheckSeconds": 240
                  }
                }
              }
            }"#]],
    );
}

#[test]
fn a_spoke_of_a_spoke_goes_by_way_of_the_hub() {
    check(
        json!({
            "apiVersion": "ipam.cluster.x-k8s.io/v1alpha1",
            "kind": "IPAddressClaim",
            "metadata": { "name": "one", "labels": { "cluster.x-k8s.io/cluster-name": "prod" } },
            "spec": { "poolRef": { "apiGroup": "ipam.example.com", "kind": "Pool", "name": "main" } },
        }),
        "v1beta1",
        &expect![[r#"
            {
              "apiVersion": "ipam.cluster.x-k8s.io/v1beta1",
              "kind": "IPAddressClaim",
              "metadata": {
                "labels": {
                  "cluster.x-k8s.io/cluster-name": "prod"
                },
                "name": "one"
              },
              "spec": {
                "clusterName": "prod",
                "poolRef": {
                  "apiGroup": "ipam.example.com",
                  "kind": "Pool",
                  "name": "main"
                }
              }
            }"#]],
    );
}

#[test]
fn faults_name_the_object_and_the_field() {
    let machine = |spec: Value| {
        json!({
            "apiVersion": "cluster.x-k8s.io/v1beta1",
            "kind": "Machine",
            "metadata": { "namespace": "team", "name": "one" },
            "spec": spec,
        })
    };
    check(
        machine(json!({ "nodeDrainTimeout": "soon" })),
        "v1beta2",
        &expect!["failed to convert Machine team/one: nodeDrainTimeout is not a duration"],
    );
    check(
        machine(json!({})),
        "v1beta9",
        &expect!["Machine has no version v1beta9"],
    );
    let mut torn = machine(json!({}));
    torn["metadata"]["annotations"] = json!({ DATA_ANNOTATION: "{" });
    check(
        torn,
        "v1beta2",
        &expect![
            "failed to convert Machine team/one: the annotation cluster.x-k8s.io/conversion-data is not the JSON of an object"
        ],
    );
    check(
        json!({ "apiVersion": "example.com/v1", "kind": "Thing" }),
        "v2",
        &expect!["Thing.example.com has no conversions"],
    );
}

#[test]
fn a_reference_without_a_known_version_stops_the_conversion() {
    struct Nothing;
    impl ReferenceVersions for Nothing {
        fn api_version(&self, _: &str, _: &str) -> Option<String> {
            None
        }
    }
    let cluster = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2",
        "kind": "Cluster",
        "metadata": { "namespace": "team", "name": "prod" },
        "spec": { "infrastructureRef": { "apiGroup": "infra.example.com", "kind": "Net", "name": "prod" } },
    });
    let error = convert(
        "cluster.x-k8s.io",
        "Cluster",
        "v1beta2",
        "v1beta1",
        cluster,
        &Nothing,
    )
    .unwrap_err();
    expect!["failed to convert Cluster team/prod: no version of Net.infra.example.com is known to fulfil the contract"].assert_eq(&error.to_string());
}
