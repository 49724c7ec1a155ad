//! Rules for `KubeadmConfigs`, wherever one is written: on its own, in a template, in a control plane.
// Parity: cluster-api bootstrap/kubeadm/webhooks/admission/{kubeadmconfig,kubeadmconfigtemplate}.go

use std::collections::BTreeSet;

use capstan_base::field::{Error, Path};

use super::{Admit, Context, checks};
use crate::{
    bootstrap::{
        Encoding, Format, ImagePullPolicy, KubeadmConfig, KubeadmConfigSpec, KubeadmConfigTemplate,
        SecretKeyReference,
    },
    feature::Feature,
    well_known::annotation,
};

impl Admit for KubeadmConfig {
    fn validate(&self, _old: Option<&Self>, context: &Context) -> Vec<Error> {
        config(&self.spec, context, &Path::new("spec"))
    }
}

impl Admit for KubeadmConfigTemplate {
    fn default(&mut self, _old: Option<&Self>, context: &Context) -> Result<(), Vec<Error>> {
        // A topology compares what it wants with templates that older versions defaulted.
        let annotations = self.metadata.annotations.as_ref();
        if context.dry_run && annotations.is_some_and(|it| it.contains_key(annotation::TOPOLOGY_DRY_RUN)) {
            fill_in_old_defaults(&mut self.spec.template.spec);
        }
        Ok(())
    }

    fn validate(&self, _old: Option<&Self>, context: &Context) -> Vec<Error> {
        let path = Path::new("spec.template");
        let mut errors = config(&self.spec.template.spec, context, &path.child("spec"));
        errors.extend(checks::template_metadata(
            &self.spec.template.metadata,
            &path.child("metadata"),
        ));
        errors
    }
}

/// Fills in what v1beta1 filled in, so that an old object and a new one can be compared.
pub(super) fn fill_in_old_defaults(config: &mut KubeadmConfigSpec) {
    config.format.get_or_insert(Format::CloudConfig);
    let registrations = [
        &mut config.init_configuration.node_registration,
        &mut config.join_configuration.node_registration,
    ];
    for registration in registrations {
        registration
            .image_pull_policy
            .get_or_insert(ImagePullPolicy::IfNotPresent);
    }
    let file = config.join_configuration.discovery.file.as_mut();
    let exec = file
        .and_then(|it| it.kube_config.as_mut())
        .and_then(|it| it.user.exec.as_mut());
    if let Some(exec) = exec {
        exec.api_version
            .get_or_insert_with(|| "client.authentication.k8s.io/v1".to_owned());
    }
}

/// What is wrong with a config.
pub(super) fn config(config: &KubeadmConfigSpec, context: &Context, path: &Path) -> Vec<Error> {
    let mut errors = files(config, path);
    errors.extend(users(config, path));
    errors.extend(ignition(config, context, path));
    errors.extend(partitions(config, path));
    let file = config.join_configuration.discovery.file.as_ref();
    if let Some(user) = file.and_then(|it| it.kube_config.as_ref()).map(|it| &it.user)
        && user.auth_provider.is_some()
        && user.exec.is_some()
    {
        let path = path.child("joinConfiguration.discovery.file.kubeconfig.user");
        let given = vec!["authProvider", "exec"];
        errors.push(Error::invalid(
            &path,
            given,
            "only one of authProvider or exec must be defined",
        ));
    }
    errors
}

/// What is wrong with the config of a control plane, besides what [`config`] says.
pub(super) fn control_plane_timeouts(config: &KubeadmConfigSpec, path: &Path) -> Vec<Error> {
    let shown = |seconds: Option<i32>| seconds.map_or_else(|| "unset".to_owned(), |it| it.to_string());
    let init = shown(
        config
            .init_configuration
            .timeouts
            .control_plane_component_health_check_seconds,
    );
    let join = shown(
        config
            .join_configuration
            .timeouts
            .control_plane_component_health_check_seconds,
    );
    if init == join {
        return Vec::new();
    }
    let name = "controlPlaneComponentHealthCheckSeconds";
    let detail = format!(
        "{name} must be set to the same value both in initConfiguration.timeouts ({init}) and in \
         joinConfiguration.timeouts ({join})"
    );
    [("initConfiguration", init), ("joinConfiguration", join)]
        .into_iter()
        .map(|(part, value)| {
            Error::invalid(
                &path.child(part).child("timeouts").child(name),
                value,
                detail.clone(),
            )
        })
        .collect()
}

