//! One node of a value against one node of a schema, and so on down.
//!
//! The checks run in kube-openapi's order and count what passed as it does, since on a failed `anyOf` or `oneOf` the
//! branch with the most passed checks is the one whose errors are reported.

use std::fmt::Write;

use capstan_base::field::Kind;
use serde_json::{Map, Value};

use super::{
    correlate::Correlated,
    number::{is_whole, validate_number},
    outcome::Outcome,
};
use crate::structural::{Additional, Structural, Type};

/// Validates a value that is at the top of the path.
pub(super) fn validate_node(value: &Value, schema: &Structural, old: Option<Correlated<'_>>) -> Outcome {
    let mut walk = Walk { at: String::new() };
    walk.node(value, schema, old)
}

/// Where the walk is, as text that grows and shrinks so that valid objects cost no allocation per field.
struct Walk {
    at: String,
}

impl Walk {
    /// Validates a node and forgives it if it did not change.
    fn node(&mut self, value: &Value, schema: &Structural, old: Option<Correlated<'_>>) -> Outcome {
        let mut outcome = self.checks(value, schema, old);
        if !outcome.is_valid() && old.is_some_and(Correlated::is_unchanged) {
            outcome.forgive();
        }
        outcome
    }

    /// All checks of a node. Schemas under `allOf` and its like see the same value, so they share its old one.
    fn checks(&mut self, value: &Value, schema: &Structural, old: Option<Correlated<'_>>) -> Outcome {
        let mut outcome = Outcome::default();
        if value.is_null() {
            self.type_of(value, schema, &mut outcome);
            self.allowed(value, schema, &mut outcome);
            return outcome;
        }
        let has_type =
            schema.kind.is_some() || schema.int_or_string || schema.constraints.enforced_format.is_some();
        if has_type {
            self.type_of(value, schema, &mut outcome);
            outcome.matches += 1;
        }
        self.choices(value, schema, old, &mut outcome);
        match value {
            Value::String(text) => self.string(text, schema, &mut outcome),
            Value::Number(number) => {
                validate_number(number, schema, &self.at, &mut outcome);
                outcome.matches += 1;
            }
            Value::Array(list) => self.array(list, schema, old, &mut outcome),
            Value::Object(_) | Value::Bool(_) | Value::Null => {}
        }
        self.allowed(value, schema, &mut outcome);
        if let Value::Object(map) = value {
            self.object(map, schema, old, &mut outcome);
            outcome.matches += 1;
        }
        // One for the check of allowed values, which applies to all, and one for the node.
        outcome.matches += 2;
        outcome
    }

    /// Source: kube-openapi `pkg/validation/validate/type.go`.
    fn type_of(&self, value: &Value, schema: &Structural, outcome: &mut Outcome) {
        let wanted = TypeNames::of(schema);
        let format = schema
            .constraints
            .enforced_format
            .and(schema.constraints.format.as_deref())
            .unwrap_or_default();
        if value.is_null() {
            if !wanted.names.is_empty() && !schema.nullable {
                outcome.add_type(&self.at, &wanted.joined(), "null", Some("null"));
            } else {
                outcome.matches += 1;
            }
            return;
        }
        let (name, native_format, whole_float) = match value {
            Value::Bool(_) => ("boolean", "", false),
            Value::String(_) => ("string", "", false),
            Value::Number(number) if number.is_i64() => ("integer", "int64", false),
            Value::Number(number) => ("number", "float64", number.as_f64().is_some_and(is_whole)),
            Value::Array(_) => ("array", "", false),
            Value::Object(_) | Value::Null => ("object", "", false),
        };
        let as_integer = whole_float && wanted.has("integer");
        let as_number = name == "integer" && wanted.has("number");
        let fits = wanted.has(name) || as_integer || as_number;
        let is_text_or_list = matches!(value, Value::String(_) | Value::Array(_));
        let lenient = is_text_or_list && !wanted.has("number") && !wanted.has("integer");
        if !is_text_or_list && !format.is_empty() && !fits && native_format != format {
            outcome.add_type(&self.at, format, native_format, Some(native_format));
        } else if format.is_empty() || !lenient {
            if fits {
                outcome.matches += 1;
            } else {
                outcome.add_type(&self.at, &wanted.joined(), name, Some(name));
            }
        } else {
            outcome.matches += 1;
        }
    }

