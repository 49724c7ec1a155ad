//! cloud-init's modules `groups` and `users`.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{CloudConfigError, Step, quoted};

#[derive(Deserialize, Default)]
#[serde(default)]
struct User {
    name: String,
    gecos: Option<String>,
    groups: Value,
    homedir: Option<String>,
    inactive: Value,
    shell: Option<String>,
    passwd: Option<String>,
    primary_group: Option<String>,
    lock_passwd: Option<bool>,
    sudo: Value,
    ssh_authorized_keys: Vec<String>,
    system: bool,
}

/// The steps that make groups, then users.
pub(super) fn read(config: &Map<String, Value>) -> Result<Vec<Step>, CloudConfigError> {
    let mut steps = Vec::new();
    for group in super::list(config, "groups")? {
        let (name, members) = match group {
            Value::Object(fields) => fields
                .iter()
                .next()
                .map(|(name, members)| (name.clone(), words(members)))
                .unwrap_or_default(),
            other => (super::plain(other), Vec::new()),
        };
        let mut script = format!("groupadd -f {}", quoted(&name));
        for member in members {
            script.push_str(&format!(" && usermod -aG {} {}", quoted(&name), quoted(&member)));
        }
        steps.push(Step {
            title: format!("make group {name}"),
            script,
        });
    }
    for (index, user) in super::list(config, "users")?.iter().enumerate() {
        // cloud-init's word for the user that the image has already.
        if user.as_str() == Some("default") {
            continue;
        }
        let user: User = match user {
            Value::String(name) => User {
                name: name.clone(),
                ..User::default()
            },
            other => serde_json::from_value(other.clone())
                .map_err(|it| CloudConfigError::field(format!("users[{index}]"), it.to_string()))?,
        };
        if user.name.is_empty() {
            return Err(CloudConfigError::field(
                format!("users[{index}].name"),
                "must be set",
            ));
        }
        steps.push(step(&user));
    }
    Ok(steps)
}

/// Words in a list, or in one text with commas between them.
fn words(value: &Value) -> Vec<String> {
    match value {
        Value::Array(list) => list.iter().map(super::plain).collect(),
        Value::String(text) => text
            .split(',')
            .map(|it| it.trim().to_owned())
            .filter(|it| !it.is_empty())
            .collect(),
        _ => Vec::new(),
    }
}

/// Rules in a list, or one; `false` and nothing are none.
fn rules(value: &Value) -> Vec<String> {
    match value {
        Value::Array(list) => list.iter().map(super::plain).collect(),
        Value::String(rule) if !rule.is_empty() => vec![rule.clone()],
        _ => Vec::new(),
    }
}

fn step(user: &User) -> Step {
    let name = quoted(&user.name);
    let mut lines = Vec::new();
    let groups = words(&user.groups);
    for group in groups.iter().chain(&user.primary_group) {
        lines.push(format!("groupadd -f {}", quoted(group)));
    }
    let mut add = "useradd".to_owned();
    let mut option = |flag: &str, value: Option<&String>| {
        if let Some(value) = value {
            add.push_str(&format!(" {flag} {}", quoted(value)));
        }
    };
    option("-c", user.gecos.as_ref());
    option("-d", user.homedir.as_ref());
    option("-s", user.shell.as_ref());
    option("-g", user.primary_group.as_ref());
    option("-p", user.passwd.as_ref());
    option("-G", (!groups.is_empty()).then(|| groups.join(",")).as_ref());
    let inactive = super::plain(&user.inactive);
    option(
        "-f",
        (!inactive.is_empty() && inactive != "false").then_some(&inactive),
    );
    add.push_str(if user.system { " -r" } else { " -m" });
    lines.push(format!("id -u {name} >/dev/null 2>&1 || {add} {name}"));
    if user.lock_passwd.unwrap_or(true) {
        lines.push(format!("passwd -l {name} >/dev/null"));
    }
    for rule in rules(&user.sudo) {
        lines.push("mkdir -p /etc/sudoers.d".to_owned());
        lines.push(format!(
            "echo {} >> /etc/sudoers.d/90-cloud-init-users",
            quoted(&format!("{} {rule}", user.name))
        ));
    }
    if !user.ssh_authorized_keys.is_empty() {
        lines.push(format!("home=$(getent passwd {name} | cut -d: -f6)"));
        lines.push("mkdir -p \"$home/.ssh\"".to_owned());
        lines.push("chmod 0700 \"$home/.ssh\"".to_owned());
        for key in &user.ssh_authorized_keys {
            lines.push(format!("echo {} >> \"$home/.ssh/authorized_keys\"", quoted(key)));
        }
        lines.push("chmod 0600 \"$home/.ssh/authorized_keys\"".to_owned());
        lines.push(format!("chown -R {name}: \"$home/.ssh\""));
    }
    Step {
        title: format!("make user {}", user.name),
        script: lines.join("\n"),
    }
}
