//! What is refused of configs and control planes of kubeadm.

use serde_json::{Value, json};

use super::{BOOTSTRAP, CONTROL_PLANE, Feature, merged, problems};
use crate::{admission::validate_kubeadm_control_plane_scale, controlplane::KubeadmControlPlane};

#[test]
fn kubeadm_configs_are_checked() {
    for (spec, features, expected) in [
        (
            json!({ "files": [
                { "path": "/a", "content": "secret", "contentFrom": { "secret": { "name": "s" } } }, { "path": "/a" } ],
                "users": [{ "name": "u", "passwd": "secret",
                    "passwdFrom": { "secret": { "name": "s", "key": "k" } } }] }),
            &[][..],
            vec![
                "spec.files[0]: Invalid value: \"/a\": only one of content or contentFrom may be specified for a \
                 single file",
                "spec.files[0].contentFrom.secret.key: Required value: secret file source must specify non-empty \
                 secret key",
                "spec.files[1].path: Invalid value: \"/a\": path property must be unique among all files",
                "spec.users[0]: Invalid value: \"u\": only one of passwd or passwdFrom may be specified for a single \
                 user",
            ],
        ),
        (
            json!({ "format": "ignition" }),
            &[],
            vec![
                "spec.format: Forbidden: can be set only if the KubeadmBootstrapFormatIgnition feature gate is enabled",
            ],
        ),
        (
            json!({ "format": "ignition", "bootCommands": ["x"],
                "files": [{ "path": "/a", "encoding": "gzip" }],
                "diskSetup": { "partitions": [{ "device": "/dev/a", "tableType": "mbr" }] } }),
            &[Feature::KubeadmBootstrapFormatIgnition],
            vec![
                "spec.files[0].encoding: Forbidden: not supported when spec.format is set to: \"ignition\"",
                "spec.bootCommands: Forbidden: not supported when spec.format is set to: \"ignition\"",
                "spec.diskSetup.partitions[0].tableType: Invalid value: \"mbr\": only partition type \"gpt\" is \
                 supported when spec.format is set to \"ignition\"",
            ],
        ),
        (
            json!({ "ignition": { "containerLinuxConfig": { "strict": true } } }),
            &[Feature::KubeadmBootstrapFormatIgnition],
            vec!["spec.format: Invalid value: \"\": must be set to \"ignition\" if spec.ignition is set"],
        ),
        (
            json!({ "diskSetup": { "partitions": [{ "device": "/dev/a",
                "diskLayout": [{ "percentage": 60 }, { "percentage": 50 }] }] } }),
            &[],
            vec![
                "spec.diskSetup.partitions[0].diskLayout: Invalid value: 110: the sum of all partition percentages \
                 must not be greater than 100",
            ],
        ),
    ] {
        assert_eq!(
            problems(BOOTSTRAP, "KubeadmConfig", spec.clone(), None, features),
            expected,
            "{spec}"
        );
    }
}

