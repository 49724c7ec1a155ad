//! The node's file system: the base system with Kubernetes, containerd and what holds them together.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use crate::{BuildError, archive::Writer};

/// How the image is to be run.
pub(crate) const CHANGES: &[&str] = &[
    "ENV container=docker",
    "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "ENTRYPOINT [\"/usr/local/bin/entrypoint\", \"/sbin/init\"]",
];

/// Units of systemd that mean nothing in a container, or harm its host.
const MASKED: [&str; 18] = [
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "console-getty.service",
    "dev-hugepages.mount",
    "dev-mqueue.mount",
    "dpkg-db-backup.timer",
    "e2scrub_all.timer",
    "fstrim.timer",
    "getty.target",
    "haproxy.service",
    "proc-sys-fs-binfmt_misc.automount",
    "rpcbind.service",
    "rpcbind.socket",
    "sys-fs-fuse-connections.mount",
    "sys-kernel-config.mount",
    "sys-kernel-debug.mount",
    "sys-kernel-tracing.mount",
    "systemd-udevd.service",
];

/// What a node's file system is made of.
pub(crate) struct System<'a> {
    /// The archive of the Debian system.
    pub(crate) base: &'a Path,
    /// The folder of binaries.
    pub(crate) binaries: &'a Path,
    /// The archive of component images.
    pub(crate) images: &'a Path,
    /// The Kubernetes version.
    pub(crate) version: &'a str,
    /// The image of pods' sandboxes.
    pub(crate) pause: &'a str,
    /// The image of the small network.
    pub(crate) network: &'a str,
}

/// What is put at a path.
enum Item {
    /// A file of this machine.
    Copy(u32, PathBuf),
    /// A text.
    Text(u32, String),
    /// A link.
    Link(&'static str),
}

impl System<'_> {
    /// Writes the file system to `archive`.
    pub(crate) fn write(&self, archive: &Path) -> Result<(), BuildError> {
        let items = self.items();
        let mut system = Writer::create(archive)?;
        let replaced: BTreeSet<PathBuf> = items.keys().map(PathBuf::from).collect();
        system.all_but(self.base, &replaced)?;
        for (path, item) in items {
            match item {
                Item::Copy(mode, source) => system.copy(&path, mode, &source)?,
                Item::Text(mode, text) => system.file(&path, mode, text.as_bytes())?,
                Item::Link(target) => system.link(&path, Path::new(target))?,
            }
        }
        system.finish()?;
        Ok(())
    }

    fn items(&self) -> BTreeMap<String, Item> {
        let mut items = BTreeMap::new();
        for program in ["kubeadm", "kubelet", "kubectl"] {
            let item = Item::Copy(0o755, self.binaries.join(program));
            items.insert(format!("usr/bin/{program}"), item);
        }
        for program in ["containerd", "containerd-shim-runc-v2", "ctr", "crictl"] {
            let item = Item::Copy(0o755, self.binaries.join(program));
            items.insert(format!("usr/local/bin/{program}"), item);
        }
        let images = Item::Copy(0o644, self.images.to_owned());
        items.insert("usr/share/capstan/images.tar".to_owned(), images);
        items.insert("opt/cni/bin".to_owned(), Item::Link("/usr/lib/cni"));
        let containerd = include_str!("../files/containerd.toml").replace("@PAUSE@", self.pause);
        let manifest = include_str!("../files/default-cni.yaml").replace("@CNI@", self.network);
        let texts = [
            ("etc/containerd/config.toml", containerd.as_str()),
            ("kind/manifests/default-cni.yaml", &manifest),
            ("kind/version", self.version),
        ];
        for (path, text) in TEXTS.iter().chain(&texts) {
            items.insert((*path).to_owned(), Item::Text(0o644, (*text).to_owned()));
        }
        for (path, text) in PROGRAMS {
            items.insert((*path).to_owned(), Item::Text(0o755, (*text).to_owned()));
        }
        let units = "etc/systemd/system";
        for unit in MASKED {
            items.insert(format!("{units}/{unit}"), Item::Link("/dev/null"));
        }
        for (unit, target) in WANTED {
            let path = format!("{units}/multi-user.target.wants/{unit}");
            items.insert(path, Item::Link(target));
        }
        let target = Item::Link("/lib/systemd/system/multi-user.target");
        items.insert(format!("{units}/default.target"), target);
        items
    }
}

const TEXTS: &[(&str, &str)] = &[
    (
        "etc/crictl.yaml",
        "runtime-endpoint: unix:///run/containerd/containerd.sock\nimage-endpoint: unix:///run/containerd/containerd.sock\n",
    ),
    (
        "etc/default/kubelet",
        "KUBELET_EXTRA_ARGS=--resolv-conf=/etc/capstan/resolv.conf\n",
    ),
    ("etc/hostname", "node\n"),
    // Empty: the entrypoint makes one for each machine.
    ("etc/machine-id", ""),
    (
        "etc/systemd/system/containerd.service",
        include_str!("../files/containerd.service"),
    ),
    (
        "etc/systemd/system/kubelet.service",
        include_str!("../files/kubelet.service"),
    ),
    (
        "etc/systemd/system/capstan-images.service",
        include_str!("../files/capstan-images.service"),
    ),
];

const PROGRAMS: &[(&str, &str)] = &[
    ("usr/local/bin/entrypoint", include_str!("../files/entrypoint")),
    (
        "usr/local/bin/capstan-kubelet-cgroup",
        include_str!("../files/kubelet-cgroup"),
    ),
];

/// Units that run, and where they are.
const WANTED: [(&str, &str); 3] = [
    ("containerd.service", "/etc/systemd/system/containerd.service"),
    ("kubelet.service", "/etc/systemd/system/kubelet.service"),
    (
        "capstan-images.service",
        "/etc/systemd/system/capstan-images.service",
    ),
];
