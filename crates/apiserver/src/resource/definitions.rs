//! The OpenAPI definitions of the built-in kinds: parsed once per process, shared by all servers in it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::OnceLock,
};

use serde_json::Value;

/// What a reference to a definition starts with.
pub const REFERENCE_PREFIX: &str = "#/components/schemas/";

/// Definitions by name, for example `io.k8s.api.core.v1.Pod`, in the form that Kubernetes publishes under
/// `/openapi/v3`.
#[derive(Debug)]
pub struct Definitions(BTreeMap<String, Value>);

/// The definitions of the built-in kinds. The first call parses them.
pub fn definitions() -> &'static Definitions {
    static PARSED: OnceLock<Definitions> = OnceLock::new();
    PARSED.get_or_init(|| {
        let text = include_str!("../../schemas/definitions.json");
        Definitions(serde_json::from_str(text).expect("invariant: the compiled-in definitions are JSON"))
    })
}

impl Definitions {
    /// The definition of that name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// `roots` with every definition that they lead to, by name.
    pub fn closure<'a>(&'a self, roots: impl IntoIterator<Item = &'a str>) -> BTreeMap<&'a str, &'a Value> {
        let mut found = BTreeMap::new();
        let mut wanted: BTreeSet<&str> = roots.into_iter().collect();
        while let Some(name) = wanted.pop_first() {
            if let Some((name, definition)) = self.0.get_key_value(name)
                && found.insert(name.as_str(), definition).is_none()
            {
                references(definition, &mut wanted);
            }
        }
        found
    }
}

/// Adds the names of all definitions that `node` refers to.
fn references<'a>(node: &'a Value, into: &mut BTreeSet<&'a str>) {
    match node {
        Value::Object(map) => {
            for (key, value) in map {
                match value
                    .as_str()
                    .filter(|_| key == "$ref")
                    .and_then(|text| text.strip_prefix(REFERENCE_PREFIX))
                {
                    Some(name) => {
                        into.insert(name);
                    }
                    None => references(value, into),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, into)),
        _ => {}
    }
}
