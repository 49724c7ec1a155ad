//! The part of Go's templates that names of machines are written in: text with `{{ .cluster.name }}` in it.
//!
//! Fields, comments and the trimming of white space (`{{-`, `-}}`) are understood. Everything else is refused when
//! the template is read, so that a name never silently differs from what a user meant.

use serde_json::Value;

/// The longest name that a template makes; the limit of label values and host names.
pub const NAME_LIMIT: usize = 63;

/// A template that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Field(Vec<String>),
}

/// A template that cannot be read, or cannot be rendered with the data there is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A `{{` without `}}`.
    #[error("unclosed action")]
    Unclosed,
    /// An empty `{{ }}`.
    #[error("missing value for command")]
    Empty,
    /// Something between `{{` and `}}` that is no field.
    #[error("unexpected {0:?}: only fields like .cluster.name are supported")]
    Unexpected(String),
    /// A field that the data lacks.
    #[error("map has no entry for key {0:?}")]
    NoEntry(String),
    /// A field that has fields itself.
    #[error("{0:?} is not a text")]
    NotText(String),
}

impl Template {
    /// Reads a template.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut pieces = Vec::new();
        let mut rest = text;
        let mut trim_start = false;
        while let Some(open) = rest.find("{{") {
            let (before, inside) = rest.split_at(open);
            let inside = &inside[2..];
            let close = inside.find("}}").ok_or(TemplateError::Unclosed)?;
            let (action, trim_before, trim_after) = trimmed(&inside[..close]);
            let mut before = if trim_start { before.trim_start() } else { before };
            if trim_before {
                before = before.trim_end();
            }
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            if !(action.starts_with("/*") && action.ends_with("*/")) {
                pieces.push(Piece::Field(field(action)?));
            }
            trim_start = trim_after;
            rest = &inside[close + 2..];
        }
        let last = if trim_start { rest.trim_start() } else { rest };
        if !last.is_empty() {
            pieces.push(Piece::Text(last.to_owned()));
        }
        Ok(Self { pieces })
    }

    /// The text with every field replaced by its value in `data`.
    pub fn render(&self, data: &Value) -> Result<String, TemplateError> {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(plain) => text.push_str(plain),
                Piece::Field(path) => text.push_str(&value_at(data, path)?),
            }
        }
        Ok(text)
    }
}

/// The action without trim markers and white space, and whether text before and after it is trimmed.
fn trimmed(inside: &str) -> (&str, bool, bool) {
    let before = inside
        .strip_prefix('-')
        .filter(|it| it.starts_with(char::is_whitespace));
    let inside_left = before.unwrap_or(inside);
    let after = inside_left
        .strip_suffix('-')
        .filter(|it| it.ends_with(char::is_whitespace));
    (
        after.unwrap_or(inside_left).trim(),
        before.is_some(),
        after.is_some(),
    )
}

fn field(action: &str) -> Result<Vec<String>, TemplateError> {
    if action.is_empty() {
        return Err(TemplateError::Empty);
    }
    let unexpected = || TemplateError::Unexpected(action.to_owned());
    let path = action.strip_prefix('.').ok_or_else(unexpected)?;
    let names: Vec<String> = path.split('.').map(str::to_owned).collect();
    let is_name = |name: &String| {
        name.starts_with(|it: char| it.is_alphabetic() || it == '_')
            && name.chars().all(|it| it.is_alphanumeric() || it == '_')
    };
    if names.iter().all(is_name) {
        Ok(names)
    } else {
        Err(unexpected())
    }
}

fn value_at(data: &Value, path: &[String]) -> Result<String, TemplateError> {
    let mut value = data;
    for name in path {
        value = value
            .get(name)
            .ok_or_else(|| TemplateError::NoEntry(name.clone()))?;
    }
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(claim) => Ok(claim.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(TemplateError::NotText(path.join("."))),
    }
}

/// The name that `template` makes from `data`. A name that is too long is cut and gets `suffix` at its end, so that
/// two long names stay different.
// Parity: cluster-api internal/topology/names/names.go:templateGenerator
pub fn name(template: &str, data: &Value, suffix: &str) -> Result<String, TemplateError> {
    let name = Template::parse(template)?.render(data)?;
    if name.len() <= NAME_LIMIT {
        return Ok(name);
    }
    let mut cut = NAME_LIMIT.saturating_sub(suffix.len());
    while !name.is_char_boundary(cut) {
        cut -= 1;
    }
    Ok(format!("{}{suffix}", &name[..cut]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rendered(template: &str) -> Result<String, String> {
        let data =
            json!({ "cluster": { "name": "prod" }, "machineSet": { "name": "pool-x7" }, "random": "b5xk2" });
        Template::parse(template)
            .and_then(|it| it.render(&data))
            .map_err(|it| it.to_string())
    }

    #[test]
    fn fields_are_replaced_and_anything_else_is_refused() {
        for (template, text) in [
            ("{{ .machineSet.name }}-{{ .random }}", Ok("pool-x7-b5xk2")),
            ("{{.cluster.name}}", Ok("prod")),
            ("plain", Ok("plain")),
            ("a {{- .random -}} b", Ok("ab5xk2b")),
            ("a{{/* why */}}b", Ok("ab")),
            (
                "{{ .cluster.region }}",
                Err("map has no entry for key \"region\""),
            ),
            ("{{ .cluster }}", Err("\"cluster\" is not a text")),
            ("{{ .random", Err("unclosed action")),
            ("{{ }}", Err("missing value for command")),
            (
                "{{ random }}",
                Err("unexpected \"random\": only fields like .cluster.name are supported"),
            ),
            (
                "{{ if .a }}",
                Err("unexpected \"if .a\": only fields like .cluster.name are supported"),
            ),
        ] {
            assert_eq!(
                rendered(template),
                text.map(str::to_owned).map_err(str::to_owned),
                "{template}"
            );
        }
    }

    #[test]
    fn a_name_that_is_too_long_is_cut_and_stays_unique() {
        let data = json!({ "cluster": { "name": "c".repeat(80) } });
        let name = name("{{ .cluster.name }}", &data, "b5xk2").expect("a name");
        assert_eq!(name, format!("{}b5xk2", "c".repeat(58)));
    }
}
