//! Label and field selectors.
//! Source: apimachinery `pkg/labels/selector.go`, `pkg/fields/selector.go`.

use std::collections::BTreeSet;

use capstan_base::names;
use serde_json::{Map, Value};

use super::status::{ApiError, Result};

/// A parsed label selector: all requirements must hold. No requirement selects everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LabelSelector(Vec<Requirement>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    key: String,
    operator: Operator,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Operator {
    Exists,
    Absent,
    In(BTreeSet<String>),
    NotIn(BTreeSet<String>),
    Greater(i64),
    Less(i64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Comma,
    Open,
    Close,
    Not,
    Equal,
    NotEqual,
    Greater,
    Less,
}

impl LabelSelector {
    /// Parses the text form: `a=b,c!=d,e in (f,g),h notin (i),j,!k`.
    pub fn parse(text: &str) -> Result<Self> {
        let mut tokens = tokens(text).into_iter().peekable();
        let mut requirements = Vec::new();
        while tokens.peek().is_some() {
            let requirement = requirement(&mut tokens)
                .map_err(|why| ApiError::bad_request(format!("unable to parse requirement: {why}")))?;
            requirements.push(requirement);
            match tokens.next() {
                None => break,
                Some(Token::Comma) if tokens.peek().is_some() => {}
                Some(other) => {
                    return Err(ApiError::bad_request(format!(
                        "unable to parse requirement: found {}, expected: ',' or end of the selector {text:?}",
                        shown(Some(&other))
                    )));
                }
            }
        }
        Ok(Self(requirements))
    }

    /// Whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it selects an object with these labels.
    pub fn matches(&self, labels: Option<&Map<String, Value>>) -> bool {
        self.0.iter().all(|requirement| {
            let value = labels
                .and_then(|labels| labels.get(&requirement.key))
                .and_then(Value::as_str);
            requirement.operator.holds(value)
        })
    }
}

impl Operator {
    fn holds(&self, value: Option<&str>) -> bool {
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::Exists => value.is_some(),
            Self::Absent => value.is_none(),
            Self::In(values) => value.is_some_and(|value| values.contains(value)),
            Self::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            Self::Greater(bound) => number().is_some_and(|number| number > *bound),
            Self::Less(bound) => number().is_some_and(|number| number < *bound),
        }
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            ',' => (Token::Comma, 1),
            '(' => (Token::Open, 1),
            ')' => (Token::Close, 1),
            '!' if rest.starts_with("!=") => (Token::NotEqual, 2),
            '!' => (Token::Not, 1),
            '=' if rest.starts_with("==") => (Token::Equal, 2),
            '=' => (Token::Equal, 1),
            '>' => (Token::Greater, 1),
            '<' => (Token::Less, 1),
            _ => {
                let end = rest
                    .find(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')' | '!' | '=' | '>' | '<'))
                    .unwrap_or(rest.len());
                (Token::Word(rest[..end].to_owned()), end)
            }
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    tokens
}

/// A token as the user wrote it, in quotes; nothing for the end.
fn shown(token: Option<&Token>) -> String {
    let text = match token {
        None => "",
        Some(Token::Comma) => ",",
        Some(Token::Open) => "(",
        Some(Token::Close) => ")",
        Some(Token::Not) => "!",
        Some(Token::NotEqual) => "!=",
        Some(Token::Equal) => "=",
        Some(Token::Greater) => ">",
        Some(Token::Less) => "<",
        Some(Token::Word(word)) => word,
    };
    format!("'{text}'")
}

type Tokens = std::iter::Peekable<std::vec::IntoIter<Token>>;

