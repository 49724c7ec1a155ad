//! One compiled expression, its rewriting and its run.
//!
//! The interpreter leaves some things open that Kubernetes settles. Before an expression is kept:
//! - every loop is made to count its rounds against a budget;
//! - selecting a field becomes indexing by its name: the interpreter's selection yields `false` on what is no map, and
//!   copies what it goes through;
//! - optional selection becomes optional indexing, for a missing field must be none and not an error;
//! - what the interpreter would panic on is refused.

use std::{
    cell::Cell,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use kube_cel::{
    KubeCelExt,
    cel::{
        Context, ExecutionError, Value,
        common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators},
        parser::Parser,
    },
};

use super::{
    convert::{self, Input},
    escape::unescape,
    functions,
    usage::{References, Usage},
};
use crate::structural::{Level, Structural};

/// What one evaluation may cost, in steps. Source: apiserver `pkg/apis/cel/config.go`, `PerCallLimit`.
const PER_CALL: u64 = 1_000_000;
/// What all evaluations for one object may cost. Source: same, `RuntimeCELCostBudget`.
const PER_OBJECT: u64 = 10_000_000;
/// How many copied list items count as a step: `map` and `filter` copy what they have gathered on every round.
const COPIES_PER_STEP: u64 = 64;

/// Charges one round of a loop; no name that a rule could write.
const STEP: &str = "@step";
/// Charges the copying that a loop which gathers a list will do.
const GATHER: &str = "@gather";

thread_local! {
    static BASE: Context<'static> = base_context();
    static LEFT: Cell<u64> = const { Cell::new(0) };
    static EXCEEDED: Cell<bool> = const { Cell::new(false) };
}

fn charge(steps: u64) -> Result<(), ExecutionError> {
    let left = LEFT.get();
    if steps > left {
        LEFT.set(0);
        EXCEEDED.set(true);
        return Err(ExecutionError::function_error(STEP, "actual cost limit exceeded"));
    }
    LEFT.set(left - steps);
    Ok(())
}

fn base_context() -> Context<'static> {
    let mut context = Context::default().with_all();
    context.add_function(STEP, |steps: i64| {
        charge(u64::try_from(steps).unwrap_or(1)).map(|()| Value::Bool(true))
    });
    context.add_function(GATHER, |range: Value| {
        let length = match &range {
            Value::List(list) => list.len(),
            Value::Map(map) => map.map.len(),
            _ => 0,
        };
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        charge(length.saturating_mul(length) / COPIES_PER_STEP).map(|()| range)
    });
    context.add_function("dyn", |value: Value| Ok::<_, ExecutionError>(value));
    context
}

/// What is left to spend on one object.
#[derive(Debug)]
pub(super) struct Budget {
    left: u64,
}

impl Budget {
    pub(super) fn for_object() -> Self {
        Self { left: PER_OBJECT }
    }
}

/// Why an expression has no value.
#[derive(Debug)]
pub(super) enum Failure {
    /// The object's budget is spent.
    NoBudget,
    /// This evaluation alone is too costly.
    TooCostly,
    /// An operator or function was applied to values it does not take.
    NoOverload,
    /// Anything else.
    Other(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBudget => f.write_str("out of cost budget"),
            Self::TooCostly => f.write_str("operation cancelled: actual cost limit exceeded"),
            Self::NoOverload => f.write_str("no such overload"),
            Self::Other(problem) => f.write_str(problem),
        }
    }
}

/// A compiled expression.
pub(super) struct Program {
    expression: IdedExpr,
    value: Usage,
    old: Option<Usage>,
    /// The cost of evaluating everything outside loops once.
    weight: u64,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("value", &self.value)
            .field("old", &self.old)
            .finish_non_exhaustive()
    }
}

