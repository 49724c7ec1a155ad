//! The floors of the house: a crate imports lower floors only.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result};

/// Every crate and its floor, from the ground up. Crates of one floor do not import each other, except where
/// [`NEIGHBOURS`] says so.
const FLOORS: &[(&str, u8)] = &[
    ("base", 0),
    ("pki", 1),
    ("api", 1),
    ("schema", 1),
    ("merge", 1),
    ("kubeadm", 2),
    ("store", 2),
    ("apiserver", 3),
    ("engine", 3),
    ("workload", 4),
    ("contract", 4),
    ("core", 5),
    ("bootstrap-kubeadm", 5),
    ("controlplane-kubeadm", 5),
    ("infra-dev", 6),
    ("infra-docker", 6),
    ("node-image", 6),
    ("manager", 7),
    ("sim", 8),
    ("cli", 8),
];

/// Imports that a floor alone would allow and the house does not: what a crate must not know.
const FORBIDDEN: &[(&str, &str)] = &[
    ("apiserver", "api"),
    ("engine", "api"),
    ("engine", "store"),
    ("workload", "api"),
    ("workload", "apiserver"),
    ("core", "apiserver"),
    ("core", "store"),
    ("bootstrap-kubeadm", "apiserver"),
    ("controlplane-kubeadm", "apiserver"),
    ("infra-dev", "core"),
    ("infra-dev", "bootstrap-kubeadm"),
    ("infra-dev", "controlplane-kubeadm"),
    ("infra-docker", "core"),
    ("infra-docker", "bootstrap-kubeadm"),
    ("infra-docker", "controlplane-kubeadm"),
    ("infra-docker", "apiserver"),
];

/// The complaints about imports.
pub(crate) fn complaints(root: &Path) -> Result<Vec<String>> {
    let floors: BTreeMap<&str, u8> = FLOORS.iter().copied().collect();
    let mut complaints = Vec::new();
    for entry in fs::read_dir(root.join("crates"))? {
        let path = entry?.path();
        let name = path
            .file_name()
            .and_then(|it| it.to_str())
            .unwrap_or_default()
            .to_owned();
        let manifest = path.join("Cargo.toml");
        let text = fs::read_to_string(&manifest)
            .with_context(|| format!("failed to read {}", manifest.display()))?;
        let Some(floor) = floors.get(name.as_str()) else {
            complaints.push(format!(
                "crates/{name}: no floor is given for it in xtask/src/floors.rs"
            ));
            continue;
        };
        for import in imports(&text) {
            let lower = floors.get(import.as_str()).is_some_and(|it| it < floor);
            let forbidden = FORBIDDEN.contains(&(name.as_str(), import.as_str()));
            if !lower || forbidden {
                complaints.push(format!("crates/{name} must not import {import}"));
            }
        }
    }
    complaints.sort();
    Ok(complaints)
}

/// The crates of this workspace that a manifest imports outside of its tests.
fn imports(manifest: &str) -> Vec<String> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.trim() == "[dependencies]";
        } else if inside && let Some(rest) = line.strip_prefix("capstan-") {
            found.extend(rest.split(['.', ' ', '=']).next().map(str::to_owned));
        }
    }
    found
}