fn requirement(tokens: &mut Tokens) -> Result<Requirement, String> {
    if tokens.next_if_eq(&Token::Not).is_some() {
        let key = word(tokens)?;
        return Ok(Requirement {
            key: checked_key(key)?,
            operator: Operator::Absent,
        });
    }
    let key = checked_key(word(tokens)?)?;
    let operator = match tokens.peek() {
        None | Some(Token::Comma) => Operator::Exists,
        Some(Token::Equal) => {
            tokens.next();
            Operator::In(BTreeSet::from([checked_value(value(tokens))?]))
        }
        Some(Token::NotEqual) => {
            tokens.next();
            Operator::NotIn(BTreeSet::from([checked_value(value(tokens))?]))
        }
        Some(Token::Greater) => {
            tokens.next();
            Operator::Greater(number(tokens)?)
        }
        Some(Token::Less) => {
            tokens.next();
            Operator::Less(number(tokens)?)
        }
        Some(Token::Word(operator)) if operator == "in" => {
            tokens.next();
            Operator::In(set(tokens)?)
        }
        Some(Token::Word(operator)) if operator == "notin" => {
            tokens.next();
            Operator::NotIn(set(tokens)?)
        }
        Some(other) => {
            let found = shown(Some(other));
            return Err(format!("found {found}, expected: =, !=, ==, in, notin, gt, lt"));
        }
    };
    Ok(Requirement { key, operator })
}

fn word(tokens: &mut Tokens) -> Result<String, String> {
    match tokens.next() {
        Some(Token::Word(word)) => Ok(word),
        other => Err(format!("found {}, expected: identifier", shown(other.as_ref()))),
    }
}

/// A value may be left out: `a=` selects the empty value.
fn value(tokens: &mut Tokens) -> String {
    match tokens.next_if(|token| matches!(token, Token::Word(_))) {
        Some(Token::Word(word)) => word,
        _ => String::new(),
    }
}

fn number(tokens: &mut Tokens) -> Result<i64, String> {
    value(tokens)
        .parse()
        .map_err(|_| "for 'Gt', 'Lt' operators, the value must be an integer".to_owned())
}

fn set(tokens: &mut Tokens) -> Result<BTreeSet<String>, String> {
    if tokens.next() != Some(Token::Open) {
        return Err("expected: '('".to_owned());
    }
    let mut values = BTreeSet::new();
    loop {
        values.insert(checked_value(value(tokens))?);
        match tokens.next() {
            Some(Token::Comma) => {}
            Some(Token::Close) => return Ok(values),
            other => return Err(format!("found {}, expected: ',' or ')'", shown(other.as_ref()))),
        }
    }
}

fn checked_key(key: String) -> Result<String, String> {
    match names::label_key_problems(&key).first() {
        Some(problem) => Err(format!("key: Invalid value: {key:?}: {problem}")),
        None => Ok(key),
    }
}

fn checked_value(value: String) -> Result<String, String> {
    match names::label_value_problems(&value).first() {
        Some(problem) => Err(format!("values: Invalid value: {value:?}: {problem}")),
        None => Ok(value),
    }
}

/// A parsed field selector: all terms must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldSelector(Vec<Term>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    field: String,
    value: String,
    equal: bool,
}

impl FieldSelector {
    /// Parses the text form: `metadata.name=a,status.phase!=b`. `selectable` are the fields that the resource offers
    /// beside name and namespace.
    pub fn parse(text: &str, selectable: &[String]) -> Result<Self> {
        let mut terms = Vec::new();
        for part in split_unescaped(text) {
            let (field, value, equal) = term(&part).ok_or_else(|| {
                ApiError::bad_request(format!("invalid selector: '{text}'; can't understand '{part}'"))
            })?;
            let known = matches!(field, "metadata.name" | "metadata.namespace")
                || selectable.iter().any(|known| known == field);
            if !known {
                return Err(ApiError::bad_request(format!(
                    "field label not supported: {field}"
                )));
            }
            terms.push(Term {
                field: field.to_owned(),
                value: unescape(value),
                equal,
            });
        }
        Ok(Self(terms))
    }

    /// The selector of one name.
    pub fn of_name(name: &str) -> Self {
        Self(vec![Term {
            field: "metadata.name".to_owned(),
            value: name.to_owned(),
            equal: true,
        }])
    }

    /// Whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The only name that it can select, if it says one.
    pub fn exact_name(&self) -> Option<&str> {
        self.0
            .iter()
            .find(|term| term.equal && term.field == "metadata.name")
            .map(|term| term.value.as_str())
    }