impl Program {
    /// Compiles `source` for values of `schema`.
    pub(super) fn compile(source: &str, schema: &Structural, level: Level) -> Result<Self, String> {
        let failed = |problem: String| format!("compilation failed: {problem}");
        // The parser is generated code that reads untrusted text.
        let parsed = catch_unwind(|| Parser::new().enable_optional_syntax(true).parse(source))
            .map_err(|_| failed("the expression cannot be parsed".to_owned()))?;
        let mut expression = parsed.map_err(|errors| failed(errors.to_string()))?;
        let references = References::of(&expression);
        if let Some(name) = references.unknown.first() {
            return Err(failed(format!(
                "undeclared reference to '{name}' (in container '')"
            )));
        }
        check_fields(&references.value, schema, level).map_err(failed)?;
        if let Some(old) = &references.old {
            check_fields(old, schema, level).map_err(failed)?;
        }
        let weight = rewrite(&mut expression).map_err(failed)?;
        Ok(Self {
            expression,
            value: references.value,
            old: references.old,
            weight,
        })
    }

    /// Whether the expression looks at the old value.
    pub(super) fn uses_old_self(&self) -> bool {
        self.old.is_some()
    }

    /// Evaluates the expression. What it costs is taken from `budget`.
    pub(super) fn run(&self, input: &Input<'_>, budget: &mut Budget) -> Result<Value, Failure> {
        let limit = PER_CALL.min(budget.left);
        LEFT.set(limit);
        EXCEEDED.set(false);
        let result = match charge(self.weight) {
            Ok(()) => BASE.with(|base| {
                let mut context = base.new_inner_scope();
                context.add_variable_from_value("self", convert::value(input, &self.value));
                if let Some(usage) = &self.old
                    && let Some(old) = convert::old_value(input, usage)
                {
                    context.add_variable_from_value("oldSelf", old);
                }
                // A rule must not be able to take the process down through a fault of the interpreter.
                catch_unwind(AssertUnwindSafe(|| Value::resolve(&self.expression, &context)))
                    .unwrap_or_else(|_| Err(ExecutionError::function_error("cel", "internal error")))
            }),
            Err(error) => Err(error),
        };
        let exhausted = limit < PER_CALL;
        budget.left -= limit - LEFT.get();
        if EXCEEDED.get() {
            return Err(if exhausted {
                Failure::NoBudget
            } else {
                Failure::TooCostly
            });
        }
        result.map_err(failure)
    }
}

fn failure(error: ExecutionError) -> Failure {
    match error {
        ExecutionError::NoSuchOverload
        | ExecutionError::UnsupportedUnaryOperator(..)
        | ExecutionError::UnsupportedBinaryOperator(..)
        | ExecutionError::ValuesNotComparable(..)
        | ExecutionError::UnsupportedMapIndex(_)
        | ExecutionError::UnsupportedListIndex(_)
        | ExecutionError::UnsupportedIndex(..)
        | ExecutionError::UnsupportedTargetType { .. }
        | ExecutionError::UnexpectedType { .. }
        | ExecutionError::NotSupportedAsMethod { .. } => Failure::NoOverload,
        ExecutionError::NoSuchKey(key) => Failure::Other(format!("no such key: {key}")),
        ExecutionError::IndexOutOfBounds(index) => Failure::Other(format!(
            "index out of bounds: {}",
            text(&index).unwrap_or_else(|| format!("{index:?}"))
        )),
        ExecutionError::DivisionByZero(_) => Failure::Other("division by zero".to_owned()),
        ExecutionError::RemainderByZero(_) => Failure::Other("modulus by zero".to_owned()),
        ExecutionError::Overflow(..) => Failure::Other("integer overflow".to_owned()),
        ExecutionError::FunctionError { message, .. } => Failure::Other(message),
        other => Failure::Other(other.to_string()),
    }
}

/// Whether a result is `true`; anything else fails a rule.
pub(super) fn is_true(value: &Value) -> bool {
    matches!(value, Value::Bool(true))
}

