//! What Secrets and ConfigMaps of a set hold: objects, and a hash that changes with them.
// Parity: upstream core/reconcilers/clusterresourceset/clusterresourceset_helpers.go

use std::fmt::Write;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The objects that a Secret or ConfigMap holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifests {
    /// `sha256:` and the hash of all values, by key.
    pub hash: String,
    /// The objects in the order in which they are applied, or what is wrong with the text.
    pub objects: Result<Vec<Value>, String>,
}

/// Which kinds others need, those that are needed most first.
const FIRST: [&str; 12] = [
    "Namespace",
    "CustomResourceDefinition",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Secret",
    "ConfigMap",
    "ServiceAccount",
    "LimitRange",
    "Pod",
    "ReplicaSet",
    "Endpoint",
];

impl Manifests {
    /// Reads values by key: each one or several documents of YAML or JSON, or a list of objects.
    pub(super) fn read<'a>(values: impl Iterator<Item = (&'a String, &'a [u8])>) -> Self {
        let mut hash = Sha256::new();
        let mut objects = Ok(Vec::new());
        for (key, value) in values {
            hash.update(value);
            objects = objects.and_then(|mut all: Vec<Value>| {
                let read = objects_of(value).map_err(|why| format!("{key}: {why}"))?;
                all.extend(read);
                Ok(all)
            });
        }
        let mut text = "sha256:".to_owned();
        for byte in hash.finalize() {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        Self { hash: text, objects }
    }
}

/// The objects of one value, sorted by what needs what.
fn objects_of(value: &[u8]) -> Result<Vec<Value>, String> {
    let text = std::str::from_utf8(value).map_err(|error| error.to_string())?;
    let documents: Vec<Value> = serde_saphyr::from_multiple(text)
        .map_err(|error| error.render_with_formatter(&serde_saphyr::UserMessageFormatter))?;
    let mut objects = Vec::new();
    for document in documents {
        match document {
            Value::Null => {}
            Value::Array(list) => objects.extend(list),
            object => objects.push(object),
        }
    }
    for object in &objects {
        let text = |pointer: &str| {
            object
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        if ["/apiVersion", "/kind", "/metadata/name"]
            .iter()
            .any(|it| text(it).is_empty())
        {
            return Err("an object lacks apiVersion, kind or metadata.name".to_owned());
        }
    }
    let place = |object: &Value| {
        let place = FIRST.iter().position(|it| object["kind"] == **it);
        place.unwrap_or(FIRST.len())
    };
    objects.sort_by_key(place);
    Ok(objects)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[(&str, &str)]) -> Manifests {
        let values: Vec<(String, &str)> = values
            .iter()
            .map(|(key, value)| ((*key).to_owned(), *value))
            .collect();
        Manifests::read(values.iter().map(|(key, value)| (key, value.as_bytes())))
    }

    fn names(values: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let name = |it: &Value| {
            format!(
                "{} {}",
                it["kind"].as_str().unwrap_or_default(),
                it["metadata"]["name"].as_str().unwrap_or_default()
            )
        };
        read(values).objects.map(|it| it.iter().map(name).collect())
    }

    #[test]
    fn documents_and_lists_are_sorted_by_what_needs_what_within_their_key() {
        let yaml = "# comment\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: one}\n---\n";
        let json = r#"[{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}},{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"m"}}]"#;
        assert_eq!(
            names(&[("a", yaml), ("b", json)]),
            Ok(["Namespace one", "Pod p", "Namespace m", "Secret s"]
                .map(str::to_owned)
                .to_vec())
        );
        assert_eq!(names(&[]), Ok(Vec::new()));
    }

    #[test]
    fn what_is_no_manifest_is_named_with_its_key() {
        assert_eq!(
            names(&[("good", ""), ("bad", "kind: Pod\n")]),
            Err("bad: an object lacks apiVersion, kind or metadata.name".to_owned())
        );
        let error = names(&[("bad", "a: [")]).expect_err("no YAML");
        assert!(error.starts_with("bad: "), "{error}");
    }

    #[test]
    fn the_hash_is_that_of_the_values() {
        let hash = |values: &[(&str, &str)]| read(values).hash;
        assert_eq!(
            hash(&[("a", "x: 1\n"), ("b", "y: 2\n")]),
            hash(&[("c", "x: 1\ny: 2\n")])
        );
        assert_eq!(
            hash(&[]),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
