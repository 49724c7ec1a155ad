//! Rules for `KubeadmControlPlanes`.
// Parity: cluster-api controlplane/kubeadm/webhooks/admission/kubeadmcontrolplane.go

use capstan_base::{
    Version,
    field::{Error, Kind, Path},
};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde_json::Value;

use super::{Admit, Context, bootstrap, checks};
use crate::{
    bootstrap::{ClusterConfiguration, LocalEtcd},
    controlplane::{
        ControlPlaneRollout, ControlPlaneRolloutStrategy, ControlPlaneRolloutStrategyType,
        KubeadmControlPlane, KubeadmControlPlaneSpec,
    },
    well_known::annotation,
};

/// For how long a CA certificate is valid if nobody says so, in days.
const CA_VALIDITY_DAYS: i32 = 3650;

/// What may be changed: paths below `spec`. A `*` at the end stands for anything below; without it only the whole
/// member may be set, replaced or removed.
const MUTABLE: &[&str] = &[
    "kubeadmConfigSpec.clusterConfiguration.etcd",
    "kubeadmConfigSpec.clusterConfiguration.etcd.*",
    "kubeadmConfigSpec.clusterConfiguration.dns",
    "kubeadmConfigSpec.clusterConfiguration.dns.*",
    "kubeadmConfigSpec.clusterConfiguration.imageRepository",
    "kubeadmConfigSpec.clusterConfiguration.featureGates",
    "kubeadmConfigSpec.clusterConfiguration.featureGates.*",
    "kubeadmConfigSpec.clusterConfiguration.apiServer",
    "kubeadmConfigSpec.clusterConfiguration.apiServer.*",
    "kubeadmConfigSpec.clusterConfiguration.controllerManager",
    "kubeadmConfigSpec.clusterConfiguration.controllerManager.*",
    "kubeadmConfigSpec.clusterConfiguration.scheduler",
    "kubeadmConfigSpec.clusterConfiguration.scheduler.*",
    "kubeadmConfigSpec.clusterConfiguration.certificateValidityPeriodDays",
    "kubeadmConfigSpec.clusterConfiguration.encryptionAlgorithm",
    "kubeadmConfigSpec.initConfiguration.nodeRegistration",
    "kubeadmConfigSpec.initConfiguration.nodeRegistration.*",
    "kubeadmConfigSpec.initConfiguration.patches.directory",
    "kubeadmConfigSpec.initConfiguration.patches",
    "kubeadmConfigSpec.initConfiguration.skipPhases",
    "kubeadmConfigSpec.initConfiguration.bootstrapTokens",
    "kubeadmConfigSpec.initConfiguration.localAPIEndpoint",
    "kubeadmConfigSpec.initConfiguration.localAPIEndpoint.*",
    "kubeadmConfigSpec.initConfiguration.timeouts",
    "kubeadmConfigSpec.initConfiguration.timeouts.*",
    "kubeadmConfigSpec.joinConfiguration.nodeRegistration",
    "kubeadmConfigSpec.joinConfiguration.nodeRegistration.*",
    "kubeadmConfigSpec.joinConfiguration.patches.directory",
    "kubeadmConfigSpec.joinConfiguration.patches",
    "kubeadmConfigSpec.joinConfiguration.skipPhases",
    "kubeadmConfigSpec.joinConfiguration.caCertPath",
    "kubeadmConfigSpec.joinConfiguration.controlPlane",
    "kubeadmConfigSpec.joinConfiguration.controlPlane.*",
    "kubeadmConfigSpec.joinConfiguration.discovery",
    "kubeadmConfigSpec.joinConfiguration.discovery.*",
    "kubeadmConfigSpec.joinConfiguration.timeouts",
    "kubeadmConfigSpec.joinConfiguration.timeouts.*",
    "kubeadmConfigSpec.bootCommands",
    "kubeadmConfigSpec.preKubeadmCommands",
    "kubeadmConfigSpec.postKubeadmCommands",
    "kubeadmConfigSpec.files",
    "kubeadmConfigSpec.verbosity",
    "kubeadmConfigSpec.users",
    "kubeadmConfigSpec.ntp",
    "kubeadmConfigSpec.ntp.*",
    "kubeadmConfigSpec.ignition",
    "kubeadmConfigSpec.ignition.*",
    "kubeadmConfigSpec.diskSetup",
    "kubeadmConfigSpec.diskSetup.*",
    "kubeadmConfigSpec.format",
    "kubeadmConfigSpec.mounts",
    "machineTemplate.metadata",
    "machineTemplate.metadata.*",
    "machineTemplate.spec",
    "machineTemplate.spec.*",
    "replicas",
    "version",
    "remediation",
    "remediation.*",
    "machineNaming",
    "machineNaming.*",
    "rollout",
    "rollout.*",
];

