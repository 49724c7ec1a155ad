//! The shipped definitions parse, are consistent, and look as expected.

use expect_test::{Expect, expect};
use serde_json::Value;

use super::{Source, definitions, kinds, parse, sources};

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
    sources.extend(sources::ALL.iter().filter(|it| it.path.starts_with("common.")));
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
        devclusters.infrastructure.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        devclustertemplates.infrastructure.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        devmachinepools.infrastructure.cluster.x-k8s.io v1beta2 (stores v1beta2)
        devmachinepooltemplates.infrastructure.cluster.x-k8s.io v1beta2 (stores v1beta2)
        devmachines.infrastructure.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        devmachinetemplates.infrastructure.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        dockerclusters.infrastructure.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        dockerclustertemplates.infrastructure.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        dockermachines.infrastructure.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        dockermachinetemplates.infrastructure.cluster.x-k8s.io v1beta1 v1beta2 (stores v1beta2)
        ipaddressclaims.ipam.cluster.x-k8s.io v1alpha1 v1beta1 v1beta2 (stores v1beta2)
        ipaddresses.ipam.cluster.x-k8s.io v1alpha1 v1beta1 v1beta2 (stores v1beta2)
        extensionconfigs.runtime.cluster.x-k8s.io v1alpha1 v1beta2 (stores v1beta2)"#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn a_definition_has_names_labels_versions_and_columns() {
    let mut found = definitions()
        .into_iter()
        .find(|definition| definition["metadata"]["name"] == "machinesets.cluster.x-k8s.io")
        .unwrap();
    let versions = found["spec"]["versions"].as_array_mut().unwrap();
    versions.remove(0);
    let version = versions[0].as_object_mut().unwrap();
    version.remove("schema");
    version["additionalPrinterColumns"]
        .as_array_mut()
        .unwrap()
        .drain(2..6);
    expect![[r#"
        {
          "apiVersion": "apiextensions.k8s.io/v1",
          "kind": "CustomResourceDefinition",
          "metadata": {
            "labels": {
              "cluster.x-k8s.io/provider": "cluster-api"
            },
            "name": "machinesets.cluster.x-k8s.io"
          },
          "spec": {
            "group": "cluster.x-k8s.io",
            "names": {
              "categories": [
                "cluster-api"
              ],
              "kind": "MachineSet",
              "listKind": "MachineSetList",
              "plural": "machinesets",
              "shortNames": [
                "ms"
              ],
              "singular": "machineset"
            },
            "scope": "Namespaced",
            "versions": [
              {
                "additionalPrinterColumns": [
                  {
                    "jsonPath": ".spec.clusterName",
                    "name": "Cluster",
                    "type": "string"
                  },
                  {
                    "jsonPath": ".spec.replicas",
                    "name": "Desired",
                    "type": "integer"
                  },
                  {
                    "jsonPath": ".status.conditions[?(@.type==\"Paused\")].status",
                    "name": "Paused",
                    "priority": 10,
                    "type": "string"
                  },
                  {
                    "jsonPath": ".metadata.creationTimestamp",
                    "name": "Age",
                    "type": "date"
                  },
                  {
                    "jsonPath": ".spec.template.spec.version",
                    "name": "Version",
                    "type": "string"
                  }
                ],
                "name": "v1beta2",
                "served": true,
                "storage": true,
                "subresources": {
                  "scale": {
                    "labelSelectorPath": ".status.selector",
                    "specReplicasPath": ".spec.replicas",
                    "statusReplicasPath": ".status.replicas"
                  },
                  "status": {}
                }
              }
            ]
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&found).unwrap());
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
