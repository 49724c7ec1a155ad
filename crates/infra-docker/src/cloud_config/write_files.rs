//! cloud-init's module `write_files`.

use std::io::Read as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{CloudConfigError, Facts, Step, kubeadm, quoted};

/// The most that one compressed file may hold.
const LARGEST: u64 = 64 << 20;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Entry {
    path: String,
    content: String,
    encoding: String,
    owner: String,
    permissions: Value,
    append: bool,
    defer: bool,
}

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WriteFile {
    path: String,
    owner: String,
    permissions: String,
    append: bool,
    pub(super) content: Vec<u8>,
}

impl WriteFile {
    /// The step that writes it from the content of number `number`.
    pub(super) fn step(&self, number: usize) -> Step {
        let path = quoted(&self.path);
        let mut script = String::new();
        if let Some((folder, _)) = self.path.rsplit_once('/').filter(|it| !it.0.is_empty()) {
            script.push_str(&format!("mkdir -p {} && ", quoted(folder)));
        }
        let redirect = if self.append { ">>" } else { ">" };
        script.push_str(&format!(
            "cat {}/contents/{number} {redirect} {path}",
            super::script::HOME
        ));
        script.push_str(&format!(" && chmod {} {path}", quoted(&self.permissions)));
        if self.owner != "root:root" {
            script.push_str(&format!(" && chown {} {path}", quoted(&self.owner)));
        }
        Step {
            title: format!("write {}", self.path),
            script,
        }
    }
}

/// The files that are written at once, and those that wait for users.
pub(super) fn read(
    config: &Map<String, Value>,
    facts: &Facts,
) -> Result<(Vec<WriteFile>, Vec<WriteFile>), CloudConfigError> {
    let (mut now, mut later) = (Vec::new(), Vec::new());
    for (index, entry) in super::list(config, "write_files")?.iter().enumerate() {
        let field = |name: &str| format!("write_files[{index}]{name}");
        let entry: Entry = serde_json::from_value(entry.clone())
            .map_err(|it| CloudConfigError::field(field(""), it.to_string()))?;
        let path = entry.path.trim();
        if !path.starts_with('/') {
            return Err(CloudConfigError::field(
                field(".path"),
                "must be an absolute path",
            ));
        }
        let content =
            decode(&entry).map_err(|message| CloudConfigError::field(field(".content"), message))?;
        let content = kubeadm::completed(path, content, facts)
            .map_err(|message| CloudConfigError::field(field(".content"), message))?;
        let file = WriteFile {
            path: path.to_owned(),
            owner: or(entry.owner.trim(), "root:root"),
            permissions: or(super::plain(&entry.permissions).trim(), "0644"),
            append: entry.append,
            content,
        };
        if entry.defer {
            later.push(file);
        } else {
            now.push(file);
        }
    }
    Ok((now, later))
}

fn or(text: &str, default: &str) -> String {
    if text.is_empty() { default } else { text }.to_owned()
}

fn decode(entry: &Entry) -> Result<Vec<u8>, String> {
    let raw = entry.content.as_bytes();
    match entry.encoding.trim().to_lowercase().as_str() {
        "" | "text/plain" => Ok(raw.to_vec()),
        "base64" | "b64" => base64(raw),
        "gz" | "gzip" => gunzip(raw),
        "gz+base64" | "gzip+base64" | "gz+b64" | "gzip+b64" => gunzip(&base64(raw)?),
        other => Err(format!(
            "encoding {other:?} is not known; use gzip, base64 or gzip+base64"
        )),
    }
}

fn base64(raw: &[u8]) -> Result<Vec<u8>, String> {
    let packed: Vec<u8> = raw
        .iter()
        .copied()
        .filter(|it| !it.is_ascii_whitespace())
        .collect();
    STANDARD
        .decode(packed)
        .map_err(|it| format!("is not base64: {it}"))
}

fn gunzip(raw: &[u8]) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    let mut reader = MultiGzDecoder::new(raw).take(LARGEST + 1);
    reader
        .read_to_end(&mut content)
        .map_err(|it| format!("is not gzip: {it}"))?;
    if content.len() as u64 > LARGEST {
        return Err(format!("holds more than {LARGEST} bytes"));
    }
    Ok(content)
}
