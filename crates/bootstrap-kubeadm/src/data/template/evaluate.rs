//! From a tree and data to text.

use std::cmp::Ordering;

use serde_json::Value;

use super::{
    LIMIT, TemplateError,
    parser::{Expression, Node},
};

/// Renders nodes to the end of `out`.
pub(super) fn render(nodes: &[Node], data: &Value, out: &mut String) -> Result<(), TemplateError> {
    for node in nodes {
        match node {
            Node::Text(text) => out.push_str(text),
            Node::Print(expression) => out.push_str(&shown(&value(expression, data)?)),
            Node::If { branches, otherwise } => {
                let mut chosen = otherwise;
                for (condition, inside) in branches {
                    if holds(&value(condition, data)?) {
                        chosen = inside;
                        break;
                    }
                }
                render(chosen, data, out)?;
            }
        }
        if out.len() > LIMIT {
            return Err(TemplateError::TooLong);
        }
    }
    Ok(())
}

fn value(expression: &Expression, data: &Value) -> Result<Value, TemplateError> {
    match expression {
        Expression::Literal(value) => Ok(value.clone()),
        Expression::Field(names) => field(names, data),
        Expression::Call(name, arguments) => call(name, arguments, data),
    }
}

/// A field that is not there has no value; a field of what has no value is an error.
fn field(names: &[String], data: &Value) -> Result<Value, TemplateError> {
    let mut found = data;
    for name in names {
        let Value::Object(fields) = found else {
            return Err(TemplateError::FieldOfNothing(format!(".{}", names.join("."))));
        };
        found = fields.get(name).unwrap_or(&Value::Null);
    }
    Ok(found.clone())
}

fn call(name: &str, arguments: &[Expression], data: &Value) -> Result<Value, TemplateError> {
    let wrong = || TemplateError::WrongArguments(name.to_owned());
    if let "and" | "or" = name {
        let (last, before) = arguments.split_last().ok_or_else(wrong)?;
        for argument in before {
            let value = value(argument, data)?;
            if holds(&value) == (name == "or") {
                return Ok(value);
            }
        }
        return value(last, data);
    }
    let values = arguments
        .iter()
        .map(|it| value(it, data))
        .collect::<Result<Vec<_>, _>>()?;
    match (name, values.as_slice()) {
        ("not", [value]) => Ok(Value::Bool(!holds(value))),
        ("print", values) => Ok(Value::from(values.iter().map(shown).collect::<String>())),
        ("len", [Value::String(text)]) => Ok(Value::from(text.len())),
        ("eq", [first, others @ ..]) if !others.is_empty() => Ok(Value::Bool(others.contains(first))),
        ("ne", [first, second]) => Ok(Value::Bool(first != second)),
        ("lt" | "le" | "gt" | "ge", [first, second]) => {
            let order = compare(first, second).ok_or_else(wrong)?;
            Ok(Value::Bool(match name {
                "lt" => order.is_lt(),
                "le" => order.is_le(),
                "gt" => order.is_gt(),
                _ => order.is_ge(),
            }))
        }
        ("not" | "len" | "eq" | "ne" | "lt" | "le" | "gt" | "ge", _) => Err(wrong()),
        _ => Err(TemplateError::Unsupported(format!("the function {name}"))),
    }
}

fn compare(first: &Value, second: &Value) -> Option<Ordering> {
    match (first, second) {
        (Value::String(first), Value::String(second)) => Some(first.cmp(second)),
        (Value::Number(first), Value::Number(second)) => Some(first.as_i64()?.cmp(&second.as_i64()?)),
        _ => None,
    }
}

fn holds(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(holds) => *holds,
        Value::Number(number) => number.as_i64() != Some(0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

/// A value as Go prints it.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "<no value>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(" ")),
        Value::Object(fields) => {
            let entries: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{name}:{}", shown(value)))
                .collect();
            format!("map[{}]", entries.join(" "))
        }
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
