//! What is refused of kinds that know no kubeadm.

use serde_json::{Value, json};

use super::{CORE, Context, Feature, machine_spec, merged, problems, validate};

#[test]
fn machines_are_checked() {
    for (more, old, features, expected) in [
        (json!({}), None, &[][..], vec![]),
        (
            json!({ "bootstrap": null }),
            None,
            &[],
            vec![
                "spec.bootstrap: Required value: expected either spec.bootstrap.dataSecretName or \
                 spec.bootstrap.configRef to be populated",
            ],
        ),
        (
            json!({ "version": "1.31" }),
            None,
            &[],
            vec![
                "spec.version: Invalid value: \"1.31\": must start with v",
                "spec.version: Invalid value: \"1.31\": must be a valid semantic version",
            ],
        ),
        (
            json!({ "clusterName": "d" }),
            Some(machine_spec(json!({}))),
            &[],
            vec!["spec.clusterName: Forbidden: field is immutable"],
        ),
        (
            json!({ "taints": [{ "key": "a", "effect": "NoSchedule", "propagation": "Always" }] }),
            None,
            &[],
            vec![
                "spec.taints: Forbidden: taints are not allowed to be set when the feature gate \
                 MachineTaintPropagation is disabled",
            ],
        ),
        (
            json!({ "taints": [
                { "key": "node.cluster.x-k8s.io/uninitialized" }, { "key": "node.kubernetes.io/not-ready" },
                { "key": "node.kubernetes.io/out-of-service" }, { "key": "node.cloudprovider.kubernetes.io/x" },
                { "key": "node-role.kubernetes.io/master" }, { "key": "node-role.kubernetes.io/control-plane" } ] }),
            None,
            &[Feature::MachineTaintPropagation],
            vec![
                "spec.taints[0].key: Invalid value: \"node.cluster.x-k8s.io/uninitialized\": taint key is not allowed",
                "spec.taints[1].key: Invalid value: \"node.kubernetes.io/not-ready\": taint key must not have the \
                 prefix node.kubernetes.io/, except for node.kubernetes.io/out-of-service",
                "spec.taints[3].key: Invalid value: \"node.cloudprovider.kubernetes.io/x\": taint key must not have \
                 the prefix node.cloudprovider.kubernetes.io/",
                "spec.taints[4].key: Invalid value: \"node-role.kubernetes.io/master\": taint is deprecated since \
                 1.24 and should not be used anymore",
                "spec.taints[5].key: Invalid value: \"node-role.kubernetes.io/control-plane\": taint is not allowed \
                 for worker Machines",
            ],
        ),
    ] {
        assert_eq!(
            problems(CORE, "Machine", machine_spec(more.clone()), old, features),
            expected,
            "{more}"
        );
    }
}

fn deployment(more: Value) -> Value {
    merged(
        json!({
            "clusterName": "c", "selector": { "matchLabels": { "a": "1" } },
            "template": { "metadata": { "labels": { "a": "1" } }, "spec": machine_spec(json!({})) }
        }),
        more,
    )
}

#[test]
fn deployments_are_checked() {
    let naming = |template: &str| json!({ "machineNaming": { "template": template } });
    for (more, expected) in [
        (json!({}), vec![]),
        (
            json!({ "selector": { "matchLabels": { "b": "2" } } }),
            vec!["spec.template.metadata.labels: Forbidden: must match spec.selector \"a=1,b=2\""],
        ),
        (
            json!({ "template": { "spec": { "clusterName": "d" } } }),
            vec![
                "spec.clusterName: Invalid value: \"c\": spec.clusterName and spec.template.spec.clusterName must be \
                 set to the same value",
            ],
        ),
        (
            json!({ "rollout": { "strategy": { "rollingUpdate": { "maxSurge": 0, "maxUnavailable": 0 } } } }),
            vec![
                "spec.rollout.strategy.rollingUpdate: Invalid value: \"0\": maxUnavailable and maxSurge cannot both \
                 be 0",
            ],
        ),
        (
            json!({ "rollout": { "strategy": { "rollingUpdate": { "maxSurge": "few" } } } }),
            vec![
                "spec.rollout.strategy.rollingUpdate.maxSurge: Invalid value: \"few\": must be either an int or a \
                 percentage: invalid value for IntOrString: invalid type: string is not a percentage",
            ],
        ),
        (
            json!({ "remediation": { "maxInFlight": "1.5%" } }),
            vec![
                "spec.remediation.maxInFlight: Invalid value: \"1.5%\": must be either an int or a percentage: \
                 invalid value for IntOrString: invalid value \"1.5%\": \"1.5\" is not a number",
            ],
        ),
        (naming("{{ .machineSet.name }}-{{ .random }}"), vec![]),
        (
            naming("{{ .cluster.name }}"),
            vec![
                "spec.machineNaming.template: Invalid value: \"{{ .cluster.name }}\": invalid template, \
                 {{ .random }} is missing",
            ],
        ),
        (
            naming("{{ .pool }}{{ .random }}"),
            vec![
                "spec.machineNaming.template: Invalid value: \"{{ .pool }}{{ .random }}\": invalid template: map has \
                 no entry for key \"pool\"",
            ],
        ),
    ] {
        assert_eq!(
            problems(CORE, "MachineDeployment", deployment(more.clone()), None, &[]),
            expected,
            "{more}"
        );
    }
}

