//! Kubernetes' component images, and the load balancer's.
//!
//! Each is one layer: a program, and where it needs them, the files of Debian packages. They are written as one archive
//! of the form that `docker save` prints.
//! Source: Docker Image Specification v1.2, "Combined Image JSON + Filesystem Changeset Format".

use std::{
    collections::BTreeSet,
    fs::File,
    io::{BufReader, Read},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::{
    BuildError,
    archive::{Index, Writer},
    packages::Packages,
};

/// How the load balancer's image is to be run.
pub(crate) const LOAD_BALANCER_CHANGES: &[&str] = &[
    "ENV PATH=/usr/sbin:/usr/bin:/sbin:/bin",
    "ENTRYPOINT [\"haproxy\", \"-W\", \"-db\", \"-f\", \"/usr/local/etc/haproxy/haproxy.cfg\"]",
];
/// The name of the image of the small network.
const NETWORK: &str = "docker.io/capstan/cni";
/// What the shell of the small network needs.
const SHELL: [&str; 4] = ["dash", "coreutils", "grep", "sed"];

/// An image to make.
#[derive(Debug, Clone)]
pub(crate) struct Component {
    /// The full name.
    pub(crate) image: String,
    /// The program that it is about.
    pub(crate) program: &'static str,
    /// Programs, with where they are in the image.
    programs: Vec<(String, PathBuf)>,
    /// Texts, with where they are in the image.
    scripts: Vec<(&'static str, &'static str)>,
    /// Files of the base system.
    files: Vec<PathBuf>,
    entrypoint: Vec<String>,
}

/// The version of the Kubernetes in a folder of binaries, as its kubeadm says it.
pub(crate) fn version(binaries: &Path) -> Result<String, BuildError> {
    let said = kubeadm(binaries, &["version", "-o", "short"])?;
    Ok(said.trim().to_owned())
}

fn kubeadm(binaries: &Path, arguments: &[&str]) -> Result<String, BuildError> {
    let program = binaries.join("kubeadm");
    let output = Command::new(&program)
        .args(arguments)
        .output()
        .map_err(|it| BuildError::file("run", &program, it))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(BuildError::program("kubeadm", said));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// All images that kubeadm asks for, under the names that it asks for, and the small network's.
pub(crate) fn all(binaries: &Path, version: &str, packages: &Packages) -> Result<Vec<Component>, BuildError> {
    let flag = format!("--kubernetes-version={version}");
    let images = kubeadm(binaries, &["config", "images", "list", &flag])?;
    let mut components = Vec::new();
    for image in images.lines().map(str::trim).filter(|it| !it.is_empty()) {
        components.push(component(image, binaries, packages)?);
    }
    let mut packages_of_network = SHELL.to_vec();
    packages_of_network.extend(["iptables", "iproute2"]);
    components.push(Component {
        image: format!("{NETWORK}:{}", version.replace('+', "_")),
        program: "cni",
        programs: vec![("usr/local/bin/kubectl".to_owned(), binaries.join("kubectl"))],
        scripts: vec![("usr/local/bin/capstan-cni", include_str!("../files/capstan-cni"))],
        files: packages.closure(&packages_of_network)?,
        entrypoint: vec!["/usr/local/bin/capstan-cni".to_owned()],
    });
    Ok(components)
}

fn component(image: &str, binaries: &Path, packages: &Packages) -> Result<Component, BuildError> {
    let repository = image.rsplit_once(':').map_or(image, |it| it.0);
    let name = repository.rsplit('/').next().unwrap_or(repository);
    let known = [
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kube-proxy",
        "coredns",
        "etcd",
        "pause",
    ];
    let Some(program) = known.into_iter().find(|it| *it == name) else {
        return Err(BuildError::Component(image.to_owned()));
    };
    let path = match program {
        "coredns" | "pause" => program.to_owned(),
        _ => format!("usr/local/bin/{program}"),
    };
    let files = match program {
        // What it runs: iptables with all of its extensions, and conntrack.
        "kube-proxy" => packages.closure(&["iptables", "nftables", "ipset", "conntrack", "kmod"])?,
        _ => Vec::new(),
    };
    Ok(Component {
        image: image.to_owned(),
        program,
        entrypoint: vec![format!("/{path}")],
        programs: vec![(path, binaries.join(program))],
        scripts: Vec::new(),
        files,
    })
}

/// Writes images into one archive. `work` holds their layers meanwhile.
pub(crate) fn write(
    components: &[Component],
    index: &Index,
    work: &Path,
    archive: &Path,
) -> Result<(), BuildError> {
    let mut all = Writer::create(archive)?;
    let mut manifest = Vec::new();
    for component in components {
        let layer = work.join("layer.tar");
        write_layer(component, index, &layer)?;
        let digest = digest(&layer)?;
        let config = serde_json::to_vec(&json!({
            "architecture": architecture(),
            "os": "linux",
            "config": {
                "Entrypoint": component.entrypoint,
                "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
            },
            "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{digest}")] },
        }))
        .unwrap_or_default();
        let config_name = format!("{}.json", hex(&Sha256::digest(&config)));
        let layer_name = format!("{digest}/layer.tar");
        all.file(&config_name, 0o644, &config)?;
        all.copy(&layer_name, 0o644, &layer)?;
        manifest.push(json!({
            "Config": config_name,
            "RepoTags": [component.image],
            "Layers": [layer_name],
        }));
    }
    all.file(
        "manifest.json",
        0o644,
        &serde_json::to_vec(&manifest).unwrap_or_default(),
    )?;
    all.finish()?;
    Ok(())
}

