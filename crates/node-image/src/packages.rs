//! Debian's packages in a base system: which files they have, and which other packages they need.
//!
//! Source: deb-control(5), and dpkg's `/var/lib/dpkg`.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use crate::{
    BuildError,
    archive::{Index, plain},
};

/// The packages of a base system.
#[derive(Debug)]
pub(crate) struct Packages {
    /// The packages that each one needs, each as the list of its alternatives.
    needs: BTreeMap<String, Vec<Vec<String>>>,
    /// The files of each.
    files: BTreeMap<String, Vec<PathBuf>>,
    /// The links of `/etc/alternatives` and to them: link, target.
    alternatives: Vec<(PathBuf, PathBuf)>,
}

impl Packages {
    pub(crate) fn read(index: &Index) -> Result<Self, BuildError> {
        let status = index.text("var/lib/dpkg/status")?.unwrap_or_default();
        let mut files = BTreeMap::new();
        for path in index.entries.keys() {
            let Some(package) = package_of(path) else { continue };
            let list = index.text(&path.display().to_string())?.unwrap_or_default();
            let list = list.lines().map(|it| canonical(Path::new(it))).collect();
            files.insert(package, list);
        }
        Ok(Self {
            needs: needs(&status),
            files,
            alternatives: alternatives(index),
        })
    }

    /// The files of some packages and of all that they need, in order, each once.
    pub(crate) fn closure(&self, roots: &[&str]) -> Result<Vec<PathBuf>, BuildError> {
        let mut wanted: Vec<String> = roots.iter().map(|it| (*it).to_owned()).collect();
        let mut seen = BTreeSet::new();
        let mut paths = BTreeSet::new();
        while let Some(package) = wanted.pop() {
            if !seen.insert(package.clone()) {
                continue;
            }
            let files = self
                .files
                .get(&package)
                .ok_or_else(|| BuildError::Package(package.clone()))?;
            paths.extend(files.iter().cloned());
            for alternatives in self.needs.get(&package).into_iter().flatten() {
                let found = alternatives.iter().find(|it| self.files.contains_key(*it));
                wanted.extend(found.cloned());
            }
        }
        // Twice, since a link of /usr/sbin leads to one of /etc/alternatives.
        for _ in 0..2 {
            for (link, target) in &self.alternatives {
                if paths.contains(target) {
                    paths.insert(link.clone());
                }
            }
        }
        paths.remove(Path::new(""));
        Ok(paths.into_iter().collect())
    }
}

/// The package whose list of files is at a path of dpkg's: `var/lib/dpkg/info/libc6:amd64.list`.
fn package_of(path: &Path) -> Option<String> {
    let name = path.strip_prefix("var/lib/dpkg/info").ok()?.to_str()?;
    let name = name.strip_suffix(".list")?;
    Some(name.split(':').next().unwrap_or(name).to_owned())
}

/// Where a file really is in a system whose `/bin`, `/lib` and `/sbin` are links into `/usr`.
fn canonical(path: &Path) -> PathBuf {
    let path = plain(path);
    let is_moved = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"]
        .iter()
        .any(|it| path.starts_with(it) && path != Path::new(it));
    if is_moved {
        Path::new("usr").join(path)
    } else {
        path
    }
}

fn needs(status: &str) -> BTreeMap<String, Vec<Vec<String>>> {
    let mut needs = BTreeMap::new();
    for paragraph in status.split("\n\n") {
        let field = |name: &str| {
            paragraph
                .lines()
                .find_map(|it| it.strip_prefix(name)?.strip_prefix(": "))
                .unwrap_or_default()
        };
        let relations = [field("Pre-Depends"), field("Depends")]
            .into_iter()
            .flat_map(|it| it.split(','))
            .filter(|it| !it.trim().is_empty())
            .map(|it| it.split('|').filter_map(name).collect())
            .collect();
        needs.insert(field("Package").to_owned(), relations);
    }
    needs
}

/// The name in a relation like `libc6:any (>= 2.36)`.
fn name(relation: &str) -> Option<String> {
    let name = relation.split_whitespace().next()?;
    Some(name.split(':').next().unwrap_or(name).to_owned())
}

/// Links that lead to `/etc/alternatives`, and those of it.
fn alternatives(index: &Index) -> Vec<(PathBuf, PathBuf)> {
    let mut links = Vec::new();
    for (path, entry) in &index.entries {
        let Some(target) = &entry.link else { continue };
        let is_one = path.starts_with("etc/alternatives") || target.starts_with("/etc/alternatives");
        if is_one && target.is_absolute() {
            links.push((path.clone(), canonical(target)));
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Writer;

    #[test]
    fn a_package_comes_with_all_that_it_needs_and_its_alternatives() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("base.tar");
        let mut base = Writer::create(&path).unwrap();
        let status = "Package: iptables\nDepends: libx (>= 1), missing | liby:any\n\n\
                      Package: libx\nPre-Depends: libx\n\nPackage: liby\n\nPackage: other\n";
        base.file("var/lib/dpkg/status", 0o644, status.as_bytes())
            .unwrap();
        for (name, list) in [
            ("iptables", "/.\n/usr/sbin/iptables-nft\n"),
            ("libx:amd64", "/lib/x.so\n"),
            ("liby:amd64", "/usr/lib/y.so\n"),
            ("other", "/usr/bin/other\n"),
        ] {
            let path = format!("var/lib/dpkg/info/{name}.list");
            base.file(&path, 0o644, list.as_bytes()).unwrap();
        }
        base.link("etc/alternatives/iptables", Path::new("/usr/sbin/iptables-nft"))
            .unwrap();
        base.link("usr/sbin/iptables", Path::new("/etc/alternatives/iptables"))
            .unwrap();
        base.finish().unwrap();

        let packages = Packages::read(&Index::read(&path).unwrap()).unwrap();
        let found = packages.closure(&["iptables"]).unwrap();
        let found: Vec<String> = found.iter().map(|it| it.display().to_string()).collect();
        assert_eq!(
            found,
            [
                "etc/alternatives/iptables",
                "usr/lib/x.so",
                "usr/lib/y.so",
                "usr/sbin/iptables",
                "usr/sbin/iptables-nft",
            ]
        );
        let error = packages.closure(&["nginx"]).unwrap_err().to_string();
        assert!(
            error.starts_with("the base system has no package nginx"),
            "{error}"
        );
    }
}