    /// Source: kube-openapi `pkg/validation/validate/validator.go`, `basicCommonValidator`.
    fn allowed(&self, value: &Value, schema: &Structural, outcome: &mut Outcome) {
        let allowed = &schema.constraints.allowed;
        if allowed.is_empty() || allowed.iter().any(|it| is_same(value, it)) {
            return;
        }
        let names: Vec<String> = allowed
            .iter()
            .map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned))
            .collect();
        let quoted: Vec<String> = names.iter().map(|it| format!("{it:?}")).collect();
        let detail = format!("supported values: {}", quoted.join(", "));
        outcome.add_bare(Kind::NotSupported, self.at.clone(), value.clone(), detail);
    }

    fn string(&self, text: &str, schema: &Structural, outcome: &mut Outcome) {
        outcome.matches += 1;
        self.string_constraints(text, schema, outcome);
        if let Some(format) = schema.constraints.enforced_format {
            outcome.matches += 1;
            if !format.accepts(text) {
                let name = schema.constraints.format.as_deref().unwrap_or_default();
                outcome.add_type(&self.at, name, text, Some(text));
            }
        }
    }

    /// Length and pattern; the first that fails is the only one told.
    fn string_constraints(&self, text: &str, schema: &Structural, outcome: &mut Outcome) {
        let constraints = &schema.constraints;
        if constraints.max_length.is_some() || constraints.min_length.is_some() {
            let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
            if let Some(max) = constraints.max_length.filter(|max| length > *max) {
                let unit = if max == 1 { "byte" } else { "bytes" };
                outcome.add_bare(
                    Kind::TooLong,
                    self.at.clone(),
                    "<value omitted>",
                    format!("may not be more than {max} {unit}"),
                );
                return;
            }
            if let Some(min) = constraints.min_length.filter(|min| length < *min) {
                outcome.add(
                    Kind::Invalid,
                    &self.at,
                    text,
                    &format!("should be at least {min} chars long"),
                );
                return;
            }
        }
        let Some(pattern) = &constraints.pattern else {
            return;
        };
        let source = pattern.source();
        match pattern.is_match(text) {
            Ok(true) => {}
            Ok(false) => outcome.add(Kind::Invalid, &self.at, text, &format!("should match '{source}'")),
            Err(problem) => outcome.add(
                Kind::Invalid,
                &self.at,
                text,
                &format!("should match '{source}, but pattern is invalid: {problem}'"),
            ),
        }
    }

    fn array(
        &mut self,
        list: &[Value],
        schema: &Structural,
        old: Option<Correlated<'_>>,
        outcome: &mut Outcome,
    ) {
        if let Some(items) = schema.items.as_deref() {
            for (index, item) in list.iter().enumerate() {
                let length = self.at.len();
                // Writing to a string cannot fail.
                let _ = write!(self.at, "[{index}]");
                let found = self.node(item, items, old.and_then(|it| it.index(index)));
                self.at.truncate(length);
                outcome.merge(found);
            }
        }
        let size = i64::try_from(list.len()).unwrap_or(i64::MAX);
        if let Some(min) = schema.constraints.min_items.filter(|min| size < *min) {
            outcome.add(
                Kind::Invalid,
                &self.at,
                size,
                &format!("should have at least {min} items"),
            );
        }
        if let Some(max) = schema.constraints.max_items.filter(|max| size > *max) {
            self.too_many(size, max, outcome);
        }
        if schema.constraints.unique_items
            && list
                .iter()
                .enumerate()
                .any(|(index, it)| list[..index].contains(it))
        {
            outcome.add(Kind::Invalid, &self.at, "", "shouldn't contain duplicates");
        }
        outcome.matches += 2;
    }

    fn too_many(&self, size: i64, max: i64, outcome: &mut Outcome) {
        let unit = if max == 1 { "item" } else { "items" };
        outcome.add_bare(
            Kind::TooMany,
            self.at.clone(),
            size,
            format!("must have at most {max} {unit}"),
        );
    }

    fn object(
        &mut self,
        map: &Map<String, Value>,
        schema: &Structural,
        old: Option<Correlated<'_>>,
        outcome: &mut Outcome,
    ) {
        let size = i64::try_from(map.len()).unwrap_or(i64::MAX);
        if let Some(min) = schema.constraints.min_properties.filter(|min| size < *min) {
            outcome.add(
                Kind::Invalid,
                &self.at,
                size,
                &format!("should have at least {min} properties"),
            );
        }
        if let Some(max) = schema.constraints.max_properties.filter(|max| size > *max) {
            self.too_many(size, max, outcome);
        }
        for (name, child) in map {
            let below = match (schema.properties.get(name), &schema.additional) {
                (Some(below), _) => below,
                (None, Additional::Schema(below)) => below,
                (None, Additional::Allowed(false)) => {
                    let message = format!("{}.{name} in body is a forbidden property", self.at);
                    outcome.add_bare(Kind::Invalid, self.at.clone(), name.as_str(), message);
                    continue;
                }
                (None, Additional::Allowed(true) | Additional::Unspecified) => continue,
            };
            // Old and new apiVersion and kind of a whole object are made equal before they get here.
            let is_type_meta = self.at.is_empty() && matches!(name.as_str(), "apiVersion" | "kind");
            let below_old = old.filter(|_| !is_type_meta).and_then(|it| it.key(name));
            let length = self.at.len();
            if length > 0 {
                self.at.push('.');
            }
            self.at.push_str(name);
            let found = self.node(child, below, below_old);
            self.at.truncate(length);
            outcome.merge(found);
        }
        for name in &schema.constraints.required {
            if !map.contains_key(name) {
                let at = if self.at.is_empty() {
                    name.clone()
                } else {
                    format!("{}.{name}", self.at)
                };
                outcome.add_bare(Kind::Required, at, "", "");
            }
        }
    }

    /// Source: kube-openapi `pkg/validation/validate/schema_props.go`.
    fn choices(
        &mut self,
        value: &Value,
        schema: &Structural,
        old: Option<Correlated<'_>>,
        outcome: &mut Outcome,
    ) {
        let constraints = &schema.constraints;
        if !constraints.any_of.is_empty() {
            self.any_of(value, &constraints.any_of, old, outcome);
        }
        if !constraints.one_of.is_empty() {
            self.one_of(value, &constraints.one_of, old, outcome);
        }
        if !constraints.all_of.is_empty() {
            let mut valid = 0;
            for branch in &constraints.all_of {
                let found = self.checks(value, branch, old);
                valid += usize::from(found.is_valid());
                outcome.merge(found);
            }
            if valid != constraints.all_of.len() {
                let none = if valid == 0 { ". None validated" } else { "" };
                outcome.add_general(format!(
                    "{:?} must validate all the schemas (allOf){none}",
                    self.at
                ));
            }
        }
        if let Some(not) = &constraints.not
            && self.checks(value, not, old).is_valid()
        {
            outcome.add_general(format!("{:?} must not validate the schema (not)", self.at));
        }
        outcome.matches += 2;
    }

    fn any_of(
        &mut self,
        value: &Value,
        branches: &[Structural],
        old: Option<Correlated<'_>>,
        outcome: &mut Outcome,
    ) {
        let mut best: Option<Outcome> = None;
        for branch in branches {
            let found = self.checks(value, branch, old);
            if found.is_valid() {
                outcome.merge(found);
                return;
            }
            if best.as_ref().is_none_or(|it| found.matches > it.matches) {
                best = Some(found);
            }
        }
        outcome.add_general(format!("{:?} must validate at least one schema (anyOf)", self.at));
        outcome.merge(best.unwrap_or_default());
    }

    fn one_of(
        &mut self,
        value: &Value,
        branches: &[Structural],
        old: Option<Correlated<'_>>,
        outcome: &mut Outcome,
    ) {
        let mut valid = 0;
        let mut best: Option<Outcome> = None;
        let mut first: Option<Outcome> = None;
        for branch in branches {
            let found = self.checks(value, branch, old);
            if found.is_valid() {
                valid += 1;
                first.get_or_insert(found);
            } else if valid == 0 && best.as_ref().is_none_or(|it| found.matches > it.matches) {
                best = Some(found);
            }
        }
        if valid == 1 {
            outcome.merge(first.unwrap_or_default());
            return;
        }
        let found = if valid == 0 {
            "Found none valid".to_owned()
        } else {
            format!("Found {valid} valid alternatives")
        };
        outcome.add_general(format!(
            "{:?} must validate one and only one schema (oneOf). {found}",
            self.at
        ));
        if valid == 0 {
            outcome.merge(best.unwrap_or_default());
        }
    }
}

