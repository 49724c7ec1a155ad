//! No secret outside of secrets.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use capstan_store::Store;
use serde_json::Value;

/// The shortest piece of a secret that is looked for.
const SHORTEST: usize = 40;

/// Where something of a secret can be read that is no Secret: the object, and the secret it comes from.
pub fn leaked(store: &Store, logs: &str) -> Vec<String> {
    let snapshot = store.snapshot();
    let canaries: Vec<(String, String)> = snapshot
        .range("core/secrets", None)
        .flat_map(|it| pieces(it))
        .collect();
    let mut found = Vec::new();
    let resources: Vec<String> = snapshot.counts().map(|(it, _)| it.to_owned()).collect();
    for resource in resources.iter().filter(|it| *it != "core/secrets") {
        for record in snapshot.range(resource, None) {
            let text = String::from_utf8_lossy(&record.value);
            for (secret, piece) in &canaries {
                if text.contains(piece.as_str()) {
                    found.push(format!(
                        "{resource} {}/{} holds a piece of Secret {secret}",
                        record.key.namespace(),
                        record.key.name()
                    ));
                }
            }
        }
    }
    for (secret, piece) in &canaries {
        if logs.contains(piece.as_str()) {
            found.push(format!("the logs hold a piece of Secret {secret}"));
        }
    }
    found
}

/// Pieces of private keys and of long values that stand nowhere by chance.
fn pieces(record: &capstan_store::Record) -> Vec<(String, String)> {
    let value: Value = serde_json::from_slice(&record.value).unwrap_or_default();
    let name = format!("{}/{}", record.key.namespace(), record.key.name());
    let mut pieces = Vec::new();
    for (key, encoded) in value["data"].as_object().into_iter().flatten() {
        // Certificates are public: kubeconfigs and cluster-info carry them.
        if key == "tls.crt" {
            continue;
        }
        let encoded = encoded.as_str().unwrap_or_default();
        if encoded.len() >= SHORTEST {
            pieces.push((name.clone(), encoded[..SHORTEST].to_owned()));
        }
        let Ok(bytes) = STANDARD.decode(encoded) else {
            continue;
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let mut in_key = false;
        for line in text.lines() {
            let line = line.trim();
            if line.contains("PRIVATE KEY") {
                in_key = line.contains("BEGIN");
            } else if in_key && line.len() >= SHORTEST {
                pieces.push((name.clone(), line.to_owned()));
                break;
            }
        }
    }
    pieces
}