impl Admit for KubeadmControlPlane {
    fn default(&mut self, _old: Option<&Self>, _context: &Context) -> Result<(), Vec<Error>> {
        self.spec.replicas.get_or_insert(1);
        if !self.spec.version.is_empty() && !self.spec.version.starts_with('v') {
            self.spec.version.insert(0, 'v');
        }
        let strategy = &mut self.spec.rollout.strategy;
        strategy.type_ = Some(ControlPlaneRolloutStrategyType::RollingUpdate);
        strategy
            .rolling_update
            .max_surge
            .get_or_insert(IntOrString::Int(1));
        Ok(())
    }

    fn validate(&self, old: Option<&Self>, context: &Context) -> Vec<Error> {
        let path = Path::new("spec");
        let config = &self.spec.kubeadm_config_spec;
        let mut errors = spec(&self.spec, context, &path);
        if let Some(old) = old {
            errors.extend(immutable(&checks::shown(&old.spec), &checks::shown(&self.spec)));
            errors.extend(version_change(&old.spec.version, &self.spec.version));
        }
        let path = path.child("kubeadmConfigSpec");
        let before = old.map(|it| &it.spec.kubeadm_config_spec.cluster_configuration);
        let configuration = path.child("clusterConfiguration");
        errors.extend(cluster_configuration(
            &config.cluster_configuration,
            before,
            &configuration,
        ));
        if let Some(before) = before
            && !checks::annotations_of(&self.metadata).contains_key(annotation::SKIP_COREDNS)
        {
            errors.extend(dns_change(before, &config.cluster_configuration, &configuration));
        }
        errors.extend(bootstrap::config(config, context, &path));
        errors.extend(bootstrap::control_plane_timeouts(config, &path));
        errors
    }
}

/// What is wrong with a change of a control plane's replicas through the scale subresource, if anything.
// Parity: cluster-api controlplane/kubeadm/webhooks/admission/kubeadmcontrolplane_scale.go
pub fn validate_scale(control_plane: &KubeadmControlPlane, replicas: i32) -> Result<(), &'static str> {
    let external_etcd = control_plane
        .spec
        .kubeadm_config_spec
        .cluster_configuration
        .etcd
        .external
        .is_some();
    if replicas <= 0 {
        Err("replicas should be greater than zero")
    } else if !external_etcd && replicas % 2 == 0 {
        Err("replicas cannot be an even number when etcd is stacked")
    } else {
        Ok(())
    }
}

fn spec(spec: &KubeadmControlPlaneSpec, context: &Context, path: &Path) -> Vec<Error> {
    let mut errors = Vec::new();
    let replicas = path.child("replicas");
    let configuration = &spec.kubeadm_config_spec.cluster_configuration;
    match spec.replicas {
        None => errors.push(Error::required(&replicas, "is required")),
        Some(number) => {
            if number <= 0 {
                errors.push(Error::forbidden(&replicas, "cannot be less than or equal to 0"));
            }
            if number % 2 == 0 && configuration.etcd.external.is_none() {
                errors.push(Error::forbidden(
                    &replicas,
                    "cannot be an even number when etcd is stacked",
                ));
            }
        }
    }
    let template = &spec.machine_template;
    let reference = &template.spec.infrastructure_ref;
    for (name, value) in [
        ("apiGroup", &reference.api_group),
        ("kind", &reference.kind),
        ("name", &reference.name),
    ] {
        if value.is_empty() {
            let path = path.child("machineTemplate.infrastructure").child(name);
            errors.push(Error::invalid(&path, "", "cannot be empty"));
        }
    }
    let path_of_template = path.child("machineTemplate");
    errors.extend(checks::taints(
        &template.spec.taints,
        context,
        &path_of_template.child("spec.taints"),
    ));
    errors.extend(checks::template_metadata(
        &template.metadata,
        &path_of_template.child("metadata"),
    ));
    let version = path.child("version");
    errors.extend(checks::required_version(
        &spec.version,
        &version,
        "must be a valid semantic version",
    ));
    errors.extend(rollout(&spec.rollout, configuration, spec.replicas, path));
    errors.extend(checks::machine_naming(
        &spec.machine_naming,
        "kubeadmControlPlane",
        &path.child("machineNaming"),
    ));
    errors
}