fn control_plane(more: Value) -> Value {
    merged(
        json!({
            "replicas": 3, "version": "v1.31.0",
            "machineTemplate": { "spec": {
                "infrastructureRef": { "apiGroup": "i.io", "kind": "XTemplate", "name": "x" } } },
            "rollout": { "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1 } } }
        }),
        more,
    )
}

#[test]
fn control_planes_are_checked() {
    let configuration = |value: Value| json!({ "kubeadmConfigSpec": { "clusterConfiguration": value } });
    for (more, expected) in [
        (json!({}), vec![]),
        (
            json!({ "replicas": 2 }),
            vec!["spec.replicas: Forbidden: cannot be an even number when etcd is stacked"],
        ),
        (
            json!({ "replicas": 1, "rollout": { "strategy": { "rollingUpdate": { "maxSurge": 0 } } } }),
            vec![
                "spec.rollout.strategy.rollingUpdate: Required value: when KubeadmControlPlane is configured to \
                 scale-in, replica count needs to be at least 3",
            ],
        ),
        (
            json!({ "rollout": { "strategy": { "rollingUpdate": { "maxSurge": 2 } } } }),
            vec!["spec.rollout.strategy.rollingUpdate.maxSurge: Required value: value must be 1 or 0"],
        ),
        (
            json!({ "machineTemplate": { "spec": { "infrastructureRef": null } } }),
            vec![
                "spec.machineTemplate.infrastructure.apiGroup: Invalid value: \"\": cannot be empty",
                "spec.machineTemplate.infrastructure.kind: Invalid value: \"\": cannot be empty",
                "spec.machineTemplate.infrastructure.name: Invalid value: \"\": cannot be empty",
            ],
        ),
        (
            configuration(
                json!({ "certificateValidityPeriodDays": 100, "caCertificateValidityPeriodDays": 50 }),
            ),
            vec![
                "spec.kubeadmConfigSpec.clusterConfiguration.certificateValidityPeriodDays: Invalid value: 100: must \
                 be less than or equal to caCertificateValidityPeriodDays (50)",
            ],
        ),
        (
            merged(
                configuration(json!({ "certificateValidityPeriodDays": 10 })),
                json!({ "rollout": { "before": { "certificatesExpiryDays": 10 } } }),
            ),
            vec![
                "spec.rollout.before.certificatesExpiryDays: Invalid value: 10: must be less than \
                 certificateValidityPeriodDays (10)",
            ],
        ),
        (
            configuration(
                json!({ "dns": { "imageTag": "v1/2" }, "etcd": { "local": { "dataDir": "/d" },
                "external": { "endpoints": ["e"] } } }),
            ),
            vec![
                "spec.kubeadmConfigSpec.clusterConfiguration.dns.imageTag: Forbidden: tag v1/2 is invalid",
                "dns.imageTag: Invalid value: \"v1/2\": failed to parse CoreDNS version: \"v1/2\" is not a version",
                "spec.kubeadmConfigSpec.clusterConfiguration.etcd.local: Forbidden: cannot have both external and \
                 local etcd",
            ],
        ),
        (
            json!({ "kubeadmConfigSpec": { "initConfiguration": { "timeouts": {
                "controlPlaneComponentHealthCheckSeconds": 60 } } } }),
            vec![
                "spec.kubeadmConfigSpec.initConfiguration.timeouts.controlPlaneComponentHealthCheckSeconds: Invalid \
                 value: \"60\": controlPlaneComponentHealthCheckSeconds must be set to the same value both in \
                 initConfiguration.timeouts (60) and in joinConfiguration.timeouts (unset)",
                "spec.kubeadmConfigSpec.joinConfiguration.timeouts.controlPlaneComponentHealthCheckSeconds: Invalid \
                 value: \"unset\": controlPlaneComponentHealthCheckSeconds must be set to the same value both in \
                 initConfiguration.timeouts (60) and in joinConfiguration.timeouts (unset)",
            ],
        ),
    ] {
        let found = problems(
            CONTROL_PLANE,
            "KubeadmControlPlane",
            control_plane(more.clone()),
            None,
            &[],
        );
        assert_eq!(found, expected, "{more}");
    }
}

#[test]
fn of_a_control_plane_only_some_things_change() {
    let configuration = |value: Value| json!({ "kubeadmConfigSpec": { "clusterConfiguration": value } });
    for (old, new, expected) in [
        (json!({}), json!({ "replicas": 5, "version": "v1.32.3" }), vec![]),
        (
            json!({}),
            json!({ "version": "v1.33.0" }),
            vec!["spec.version: Forbidden: cannot update Kubernetes version from v1.31.0 to v1.33.0"],
        ),
        (
            configuration(json!({ "certificatesDir": "/a", "apiServer": { "certSANs": ["a"] } })),
            configuration(
                json!({ "certificatesDir": "/b", "controllerManager": { "extraArgs": [{ "name": "v" }] } }),
            ),
            vec![
                "spec.kubeadmConfigSpec.clusterConfiguration.certificatesDir: Forbidden: cannot be modified",
            ],
        ),
        (
            configuration(json!({ "imageRepository": "a" })),
            json!({}),
            vec!["spec.kubeadmConfigSpec: Forbidden: cannot be modified"],
        ),
        (
            configuration(json!({ "etcd": { "external": { "endpoints": ["e"] } } })),
            configuration(json!({ "etcd": { "local": { "dataDir": "/d" } } })),
            vec![
                "spec.kubeadmConfigSpec.clusterConfiguration.etcd.external: Forbidden: cannot change between external \
                 and local etcd",
            ],
        ),
        (
            configuration(json!({ "dns": { "imageTag": "v1.11.3" } })),
            configuration(json!({ "dns": { "imageTag": "v1.10.1" } })),
            vec![
                "spec.kubeadmConfigSpec.clusterConfiguration.dns.imageTag: Forbidden: cannot migrate CoreDNS up to \
                 '1.10.1' from '1.11.3': cannot migrate up to '1.10.1' from '1.11.3'",
            ],
        ),
    ] {
        let (old, new) = (control_plane(old), control_plane(new));
        let found = problems(CONTROL_PLANE, "KubeadmControlPlane", new.clone(), Some(old), &[]);
        assert_eq!(found, expected, "{new}");
    }
}

#[test]
fn a_control_plane_scales_to_odd_numbers() {
    let stacked = KubeadmControlPlane::new("ns", "k");
    assert_eq!(validate_kubeadm_control_plane_scale(&stacked, 3), Ok(()));
    assert_eq!(
        validate_kubeadm_control_plane_scale(&stacked, 2),
        Err("replicas cannot be an even number when etcd is stacked")
    );
    assert_eq!(
        validate_kubeadm_control_plane_scale(&stacked, 0),
        Err("replicas should be greater than zero")
    );
}

#[test]
fn a_control_plane_template_does_not_change_but_for_old_defaults() {
    let template = |spec: Value| json!({ "template": { "spec": spec } });
    let old = template(json!({
        "kubeadmConfigSpec": { "format": "cloud-config", "files": [{ "path": "/a" }] },
        "rollout": { "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1 } } } }));
    let same = template(json!({ "kubeadmConfigSpec": { "files": [{ "path": "/a" }] } }));
    let other = template(json!({ "kubeadmConfigSpec": { "files": [{ "path": "/b" }] } }));
    let features = &[Feature::ClusterTopology];
    let found = |new: Value, old: Option<Value>, features: &[Feature]| {
        problems(CONTROL_PLANE, "KubeadmControlPlaneTemplate", new, old, features)
    };
    assert_eq!(
        found(same.clone(), Some(old.clone()), features),
        Vec::<String>::new()
    );
    assert_eq!(
        found(other, Some(old), features),
        [
            "spec.template.spec: Invalid value: [\"kubeadmConfigSpec.files\"]: KubeadmControlPlaneTemplate \
          spec.template.spec field is immutable. Please create new resource instead."
        ]
    );
    assert_eq!(
        found(same, None, &[]),
        ["spec: Forbidden: can be set only if the ClusterTopology feature flag is enabled"]
    );
}
