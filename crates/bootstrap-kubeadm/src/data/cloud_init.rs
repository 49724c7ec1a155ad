//! First-boot data in cloud-init's cloud-config format, byte for byte as upstream renders it, odd blanks included:
//! a user's golden images and tests may depend on any of them.
//! Source of the form: upstream `bootstrap/kubeadm/pkg/cloudinit`.
//!
//! The data is itself a Jinja template that cloud-init expands on the host, so `{{ ds.meta_data.local_hostname }}` in a
//! node's name has to survive: nothing here expands braces.

use std::fmt::{self, Write as _};

use capstan_api::bootstrap::{DiskSetup, File, Filesystem, Ntp, Partition, User};

use super::{HostData, KubeadmRun, quote::quoted};

/// The first line makes cloud-init expand the data as Jinja.
const HEADER: &str = "## template: jinja\n#cloud-config\n";
/// What providers look for on a host to learn that it became a node.
const SENTINEL: &str = "echo success > /run/cluster-api/bootstrap-success.complete";
/// Makes the folder of the sentinel, on Windows as well, where `mkdir -p` of such a path does not work.
const PLACEHOLDER: &str = "\n-   path: /run/cluster-api/placeholder
    owner: root:root
    permissions: '0640'
    content: \"This placeholder file is used to create the /run/cluster-api sub directory in a way that is compatible \
     with both Linux and Windows (mkdir -p /run/cluster-api does not work with Windows)\"";
/// How deep a file's content is indented.
const CONTENT_INDENT: &str = "      ";

/// The data so far.
struct Text(String);