/// What is wrong with how machines are replaced, and with how long certificates are valid.
pub(super) fn rollout(
    rollout: &ControlPlaneRollout,
    configuration: &ClusterConfiguration,
    replicas: Option<i32>,
    path: &Path,
) -> Vec<Error> {
    // Without a strategy nothing was decided yet: a template before its defaults.
    if rollout.strategy == ControlPlaneRolloutStrategy::default() {
        return Vec::new();
    }
    let mut errors = Vec::new();
    let strategy = path.child("rollout.strategy");
    if rollout.strategy.type_.is_none() {
        errors.push(Error::required(
            &strategy.child("type"),
            "only RollingUpdate is supported",
        ));
    }
    let surge = match &rollout.strategy.rolling_update.max_surge {
        None => None,
        Some(IntOrString::Int(number)) => Some(*number),
        // A text counts as the number it is, else as zero.
        Some(IntOrString::String(text)) => Some(text.parse().unwrap_or(0)),
    };
    if surge == Some(0) && replicas.is_some_and(|it| it < 3) {
        let detail =
            "when KubeadmControlPlane is configured to scale-in, replica count needs to be at least 3";
        errors.push(Error::required(&strategy.child("rollingUpdate"), detail));
    }
    if surge.is_some_and(|it| it != 0 && it != 1) {
        errors.push(Error::required(
            &strategy.child("rollingUpdate.maxSurge"),
            "value must be 1 or 0",
        ));
    }
    errors.extend(certificate_validity(rollout, configuration, path));
    errors
}

fn certificate_validity(
    rollout: &ControlPlaneRollout,
    configuration: &ClusterConfiguration,
    path: &Path,
) -> Vec<Error> {
    let days = |it: Option<i32>| it.filter(|days| *days != 0);
    let Some(validity) = days(configuration.certificate_validity_period_days) else {
        return Vec::new();
    };
    let mut errors = Vec::new();
    let validity_path = path.child("kubeadmConfigSpec.clusterConfiguration.certificateValidityPeriodDays");
    let detail = match days(configuration.ca_certificate_validity_period_days) {
        Some(ca) if validity > ca => Some(format!(
            "must be less than or equal to caCertificateValidityPeriodDays ({ca})"
        )),
        None if validity > CA_VALIDITY_DAYS => Some(format!(
            "must be less than or equal to the default value of caCertificateValidityPeriodDays ({CA_VALIDITY_DAYS})"
        )),
        _ => None,
    };
    errors.extend(detail.map(|it| Error::invalid(&validity_path, validity, it)));
    if let Some(before) = days(rollout.before.certificates_expiry_days).filter(|it| *it >= validity) {
        let path = path.child("rollout.before.certificatesExpiryDays");
        let detail = format!("must be less than certificateValidityPeriodDays ({validity})");
        errors.push(Error::invalid(&path, before, detail));
    }
    errors
}

/// What is wrong with what holds for the whole cluster; `old` is what held before.
pub(super) fn cluster_configuration(
    new: &ClusterConfiguration,
    old: Option<&ClusterConfiguration>,
    path: &Path,
) -> Vec<Error> {
    let mut errors = Vec::new();
    let tag = new.dns.image_tag.as_deref().unwrap_or_default();
    if !is_image_tag(tag) {
        errors.push(Error::forbidden(
            &path.child("dns.imageTag"),
            format!("tag {tag} is invalid"),
        ));
    }
    if !tag.is_empty() && Version::parse_image_tag(tag).is_err() {
        let detail = format!("failed to parse CoreDNS version: {tag:?} is not a version");
        errors.push(Error::invalid(&Path::new("dns.imageTag"), tag, detail));
    }
    let etcd = path.child("etcd");
    let tag = new.etcd.local.image_tag.as_deref().unwrap_or_default();
    if !is_image_tag(tag) {
        errors.push(Error::forbidden(
            &etcd.child("local.imageTag"),
            format!("tag {tag} is invalid"),
        ));
    }
    if new.etcd.local != LocalEtcd::default() && new.etcd.external.is_some() {
        errors.push(Error::forbidden(
            &etcd.child("local"),
            "cannot have both external and local etcd",
        ));
    }
    if old.is_some_and(|it| it.etcd.external.is_some() != new.etcd.external.is_some()) {
        errors.push(Error::forbidden(
            &etcd.child("external"),
            "cannot change between external and local etcd",
        ));
    }
    errors
}

