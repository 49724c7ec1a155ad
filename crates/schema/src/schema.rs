//! One version of a custom resource, ready for the write path: the tree, its rules compiled, and the order in which
//! Kubernetes applies them.
//! Source: apiextensions-apiserver `pkg/apiserver/customresource_handler.go`, `pkg/registry/customresource/strategy.go`.

use capstan_base::field;
use serde_json::Value;

use crate::{
    ParseError,
    cel::{Report, Validator, blocks_rules},
    defaults::default,
    metadata::{Malformed, coerce, validate_embedded},
    prune::prune,
    structural::{Level, Structural},
    validate::{validate, validate_list_types, validate_update},
};

/// A schema with its rules compiled. Made once per version of a definition and shared.
#[derive(Debug)]
pub struct Schema {
    structural: Structural,
    rules: Validator,
}

impl Schema {
    /// Reads and compiles the `openAPIV3Schema` of a version.
    ///
    /// # Errors
    /// When it cannot be read. Rules that do not compile are reported when objects are validated.
    pub fn new(schema: &Value) -> Result<Self, ParseError> {
        Structural::parse(schema).map(Self::from)
    }

    /// The tree.
    pub fn structural(&self) -> &Structural {
        &self.structural
    }

    /// Brings an object from a client into shape: metadata coerced, unknown fields dropped, defaults set. Returns the
    /// paths of the fields that were dropped, sorted, for strict clients.
    ///
    /// # Errors
    /// When apiVersion, kind or metadata are of the wrong type.
    pub fn admit(&self, object: &mut Value) -> Result<Vec<String>, field::Error> {
        let mut unknown = coerce(object, &self.structural, Level::Resource, Malformed::Reject)?;
        unknown.extend(prune(object, &self.structural, Level::Resource));
        unknown.sort_unstable();
        default(object, &self.structural);
        Ok(unknown)
    }

    /// Brings a stored object into the shape that the schema has by now; malformed metadata is dropped, for what is
    /// stored must stay readable.
    pub fn revive(&self, object: &mut Value) {
        // With `Malformed::Drop` nothing is an error.
        let _ = coerce(object, &self.structural, Level::Resource, Malformed::Drop);
        prune(object, &self.structural, Level::Resource);
        default(object, &self.structural);
    }

    /// Validates a new object.
    pub fn validate(&self, object: &Value) -> Report {
        let root = field::Path::root();
        let mut errors = validate(object, &self.structural, &root);
        errors.extend(validate_embedded(object, &self.structural, Level::Part, &root));
        errors.extend(validate_list_types(object, &self.structural, &root));
        self.with_rules(errors, object, None)
    }

    /// Validates an object that replaces `old`. What is wrong with parts that did not change is let pass.
    pub fn validate_update(&self, object: &Value, old: &Value) -> Report {
        let root = field::Path::root();
        let mut errors = validate_update(object, old, &self.structural, &root);
        errors.extend(validate_embedded(object, &self.structural, Level::Part, &root));
        errors.extend(self.new_list_errors(object, old));
        self.with_rules(errors, object, Some(old))
    }

    /// Validates an object of which only the status may have changed: of the schema only `status` is checked, of the
    /// rules all.
    pub fn validate_status_update(&self, object: &Value, old: &Value) -> Report {
        let mut errors = Vec::new();
        if let (Some(schema), Some(status)) = (self.structural.properties.get("status"), object.get("status"))
        {
            let path = field::Path::new("status");
            match old.get("status") {
                Some(old) => errors.extend(validate_update(status, old, schema, &path)),
                None => errors.extend(validate(status, schema, &path)),
            }
        }
        errors.extend(self.new_list_errors(object, old));
        self.with_rules(errors, object, Some(old))
    }

    fn new_list_errors(&self, object: &Value, old: &Value) -> Vec<field::Error> {
        let root = field::Path::root();
        let errors = validate_list_types(object, &self.structural, &root);
        // An object that was invalid already may stay so.
        if errors.is_empty() || !validate_list_types(old, &self.structural, &root).is_empty() {
            return Vec::new();
        }
        errors
    }

    fn with_rules(&self, mut errors: Vec<field::Error>, object: &Value, old: Option<&Value>) -> Report {
        if self.rules.is_empty() {
            return Report {
                errors,
                warnings: Vec::new(),
            };
        }
        if let Some(error) = blocks_rules(&errors) {
            errors.push(error);
            return Report {
                errors,
                warnings: Vec::new(),
            };
        }
        let report = self
            .rules
            .validate(object, old, &self.structural, &field::Path::root());
        errors.extend(report.errors);
        Report {
            errors,
            warnings: report.warnings,
        }
    }
}

impl From<Structural> for Schema {
    fn from(structural: Structural) -> Self {
        let rules = Validator::compile(&structural, Level::Resource);
        Self { structural, rules }
    }
}
