//! A machine's bootstrap data as a script that a container runs: cloud-init's part is played by this module. Pure.
//!
//! As with cloud-init, files are written and users made before commands run. Other than with cloud-init, the first
//! command that fails ends it: a node that is half made helps nobody.
//! Source: docs.cloudinit.io, "Module reference"; cluster-api
//! `test/infrastructure/docker/internal/provisioning/cloudinit`.

mod kubeadm;
mod script;
mod users;
mod write_files;

#[cfg(test)]
mod tests;

pub(crate) use script::{FOLDER, Probe, files, probe_command, read_probe, start_command};

use std::fmt;

use serde_json::{Map, Value};

/// What the data mean on one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The machine's host name, which its node has too.
    pub host_name: String,
    /// Its identity with the provider.
    pub provider_id: String,
    /// The Engine's host has the first version of control groups.
    pub has_cgroup_v1: bool,
}

/// Why bootstrap data cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CloudConfigError {
    /// They are in another format.
    #[error("bootstrap data of format {0} cannot be run in a container; use cloud-config")]
    Format(String),
    /// They are not YAML.
    #[error("bootstrap data are not YAML: {0}")]
    Syntax(String),
    /// One field cannot be used.
    #[error("bootstrap data, {field}: {message}")]
    Field {
        /// The field, like `write_files[2].content`.
        field: String,
        /// What is wrong with it.
        message: String,
    },
}

impl CloudConfigError {
    fn field(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Field {
            field: field.into(),
            message: message.into(),
        }
    }
}

/// One step of a bootstrap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// What it is called in the log and in conditions. It never holds a secret.
    pub title: String,
    /// The shell's words.
    pub script: String,
}

/// A bootstrap, ready to be run. It holds secrets, and does not show them.
#[derive(Clone, PartialEq, Eq, Default)]
pub(crate) struct Bootstrap {
    /// What to do, in this order.
    pub steps: Vec<Step>,
    /// The contents that steps write to files, by their numbers.
    pub contents: Vec<Vec<u8>>,
}

impl fmt::Debug for Bootstrap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let titles: Vec<&str> = self.steps.iter().map(|it| it.title.as_str()).collect();
        f.debug_tuple("Bootstrap").field(&titles).finish()
    }
}

/// What containers have no use for; said in the log, and left out.
const WITHOUT_MEANING: [&str; 8] = [
    "ntp",
    "disk_setup",
    "fs_setup",
    "growpart",
    "resize_rootfs",
    "swap",
    "power_state",
    "package_update",
];

/// Reads cloud-config.
pub(crate) fn read(data: &[u8], facts: &Facts) -> Result<Bootstrap, CloudConfigError> {
    let text = std::str::from_utf8(data).map_err(|it| CloudConfigError::Syntax(it.to_string()))?;
    let text = with_metadata(text, facts);
    let config: Value =
        serde_saphyr::from_str(&text).map_err(|it| CloudConfigError::Syntax(it.to_string()))?;
    let Value::Object(config) = config else {
        return Err(CloudConfigError::Syntax(
            "cloud-config is a mapping of modules".to_owned(),
        ));
    };
    let mut bootstrap = Bootstrap::default();
    for (name, value) in &config {
        if !is_known(name) && !value.is_null() {
            bootstrap.steps.push(skipped(name));
        }
    }
    bootstrap.steps.extend(commands(&config, "bootcmd")?);
    let (now, later) = write_files::read(&config, facts)?;
    bootstrap.write(now);
    bootstrap.steps.extend(mounts(&config)?);
    bootstrap.steps.extend(users::read(&config)?);
    bootstrap.write(later);
    bootstrap.steps.extend(commands(&config, "runcmd")?);
    Ok(bootstrap)
}

impl Bootstrap {
    fn write(&mut self, files: Vec<write_files::WriteFile>) {
        for file in files {
            self.steps.push(file.step(self.contents.len()));
            self.contents.push(file.content);
        }
    }
}

fn is_known(name: &str) -> bool {
    ["bootcmd", "write_files", "mounts", "users", "groups", "runcmd"].contains(&name)
}

fn skipped(name: &str) -> Step {
    let why = if WITHOUT_MEANING.contains(&name) {
        "means nothing in a container"
    } else {
        "is not known here"
    };
    Step {
        title: format!("skip {name}, which {why}"),
        script: ":".to_owned(),
    }
}

/// Fills in what cloud-init's templates know of the machine.
fn with_metadata(text: &str, facts: &Facts) -> String {
    let mut text = text.to_owned();
    for (name, value) in [
        ("ds.meta_data.local_hostname", &facts.host_name),
        ("ds.meta_data.hostname", &facts.host_name),
        ("ds.meta_data.instance_id", &facts.host_name),
        ("v1.local_hostname", &facts.host_name),
        ("v1.instance_id", &facts.host_name),
    ] {
        for written in [format!("{{{{ {name} }}}}"), format!("{{{{{name}}}}}")] {
            text = text.replace(&written, value);
        }
    }
    text
}

/// A list of commands: each one a shell's line, or a program with its arguments.
fn commands(config: &Map<String, Value>, module: &str) -> Result<Vec<Step>, CloudConfigError> {
    list(config, module)?
        .iter()
        .enumerate()
        .map(|(index, command)| {
            let script = match command {
                Value::String(line) => line.clone(),
                Value::Array(words) => words
                    .iter()
                    .map(|it| quoted(&plain(it)))
                    .collect::<Vec<_>>()
                    .join(" "),
                _ => {
                    return Err(CloudConfigError::field(
                        format!("{module}[{index}]"),
                        "a command is a line of shell, or a list of a program and its arguments",
                    ));
                }
            };
            Ok(Step {
                title: title(module, &script),
                script: kubeadm::command(&script),
            })
        })
        .collect()
}

/// A command's first words, which say what it is without what might be secret in it.
fn title(module: &str, script: &str) -> String {
    let words: Vec<&str> = script.split_whitespace().take(2).collect();
    format!("{module}: {}", words.join(" ").replace('\'', ""))
}

/// File systems to mount. One that cannot be mounted does not end a bootstrap, as with cloud-init.
fn mounts(config: &Map<String, Value>) -> Result<Vec<Step>, CloudConfigError> {
    list(config, "mounts")?
        .iter()
        .enumerate()
        .map(|(index, entry)| {
            let fields: Vec<String> = entry.as_array().into_iter().flatten().map(plain).collect();
            let [device, point, rest @ ..] = fields.as_slice() else {
                let message = "a mount is a list of a device, where it is mounted, and options";
                return Err(CloudConfigError::field(format!("mounts[{index}]"), message));
            };
            let kind = rest.first().map_or("auto", String::as_str);
            let options = rest.get(1).map_or("defaults", String::as_str);
            Ok(Step {
                title: format!("mount {point}"),
                script: format!(
                    "mkdir -p {at} && mount -t {kind} -o {options} {device} {at} || echo 'not mounted'",
                    at = quoted(point),
                    kind = quoted(kind),
                    options = quoted(options),
                    device = quoted(device),
                ),
            })
        })
        .collect()
}

fn list<'a>(config: &'a Map<String, Value>, module: &str) -> Result<&'a [Value], CloudConfigError> {
    match config.get(module) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(CloudConfigError::field(module, "must be a list")),
    }
}

/// A scalar as the shell sees it.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A word that the shell takes as it is.
fn quoted(word: &str) -> String {
    let is_safe = |it: u8| it.is_ascii_alphanumeric() || b"-_./:=,@+%".contains(&it);
    if !word.is_empty() && word.bytes().all(is_safe) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