fn is_image_tag(tag: &str) -> bool {
    tag.bytes()
        .all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.'))
}

/// What is wrong with going from one `CoreDNS` to another.
// Differs: upstream asks a list of the versions it can migrate between; here a version may only rise.
fn dns_change(old: &ClusterConfiguration, new: &ClusterConfiguration, path: &Path) -> Vec<Error> {
    let version = |it: &ClusterConfiguration| {
        it.dns
            .image_tag
            .as_deref()
            .and_then(|tag| Version::parse_image_tag(tag).ok())
            .map(|it| it.release())
    };
    let (Some(from), Some(to)) = (version(old), version(new)) else {
        return Vec::new();
    };
    if to.precedence(&from).is_ge() {
        return Vec::new();
    }
    let bare = |it: &Version| it.to_string().trim_start_matches('v').to_owned();
    let (from, to) = (bare(&from), bare(&to));
    let detail = format!(
        "cannot migrate CoreDNS up to '{to}' from '{from}': cannot migrate up to '{to}' from '{from}'"
    );
    vec![Error::forbidden(&path.child("dns.imageTag"), detail)]
}

fn version_change(old: &str, new: &str) -> Vec<Error> {
    let path = Path::new("spec.version");
    let unreadable = |which: &str, text: &str| {
        let detail = format!("failed to parse {which} kubeadmcontrolplane version: {text}");
        vec![Error::new(Kind::Internal, &path, "", detail)]
    };
    let Ok(from) = Version::parse_tolerant(old) else {
        return unreadable("current", old);
    };
    let Ok(to) = Version::parse_tolerant(new) else {
        return unreadable("updated", new);
    };
    let ceiling = Version::new(from.major(), from.minor() + 2, 0);
    if to.release().precedence(&ceiling).is_lt() {
        return Vec::new();
    }
    vec![Error::forbidden(
        &path,
        format!("cannot update Kubernetes version from {old} to {new}"),
    )]
}

/// Changes that are not allowed.
fn immutable(old: &Value, new: &Value) -> Vec<Error> {
    changed_paths(old, new)
        .iter()
        .filter(|path| !MUTABLE.iter().any(|allowed| allows(allowed, path)))
        .map(|path| Error::forbidden(&Path::new("spec").child(&path.join(".")), "cannot be modified"))
        .collect()
}

/// The paths of members that a merge patch from `old` to `new` would have: added, changed or removed ones, as deep as
/// both are objects or as what is added is.
pub(super) fn changed_paths(old: &Value, new: &Value) -> Vec<Vec<String>> {
    let mut changed = Vec::new();
    changes(old, new, &mut Vec::new(), &mut changed);
    changed
}

fn changes(old: &Value, new: &Value, path: &mut Vec<String>, changed: &mut Vec<Vec<String>>) {
    let nothing = serde_json::Map::new();
    let Value::Object(after) = new else {
        if old != new {
            changed.push(path.clone());
        }
        return;
    };
    let before = old.as_object().unwrap_or(&nothing);
    for name in before.keys().filter(|it| !after.contains_key(*it)) {
        changed.push(path.iter().chain([name]).cloned().collect());
    }
    for (name, wanted) in after {
        path.push(name.clone());
        changes(before.get(name).unwrap_or(&Value::Null), wanted, path, changed);
        path.pop();
    }
}

fn allows(allowed: &str, path: &[String]) -> bool {
    let mut names = path.iter();
    for part in allowed.split('.') {
        match names.next() {
            Some(_) if part == "*" => return true,
            Some(name) if name == part => {}
            _ => return false,
        }
    }
    names.next().is_none()
}