fn write_layer(component: &Component, index: &Index, path: &Path) -> Result<(), BuildError> {
    let mut layer = Writer::create(path)?;
    if component.files.is_empty() {
        layer.folder("etc/", 0o755)?;
        layer.folder("tmp/", 0o1777)?;
    } else {
        system_files(&mut layer, index, &component.files)?;
    }
    layer.file("etc/passwd", 0o644, b"root:x:0:0:root:/root:/bin/sh\n")?;
    if let Some(certificates) = index.text("etc/ssl/certs/ca-certificates.crt")? {
        layer.file(
            "etc/ssl/certs/ca-certificates.crt",
            0o644,
            certificates.as_bytes(),
        )?;
    }
    for (target, source) in &component.programs {
        layer.copy(target, 0o755, source)?;
    }
    for (target, text) in &component.scripts {
        layer.file(target, 0o755, text.as_bytes())?;
    }
    layer.finish()?;
    Ok(())
}

/// Files of the base system, with the links and folders without which they are not found.
fn system_files<W: std::io::Write>(
    layer: &mut Writer<W>,
    index: &Index,
    files: &[PathBuf],
) -> Result<(), BuildError> {
    layer.folder("tmp/", 0o1777)?;
    layer.folder("run/", 0o755)?;
    layer.folder("usr/", 0o755)?;
    for link in ["bin", "sbin", "lib", "lib64"] {
        layer.take(index, Path::new(link))?;
    }
    let links: BTreeSet<&Path> = ["bin", "sbin", "lib", "lib64"]
        .into_iter()
        .map(Path::new)
        .collect();
    for path in files {
        if !links.contains(path.as_path()) && !path.starts_with("usr/share/doc") {
            layer.take(index, path)?;
        }
    }
    // Which libraries there are; the loader finds few without it.
    layer.take(index, Path::new("etc/ld.so.cache"))
}

/// Writes the load balancer's image as a file system.
pub(crate) fn load_balancer(packages: &Packages, index: &Index, archive: &Path) -> Result<(), BuildError> {
    let mut system = Writer::create(archive)?;
    let files = packages.closure(&["haproxy", "dash", "coreutils"])?;
    system_files(&mut system, index, &files)?;
    let users =
        b"root:x:0:0:root:/root:/bin/sh\nhaproxy:x:99:99:haproxy:/var/lib/haproxy:/usr/sbin/nologin\n";
    system.file("etc/passwd", 0o644, users)?;
    system.file("etc/group", 0o644, b"root:x:0:\nhaproxy:x:99:\n")?;
    system.folder("usr/local/etc/haproxy/", 0o755)?;
    system.finish()?;
    Ok(())
}

fn digest(path: &Path) -> Result<String, BuildError> {
    let fail = |it| BuildError::file("read", path, it);
    let mut file = BufReader::new(File::open(path).map_err(fail)?);
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = file.read(&mut buffer).map_err(fail)?;
        if count == 0 {
            return Ok(hex(&hash.finalize()));
        }
        hash.update(&buffer[..count]);
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

/// This machine's architecture in the words of images.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
