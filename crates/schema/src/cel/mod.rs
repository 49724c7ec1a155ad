//! Rules: the CEL expressions of `x-kubernetes-validations`.
//! Source: apiextensions-apiserver `pkg/apiserver/schema/cel/validation.go`.
//!
//! Rules are compiled once per schema. They run in the `cel` crate with the function libraries of `kube-cel`; where
//! that interpreter is looser than Kubernetes, the rule is rewritten first (see `program`). Each evaluation has a step
//! budget that does not depend on time, and each object one for all its rules.
//!
//! Differs: rules are not type-checked beyond the fields, variables and functions they name, costs are counted in
//! nodes of the expression rather than by Go's tables, no cost is estimated when a definition is made, lists of type
//! set and map compare in order, and `type()` is not there.

mod convert;
mod escape;
mod field_path;
mod functions;
mod program;
mod usage;

use std::collections::BTreeMap;

use capstan_base::field;
use serde_json::Value;

pub use escape::{escape, unescape};
pub use field_path::{FieldPath, valid_field_path};

use self::program::{Budget, Failure, Program};
use crate::{
    structural::{Level, Rule, Structural, Type},
    validate::{Correlated, same_item},
};

/// The longest text that a message expression may yield, in bytes.
const MAX_MESSAGE: usize = 5 * 1024;

/// The compiled rules of a schema, in the shape of the schema.
#[derive(Debug)]
pub struct Validator {
    root: Option<Node>,
}

/// What the rules found.
#[derive(Debug, Default)]
pub struct Report {
    /// The rules that fail.
    pub errors: Vec<field::Error>,
    /// Rules that fail on parts that did not change, which is let pass with a warning.
    pub warnings: Vec<String>,
}

#[derive(Debug)]
struct Node {
    rules: Vec<CompiledRule>,
    items: Option<Box<Self>>,
    properties: BTreeMap<String, Self>,
    values: Option<Box<Self>>,
    all_of: Vec<Self>,
    level: Level,
}

/// A rule that is ready to run, or says why it can't.
#[derive(Debug)]
pub(crate) struct CompiledRule {
    rule: Rule,
    program: Result<Program, String>,
    message: Option<Result<Program, String>>,
    field_path: Option<String>,
}

impl CompiledRule {
    /// Compiles `rule`, which stands at a node with this schema.
    pub(crate) fn new(rule: &Rule, schema: &Structural, level: Level) -> Self {
        let message = Some(rule.message_expression.trim())
            .filter(|text| !text.is_empty())
            .map(|text| Program::compile(text, schema, level));
        let field_path = Some(&rule.field_path)
            .filter(|text| !text.is_empty())
            .and_then(|text| valid_field_path(text.trim(), schema, true).ok())
            .map(|found| found.path);
        Self {
            rule: rule.clone(),
            program: Program::compile(rule.rule.trim(), schema, level),
            message,
            field_path,
        }
    }

    /// Why the rule does not compile.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.program.as_ref().err().map(String::as_str)
    }

    /// Why the message expression does not compile.
    pub(crate) fn message_problem(&self) -> Option<&str> {
        self.message
            .as_ref()
            .and_then(|it| it.as_ref().err())
            .map(String::as_str)
    }

    /// Whether the rule looks at the old value.
    pub(crate) fn uses_old_self(&self) -> bool {
        self.program.as_ref().is_ok_and(Program::uses_old_self)
    }

    fn is_optional_old_self(&self) -> bool {
        self.rule.optional_old_self == Some(true)
    }

    /// The text that stands for the rule in messages.
    fn shown(&self) -> &str {
        let text = if self.rule.message.is_empty() {
            &self.rule.rule
        } else {
            &self.rule.message
        };
        text.trim()
    }
}

impl Node {
    /// The rules of `rules_of` and below, for values of `schema`; the two differ under `allOf`.
    fn compile(rules_of: &Structural, schema: &Structural, level: Level) -> Option<Self> {
        if !rules_of.has_rules() {
            return None;
        }
        let below = |rules_of: &Structural, schema: &Structural| Self::compile(rules_of, schema, Level::Part);
        let properties = rules_of
            .properties
            .iter()
            .filter_map(|(name, child)| Some((name.clone(), below(child, schema.properties.get(name)?)?)))
            .collect();
        let pair = |left: Option<&Structural>, right: Option<&Structural>| below(left?, right?).map(Box::new);
        Some(Self {
            rules: rules_of
                .validations
                .iter()
                .map(|rule| CompiledRule::new(rule, schema, level))
                .collect(),
            items: pair(rules_of.items.as_deref(), schema.items.as_deref()),
            properties,
            values: pair(rules_of.additional.schema(), schema.additional.schema()),
            all_of: rules_of
                .constraints
                .all_of
                .iter()
                .filter_map(|branch| Self::compile(branch, schema, level))
                .collect(),
            level,
        })
    }
}