/// Errors show paths and names only: contents and passwords may be secret.
fn files(config: &KubeadmConfigSpec, path: &Path) -> Vec<Error> {
    let mut errors = Vec::new();
    let mut known = BTreeSet::new();
    for (index, file) in config.files.iter().enumerate() {
        let path = path.child("files").index(index);
        if let Some(source) = &file.content_from {
            if file.content.as_ref().is_some_and(|it| !it.is_empty()) {
                let detail = "only one of content or contentFrom may be specified for a single file";
                errors.push(Error::invalid(&path, file.path.as_str(), detail));
            }
            errors.extend(secret_key(&source.secret, &path.child("contentFrom")));
        }
        if !known.insert(&file.path) {
            let detail = "path property must be unique among all files";
            errors.push(Error::invalid(&path.child("path"), file.path.as_str(), detail));
        }
    }
    errors
}

fn users(config: &KubeadmConfigSpec, path: &Path) -> Vec<Error> {
    let mut errors = Vec::new();
    for (index, user) in config.users.iter().enumerate() {
        let path = path.child("users").index(index);
        let Some(source) = &user.passwd_from else { continue };
        if user.passwd.as_ref().is_some_and(|it| !it.is_empty()) {
            let detail = "only one of passwd or passwdFrom may be specified for a single user";
            errors.push(Error::invalid(&path, user.name.as_str(), detail));
        }
        errors.extend(secret_key(&source.secret, &path.child("passwdFrom")));
    }
    errors
}

fn secret_key(secret: &SecretKeyReference, path: &Path) -> Vec<Error> {
    let path = path.child("secret");
    let mut errors = Vec::new();
    if secret.name.is_empty() {
        errors.push(Error::required(
            &path.child("name"),
            "secret file source must specify non-empty secret name",
        ));
    }
    if secret.key.is_empty() {
        errors.push(Error::required(
            &path.child("key"),
            "secret file source must specify non-empty secret key",
        ));
    }
    errors
}

fn ignition(config: &KubeadmConfigSpec, context: &Context, path: &Path) -> Vec<Error> {
    let is_ignition = config.format == Some(Format::Ignition);
    let has_settings = config.ignition != crate::bootstrap::Ignition::default();
    if !context.features.is_on(Feature::KubeadmBootstrapFormatIgnition) {
        let detail = "can be set only if the KubeadmBootstrapFormatIgnition feature gate is enabled";
        return [("format", is_ignition), ("ignition", has_settings)]
            .into_iter()
            .filter(|(_, given)| *given)
            .map(|(name, _)| Error::forbidden(&path.child(name), detail))
            .collect();
    }
    if is_ignition {
        return not_with_ignition(config, path);
    }
    if has_settings {
        let format = config.format.map_or("", Format::as_str);
        let detail = "must be set to \"ignition\" if spec.ignition is set";
        return vec![Error::invalid(&path.child("format"), format, detail)];
    }
    Vec::new()
}

/// What Ignition cannot do.
fn not_with_ignition(config: &KubeadmConfigSpec, path: &Path) -> Vec<Error> {
    let forbidden =
        |path: Path| Error::forbidden(&path, "not supported when spec.format is set to: \"ignition\"");
    let mut errors = Vec::new();
    for (index, user) in config.users.iter().enumerate() {
        if user.inactive == Some(true) {
            errors.push(forbidden(path.child("users").index(index).child("inactive")));
        }
    }
    for (index, file) in config.files.iter().enumerate() {
        if matches!(file.encoding, Some(Encoding::Gzip | Encoding::GzipBase64)) {
            errors.push(forbidden(path.child("files").index(index).child("encoding")));
        }
    }
    if !config.boot_commands.is_empty() {
        errors.push(forbidden(path.child("bootCommands")));
    }
    let disks = path.child("diskSetup");
    for (index, partition) in config.disk_setup.partitions.iter().enumerate() {
        let table = partition
            .table_type
            .as_deref()
            .filter(|it| !it.is_empty() && *it != "gpt");
        if let Some(table) = table {
            let path = disks.child("partitions").index(index).child("tableType");
            let detail = "only partition type \"gpt\" is supported when spec.format is set to \"ignition\"";
            errors.push(Error::invalid(&path, table, detail));
        }
    }
    for (index, filesystem) in config.disk_setup.filesystems.iter().enumerate() {
        let path = disks.child("filesystems").index(index);
        if filesystem.replace_fs.as_ref().is_some_and(|it| !it.is_empty()) {
            errors.push(forbidden(path.child("replaceFS")));
        }
        if filesystem.partition.as_ref().is_some_and(|it| !it.is_empty()) {
            errors.push(forbidden(path.child("partition")));
        }
    }
    errors
}

fn partitions(config: &KubeadmConfigSpec, path: &Path) -> Vec<Error> {
    let mut errors = Vec::new();
    for (index, partition) in config.disk_setup.partitions.iter().enumerate() {
        let total: i64 = partition
            .disk_layout
            .iter()
            .map(|it| i64::from(it.percentage))
            .sum();
        if total > 100 {
            let path = path
                .child("diskSetup.partitions")
                .index(index)
                .child("diskLayout");
            let detail = "the sum of all partition percentages must not be greater than 100";
            errors.push(Error::invalid(&path, total, detail));
        }
    }
    errors
}
