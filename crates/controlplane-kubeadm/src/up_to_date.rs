//! Whether a control plane machine is what the KubeadmControlPlane asks for. Absent and default are equal, so that a
//! new version of this program never replaces a machine for a field that it has learnt to default.
// Parity: upstream controlplane/kubeadm/pkg/filters.go

use capstan_api::{
    bootstrap::{
        Discovery, Dns, Format, ImagePullPolicy, InitConfiguration, JoinConfiguration, KubeadmConfigSpec,
        NodeRegistration,
    },
    controlplane::KubeadmControlPlane,
    well_known,
};
use capstan_base::Timestamp;
use kube::ResourceExt;

use crate::{intent::with_local_mode, view::Member};

/// What differs, in the words of the conditions; empty if nothing does.
pub(crate) fn differences(
    control_plane: &KubeadmControlPlane,
    member: &Member,
    now: Timestamp,
) -> Vec<String> {
    let machine = &member.machine;
    let mut found = Vec::new();
    let expiry = machine
        .status
        .as_ref()
        .and_then(|it| it.certificates_expiry_date.as_ref());
    let margin = control_plane.spec.rollout.before.certificates_expiry_days;
    if let (Some(expiry), Some(days)) = (expiry, margin)
        && expiry.0.as_second() - now.as_second() < i64::from(days) * 24 * 3600
    {
        found.push("Certificates will expire soon".to_owned());
    }
    let created = machine.metadata.creation_timestamp.as_ref().map(|it| it.0);
    let after = control_plane
        .spec
        .rollout
        .after
        .as_ref()
        .map(|it| it.0)
        .filter(|it| *it <= now);
    if let (Some(after), Some(created)) = (after, created)
        && created.as_second() < after.as_second()
    {
        found.push("KubeadmControlPlane spec.rolloutAfter expired".to_owned());
    }
    let version = machine.spec.version.clone().unwrap_or_default();
    if version != control_plane.spec.version {
        found.push(format!(
            "Version {version}, {} required",
            control_plane.spec.version
        ));
    }
    if let Some(config) = member.config.found()
        && !is_config_up_to_date(control_plane, &config.spec)
    {
        found.push("KubeadmConfig is not up-to-date".to_owned());
    }
    if let Some(external) = member.infrastructure.found() {
        let wanted = &control_plane.spec.machine_template.spec.infrastructure_ref;
        let annotations = external.object.annotations();
        let is = |key: &str, value: &str| annotations.get(key).is_none_or(|it| it == value);
        let group_kind = format!("{}.{}", wanted.kind, wanted.api_group);
        if !is(well_known::annotation::CLONED_FROM_NAME, &wanted.name)
            || !is(well_known::annotation::CLONED_FROM_GROUP_KIND, &group_kind)
        {
            found.push(format!("{} is not up-to-date", external.kind.kind));
        }
    }
    found
}

/// The part of a config that the first machine has.
pub(crate) fn for_init(spec: &KubeadmConfigSpec) -> KubeadmConfigSpec {
    KubeadmConfigSpec {
        join_configuration: JoinConfiguration::default(),
        ..spec.clone()
    }
}

/// The part of a config that further machines have.
pub(crate) fn for_join(spec: &KubeadmConfigSpec) -> KubeadmConfigSpec {
    let mut spec = KubeadmConfigSpec {
        init_configuration: InitConfiguration::default(),
        ..spec.clone()
    };
    spec.join_configuration.control_plane.get_or_insert_default();
    spec
}

/// A machine's config matches if it is what the first or what a further machine would get now.
fn is_config_up_to_date(control_plane: &KubeadmControlPlane, current: &KubeadmConfigSpec) -> bool {
    // What a new machine would get, the feature gate that goes with the version included.
    let wanted = &with_local_mode(
        &control_plane.spec.kubeadm_config_spec,
        &control_plane.spec.version,
    );
    let is_init = current.init_configuration != InitConfiguration::default();
    let as_first = is_init && normal(&for_init(wanted)) == normal(&for_init(current));
    let current_as_join = if is_init {
        init_as_join(current)
    } else {
        current.clone()
    };
    as_first || normal(&for_join(wanted)) == normal(&for_join(&current_as_join))
}