impl Validator {
    /// Compiles the rules of `schema`. A rule that does not compile is reported when an object is validated by it.
    pub fn compile(schema: &Structural, level: Level) -> Self {
        Self {
            root: Node::compile(schema, schema, level),
        }
    }

    /// Whether there are no rules at all.
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// Runs the rules of `schema`, which this was compiled from, on `value` at `path`. `old` is the value it replaces.
    ///
    /// Callers validate the value against the schema first and skip the rules if [`blocks_rules`] says so.
    pub fn validate(
        &self,
        value: &Value,
        old: Option<&Value>,
        schema: &Structural,
        path: &field::Path,
    ) -> Report {
        let mut run = Run {
            report: Report::default(),
            budget: Budget::for_object(),
            stopped: false,
        };
        if let Some(root) = &self.root {
            let unchanged = Ratchet {
                here: old.map(|old| Correlated { value, old, schema }),
                above: None,
            };
            run.node(
                root,
                schema,
                Place {
                    value,
                    old,
                    path,
                    ratchet: unchanged,
                },
            );
        }
        run.report
    }
}

/// The error that stands for all rules if `errors` are so grave that rules would only add noise.
pub fn blocks_rules(errors: &[field::Error]) -> Option<field::Error> {
    use field::Kind;
    let grave = |kind| {
        matches!(
            kind,
            Kind::NotSupported | Kind::Required | Kind::TooLong | Kind::TooMany | Kind::TypeInvalid
        )
    };
    errors.iter().any(|error| grave(error.kind)).then(|| {
        field::Error::invalid(
            &field::Path::root(),
            Value::Null,
            "some validation rules were not checked because the object was invalid; correct the existing errors to \
             complete validation",
        )
    })
}

/// Whether failures at a place are let pass: its value, or else that of the nearest ancestor with an old value of its
/// own, did not change.
#[derive(Debug, Clone, Copy, Default)]
struct Ratchet<'a> {
    here: Option<Correlated<'a>>,
    above: Option<Correlated<'a>>,
}

impl Ratchet<'_> {
    fn is_unchanged(self) -> bool {
        self.here.or(self.above).is_some_and(Correlated::is_unchanged)
    }

    fn key(self, name: &str) -> Self {
        match self.here {
            None => self,
            // Old and new apiVersion and kind of the whole object are made equal before they get here.
            Some(_) if self.above.is_none() && matches!(name, "apiVersion" | "kind") => Self::default(),
            Some(here) => Self {
                here: here.key(name),
                above: Some(here),
            },
        }
    }

    fn index(self, index: usize) -> Self {
        self.here.map_or(self, |here| Self {
            here: here.index(index),
            above: Some(here),
        })
    }

    fn all_of(self) -> Self {
        Self {
            here: None,
            above: self.above,
        }
    }
}

#[derive(Clone, Copy)]
struct Place<'a> {
    value: &'a Value,
    old: Option<&'a Value>,
    path: &'a field::Path,
    ratchet: Ratchet<'a>,
}

struct Run {
    report: Report,
    budget: Budget,
    stopped: bool,
}

impl Run {
    fn node(&mut self, node: &Node, schema: &Structural, place: Place<'_>) {
        // A null is judged by the rules of what contains it.
        if self.stopped || place.value.is_null() {
            return;
        }
        let old = place.old.filter(|old| !old.is_null());
        let place = Place { old, ..place };
        for rule in &node.rules {
            if self.stopped {
                return;
            }
            self.rule(rule, schema, node.level, place);
        }
        for branch in &node.all_of {
            self.node(
                branch,
                schema,
                Place {
                    ratchet: place.ratchet.all_of(),
                    ..place
                },
            );
        }
        match place.value {
            Value::Array(list) => {
                let (Some(items), Some(below)) = (&node.items, schema.items.as_deref()) else {
                    return;
                };
                let old_list = old.and_then(Value::as_array);
                for (index, item) in list.iter().enumerate() {
                    let old = old_list.and_then(|list| same_item(schema, list, item));
                    let path = place.path.index(index);
                    let ratchet = place.ratchet.index(index);
                    self.node(
                        items,
                        below,
                        Place {
                            value: item,
                            old,
                            path: &path,
                            ratchet,
                        },
                    );
                }
            }
            Value::Object(map) => {
                for (name, child) in map {
                    let old = old.and_then(|old| old.get(name));
                    let ratchet = place.ratchet.key(name);
                    if let (Some(values), Some(below)) = (&node.values, schema.additional.schema()) {
                        let path = place.path.key(name);
                        self.node(
                            values,
                            below,
                            Place {
                                value: child,
                                old,
                                path: &path,
                                ratchet,
                            },
                        );
                    }
                    if let (Some(property), Some(below)) =
                        (node.properties.get(name), schema.properties.get(name))
                    {
                        let path = place.path.child(name);
                        self.node(
                            property,
                            below,
                            Place {
                                value: child,
                                old,
                                path: &path,
                                ratchet,
                            },
                        );
                    }
                }
            }
            _ => {}
        }
    }