    /// Whether it looks at more than name and namespace.
    pub fn needs_content(&self) -> bool {
        self.0
            .iter()
            .any(|term| !matches!(term.field.as_str(), "metadata.name" | "metadata.namespace"))
    }

    /// Whether it selects `object`.
    pub fn matches(&self, namespace: &str, name: &str, object: &Value) -> bool {
        self.0.iter().all(|term| {
            let found = match term.field.as_str() {
                "metadata.name" => name.to_owned(),
                "metadata.namespace" => namespace.to_owned(),
                field => field_text(object, field),
            };
            (found == term.value) == term.equal
        })
    }
}

/// A field as a selector compares it: scalars as text, everything else as nothing.
fn field_text(object: &Value, field: &str) -> String {
    let mut value = object;
    for part in field.split('.') {
        value = &value[part];
    }
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        // Events: the field `source` selects by its component.
        Value::Object(map) if field == "source" => map
            .get("component")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        _ => String::new(),
    }
}

fn term(text: &str) -> Option<(&str, &str, bool)> {
    let at = text.char_indices().find(|(index, c)| {
        (*c == '=' || (*c == '!' && text[index + 1..].starts_with('='))) && !escaped(text, *index)
    })?;
    let (field, rest) = text.split_at(at.0);
    let (value, equal) = match rest {
        _ if rest.starts_with("!=") => (&rest[2..], false),
        _ if rest.starts_with("==") => (&rest[2..], true),
        _ => (&rest[1..], true),
    };
    Some((field.trim(), value.trim(), equal))
}

fn escaped(text: &str, index: usize) -> bool {
    text[..index]
        .bytes()
        .rev()
        .take_while(|byte| *byte == b'\\')
        .count()
        % 2
        == 1
}

fn split_unescaped(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (index, _) in text.match_indices(',') {
        if !escaped(text, index) {
            parts.push(text[start..index].to_owned());
            start = index + 1;
        }
    }
    parts.push(text[start..].to_owned());
    parts.retain(|part| !part.is_empty());
    parts
}

fn unescape(text: &str) -> String {
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        plain.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    plain
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn label_selectors_select_as_kubernetes_does() {
        let labels = json!({ "a": "1", "b": "x", "e.io/f": "" });
        let labels = labels.as_object();
        for (text, expected) in [
            ("", true),
            ("a=1", true),
            ("a==1,b!=y", true),
            ("a in (1,2)", true),
            ("a notin (1,2)", false),
            ("c notin (1)", true),
            ("c!=1", true),
            ("!c", true),
            ("!a", false),
            ("c", false),
            ("e.io/f=", true),
            ("a>0", true),
            ("a<1", false),
        ] {
            assert_eq!(
                LabelSelector::parse(text).map(|it| it.matches(labels)),
                Ok(expected),
                "{text}"
            );
        }
        for text in ["a=b=c", "a in 1", "a,,b", "-x", "a=1,"] {
            assert!(LabelSelector::parse(text).is_err(), "{text}");
        }
        for (text, expected) in [
            ("a in (", "found '', expected: ',' or ')'"),
            (
                "a=b=c",
                "found '=', expected: ',' or end of the selector \"a=b=c\"",
            ),
            ("(", "found '(', expected: identifier"),
        ] {
            let message = LabelSelector::parse(text).unwrap_err().message;
            assert_eq!(message, format!("unable to parse requirement: {expected}"));
        }
    }

    #[test]
    fn field_selectors_compare_text() {
        let object = json!({ "status": { "phase": "Active" }, "spec": { "n": 3 } });
        let selectable = ["status.phase".to_owned(), "spec.n".to_owned()];
        for (text, expected) in [
            ("metadata.name=x", true),
            ("metadata.name!=x", false),
            ("status.phase==Active,spec.n=3", true),
            ("metadata.namespace=", false),
        ] {
            let selector = FieldSelector::parse(text, &selectable).unwrap();
            assert_eq!(selector.matches("ns", "x", &object), expected, "{text}");
        }
        assert_eq!(
            FieldSelector::parse("spec.y=1", &[]).map_err(|error| error.message),
            Err("field label not supported: spec.y".to_owned())
        );
    }
}
