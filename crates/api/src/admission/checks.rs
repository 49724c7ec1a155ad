//! Rules that several kinds share.

use std::collections::BTreeMap;

use capstan_base::{
    Version,
    field::{Error, Kind, Path},
    names, template,
};
use k8s_openapi::apimachinery::pkg::{
    apis::meta::v1::{LabelSelector, ObjectMeta},
    util::intstr::IntOrString,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::Context;
use crate::{
    core::{Bootstrap, MachineNaming, MachineTaint, MachineTemplate, TemplateMeta},
    feature::Feature,
    selector::Selector,
    well_known::{annotation, label, preflight_check, taint},
};

/// How long a Node's deletion is tried, in seconds, if nobody says so.
pub(super) const NODE_DELETION_TIMEOUT_SECONDS: i32 = 10;

/// The most bytes that annotations may have together.
const ANNOTATIONS_LIMIT: usize = 256 * 1024;

/// Labels an object as belonging to its cluster.
pub(super) fn set_cluster_label(metadata: &mut ObjectMeta, cluster_name: &str) {
    let labels = metadata.labels.get_or_insert_default();
    labels.insert(label::CLUSTER_NAME.to_owned(), cluster_name.to_owned());
}

/// Puts a `v` before a version that lacks it.
pub(super) fn prefix_version(version: &mut Option<String>) {
    if let Some(version) = version
        .as_mut()
        .filter(|it| !it.is_empty() && !it.starts_with('v'))
    {
        version.insert(0, 'v');
    }
}

/// Fills in the cluster of a template's machines.
// Differs: upstream's schema requires it. Introductions leave it out, and it can only have one value.
pub(super) fn set_template_cluster(template: &mut MachineTemplate, cluster_name: &str) {
    if template.spec.cluster_name.is_empty() {
        cluster_name.clone_into(&mut template.spec.cluster_name);
    }
}

/// Whether a selector is left out or names nothing but the cluster, and so does not say which machines of the cluster.
// Differs: upstream counts only an empty selector as left out.
pub(super) fn selects_the_whole_cluster(selector: &LabelSelector) -> bool {
    let labels_say_nothing = selector
        .match_labels
        .iter()
        .flatten()
        .all(|(key, _)| key == label::CLUSTER_NAME);
    labels_say_nothing && selector.match_expressions.as_ref().is_none_or(Vec::is_empty)
}

/// Adds a label to a selector and to the labels of the machines it is to select.
pub(super) fn select_by(
    selector: &mut LabelSelector,
    template: &mut MachineTemplate,
    key: &str,
    value: &str,
) {
    selector
        .match_labels
        .get_or_insert_default()
        .insert(key.to_owned(), value.to_owned());
    template.metadata.labels.insert(key.to_owned(), value.to_owned());
}

pub(super) fn bootstrap(bootstrap: &Bootstrap, path: &Path) -> Vec<Error> {
    if bootstrap.config_ref.is_some() || bootstrap.data_secret_name.is_some() {
        return Vec::new();
    }
    let path = path.child("bootstrap");
    let detail = format!("expected either {path}.dataSecretName or {path}.configRef to be populated");
    vec![Error::required(&path, detail)]
}

pub(super) fn immutable_cluster_name(new: &str, old: Option<&str>) -> Vec<Error> {
    if old.is_none_or(|it| it == new) {
        return Vec::new();
    }
    vec![Error::forbidden(
        &Path::new("spec.clusterName"),
        "field is immutable",
    )]
}

pub(super) fn same_cluster_name(own: &str, template: &MachineTemplate) -> Vec<Error> {
    if own == template.spec.cluster_name {
        return Vec::new();
    }
    let detail = "spec.clusterName and spec.template.spec.clusterName must be set to the same value";
    vec![Error::invalid(&Path::new("spec.clusterName"), own, detail)]
}

pub(super) fn version(version: Option<&str>, path: &Path) -> Vec<Error> {
    let Some(version) = version.filter(|it| !it.is_empty()) else {
        return Vec::new();
    };
    required_version(version, path, "must be a valid semantic version")
}

/// Like [`version`], but an empty version is wrong too.
pub(super) fn required_version(version: &str, path: &Path, detail: &str) -> Vec<Error> {
    let mut errors = Vec::new();
    if !version.starts_with('v') {
        errors.push(Error::invalid(path, version, "must start with v"));
    }
    if Version::parse(version).is_err() {
        errors.push(Error::invalid(path, version, detail));
    }
    errors
}

/// Whether a name can be the value of a label, since it becomes one.
pub(super) fn name_is_label_value(metadata: &ObjectMeta, words: &str) -> Vec<Error> {
    let name = metadata.name.as_deref().unwrap_or_default();
    let problems = names::label_value_problems(name);
    let path = Path::new("metadata.name");
    problems
        .iter()
        .map(|it| Error::invalid(&path, name, format!("{words} {it}")))
        .collect()
}

/// The selector, or what is wrong with it.
pub(super) fn selector(selector: &LabelSelector, path: &Path) -> Result<Selector, Error> {
    Selector::new(selector).map_err(|it| Error::invalid(path, shown(selector), it.to_string()))
}

/// Labels and annotations of a template.
// Parity: cluster-api api/core/v1beta2/common_types.go:ObjectMeta.Validate
pub(super) fn template_metadata(metadata: &TemplateMeta, path: &Path) -> Vec<Error> {
    let mut errors = Vec::new();
    let labels = path.child("labels");
    for (key, value) in &metadata.labels {
        errors.extend(
            names::label_key_problems(key)
                .iter()
                .map(|it| Error::invalid(&labels, key.as_str(), it)),
        );
        errors.extend(
            names::label_value_problems(value)
                .iter()
                .map(|it| Error::invalid(&labels, value.as_str(), it)),
        );
    }
    let annotations = path.child("annotations");
    let mut size = 0;
    for (key, value) in &metadata.annotations {
        let problems = names::label_key_problems(&key.to_lowercase());
        errors.extend(
            problems
                .iter()
                .map(|it| Error::invalid(&annotations, key.as_str(), it)),
        );
        size += key.len() + value.len();
    }
    if size > ANNOTATIONS_LIMIT {
        let detail = format!("may not be more than {ANNOTATIONS_LIMIT} bytes");
        errors.push(Error::new(Kind::TooLong, &annotations, "", detail));
    }
    errors
}

pub(super) fn int_or_percent(value: Option<&IntOrString>, path: &Path) -> Vec<Error> {
    let Some(value) = value else { return Vec::new() };
    let Err(error) = crate::core::int_or_percent(value) else {
        return Vec::new();
    };
    let detail = format!("must be either an int or a percentage: invalid value for IntOrString: {error}");
    vec![Error::invalid(path, shown(value), detail)]
}

/// A template of machine names; `owner` is the word its owner has in templates.
pub(super) fn machine_naming(naming: &MachineNaming, owner: &str, path: &Path) -> Vec<Error> {
    let Some(text) = naming.template.as_deref().filter(|it| !it.is_empty()) else {
        return Vec::new();
    };
    let path = path.child("template");
    let mut errors = Vec::new();
    if !text.contains("{{ .random }}") {
        errors.push(Error::invalid(
            &path,
            text,
            "invalid template, {{ .random }} is missing",
        ));
    }
    let data = json!({ "cluster": { "name": "cluster" }, owner: { "name": owner.to_lowercase() }, "random": "random" });
    match template::name(text, &data, "rando") {
        Ok(name) => errors.extend(names::dns_subdomain_problems(&name).iter().map(|it| {
            let detail =
                format!("invalid template, generated names would not be valid Kubernetes object names: {it}");
            Error::invalid(&path, text, detail)
        })),
        Err(error) => errors.push(Error::invalid(&path, text, format!("invalid template: {error}"))),
    }
    errors
}

// Parity: cluster-api internal/util/taints/validation.go:ValidateMachineTaints
pub(super) fn taints(taints: &[MachineTaint], context: &Context, path: &Path) -> Vec<Error> {
    let mut errors = Vec::new();
    if !taints.is_empty() && !context.features.is_on(Feature::MachineTaintPropagation) {
        let detail =
            "taints are not allowed to be set when the feature gate MachineTaintPropagation is disabled";
        errors.push(Error::forbidden(path, detail));
    }
    for (index, each) in taints.iter().enumerate() {
        let path = path.index(index).child("key");
        let key = each.key.as_str();
        let detail = match key {
            taint::NODE_UNINITIALIZED | taint::NODE_OUTDATED_REVISION => Some("taint key is not allowed"),
            "node.kubernetes.io/out-of-service" => None,
            "node-role.kubernetes.io/master" => {
                Some("taint is deprecated since 1.24 and should not be used anymore")
            }
            _ if key.starts_with("node.kubernetes.io/") => Some(
                "taint key must not have the prefix node.kubernetes.io/, except for node.kubernetes.io/out-of-service",
            ),
            _ if key.starts_with("node.cloudprovider.kubernetes.io/") => {
                Some("taint key must not have the prefix node.cloudprovider.kubernetes.io/")
            }
            _ => None,
        };
        errors.extend(detail.map(|it| Error::invalid(&path, key, it)));
        errors.extend(
            names::label_key_problems(key)
                .iter()
                .map(|it| Error::invalid(&path, key, it)),
        );
    }
    errors
}

/// Taints that only control plane machines may have.
pub(super) fn worker_taints(taints: &[MachineTaint], context: &Context, path: &Path) -> Vec<Error> {
    if !context.features.is_on(Feature::MachineTaintPropagation) {
        return Vec::new();
    }
    let wrong = taints
        .iter()
        .enumerate()
        .filter(|(_, it)| it.key == taint::CONTROL_PLANE);
    wrong
        .map(|(index, it)| {
            let detail = "taint is not allowed for worker Machines";
            Error::invalid(&path.index(index).child("key"), it.key.as_str(), detail)
        })
        .collect()
}

/// The annotation that names checks to leave out.
pub(super) fn skipped_preflight_checks(metadata: &ObjectMeta, context: &Context) -> Vec<Error> {
    if !context.features.is_on(Feature::MachineSetPreflightChecks) {
        return Vec::new();
    }
    let skipped = metadata
        .annotations
        .as_ref()
        .and_then(|it| it.get(annotation::SKIP_PREFLIGHT_CHECKS));
    let Some(skipped) = skipped.filter(|it| !it.is_empty()) else {
        return Vec::new();
    };
    let unknown: Vec<&str> = skipped
        .split(',')
        .map(str::trim)
        .filter(|it| !preflight_check::NAMES.contains(it))
        .collect();
    if unknown.is_empty() {
        return Vec::new();
    }
    let path = Path::new("metadata.annotations").child(annotation::SKIP_PREFLIGHT_CHECKS);
    let known = preflight_check::NAMES.join(" ");
    vec![Error::invalid(
        &path,
        unknown,
        format!("skipped preflight check(s) must be among: [{known}]"),
    )]
}

/// What `MachineSets`, `MachineDeployments` and `MachinePools` say alike about the machines they make.
pub(super) fn machine_template(
    template: &MachineTemplate,
    cluster_name: &str,
    old_cluster_name: Option<&str>,
) -> Vec<Error> {
    let path = Path::new("spec.template.spec");
    let mut errors = bootstrap(&template.spec.bootstrap, &path);
    errors.extend(immutable_cluster_name(cluster_name, old_cluster_name));
    errors.extend(same_cluster_name(cluster_name, template));
    errors.extend(version(template.spec.version.as_deref(), &path.child("version")));
    errors.extend(template_metadata(
        &template.metadata,
        &Path::new("spec.template.metadata"),
    ));
    errors
}

/// A value as errors show it.
pub(super) fn shown<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// The annotations of an object, or none.
pub(super) fn annotations_of(metadata: &ObjectMeta) -> BTreeMap<String, String> {
    metadata.annotations.clone().unwrap_or_default()
}