#[test]
fn a_name_or_annotation_that_will_not_do_is_refused() {
    let object = json!({ "metadata": { "name": "n".repeat(64),
        "annotations": { "machineset.cluster.x-k8s.io/skip-preflight-checks": "All, Some" } },
        "spec": deployment(json!({})) });
    let errors = validate(CORE, "MachineDeployment", &object, None, &Context::default());
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        errors,
        [
            format!(
                "metadata.name: Invalid value: \"{}\": must be a valid label value: must be no more than 63 bytes",
                "n".repeat(64)
            ),
            "metadata.annotations.machineset.cluster.x-k8s.io/skip-preflight-checks: Invalid value: [\"Some\"]: \
             skipped preflight check(s) must be among: [All ControlPlaneIsStable ControlPlaneVersionSkew \
             KubeadmVersionSkew KubernetesVersionSkew]"
                .to_owned()
        ]
    );
}

#[test]
fn clusters_are_checked() {
    let reference = json!({ "apiGroup": "i.io", "kind": "X", "name": "x" });
    let whole = json!({ "infrastructureRef": reference, "controlPlaneRef": reference });
    let topology = json!({ "topology": { "classRef": { "name": "k" }, "version": "v1.31.0" } });
    for (new, old, expected) in [
        (whole.clone(), None, vec![]),
        (
            json!({ "paused": true }),
            None,
            vec![
                "spec: Forbidden: one of spec.controlPlaneRef, spec.infrastructureRef or spec.topology must be set",
            ],
        ),
        (
            json!({ "controlPlaneRef": reference }),
            Some(whole.clone()),
            vec!["spec.infrastructureRef: Forbidden: cannot be removed"],
        ),
        (
            json!({ "infrastructureRef": reference }),
            Some(whole.clone()),
            vec!["spec.controlPlaneRef: Forbidden: cannot be removed"],
        ),
        (
            merged(
                whole.clone(),
                json!({ "clusterNetwork": {
                "pods": { "cidrBlocks": ["10.0.0.0/16", "fd00::/64", "10.0.0.0"] },
                "services": { "cidrBlocks": ["10.0.0.0/33"] } } }),
            ),
            None,
            vec![
                "spec.clusterNetwork.pods.cidrBlocks[2]: Invalid value: \"10.0.0.0\": invalid CIDR address: 10.0.0.0",
                "spec.clusterNetwork.services.cidrBlocks[0]: Invalid value: \"10.0.0.0/33\": invalid CIDR address: \
                 10.0.0.0/33",
            ],
        ),
        (
            topology.clone(),
            None,
            vec!["spec.topology: Forbidden: can be set only if the ClusterTopology feature flag is enabled"],
        ),
        (
            whole,
            Some(topology),
            vec!["spec.topology: Forbidden: cannot be removed from an existing Cluster"],
        ),
    ] {
        assert_eq!(
            problems(CORE, "Cluster", new.clone(), old, &[]),
            expected,
            "{new}"
        );
    }
}

