//! The shipped definitions parse, are consistent, and look as expected.

use expect_test::{Expect, expect};
use serde_json::Value;

use super::{Source, definitions, kinds, parse, shared_types};

fn one_kind(schema: &str) -> Result<Value, String> {
    let kind = "kind Widget -- A thing.\ngroup example.com\nplural widgets\nscope Namespaced\nversion v1 served storage";
    let mut sources = vec![
        Source {
            path: "example.com/widgets.kind",
            text: kind,
        },
        Source {
            path: "example.com/widgets.v1.schema",
            text: schema,
        },
    ];
    sources.extend(shared_types());
    let parsed = parse(&sources).map_err(|error| error.to_string())?;
    Ok(parsed[0].to_value())
}

fn check_schema(schema: &str, expected: &Expect) {
    let rendered = match one_kind(schema) {
        Ok(value) => {
            let root = &value["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
            serde_json::to_string_pretty(root).unwrap()
        }
        Err(error) => error,
    };
    expected.assert_eq(&rendered);
}

#[test]
fn every_shipped_definition_is_consistent() {
    let problems: Vec<String> = kinds().iter().flat_map(super::Definition::problems).collect();
    assert_eq!(problems, Vec::<String>::new());
}

#[test]
fn the_shipped_kinds_and_their_versions_are_these() {
    let lines: Vec<String> = kinds()
        .iter()
        .map(|kind| {
            let versions: Vec<&str> = kind
                .versions
                .iter()
                .map(|version| version.name.as_str())
                .collect();
            format!(
                "{} {} (stores {})",
                kind.name(),
                versions.join(" "),
                kind.storage().name
            )
        })
        .collect();
    expect![[r#"
        clusterresourcesetbindings.addons.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        clusterresourcesets.addons.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        kubeadmconfigs.bootstrap.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        kubeadmconfigtemplates.bootstrap.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        clusterclasses.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        clusters.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        machinedeployments.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        machinedrainrules.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        machinehealthchecks.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        machinepools.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        machines.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        machinesets.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        providers.clusterctl.cluster.x-k8s.io v1alpha3 (stores v1alpha3)
        kubeadmcontrolplanes.controlplane.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        kubeadmcontrolplanetemplates.controlplane.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        ipaddressclaims.ipam.cluster.x-k8s.io v1alpha1 v1beta1 v1beta2 (stores v1beta2)
        ipaddresses.ipam.cluster.x-k8s.io v1alpha1 v1beta1 v1beta2 (stores v1beta2)
        extensionconfigs.runtime.cluster.x-k8s.io v1alpha1 v1beta2 (stores v1beta2)"#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn the_definition_of_an_address_is_complete() {
    let found = definitions()
        .into_iter()
        .find(|definition| definition["metadata"]["name"] == "ipaddressclaims.ipam.cluster.x-k8s.io")
        .unwrap();
    let mut without_old = found.clone();
    without_old["spec"]["versions"].as_array_mut().unwrap().drain(..2);
    expect![[r#"
        {
          "apiVersion": "apiextensions.k8s.io/v1",
          "kind": "CustomResourceDefinition",
          "metadata": {
            "labels": {
              "cluster.x-k8s.io/provider": "cluster-api"
            },
            "name": "ipaddressclaims.ipam.cluster.x-k8s.io"
          },
          "spec": {
            "group": "ipam.cluster.x-k8s.io",
            "names": {
              "categories": [
                "cluster-api"
              ],
              "kind": "IPAddressClaim",
              "listKind": "IPAddressClaimList",
              "plural": "ipaddressclaims",
              "singular": "ipaddressclaim"
            },
            "scope": "Namespaced",
            "versions": [
              {
                "additionalPrinterColumns": [
                  {
                    "jsonPath": ".spec.poolRef.name",
                    "name": "Pool Name",
                    "type": "string"
                  },
                  {
                    "jsonPath": ".spec.poolRef.kind",
                    "name": "Pool Kind",
                    "type": "string"
                  },
                  {
                    "jsonPath": ".metadata.creationTimestamp",
                    "name": "Age",
                    "type": "date"
                  }
                ],
                "name": "v1beta2",
                "schema": {
                  "openAPIV3Schema": {
                    "description": "Asks a pool for one address.",
                    "properties": {
                      "apiVersion": {
                        "type": "string"
                      },
                      "kind": {
                        "type": "string"
                      },
                      "metadata": {
                        "type": "object"
                      },
                      "spec": {
                        "description": "What is wanted.",
                        "properties": {
                          "clusterName": {
                            "description": "Name of the cluster that the object belongs to; never changes.",
                            "maxLength": 63,
                            "minLength": 1,
                            "type": "string"
                          },
                          "poolRef": {
                            "description": "The pool that the address comes from.",
                            "properties": {
                              "apiGroup": {
                                "maxLength": 253,
                                "minLength": 1,
                                "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
                                "type": "string"
                              },
                              "kind": {
                                "maxLength": 63,
                                "minLength": 1,
                                "pattern": "^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$",
                                "type": "string"
                              },
                              "name": {
                                "maxLength": 253,
                                "minLength": 1,
                                "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
                                "type": "string"
                              }
                            },
                            "required": [
                              "apiGroup",
                              "kind",
                              "name"
                            ],
                            "type": "object"
                          }
                        },
                        "required": [
                          "poolRef"
                        ],
                        "type": "object"
                      },
                      "status": {
                        "description": "What was observed last.",
                        "minProperties": 1,
                        "properties": {
                          "addressRef": {
                            "description": "The address that was handed out.",
                            "properties": {
                              "name": {
                                "maxLength": 253,
                                "minLength": 1,
                                "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
                                "type": "string"
                              }
                            },
                            "required": [
                              "name"
                            ],
                            "type": "object"
                          },
                          "conditions": {
                            "description": "Current state, one entry per condition type.",
                            "items": {
                              "description": "One aspect of the state of an object.",
                              "properties": {
                                "lastTransitionTime": {
                                  "format": "date-time",
                                  "type": "string"
                                },
                                "message": {
                                  "maxLength": 32768,
                                  "type": "string"
                                },
                                "observedGeneration": {
                                  "description": "The metadata.generation that this status describes.",
                                  "format": "int64",
                                  "minimum": 0,
                                  "type": "integer"
                                },
                                "reason": {
                                  "maxLength": 1024,
                                  "minLength": 1,
                                  "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
                                  "type": "string"
                                },
                                "status": {
                                  "enum": [
                                    "True",
                                    "False",
                                    "Unknown"
                                  ],
                                  "type": "string"
                                },
                                "type": {
                                  "maxLength": 316,
                                  "pattern": "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
                                  "type": "string"
                                }
                              },
                              "required": [
                                "lastTransitionTime",
                                "message",
                                "reason",
                                "status",
                                "type"
                              ],
                              "type": "object"
                            },
                            "maxItems": 32,
                            "type": "array",
                            "x-kubernetes-list-map-keys": [
                              "type"
                            ],
                            "x-kubernetes-list-type": "map"
                          },
                          "deprecated": {
                            "description": "Fields kept for older clients only.",
                            "properties": {
                              "v1beta1": {
                                "properties": {
                                  "conditions": {
                                    "description": "Current state, one entry per condition type.",
                                    "items": {
                                      "description": "A condition as older clients know it.",
                                      "properties": {
                                        "lastTransitionTime": {
                                          "format": "date-time",
                                          "type": "string"
                                        },
                                        "message": {
                                          "maxLength": 10240,
                                          "minLength": 1,
                                          "type": "string"
                                        },
                                        "reason": {
                                          "maxLength": 256,
                                          "minLength": 1,
                                          "type": "string"
                                        },
                                        "severity": {
                                          "maxLength": 32,
                                          "type": "string"
                                        },
                                        "status": {
                                          "type": "string"
                                        },
                                        "type": {
                                          "maxLength": 256,
                                          "minLength": 1,
                                          "type": "string"
                                        }
                                      },
                                      "required": [
                                        "lastTransitionTime",
                                        "status",
                                        "type"
                                      ],
                                      "type": "object"
                                    },
                                    "type": "array"
                                  }
                                },
                                "type": "object"
                              }
                            },
                            "type": "object"
                          }
                        },
                        "type": "object"
                      }
                    },
                    "required": [
                      "spec"
                    ],
                    "type": "object"
                  }
                },
                "served": true,
                "storage": true,
                "subresources": {
                  "status": {}
                }
              }
            ]
          }
        }"#]].assert_eq(&serde_json::to_string_pretty(&without_old).unwrap());
}

#[test]
fn a_list_with_rules_keys_and_inline_items_is_rendered() {
    check_schema(
        "use common\nspec!: list<object> items[1..2] @map(name) -- Things.\n  rule \"once\": self.all(x, true)\n  each rule \"short\": self.name.size() < 3\n  name!: str len[1..] ~DnsLabel {a|\"b c\"} = \"a\" -- Its name.\n  size: map<int|str>\n",
        &expect![[r#"
            {
              "description": "Things.",
              "items": {
                "properties": {
                  "name": {
                    "default": "a",
                    "description": "Its name.",
                    "enum": [
                      "a",
                      "b c"
                    ],
                    "minLength": 1,
                    "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
                    "type": "string"
                  },
                  "size": {
                    "additionalProperties": {
                      "anyOf": [
                        {
                          "type": "integer"
                        },
                        {
                          "type": "string"
                        }
                      ],
                      "x-kubernetes-int-or-string": true
                    },
                    "type": "object"
                  }
                },
                "required": [
                  "name"
                ],
                "type": "object",
                "x-kubernetes-validations": [
                  {
                    "message": "short",
                    "rule": "self.name.size() < 3"
                  }
                ]
              },
              "maxItems": 2,
              "minItems": 1,
              "type": "array",
              "x-kubernetes-list-map-keys": [
                "name"
              ],
              "x-kubernetes-list-type": "map",
              "x-kubernetes-validations": [
                {
                  "message": "once",
                  "rule": "self.all(x, true)"
                }
              ]
            }"#]],
    );
}

#[test]
fn types_can_be_narrowed_where_they_are_used() {
    check_schema(
        "type Name: str len[1..63] -- A name.\nspec: object props[1..] @open\n  first: Name len[2..5]\n  second: Name\n",
        &expect![[r#"
            {
              "minProperties": 1,
              "properties": {
                "first": {
                  "description": "A name.",
                  "maxLength": 5,
                  "minLength": 2,
                  "type": "string"
                },
                "second": {
                  "description": "A name.",
                  "maxLength": 63,
                  "minLength": 1,
                  "type": "string"
                }
              },
              "type": "object",
              "x-kubernetes-preserve-unknown-fields": true
            }"#]],
    );
}

#[test]
fn faults_name_the_file_and_the_line() {
    let table = [
        "spec: object\n  a: nothing",
        "spec: object\n  a: str\n  a: str",
        "spec: str items[1..]",
        "spec: object\n    deep: str",
        "type A: object\n  a: A\nspec: A",
        "spec: str len[1..2",
        "spec: str ~NoSuchPattern",
        "spec: str\n  below: str",
        "spec: list<str",
        "spec str",
    ];
    let faults: Vec<String> = table
        .into_iter()
        .map(|schema| one_kind(schema).unwrap_err())
        .collect();
    expect![[r#"
        example.com/widgets.v1.schema:2: type nothing is not known
        example.com/widgets.v1.schema:3: field a is declared twice
        example.com/widgets.v1.schema:1: `items` does not bound this type
        example.com/widgets.v1.schema:2: the line is indented too deep
        example.com/widgets.v1.schema:2: type A contains itself
        example.com/widgets.v1.schema:1: `]` is missing
        example.com/widgets.v1.schema:1: pattern NoSuchPattern is not known
        example.com/widgets.v1.schema:1: only objects have fields below them
        example.com/widgets.v1.schema:1: `>` is missing before ``
        example.com/widgets.v1.schema:1: a field is written as its name, a colon and its type"#]]
    .assert_eq(&faults.join("\n"));
}
