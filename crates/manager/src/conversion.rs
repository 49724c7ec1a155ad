//! In-process conversion of our kinds: what a conversion webhook would do, at the place where it would be called.

use std::collections::BTreeMap;

use capstan_api::{
    contract,
    conversion::{self, ReferenceVersions},
    crd,
};
use capstan_apiserver::Converter;
use capstan_store::{Key, Store};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;

/// Where the API server keeps definitions.
const DEFINITIONS: &str = "apiextensions.k8s.io/customresourcedefinitions";

/// Converts our kinds. References that lack a version get the one that the labels of the stored definition name.
#[derive(Debug)]
pub(crate) struct KindConverter {
    versions: ContractVersions,
}

impl KindConverter {
    pub(crate) fn new(store: Store) -> Self {
        Self {
            versions: ContractVersions {
                store,
                known: Mutex::default(),
            },
        }
    }
}

impl Converter for KindConverter {
    fn handles(&self, group: &str, kind: &str) -> bool {
        crd::kinds()
            .iter()
            .any(|it| it.group == group && it.kind == kind && it.versions.len() > 1)
    }

    fn convert(&self, object: Value, version: &str) -> Result<Value, String> {
        let (api_version, kind) = (text(&object, "apiVersion"), text(&object, "kind"));
        let (group, from) = api_version.split_once('/').unwrap_or_default();
        conversion::convert(group, &kind, from, version, object, &self.versions)
            .map_err(|error| chain(&error))
    }
}

fn text(object: &Value, field: &str) -> String {
    object[field].as_str().unwrap_or_default().to_owned()
}

/// The error and what caused it, in one line: the seam carries text only.
fn chain(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        line = format!("{line}: {error}");
        source = error.source();
    }
    line
}

/// The API versions that definitions in the store name in their contract labels. Definitions are large and change
/// seldom, so what was read of one is kept until its revision changes.
#[derive(Debug)]
struct ContractVersions {
    store: Store,
    known: Mutex<BTreeMap<String, (u64, Option<String>)>>,
}

impl ReferenceVersions for ContractVersions {
    fn api_version(&self, group: &str, kind: &str) -> Option<String> {
        let name = contract::crd_name(group, kind);
        let snapshot = self.store.snapshot();
        let record = snapshot.get(&Key::new(DEFINITIONS, "", name.as_str()))?;
        let mut known = self.known.lock();
        if let Some((revision, version)) = known.get(&name)
            && *revision == record.revision
        {
            return version.clone();
        }
        let version = serde_json::from_slice::<Labelled>(&record.value)
            .ok()
            .and_then(|it| contract::choose_version(&it.metadata.labels))
            .map(|(_, version)| format!("{group}/{version}"));
        known.insert(name, (record.revision, version.clone()));
        version
    }
}

#[derive(Deserialize)]
struct Labelled {
    metadata: Labels,
}

#[derive(Deserialize)]
struct Labels {
    #[serde(default)]
    labels: BTreeMap<String, String>,
}