/// The names of the types that a node takes.
struct TypeNames {
    names: &'static [&'static str],
}

impl TypeNames {
    fn of(schema: &Structural) -> Self {
        let names: &'static [&'static str] = if schema.int_or_string {
            &["integer", "string"]
        } else {
            match schema.kind {
                None => &[],
                Some(Type::Array) => &["array"],
                Some(Type::Boolean) => &["boolean"],
                Some(Type::Integer) => &["integer"],
                Some(Type::Number) => &["number"],
                Some(Type::Object) => &["object"],
                Some(Type::String) => &["string"],
            }
        };
        Self { names }
    }

    fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    fn joined(&self) -> String {
        self.names.join(",")
    }
}

/// Whether a value is an allowed one: Go converts it to the allowed one's type first, and null is never one.
fn is_same(value: &Value, allowed: &Value) -> bool {
    match (value, allowed) {
        (Value::Null, _) => false,
        (Value::Number(value), Value::Number(allowed)) if value.is_i64() != allowed.is_i64() => {
            let value = value.as_f64().unwrap_or(f64::NAN);
            let value = if allowed.is_i64() { value.trunc() } else { value };
            #[expect(clippy::float_cmp, reason = "the same number, in another notation")]
            let same = allowed.as_f64().is_some_and(|it| it == value);
            same
        }
        (value, allowed) => value == allowed,
    }
}
