//! Definitions of the kinds of this provider, and their conversions.

use std::sync::LazyLock;

use capstan_api::{
    conversion::rules::{CONDITIONS, Conversion, Rule, STATUS_FAILURE_DOMAINS},
    crd::{self, Definition, Source},
    schema_sources,
};

/// The schema files of the crate.
static SOURCES: &[Source<'static>] = schema_sources![
    "dev.types",
    "dev.v1beta1.types",
    "dev.v1beta2.types",
    "infrastructure.cluster.x-k8s.io/devclusters.kind",
    "infrastructure.cluster.x-k8s.io/devclusters.v1beta1.schema",
    "infrastructure.cluster.x-k8s.io/devclusters.v1beta2.schema",
    "infrastructure.cluster.x-k8s.io/devclustertemplates.kind",
    "infrastructure.cluster.x-k8s.io/devclustertemplates.v1beta1.schema",
    "infrastructure.cluster.x-k8s.io/devclustertemplates.v1beta2.schema",
    "infrastructure.cluster.x-k8s.io/devmachinepools.kind",
    "infrastructure.cluster.x-k8s.io/devmachinepools.v1beta2.schema",
    "infrastructure.cluster.x-k8s.io/devmachinepooltemplates.kind",
    "infrastructure.cluster.x-k8s.io/devmachinepooltemplates.v1beta2.schema",
    "infrastructure.cluster.x-k8s.io/devmachines.kind",
    "infrastructure.cluster.x-k8s.io/devmachines.v1beta1.schema",
    "infrastructure.cluster.x-k8s.io/devmachines.v1beta2.schema",
    "infrastructure.cluster.x-k8s.io/devmachinetemplates.kind",
    "infrastructure.cluster.x-k8s.io/devmachinetemplates.v1beta1.schema",
    "infrastructure.cluster.x-k8s.io/devmachinetemplates.v1beta2.schema",
];

#[expect(
    clippy::expect_used,
    reason = "the texts are compiled in and a test parses them"
)]
static KINDS: LazyLock<Vec<Definition>> = LazyLock::new(|| {
    let sources: Vec<Source<'static>> = SOURCES.iter().chain(crd::shared_types()).copied().collect();
    crd::parse(&sources).expect("invariant: the schemas of the crate parse")
});

/// The kinds of the provider in all their versions, ordered by plural.
pub fn kinds() -> &'static [Definition] {
    &KINDS
}

/// How the kinds are converted, for [`capstan_api::conversion::convert_kind`].
// Parity: upstream test/infrastructure/docker/api/v1beta1/conversion.go
pub static CONVERSIONS: &[Conversion] = &[
    Conversion {
        kind: "DevCluster",
        spoke: "v1beta1",
        keeps_hub: true,
        rules: &[
            Rule::NamedItems {
                at: "spec.backend.docker.failureDomains",
            },
            Rule::All(CONDITIONS),
            PROVISIONED,
            STATUS_FAILURE_DOMAINS,
        ],
    },
    Conversion {
        kind: "DevClusterTemplate",
        spoke: "v1beta1",
        keeps_hub: false,
        rules: &[Rule::NamedItems {
            at: "spec.template.spec.backend.docker.failureDomains",
        }],
    },
    Conversion {
        kind: "DevMachine",
        spoke: "v1beta1",
        keeps_hub: true,
        rules: &[
            Rule::All(CONDITIONS),
            PROVISIONED,
            Rule::Restored {
                at: "status.failureDomain",
            },
        ],
    },
    Conversion {
        kind: "DevMachineTemplate",
        spoke: "v1beta1",
        keeps_hub: true,
        rules: &[Rule::Restored { at: "status" }],
    },
];

/// The first provisioning.
const PROVISIONED: Rule = Rule::IfMeant {
    old: "status.ready",
    new: "status.initialization.provisioned",
};

#[cfg(test)]
mod tests {
    use capstan_api::conversion::{ReferenceVersions, convert_kind};
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    /// The kinds of this provider refer to no others by contract.
    struct NoReferences;

    impl ReferenceVersions for NoReferences {
        fn api_version(&self, _: &str, _: &str) -> Option<String> {
            None
        }
    }

    #[test]
    fn every_definition_is_consistent() {
        let problems: Vec<String> = kinds().iter().flat_map(Definition::problems).collect();
        assert_eq!(problems, Vec::<String>::new());
    }

    #[test]
    fn every_older_version_has_a_conversion() {
        for definition in kinds() {
            for version in definition.versions.iter().filter(|version| !version.storage) {
                let found = CONVERSIONS
                    .iter()
                    .any(|conversion| conversion.kind == definition.kind && conversion.spoke == version.name);
                assert!(found, "{} {}", definition.kind, version.name);
            }
        }
    }

    #[test]
    fn a_cluster_survives_its_older_version() {
        let definition = kinds()
            .iter()
            .find(|definition| definition.kind == "DevCluster")
            .unwrap();
        let before = json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
            "kind": "DevCluster",
            "metadata": { "namespace": "team", "name": "one" },
            "spec": { "backend": { "inMemory": {} } },
            "status": {
                "initialization": { "provisioned": false },
                "failureDomains": [{ "name": "b", "controlPlane": true }, { "name": "a" }],
            },
        });
        let convert =
            |from, to, value| convert_kind(definition, CONVERSIONS, from, to, value, &NoReferences).unwrap();
        let older = convert("v1beta2", "v1beta1", before.clone());
        expect![[r#"{"failureDomains":{"a":{},"b":{"controlPlane":true}},"ready":false}"#]]
            .assert_eq(&older["status"].to_string());
        assert_eq!(convert("v1beta1", "v1beta2", older), before);
    }
}