    fn rule(&mut self, rule: &CompiledRule, schema: &Structural, level: Level, place: Place<'_>) {
        let kind = schema.kind.map_or("", Type::as_str);
        let shown = rule.shown();
        let program = match &rule.program {
            Ok(program) => program,
            Err(problem) => {
                let detail = format!("rule compile error: {problem}");
                self.report
                    .errors
                    .push(field::Error::invalid(place.path, kind, detail));
                return;
            }
        };
        let optional = rule.is_optional_old_self();
        // A transition rule needs a value to come from, unless it asks to do without.
        if program.uses_old_self() && place.old.is_none() && !optional {
            return;
        }
        let input = convert::Input {
            value: place.value,
            old: place.old,
            optional,
            schema,
            level,
        };
        match program.run(&input, &mut self.budget) {
            Ok(cel_value) if program::is_true(&cel_value) => {}
            Ok(_) => self.fail(rule, schema, place, &input),
            Err(failure) => {
                let detail = match &failure {
                    Failure::NoBudget => {
                        "validation failed due to running out of cost budget, no further validation \
                                          rules will be run"
                            .to_owned()
                    }
                    Failure::TooCostly => format!(
                        "'{failure}': no further validation rules will be run due to call cost exceeds limit for \
                         rule: {shown}"
                    ),
                    Failure::NoOverload => format!(
                        "'{failure}': call arguments did not match a supported operator, function or macro signature \
                         for rule: {shown}"
                    ),
                    Failure::Other(_) => format!("{failure} evaluating rule: {shown}"),
                };
                self.stopped = matches!(failure, Failure::NoBudget | Failure::TooCostly);
                self.report
                    .errors
                    .push(field::Error::invalid(place.path, kind, detail));
            }
        }
    }

    fn fail(
        &mut self,
        rule: &CompiledRule,
        schema: &Structural,
        place: Place<'_>,
        input: &convert::Input<'_>,
    ) {
        let path = match &rule.field_path {
            None => place.path.clone(),
            Some(below) if below.starts_with('[') => {
                field::Path::new(format!("{}{below}", place.path.as_str()))
            }
            Some(below) => place.path.child(below),
        };
        let message = self.message(rule, input);
        let error = match schema.kind {
            // The whole of a large value would drown the message.
            Some(Type::Object | Type::Array) => failure(rule, &path, Value::Null, message).without_value(),
            _ => failure(rule, &path, place.value.clone(), message),
        };
        if !rule.uses_old_self() && place.ratchet.is_unchanged() {
            self.report.warnings.push(error.to_string());
        } else {
            self.report.errors.push(error);
        }
    }

    fn message(&mut self, rule: &CompiledRule, input: &convert::Input<'_>) -> String {
        if let Some(Ok(program)) = &rule.message {
            match program.run(input, &mut self.budget) {
                Ok(value) => {
                    if let Some(text) = program::text(&value)
                        .map(|text| text.trim().to_owned())
                        .filter(|text| !text.is_empty() && !text.contains('\n') && text.len() <= MAX_MESSAGE)
                    {
                        return text;
                    }
                }
                Err(Failure::NoBudget | Failure::TooCostly) => {
                    self.stopped = true;
                    return "messageExpression evaluation failed due to running out of cost budget, no further \
                            validation rules will be run"
                        .to_owned();
                }
                // A broken message must not hide that the rule failed.
                Err(Failure::NoOverload | Failure::Other(_)) => {}
            }
        }
        if rule.rule.message.is_empty() {
            format!("failed rule: {}", rule.shown())
        } else {
            rule.rule.message.trim().to_owned()
        }
    }
}

fn failure(rule: &CompiledRule, path: &field::Path, value: Value, message: String) -> field::Error {
    match rule.rule.reason.as_deref() {
        Some("FieldValueForbidden") => field::Error::forbidden(path, message),
        Some("FieldValueRequired") => field::Error::required(path, message),
        Some("FieldValueDuplicate") => field::Error::duplicate(path, value),
        _ => field::Error::invalid(path, value, message),
    }
}