/// The config of a first machine in the form of a further one's, so that both can be compared with what is wanted.
fn init_as_join(spec: &KubeadmConfigSpec) -> KubeadmConfigSpec {
    let init = spec.init_configuration.clone();
    let mut join = spec.join_configuration.clone();
    join.node_registration = init.node_registration;
    join.patches = init.patches;
    join.skip_phases = init.skip_phases;
    join.timeouts = init.timeouts;
    join.control_plane.get_or_insert_default().local_api_endpoint = init.local_api_endpoint;
    KubeadmConfigSpec {
        init_configuration: InitConfiguration::default(),
        join_configuration: join,
        ..spec.clone()
    }
}

/// A config without what does not decide over replacement: what is filled in while joining, and what is a default.
fn normal(spec: &KubeadmConfigSpec) -> KubeadmConfigSpec {
    let mut spec = spec.clone();
    spec.cluster_configuration.control_plane_endpoint = None;
    spec.cluster_configuration.dns = Dns::default();
    spec.init_configuration.bootstrap_tokens = Vec::new();
    spec.init_configuration
        .timeouts
        .control_plane_component_health_check_seconds = None;
    spec.join_configuration.discovery = Discovery::default();
    spec.join_configuration.ca_cert_path = None;
    spec.join_configuration
        .timeouts
        .control_plane_component_health_check_seconds = None;
    spec.format = spec.format.filter(|it| *it != Format::CloudConfig);
    for registration in [
        &mut spec.init_configuration.node_registration,
        &mut spec.join_configuration.node_registration,
    ] {
        without_defaults(registration);
    }
    spec
}

fn without_defaults(registration: &mut NodeRegistration) {
    registration.image_pull_policy = registration
        .image_pull_policy
        .filter(|it| *it != ImagePullPolicy::IfNotPresent);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(wanted: Value, current: Value) -> bool {
        let mut control_plane = KubeadmControlPlane::new("ns", "cp");
        "v1.36.0".clone_into(&mut control_plane.spec.version);
        control_plane.spec.kubeadm_config_spec = serde_json::from_value(wanted).expect("a spec");
        is_config_up_to_date(&control_plane, &serde_json::from_value(current).expect("a spec"))
    }

    #[test]
    fn a_default_and_an_absent_field_are_equal() {
        let both = json!({ "initConfiguration": { "nodeRegistration": { "name": "n" } },
            "joinConfiguration": { "nodeRegistration": { "name": "n" } } });
        let table = [
            (
                "the first machine",
                both.clone(),
                json!({ "initConfiguration": { "nodeRegistration": { "name": "n" } } }),
                true,
            ),
            (
                "a further machine",
                both.clone(),
                json!({ "joinConfiguration": { "controlPlane": {}, "nodeRegistration": { "name": "n" },
                "discovery": { "bootstrapToken": { "token": "a.b" } } } }),
                true,
            ),
            (
                "a default",
                json!({ "format": "cloud-config" }),
                json!({ "joinConfiguration": { "controlPlane": {},
                "nodeRegistration": { "imagePullPolicy": "IfNotPresent" } } }),
                true,
            ),
            (
                "another name",
                both,
                json!({ "joinConfiguration": { "controlPlane": {}, "nodeRegistration": { "name": "m" } } }),
                false,
            ),
            (
                "another file",
                json!({ "files": [{ "path": "/a" }] }),
                json!({}),
                false,
            ),
        ];
        for (case, wanted, current, expected) in table {
            assert_eq!(check(wanted, current), expected, "{case}");
        }
    }

    #[test]
    fn a_machine_that_was_just_made_is_up_to_date_in_every_version() {
        for version in ["v1.30.0", "v1.31.0", "v1.34.1", "v1.36.0"] {
            let mut control_plane = KubeadmControlPlane::new("ns", "cp");
            version.clone_into(&mut control_plane.spec.version);
            let spec = json!({ "clusterConfiguration": { "apiServer": { "certSANs": ["localhost"] } },
                "initConfiguration": { "nodeRegistration": { "name": "n" } },
                "joinConfiguration": { "nodeRegistration": { "name": "n" } } });
            control_plane.spec.kubeadm_config_spec = serde_json::from_value(spec).expect("a spec");
            let made = with_local_mode(&control_plane.spec.kubeadm_config_spec, version);
            assert!(
                is_config_up_to_date(&control_plane, &for_init(&made)),
                "first machine of {version}"
            );
            assert!(
                is_config_up_to_date(&control_plane, &for_join(&made)),
                "further machine of {version}"
            );
        }
    }
}
