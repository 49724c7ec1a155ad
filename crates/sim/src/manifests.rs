//! Manifests as users write them: several YAML documents in one text.

use serde_json::Value;

/// A text that is no list of objects.
#[derive(Debug)]
pub struct ManifestError(String);

impl std::fmt::Display for ManifestError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "failed to read the manifests: {}", self.0)
    }
}

impl std::error::Error for ManifestError {}

/// The objects of a text, in its order.
pub fn documents(text: &str) -> Result<Vec<Value>, ManifestError> {
    let documents: Vec<Value> =
        serde_saphyr::from_multiple(text).map_err(|it| ManifestError(it.to_string()))?;
    Ok(documents.into_iter().filter(|it| !it.is_null()).collect())
}

const EXAMPLE: &str = include_str!("../../../examples/cluster.yaml");

/// The example cluster, named `demo`, with so many machines.
pub fn cluster(control_planes: u32, workers: u32) -> String {
    let mut kind = "";
    let mut text = String::new();
    for line in EXAMPLE.lines() {
        if let Some(name) = line.strip_prefix("kind: ") {
            kind = name;
        }
        let replicas = match kind {
            "KubeadmControlPlane" => control_planes,
            "MachineDeployment" => workers,
            _ => 0,
        };
        if line.starts_with("  replicas: ") {
            text.push_str(&format!("  replicas: {replicas}\n"));
        } else {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}