#[test]
fn health_checks_drain_rules_and_pools_are_checked() {
    let all = json!({ "clusterName": "c", "selector": { "matchLabels": { "a": "1" } } });
    for (kind, spec, expected) in [
        ("MachineHealthCheck", all.clone(), vec![]),
        (
            "MachineHealthCheck",
            json!({ "clusterName": "c", "checks": { "nodeStartupTimeoutSeconds": 29 } }),
            vec![
                "spec.selector: Required value: selector must not be empty",
                "spec.checks.nodeStartupTimeoutSeconds: Invalid value: 29: must be at least 30s",
            ],
        ),
        (
            "MachineHealthCheck",
            merged(
                all,
                json!({ "selector": { "matchLabels": { "cluster.x-k8s.io/cluster-name": "d" } } }),
            ),
            vec![
                "spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"1\",\"cluster.x-k8s.io/cluster-name\":\"d\"}}: \
                 cannot specify a cluster selector other than the one specified by ClusterName",
            ],
        ),
        (
            "MachineDrainRule",
            json!({ "drain": { "behavior": "Drain", "order": 1 } }),
            vec![],
        ),
        (
            "MachineDrainRule",
            json!({ "drain": { "behavior": "Skip", "order": 1 },
                "pods": [{ "selector": { "matchExpressions": [{ "key": "a", "operator": "Is" }] } }] }),
            vec![
                "spec.drain.order: Invalid value: 1: order must not be set if drain behavior is \"Skip\" or \
                 \"WaitCompleted\"",
                "spec.pods[0].selector: Invalid value: {\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Is\"}]}: \
                 \"Is\" is not a valid label selector operator",
            ],
        ),
        (
            "MachinePool",
            json!({ "clusterName": "c", "template": { "spec": machine_spec(json!({ "taints": [{ "key": "a" }] })) } }),
            vec![
                "spec.taints: Forbidden: taints feature for MachinePools is not yet implemented",
                "spec.taints: Forbidden: taints are not allowed to be set when the feature gate \
                 MachineTaintPropagation is disabled",
            ],
        ),
    ] {
        assert_eq!(
            problems(CORE, kind, spec.clone(), None, &[]),
            expected,
            "{kind} {spec}"
        );
    }
}

#[test]
fn addons_addresses_and_extensions_are_checked() {
    let set = |selector: &str, strategy: &str| json!({ "clusterSelector": { "matchLabels": { "a": selector } }, "strategy": strategy });
    let claim = |name: &str| json!({ "poolRef": { "apiGroup": "i.io", "kind": "Pool", "name": name } });
    let extension = |config: Value| json!({ "clientConfig": config, "namespaceSelector": {} });
    for (group, kind, new, old, expected) in [
        (
            "addons",
            "ClusterResourceSet",
            set("2", "Reconcile"),
            Some(set("1", "ApplyOnce")),
            vec![
                "spec.strategy: Invalid value: \"Reconcile\": field is immutable",
                "spec.clusterSelector: Invalid value: {\"matchLabels\":{\"a\":\"2\"}}: field is immutable",
            ],
        ),
        (
            "addons",
            "ClusterResourceSet",
            json!({}),
            None,
            vec!["spec.clusterSelector: Invalid value: {}: selector must not be empty"],
        ),
        (
            "addons",
            "ClusterResourceSetBinding",
            json!({ "clusterName": "d" }),
            Some(json!({ "clusterName": "c" })),
            vec!["spec.clusterName: Invalid value: \"d\": field is immutable"],
        ),
        (
            "ipam",
            "IPAddressClaim",
            claim("a"),
            Some(claim("b")),
            vec!["spec: Forbidden: IPAddressClaim spec is immutable"],
        ),
        (
            "ipam",
            "IPAddress",
            json!({ "address": "10.0.0.1", "prefix": 33, "gateway": "x" }),
            None,
            vec![
                "spec.prefix: Invalid value: 33: prefix is too large for an IPv4 address",
                "spec.gateway: Invalid value: \"x\": not a valid IP address",
            ],
        ),
        (
            "runtime",
            "ExtensionConfig",
            extension(json!({ "url": "http://a" })),
            None,
            vec![
                "spec.clientConfig.url: Invalid value: \"http://a\": 'https' is the only allowed URL scheme, e.g. \
                 https://example.com",
            ],
        ),
        (
            "runtime",
            "ExtensionConfig",
            extension(json!({})),
            None,
            vec!["spec.clientConfig: Required value: either url or service must be defined"],
        ),
        (
            "runtime",
            "ExtensionConfig",
            extension(json!({ "service": { "name": "n", "namespace": "ns", "path": "p", "port": 0 } })),
            None,
            vec![
                "spec.clientConfig.service.path: Invalid value: \"p\": must start with \"/\" to be a valid URL path",
                "spec.clientConfig.service.port: Invalid value: 0: must be between 1 and 65535, inclusive",
            ],
        ),
    ] {
        let group = format!("{group}.cluster.x-k8s.io");
        assert_eq!(
            problems(&group, kind, new.clone(), old, &[Feature::RuntimeSdk]),
            expected,
            "{kind} {new}"
        );
    }
}
