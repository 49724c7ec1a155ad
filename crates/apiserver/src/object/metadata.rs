//! Reading and writing the metadata of an object held as JSON.

use serde_json::{Map, Value, json};

/// The finalizer that makes a delete wait for the dependents.
pub const FOREGROUND_FINALIZER: &str = "foregroundDeletion";
/// The finalizer that makes a delete wait until dependents have lost their owner reference.
pub const ORPHAN_FINALIZER: &str = "orphan";

/// One entry of `metadata.ownerReferences`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnerReference {
    /// `apiVersion` of the owner.
    pub api_version: String,
    /// `kind` of the owner.
    pub kind: String,
    /// Name of the owner.
    pub name: String,
    /// UID of the owner.
    pub uid: String,
    /// Whether the owner waits for this object when it is deleted in the foreground.
    pub block_owner_deletion: bool,
    /// Whether the owner manages this object.
    pub controller: bool,
}

/// Read access to an object's metadata. Absent and mistyped fields read as empty.
#[derive(Debug, Clone, Copy)]
pub struct Meta<'a>(&'a Value);

impl<'a> Meta<'a> {
    /// The metadata of `object`.
    pub fn of(object: &'a Value) -> Self {
        Self(&object["metadata"])
    }

    fn text(self, field: &str) -> &'a str {
        self.0[field].as_str().unwrap_or_default()
    }

    /// `name`
    pub fn name(self) -> &'a str {
        self.text("name")
    }

    /// `generateName`
    pub fn generate_name(self) -> &'a str {
        self.text("generateName")
    }

    /// `namespace`
    pub fn namespace(self) -> &'a str {
        self.text("namespace")
    }

    /// `uid`
    pub fn uid(self) -> &'a str {
        self.text("uid")
    }

    /// `resourceVersion`
    pub fn resource_version(self) -> &'a str {
        self.text("resourceVersion")
    }

    /// `creationTimestamp`
    pub fn creation_timestamp(self) -> &'a str {
        self.text("creationTimestamp")
    }

    /// `deletionTimestamp`, if the object is being deleted.
    pub fn deletion_timestamp(self) -> Option<&'a str> {
        self.0["deletionTimestamp"].as_str()
    }

    /// `generation`
    pub fn generation(self) -> i64 {
        self.0["generation"].as_i64().unwrap_or(0)
    }

    /// `labels`
    pub fn labels(self) -> Option<&'a Map<String, Value>> {
        self.0["labels"].as_object()
    }

    /// `annotations`
    pub fn annotations(self) -> Option<&'a Map<String, Value>> {
        self.0["annotations"].as_object()
    }

    /// `finalizers`
    pub fn finalizers(self) -> Vec<&'a str> {
        self.0["finalizers"]
            .as_array()
            .map(|list| list.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default()
    }

    /// Whether the object carries that finalizer.
    pub fn has_finalizer(self, name: &str) -> bool {
        self.finalizers().contains(&name)
    }

    /// `ownerReferences`
    pub fn owner_references(self) -> Vec<OwnerReference> {
        let entries = self.0["ownerReferences"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let text = |entry: &Value, field: &str| entry[field].as_str().unwrap_or_default().to_owned();
        entries
            .iter()
            .map(|entry| OwnerReference {
                api_version: text(entry, "apiVersion"),
                kind: text(entry, "kind"),
                name: text(entry, "name"),
                uid: text(entry, "uid"),
                block_owner_deletion: entry["blockOwnerDeletion"] == json!(true),
                controller: entry["controller"] == json!(true),
            })
            .collect()
    }

    /// A metadata field as it is.
    pub fn field(self, name: &str) -> Option<&'a Value> {
        self.0.get(name)
    }
}

/// Write access to an object's metadata, which is made if it is absent.
#[derive(Debug)]
pub struct MetaMut<'a>(&'a mut Map<String, Value>);

impl<'a> MetaMut<'a> {
    /// The metadata of `object`; anything that is not a JSON object is replaced by an empty one.
    pub fn of(object: &'a mut Value) -> Self {
        if !object.is_object() {
            *object = json!({});
        }
        Self::of_metadata(&mut object["metadata"])
    }

    /// The same, of the value of `metadata` itself.
    pub fn of_metadata(metadata: &'a mut Value) -> Self {
        if !metadata.is_object() {
            *metadata = json!({});
        }
        match metadata {
            Value::Object(map) => Self(map),
            _ => unreachable!("just made an object"),
        }
    }

    /// Sets a field.
    pub fn set(&mut self, field: &str, value: impl Into<Value>) {
        self.0.insert(field.to_owned(), value.into());
    }

    /// Whether a field is not there.
    pub fn is_absent(&self, field: &str) -> bool {
        !self.0.contains_key(field)
    }

    /// Removes a field and returns it.
    pub fn remove(&mut self, field: &str) -> Option<Value> {
        self.0.remove(field)
    }

    /// Makes a field what it is in `other`: set or absent.
    pub fn copy(&mut self, field: &str, other: Meta<'_>) {
        match other.field(field) {
            Some(value) => self.set(field, value.clone()),
            None => {
                self.0.remove(field);
            }
        }
    }

    /// Sets the finalizers; an empty list removes the field.
    pub fn set_finalizers(&mut self, finalizers: &[&str]) {
        if finalizers.is_empty() {
            self.0.remove("finalizers");
        } else {
            self.set("finalizers", finalizers);
        }
    }

    /// Sets one label.
    pub fn set_label(&mut self, key: &str, value: &str) {
        let labels = self.0.entry("labels").or_insert_with(|| json!({}));
        if !labels.is_object() {
            *labels = json!({});
        }
        labels[key] = json!(value);
    }

    /// Drops entries of `ownerReferences` that repeat an earlier one. Returns how many.
    pub fn drop_duplicate_owners(&mut self) -> usize {
        let Some(Value::Array(entries)) = self.0.get_mut("ownerReferences") else {
            return 0;
        };
        let before = entries.len();
        let mut kept: Vec<Value> = Vec::with_capacity(before);
        for entry in entries.drain(..) {
            if !kept.contains(&entry) {
                kept.push(entry);
            }
        }
        *entries = kept;
        before - entries.len()
    }
}

/// A time as objects carry it: RFC 3339 in UTC, whole seconds.
pub fn seconds(time: capstan_base::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
