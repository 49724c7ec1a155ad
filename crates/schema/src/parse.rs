//! From a schema as JSON to the tree.
//! Source: apiextensions-apiserver `pkg/apiserver/schema/convert.go`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use thiserror::Error;

use crate::{
    format::Format,
    pattern::Pattern,
    structural::{Additional, Constraints, ListType, MapType, Rule, Structural, Type},
};

/// Keywords of JSON Schema that Kubernetes does not support.
pub(crate) const UNSUPPORTED: [&str; 8] = [
    "id",
    "$schema",
    "$ref",
    "patternProperties",
    "dependencies",
    "additionalItems",
    "definitions",
    "schema",
];

/// A schema that cannot be read as a structural one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("failed to read schema at {at:?}: {problem}")]
pub struct ParseError {
    /// The path in the schema: `properties.spec.items`.
    pub at: String,
    /// What is wrong there.
    pub problem: String,
}

impl ParseError {
    fn new(at: &str, problem: impl Into<String>) -> Self {
        Self {
            at: at.to_owned(),
            problem: problem.into(),
        }
    }
}

impl Structural {
    /// Reads `schema`, the `openAPIV3Schema` of a version of a custom resource definition.
    ///
    /// This reads every schema that can be served, also those that were stored before a rule of
    /// [`validate_structural`](crate::check::validate_structural) existed.
    ///
    /// # Errors
    /// When a keyword has the wrong JSON type or is one that Kubernetes does not support.
    pub fn parse(schema: &Value) -> Result<Self, ParseError> {
        parse_node(schema, "")
    }
}

fn parse_node(schema: &Value, at: &str) -> Result<Structural, ParseError> {
    let object = schema
        .as_object()
        .ok_or_else(|| ParseError::new(at, "a schema must be an object"))?;
    if let Some(keyword) = UNSUPPORTED.into_iter().find(|it| is_set(object.get(*it))) {
        return Err(ParseError::new(
            at,
            format!("OpenAPIV3Schema '{keyword}' is not supported"),
        ));
    }
    let reader = Reader { object, at };
    let int_or_string = reader.flag("x-kubernetes-int-or-string")?;
    let kind = reader.kind()?;
    Ok(Structural {
        kind,
        title: reader.text("title")?,
        description: reader.text("description")?,
        default: reader.value("default"),
        example: reader.value("example"),
        external_docs: reader.value("externalDocs"),
        nullable: reader.flag("nullable")?,
        properties: reader.properties()?,
        additional: reader.additional()?,
        items: reader.items()?,
        preserve_unknown_fields: reader.flag("x-kubernetes-preserve-unknown-fields")?,
        embedded_resource: reader.flag("x-kubernetes-embedded-resource")?,
        int_or_string,
        list_type: reader.named("x-kubernetes-list-type", ListType::parse)?,
        list_map_keys: reader.texts("x-kubernetes-list-map-keys")?,
        map_type: reader.named("x-kubernetes-map-type", MapType::parse)?,
        validations: reader.rules()?,
        constraints: reader.constraints(kind.filter(|_| !int_or_string))?,
    })
}

/// Whether a keyword says anything: Kubernetes reads empty strings, maps and null as absent.
fn is_set(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Object(map)) => !map.is_empty(),
        Some(_) => true,
    }
}

struct Reader<'a> {
    object: &'a Map<String, Value>,
    at: &'a str,
}

impl<'a> Reader<'a> {
    fn below(&self, keyword: &str) -> String {
        if self.at.is_empty() {
            keyword.to_owned()
        } else {
            format!("{}.{keyword}", self.at)
        }
    }

    fn wrong(&self, keyword: &str, wanted: &str) -> ParseError {
        ParseError::new(&self.below(keyword), format!("must be {wanted}"))
    }

    fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.object.get(keyword).filter(|value| !value.is_null())
    }

    fn value(&self, keyword: &str) -> Option<Value> {
        self.get(keyword).cloned()
    }

    fn text(&self, keyword: &str) -> Result<Option<String>, ParseError> {
        match self.get(keyword) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone()).filter(|it| !it.is_empty())),
            Some(_) => Err(self.wrong(keyword, "a string")),
        }
    }

    fn flag(&self, keyword: &str) -> Result<bool, ParseError> {
        match self.get(keyword) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.wrong(keyword, "a boolean")),
        }
    }

    fn number(&self, keyword: &str) -> Result<Option<f64>, ParseError> {
        self.get(keyword)
            .map(|value| value.as_f64().ok_or_else(|| self.wrong(keyword, "a number")))
            .transpose()
    }

    fn count(&self, keyword: &str) -> Result<Option<i64>, ParseError> {
        self.get(keyword)
            .map(|value| value.as_i64().ok_or_else(|| self.wrong(keyword, "an integer")))
            .transpose()
    }

    fn texts(&self, keyword: &str) -> Result<Vec<String>, ParseError> {
        let wrong = || self.wrong(keyword, "a list of strings");
        let Some(value) = self.get(keyword) else {
            return Ok(Vec::new());
        };
        let list = value.as_array().ok_or_else(wrong)?;
        list.iter()
            .map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong))
            .collect()
    }

    fn named<T>(&self, keyword: &str, parse: fn(&str) -> Option<T>) -> Result<Option<T>, ParseError> {
        let Some(name) = self.text(keyword)? else {
            return Ok(None);
        };
        parse(&name)
            .map(Some)
            .ok_or_else(|| ParseError::new(&self.below(keyword), format!("{name:?} is not supported")))
    }

    fn kind(&self) -> Result<Option<Type>, ParseError> {
        self.named("type", Type::parse)
    }

    fn node(&self, keyword: &str) -> Result<Option<Box<Structural>>, ParseError> {
        let Some(value) = self.get(keyword) else {
            return Ok(None);
        };
        parse_node(value, &self.below(keyword)).map(|node| Some(Box::new(node)))
    }

    fn nodes(&self, keyword: &str) -> Result<Vec<Structural>, ParseError> {
        let Some(value) = self.get(keyword) else {
            return Ok(Vec::new());
        };
        let list = value
            .as_array()
            .ok_or_else(|| self.wrong(keyword, "a list of schemas"))?;
        list.iter()
            .enumerate()
            .map(|(index, item)| parse_node(item, &format!("{}[{index}]", self.below(keyword))))
            .collect()
    }

    fn items(&self) -> Result<Option<Box<Structural>>, ParseError> {
        if matches!(self.get("items"), Some(Value::Array(_))) {
            return Err(ParseError::new(
                &self.below("items"),
                "OpenAPIV3Schema 'items' must be a schema, but is an array",
            ));
        }
        self.node("items")
    }

    fn properties(&self) -> Result<BTreeMap<String, Structural>, ParseError> {
        let Some(value) = self.get("properties") else {
            return Ok(BTreeMap::new());
        };
        let map = value
            .as_object()
            .ok_or_else(|| self.wrong("properties", "an object"))?;
        let below = self.below("properties");
        map.iter()
            .map(|(name, child)| Ok((name.clone(), parse_node(child, &format!("{below}[{name}]"))?)))
            .collect()
    }

    fn additional(&self) -> Result<Additional, ParseError> {
        match self.get("additionalProperties") {
            None => Ok(Additional::Unspecified),
            Some(Value::Bool(allowed)) => Ok(Additional::Allowed(*allowed)),
            Some(value) => {
                let node = parse_node(value, &self.below("additionalProperties"))?;
                Ok(Additional::Schema(Box::new(node)))
            }
        }
    }

    fn rules(&self) -> Result<Vec<Rule>, ParseError> {
        let keyword = "x-kubernetes-validations";
        let Some(value) = self.get(keyword) else {
            return Ok(Vec::new());
        };
        let list = value
            .as_array()
            .ok_or_else(|| self.wrong(keyword, "a list of rules"))?;
        let below = self.below(keyword);
        list.iter()
            .enumerate()
            .map(|(index, item)| {
                let at = format!("{below}[{index}]");
                let object = item
                    .as_object()
                    .ok_or_else(|| ParseError::new(&at, "a rule must be an object"))?;
                let reader = Reader { object, at: &at };
                Ok(Rule {
                    rule: reader.text("rule")?.unwrap_or_default(),
                    message: reader.text("message")?.unwrap_or_default(),
                    message_expression: reader.text("messageExpression")?.unwrap_or_default(),
                    reason: reader.text("reason")?,
                    field_path: reader.text("fieldPath")?.unwrap_or_default(),
                    optional_old_self: reader
                        .get("optionalOldSelf")
                        .map(|_| reader.flag("optionalOldSelf"))
                        .transpose()?,
                })
            })
            .collect()
    }

    /// `kind` is the node's type, or `None` where it is ambiguous: then only formats of strings are enforced.
    fn constraints(&self, kind: Option<Type>) -> Result<Constraints, ParseError> {
        let format = self.text("format")?;
        let enforced_format = format.as_deref().and_then(|name| Format::parse(name, kind));
        let allowed = match self.get("enum") {
            None => Vec::new(),
            Some(Value::Array(list)) => list.clone(),
            Some(_) => return Err(self.wrong("enum", "a list")),
        };
        Ok(Constraints {
            format,
            enforced_format,
            maximum: self.number("maximum")?,
            exclusive_maximum: self.flag("exclusiveMaximum")?,
            minimum: self.number("minimum")?,
            exclusive_minimum: self.flag("exclusiveMinimum")?,
            max_length: self.count("maxLength")?,
            min_length: self.count("minLength")?,
            pattern: self.text("pattern")?.map(Pattern::new),
            max_items: self.count("maxItems")?,
            min_items: self.count("minItems")?,
            unique_items: self.flag("uniqueItems")?,
            multiple_of: self.number("multipleOf")?,
            allowed,
            max_properties: self.count("maxProperties")?,
            min_properties: self.count("minProperties")?,
            required: self.texts("required")?,
            all_of: self.nodes("allOf")?,
            any_of: self.nodes("anyOf")?,
            one_of: self.nodes("oneOf")?,
            not: self.node("not")?,
        })
    }
}