impl Text {
    fn push_str(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn put(&mut self, text: fmt::Arguments<'_>) {
        self.0
            .write_fmt(text)
            .expect("invariant: writing to a string succeeds");
    }
}

/// Renders the data of one host.
pub(super) fn render(host: &HostData<'_>) -> String {
    let mut out = Text(format!("{HEADER}\nwrite_files:"));
    for file in host.certificates.iter().chain(host.files) {
        write_file(&mut out, file);
    }
    kubeadm_file(&mut out, &host.run);
    out.push_str(PLACEHOLDER);
    if !host.spec.boot_commands.is_empty() {
        out.push_str("\nbootcmd:");
        commands(&mut out, &host.spec.boot_commands);
    }
    out.push_str("\nruncmd:");
    commands(&mut out, &host.spec.pre_kubeadm_commands);
    let verbosity = host
        .spec
        .verbosity
        .map(|it| format!("--v {it}"))
        .unwrap_or_default();
    let command = match host.run {
        KubeadmRun::Init { .. } => {
            format!("\n  - 'kubeadm init --config /run/kubeadm/kubeadm.yaml {verbosity} && {SENTINEL}'")
        }
        KubeadmRun::JoinControlPlane { .. } | KubeadmRun::JoinWorker { .. } => {
            format!(
                "\n  - kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml {verbosity} && {SENTINEL}"
            )
        }
    };
    out.push_str(&command);
    commands(&mut out, &host.spec.post_kubeadm_commands);
    if host.spec.ntp != Ntp::default() {
        ntp(&mut out, &host.spec.ntp);
    }
    if !host.users.is_empty() {
        out.push_str("\nusers:");
        for it in host.users {
            user(&mut out, it);
        }
    }
    if host.spec.disk_setup != DiskSetup::default() {
        disks(&mut out, &host.spec.disk_setup);
    }
    mounts(&mut out, &host.spec.mounts);
    out.push_str("\n");
    out.0
}

/// Indents every line, empty ones included.
fn indented(text: &str) -> String {
    format!(
        "{CONTENT_INDENT}{}",
        text.replace('\n', &format!("\n{CONTENT_INDENT}"))
    )
}

fn write_file(out: &mut Text, file: &File) {
    let File {
        path,
        owner,
        permissions,
        encoding,
        append,
        content,
        content_from: _,
        content_format: _,
    } = file;
    out.put(format_args!("\n-   path: {path}"));
    if let Some(encoding) = encoding {
        out.put(format_args!("\n    encoding: \"{encoding}\""));
    }
    if let Some(owner) = present(owner.as_ref()) {
        out.put(format_args!("\n    owner: {owner}"));
    }
    if let Some(permissions) = present(permissions.as_ref()) {
        out.put(format_args!("\n    permissions: '{permissions}'"));
    }
    if let Some(append) = append {
        out.put(format_args!("\n    append: {append}"));
    }
    out.push_str("\n    content: |\n");
    out.push_str(&indented(content.as_deref().unwrap_or_default()));
}

fn kubeadm_file(out: &mut Text, run: &KubeadmRun) {
    let (path, content) = match run {
        KubeadmRun::Init {
            cluster_configuration,
            init_configuration,
        } => {
            let documents = [cluster_configuration, init_configuration];
            let content: Vec<String> = documents
                .iter()
                .map(|it| format!("{CONTENT_INDENT}---\n{}", indented(it)))
                .collect();
            ("/run/kubeadm/kubeadm.yaml", content.join("\n"))
        }
        KubeadmRun::JoinControlPlane { join_configuration } => (
            "/run/kubeadm/kubeadm-join-config.yaml",
            indented(join_configuration),
        ),
        KubeadmRun::JoinWorker { join_configuration } => (
            "/run/kubeadm/kubeadm-join-config.yaml",
            format!("{CONTENT_INDENT}---\n{}", indented(join_configuration)),
        ),
    };
    out.put(format_args!(
        "\n-   path: {path}\n    owner: root:root\n    permissions: '0640'\n    content: |\n{content}"
    ));
}

fn commands(out: &mut Text, commands: &[String]) {
    for command in commands {
        out.put(format_args!("\n  - {}", quoted(command)));
    }
}

fn ntp(out: &mut Text, ntp: &Ntp) {
    let Ntp { servers, enabled } = ntp;
    out.push_str("\nntp:");
    if let Some(enabled) = enabled {
        out.put(format_args!("\n  enabled: {enabled}"));
    }
    out.push_str("\n  servers:");
    for server in servers {
        out.put(format_args!("\n    - {server}"));
    }
}

fn user(out: &mut Text, user: &User) {
    let User {
        name,
        gecos,
        groups,
        home_dir,
        inactive,
        shell,
        passwd,
        passwd_from: _,
        primary_group,
        lock_password,
        sudo,
        ssh_authorized_keys,
    } = user;
    out.put(format_args!("\n  - name: {name}"));
    let flag = |it: &Option<bool>| it.map(|it| it.to_string());
    let fields = [
        ("passwd", passwd.clone()),
        ("gecos", gecos.clone()),
        ("groups", groups.clone()),
        ("homedir", home_dir.clone()),
        ("inactive", flag(inactive)),
        ("lock_passwd", flag(lock_password)),
        ("shell", shell.clone()),
        ("primary_group", primary_group.clone()),
        ("sudo", sudo.clone()),
    ];
    for (field, value) in fields {
        if let Some(value) = present(value.as_ref()) {
            out.put(format_args!("\n    {field}: {value}"));
        }
    }
    if !ssh_authorized_keys.is_empty() {
        out.push_str("\n    ssh_authorized_keys:");
        for key in ssh_authorized_keys {
            out.put(format_args!("\n      - {key}"));
        }
    }
}

fn disks(out: &mut Text, setup: &DiskSetup) {
    let DiskSetup {
        partitions,
        filesystems,
    } = setup;
    out.push_str("\ndisk_setup:");
    for it in partitions {
        partition(out, it);
    }
    out.push_str("\nfs_setup:");
    for it in filesystems {
        filesystem(out, it);
    }
}

fn partition(out: &mut Text, partition: &Partition) {
    let Partition {
        device,
        layout,
        overwrite,
        table_type,
        disk_layout,
    } = partition;
    out.put(format_args!("\n  {device}:"));
    if let Some(table_type) = present(table_type.as_ref()) {
        out.put(format_args!("\n    table_type: {table_type}"));
    }
    if disk_layout.is_empty() {
        out.put(format_args!("\n    layout: {}", layout.unwrap_or_default()));
    } else {
        out.push_str("\n    layout:");
        for part in disk_layout {
            match present(part.partition_type.as_ref()) {
                Some(name) => out.put(format_args!(
                    "\n      - [{}, {}]",
                    part.percentage,
                    partition_type(name)
                )),
                None => out.put(format_args!("\n      - {}", part.percentage)),
            }
        }
    }
    if let Some(overwrite) = overwrite {
        out.put(format_args!("\n    overwrite: {overwrite}"));
    }
}

/// cloud-init's code of a partition type; GUIDs and codes pass as they are.
fn partition_type(name: &str) -> &str {
    match name {
        "Linux" => "83",
        "LinuxSwap" => "82",
        "LinuxRAID" => "fd",
        "LVM" => "8e",
        "Fat32" => "0c",
        "NTFS" => "07",
        "LinuxExtended" => "85",
        other => other,
    }
}

fn filesystem(out: &mut Text, filesystem: &Filesystem) {
    let Filesystem {
        device,
        filesystem,
        label,
        partition,
        overwrite,
        replace_fs,
        extra_opts,
    } = filesystem;
    let label = label.as_deref().unwrap_or_default();
    out.put(format_args!(
        "\n  - label: {label}\n    filesystem: {filesystem}\n    device: {device}"
    ));
    let fields = [
        ("partition", partition.clone()),
        ("overwrite", overwrite.map(|it| it.to_string())),
        ("replace_fs", replace_fs.clone()),
    ];
    for (field, value) in fields {
        if let Some(value) = present(value.as_ref()) {
            out.put(format_args!("\n    {field}: {value}"));
        }
    }
    if !extra_opts.is_empty() {
        out.push_str("\n    extra_opts:");
        for option in extra_opts {
            out.put(format_args!("\n      - {option}"));
        }
    }
}

fn mounts(out: &mut Text, mounts: &[Vec<String>]) {
    if mounts.is_empty() {
        return;
    }
    out.push_str("\nmounts:");
    for mount in mounts {
        out.push_str("\n  - ");
        for field in mount {
            out.put(format_args!("- {field}\n    "));
        }
    }
}

fn present(value: Option<&String>) -> Option<&String> {
    value.filter(|it| !it.is_empty())
}
