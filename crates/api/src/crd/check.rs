//! Consistency checks on definitions that the parser can not make line by line.

use serde_json::Value;

use super::model::{Bounds, Definition, ListKind, Schema, Shape, Version};

impl Definition {
    /// What is inconsistent about the definition; empty when an API server can take it.
    ///
    /// Meant for the tests of crates that define kinds: each entry names the version, the field and the fault.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for version in &self.versions {
            version.collect_problems(&self.kind, &mut problems);
        }
        problems
    }
}

impl Version {
    fn collect_problems(&self, kind: &str, problems: &mut Vec<String>) {
        let at = format!("{kind}/{}", self.name);
        self.schema.collect_problems(&at, problems);
        let paths = self
            .columns
            .iter()
            .map(|column| &column.json_path)
            .chain(&self.selectable);
        let scale = self.scale.iter().flat_map(|scale| {
            [
                Some(&scale.spec_replicas),
                Some(&scale.status_replicas),
                scale.selector.as_ref(),
            ]
            .into_iter()
            .flatten()
        });
        for path in paths.chain(scale) {
            if !self.schema.has_path(path) {
                problems.push(format!("{at}: there is no field at {path}"));
            }
        }
    }
}

impl Schema {
    /// The schema of the field of this name, for an object.
    pub fn field(&self, name: &str) -> Option<&Self> {
        match &self.shape {
            Shape::Object { fields, .. } => fields
                .iter()
                .find(|field| field.name == name)
                .map(|field| &*field.schema),
            _ => None,
        }
    }

    /// Whether a simple JSON path such as `.spec.replicas` leads to a field; filters end the check.
    fn has_path(&self, path: &str) -> bool {
        let mut schema = self;
        for segment in path.trim_start_matches('.').split('.') {
            if segment == "metadata" {
                return true;
            }
            let (name, rest) = segment
                .split_once('[')
                .map_or((segment, None), |(name, rest)| (name, Some(rest)));
            match schema.field(name) {
                Some(field) => schema = field,
                None => return false,
            }
            if rest.is_some() {
                return true;
            }
        }
        true
    }

    fn collect_problems(&self, at: &str, problems: &mut Vec<String>) {
        if let Some(default) = &self.default
            && !self.shape.admits(default)
        {
            problems.push(format!("{at}: the default {default} does not have the type"));
        }
        match &self.shape {
            Shape::Object {
                fields, properties, ..
            } => {
                check_bounds(at, *properties, problems);
                for field in fields {
                    field
                        .schema
                        .collect_problems(&format!("{at}.{}", field.name), problems);
                }
            }
            Shape::Map {
                values, properties, ..
            } => {
                check_bounds(at, *properties, problems);
                values.collect_problems(&format!("{at}{{}}"), problems);
            }
            Shape::List { items, count, kind } => {
                check_bounds(at, *count, problems);
                if let ListKind::Map(keys) = kind {
                    check_keys(at, keys, items, problems);
                }
                items.collect_problems(&format!("{at}[]"), problems);
            }
            Shape::Text { length, pattern, .. } => {
                check_bounds(at, *length, problems);
                check_pattern(at, pattern.as_ref(), problems);
            }
            Shape::Integer { value, .. } => check_bounds(at, *value, problems),
            Shape::IntOrText { pattern } => check_pattern(at, pattern.as_ref(), problems),
            Shape::Number | Shape::Boolean | Shape::Any => {}
        }
    }
}

impl Shape {
    fn admits(&self, value: &Value) -> bool {
        match self {
            Self::Object { .. } | Self::Map { .. } => value.is_object(),
            Self::List { .. } => value.is_array(),
            Self::Text { values, .. } => value
                .as_str()
                .is_some_and(|text| values.is_empty() || values.iter().any(|v| v == text)),
            Self::Integer { .. } => value.is_i64(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::IntOrText { .. } => value.is_i64() || value.is_string(),
            Self::Any => true,
        }
    }
}

fn check_bounds(at: &str, bounds: Bounds, problems: &mut Vec<String>) {
    if let Bounds {
        low: Some(low),
        high: Some(high),
    } = bounds
        && low > high
    {
        problems.push(format!("{at}: nothing lies within [{low}..{high}]"));
    }
}

fn check_pattern(at: &str, pattern: Option<&String>, problems: &mut Vec<String>) {
    if let Some(pattern) = pattern
        && let Err(error) = regex::Regex::new(pattern)
    {
        problems.push(format!("{at}: {error}"));
    }
}

/// Keys of list items have to be scalars that are always there.
fn check_keys(at: &str, keys: &[String], items: &Schema, problems: &mut Vec<String>) {
    let Shape::Object { fields, .. } = &items.shape else {
        problems.push(format!("{at}: a list with keys has to have objects as items"));
        return;
    };
    for key in keys {
        let found = fields.iter().find(|field| &field.name == key);
        if !found.is_some_and(|field| field.required || field.schema.default.is_some()) {
            problems.push(format!(
                "{at}: the key {key} is neither required nor has it a default"
            ));
        }
    }
}
