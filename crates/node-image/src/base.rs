//! The Debian system below a node image, made by debootstrap.

use std::{path::Path, process::Command};

use crate::BuildError;

/// The packages of a node, and of the load balancer, which is made from the same system.
const PACKAGES: [&str; 29] = [
    "bash",
    "ca-certificates",
    "conntrack",
    "containernetworking-plugins",
    "curl",
    "dbus",
    "ebtables",
    "ethtool",
    "gzip",
    "haproxy",
    "hostname",
    "iproute2",
    "ipset",
    "iptables",
    "iputils-ping",
    "jq",
    "kmod",
    "mount",
    "nfs-common",
    "nftables",
    "openssl",
    "procps",
    "runc",
    "socat",
    "systemd",
    "systemd-sysv",
    "tar",
    "udev",
    "util-linux",
];
/// What a node has no use for.
const LEFT_OUT: [&str; 7] = [
    "./usr/share/doc/*",
    "./usr/share/man/*",
    "./usr/share/locale/*",
    "./usr/share/info/*",
    "./var/cache/apt/*",
    "./var/lib/apt/lists/*",
    "./dev/*",
];

/// Makes the system and leaves it as an archive. An archive that is there is whole: it gets its name last.
pub(crate) fn make(release: &str, mirror: &str, archive: &Path) -> Result<(), BuildError> {
    let parent = archive.parent().unwrap_or_else(|| Path::new("."));
    std::fs::create_dir_all(parent).map_err(|it| BuildError::file("make", parent, it))?;
    let work = tempfile::Builder::new()
        .prefix("base-")
        .tempdir_in(parent)
        .map_err(|it| BuildError::file("make a folder in", parent, it))?;
    let root = work.path().join("root");
    let include = format!("--include={}", PACKAGES.join(","));
    run(Command::new("debootstrap")
        .args(["--variant=minbase", &include, release])
        .arg(&root)
        .arg(mirror))?;
    let unfinished = work.path().join("base.tar");
    let mut tar = Command::new("tar");
    for pattern in LEFT_OUT {
        tar.arg(format!("--exclude={pattern}"));
    }
    run(tar
        .args(["--sort=name", "--numeric-owner", "--wildcards", "-cf"])
        .arg(&unfinished)
        .arg("-C")
        .arg(&root)
        .arg("."))?;
    std::fs::rename(&unfinished, archive).map_err(|it| BuildError::file("write", archive, it))
}

/// Runs a program; what it said last is told if it fails.
fn run(command: &mut Command) -> Result<(), BuildError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|it| {
        let fix = format!("{it} (install it: apt install {program})");
        BuildError::program(&program, fix)
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<&str> = said.lines().collect();
    let tail = lines[lines.len().saturating_sub(5)..].join("; ");
    Err(BuildError::program(
        &program,
        format!("{}: {tail}", output.status),
    ))
}
