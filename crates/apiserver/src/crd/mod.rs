//! Custom resource definitions: stored objects that become resources of the table the moment they are written.

mod compile;
mod status;
mod validate;

use capstan_base::field::Error;
use capstan_store::Record;
use serde_json::{Value, json};
use tokio::sync::MutexGuard;

pub use compile::DefinitionError;

use crate::{
    object::Meta,
    registry::{Part, Registry, Target},
    resource::Resource,
};

/// Group of the definitions themselves.
pub const GROUP: &str = "apiextensions.k8s.io";
/// Plural name of the definitions themselves.
pub const PLURAL: &str = "customresourcedefinitions";
/// Where definitions are in the store.
pub(crate) const STORE_NAME: &str = "apiextensions.k8s.io/customresourcedefinitions";
/// Keeps a definition until its objects are gone.
pub(crate) const CLEANUP_FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Whether `resource` is the resource of definitions.
pub(crate) fn is_definitions(resource: &Resource) -> bool {
    resource.store_name == STORE_NAME
}

/// Fills in what a definition may leave out.
/// Source: apiextensions-apiserver `pkg/apis/apiextensions/v1/defaults.go`.
pub(crate) fn complete_spec(definition: &mut Value) {
    let spec = &mut definition["spec"];
    let kind = spec["names"]["kind"].as_str().unwrap_or_default().to_owned();
    if let Some(names) = spec["names"].as_object_mut() {
        names
            .entry("singular")
            .or_insert_with(|| json!(kind.to_ascii_lowercase()));
        names
            .entry("listKind")
            .or_insert_with(|| json!(format!("{kind}List")));
    }
    if let Some(spec) = spec.as_object_mut() {
        spec.entry("conversion")
            .or_insert_with(|| json!({ "strategy": "None" }));
    }
}

/// What is wrong with a definition beyond its schema; nothing for other resources.
pub(crate) fn validate_definition(resource: &Resource, stored: &Value, old: Option<&Value>) -> Vec<Error> {
    if is_definitions(resource) {
        validate::validate(stored, old)
    } else {
        Vec::new()
    }
}

impl Registry {
    /// Held over a write of a definition and the change of the table that follows from it, so that the table follows
    /// the order of writes. Nothing for other resources.
    pub(crate) async fn definitions_lock(&self, resource: &Resource) -> Option<MutexGuard<'_, ()>> {
        if is_definitions(resource) {
            Some(self.definitions().lock().await)
        } else {
            None
        }
    }

    /// Completes a definition that is about to be written: names are accepted or not, and what is accepted is
    /// established at once, since a definition is served as soon as it is stored.
    pub(crate) fn complete_definition(&self, target: &Target, stored: &mut Value, old: Option<&Value>) {
        if is_definitions(&target.resource) && target.part == Part::Main {
            let conflicts = compile::name_conflicts(&self.resources(), stored);
            status::refresh(stored, old, &conflicts, self.now());
        }
    }

    /// Makes the table follow a written definition.
    pub(crate) fn definition_written(&self, resource: &Resource, record: &Record, exists: bool) {
        if is_definitions(resource) {
            self.follow_definition(record, exists);
        }
    }

    /// Serves every stored definition.
    pub(crate) fn load_definitions(&self) {
        for record in self.store().snapshot().range(STORE_NAME, None) {
            self.follow_definition(record, true);
        }
    }

    fn follow_definition(&self, record: &Record, exists: bool) {
        let definition: Value = serde_json::from_slice(&record.value).unwrap_or_default();
        let text = |field: &str| definition["spec"][field].as_str().unwrap_or_default();
        let group = text("group");
        let plural = definition["spec"]["names"]["plural"].as_str().unwrap_or_default();
        if !exists {
            self.change_resources(|table| table.without(group, plural));
            return;
        }
        if !status::is_true(&definition, "Established") {
            return;
        }
        match compile::resource(&definition) {
            Ok(resource) => {
                let resource = std::sync::Arc::new(resource);
                self.change_resources(|table| table.with(std::sync::Arc::clone(&resource)));
            }
            Err(error) => {
                let name = Meta::of(&definition).name();
                tracing::error!(name, %error, "custom resource definition cannot be served");
            }
        }
    }
}