/// The text of a result, if it is one; numbers as text.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.as_ref().clone()),
        Value::Int(number) => Some(number.to_string()),
        Value::UInt(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Refuses expressions that look at fields which the schema does not have.
fn check_fields(usage: &Usage, schema: &Structural, level: Level) -> Result<(), String> {
    for (name, below) in &usage.fields {
        if let Some(child) = schema.additional.schema() {
            check_fields(below, child, Level::Part)?;
            continue;
        }
        if schema.kind != Some(crate::structural::Type::Object) || schema.additional.is_specified() {
            continue;
        }
        let field = unescape(name).unwrap_or_else(|| name.clone());
        if let Some(child) = schema.properties.get(&field) {
            let is_metadata = level.is_resource(schema) && field == "metadata";
            if !is_metadata {
                check_fields(below, child, Level::Part)?;
            }
        } else if !(level.is_resource(schema) && crate::structural::is_meta_field(&field)) {
            return Err(format!("undefined field '{name}'"));
        }
    }
    Ok(())
}

fn node(expr: Expr) -> IdedExpr {
    IdedExpr { id: 0, expr }
}

fn call(name: &str, args: Vec<IdedExpr>) -> Expr {
    Expr::Call(CallExpr {
        func_name: name.to_owned(),
        target: None,
        args,
    })
}

/// Rewrites an expression for the interpreter and returns what it costs outside loops.
fn rewrite(expression: &mut IdedExpr) -> Result<u64, String> {
    let mut weight = 1;
    match &mut expression.expr {
        Expr::Call(inner) => {
            weight = functions::weight(&inner.func_name);
            let qualified = match inner.target.as_deref() {
                Some(IdedExpr {
                    expr: Expr::Ident(prefix),
                    ..
                }) => Some(format!("{prefix}.{}", inner.func_name)),
                _ => None,
            };
            if !qualified.is_some_and(|name| functions::is_known(&name))
                && !functions::is_known(&inner.func_name)
            {
                return Err(format!(
                    "undeclared reference to '{}' (in container '')",
                    inner.func_name
                ));
            }
            if let Some(target) = &mut inner.target {
                weight += rewrite(target)?;
            }
            for argument in &mut inner.args {
                weight += rewrite(argument)?;
            }
            if inner.func_name == operators::OPT_SELECT {
                operators::OPT_INDEX.clone_into(&mut inner.func_name);
            }
        }
        Expr::Comprehension(inner) => {
            if inner.iter_var2.is_some() {
                return Err("macros with two variables are not supported".to_owned());
            }
            let gathers = matches!(inner.accu_init.expr, Expr::List(_));
            weight += rewrite(&mut inner.iter_range)? + rewrite(&mut inner.accu_init)?;
            weight += rewrite(&mut inner.result)?;
            let round = rewrite(&mut inner.loop_cond)? + rewrite(&mut inner.loop_step)?;
            let steps = LiteralValue::Int(i64::try_from(round).unwrap_or(i64::MAX).into());
            let step = node(call(STEP, vec![node(Expr::Literal(steps))]));
            let condition = std::mem::take(&mut inner.loop_cond);
            inner.loop_cond = node(call(operators::LOGICAL_AND, vec![step, condition]));
            if gathers {
                let range = std::mem::take(&mut inner.iter_range);
                inner.iter_range = node(call(GATHER, vec![range]));
            }
        }
        Expr::List(inner) => {
            for element in &mut inner.elements {
                weight += rewrite(element)?;
            }
        }
        Expr::Map(inner) => {
            for entry in &mut inner.entries {
                let EntryExpr::MapEntry(entry) = &mut entry.expr else {
                    return Err("messages are not supported".to_owned());
                };
                weight += rewrite(&mut entry.key)? + rewrite(&mut entry.value)?;
            }
        }
        Expr::Select(inner) => {
            weight += rewrite(&mut inner.operand)?;
            if !inner.test {
                let name = node(Expr::Literal(LiteralValue::String(inner.field.as_str().into())));
                let operand = std::mem::take(&mut *inner.operand);
                expression.expr = call(operators::INDEX, vec![operand, name]);
            }
        }
        Expr::Ident(_) | Expr::Literal(_) => {}
        Expr::Struct(_) | Expr::Unspecified => return Err("messages are not supported".to_owned()),
    }
    Ok(weight)
}

/// Text as the interpreter holds it.
pub(super) fn string(text: &str) -> Value {
    Value::String(Arc::new(text.to_owned()))
}
